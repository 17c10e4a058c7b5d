"""A posterior of your own in 15 lines: robust regression with Student-t errors.

Its Rust twin is crates/langevin/examples/own_posterior.rs.  Run with

    python examples/own_posterior.py [figure.png]
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

import langevin as lv

Array = NDArray[np.float64]

# Ten points on the line y = 1 + 2x, one of them far off.
x = np.linspace(0.0, 1.0, 10)
y = 1.0 + 2.0 * x + 0.1 * np.sin(50.0 * x)
y[7] += 5.0
SCALE, FREEDOM = 0.2, 3.0


def score(theta: Array) -> Array:
    """∇ log π of many states at once, theta of shape (chains, 2): intercept and slope."""
    residual = y - theta[:, :1] - theta[:, 1:] * x
    pull = (FREEDOM + 1.0) * residual / (FREEDOM * SCALE**2 + residual**2)
    likelihood = np.stack([pull.sum(axis=1), (pull * x).sum(axis=1)], axis=1)
    return likelihood - theta / 100.0  # the prior is N(0, 10²)


def log_density(theta: Array) -> Array:
    """log π of the same states."""
    residual = y - theta[:, :1] - theta[:, 1:] * x
    tails = np.log1p(residual**2 / (FREEDOM * SCALE**2)).sum(axis=1)
    value: Array = -0.5 * (FREEDOM + 1.0) * tails - (theta**2).sum(axis=1) / 200.0
    return value


def main() -> None:
    """Samples, and draws the lines."""
    target = lv.Target(
        2, score=score, log_density=log_density, parameters=["intercept", "slope"]
    )
    trace = lv.sample(target, seed=0)
    print(trace.summary())
    if len(sys.argv) > 1:
        draw(trace, sys.argv[1])


def draw(trace: lv.Trace, path: str) -> None:
    """The data with lines drawn from the posterior."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
    lines = trace.draws.reshape(-1, 2)[::100]
    axis.plot(x, lines[:, :1].T + x[:, None] * lines[:, 1], color="#d55e00", alpha=0.2, lw=1)
    axis.plot(x, y, "o", color="black")
    axis.set(xlabel="x", ylabel="y", title="the outlier does not pull the line")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
