"""The logistic metric programs have the right drift, divergence terms included.

The divergence moves the means of these chains by a fraction of their standard error, so the check of
the means would not notice its absence. Here the drift is compared exactly: with labels equal to the
probabilities at the start the minibatch has no noise, and one step at two step sizes with the same
random numbers, Σθ₀ + h Σdrift + sqrt(h) Σnoise, gives Σdrift.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import unittest
from unittest import mock

import numpy as np

import workloads as w

SIZES = (1e-2, 1e-3)


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-a))


def fields(x: np.ndarray, skew: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """βB + C with B = I + G⁻¹ and C = ½(JB + BJ)."""
    p = sigmoid(x @ theta)
    metric = w.LOGISTIC_ALPHA * np.eye(20) + (x.T * (p * (1 - p))) @ x
    b = np.eye(20) + np.linalg.inv(metric)
    return w.BETA * b + 0.5 * (skew @ b + b @ skew)


def drift_sum(x: np.ndarray, skew: np.ndarray, theta: np.ndarray) -> float:
    """Σ of (βB + C)∇log π + div(βB + C) with ∇log π = −αθ, the divergence by central differences."""
    step = 1e-4
    drift = fields(x, skew, theta) @ (-w.LOGISTIC_ALPHA * theta)
    for j in range(20):
        shift = step * np.eye(20)[j]
        slope = (fields(x, skew, theta + shift) - fields(x, skew, theta - shift)) / (2 * step)
        drift += slope[:, j]
    return float(drift.sum())


def solve(start_sum: float, sums: list[float]) -> float:
    """Σdrift from Σθ after one step of each size."""
    matrix = np.array([[h, np.sqrt(h)] for h in SIZES])
    return float(np.linalg.solve(matrix, np.array(sums) - start_sum)[0])


class Drift(unittest.TestCase):
    def setUp(self) -> None:
        self.theta = 0.3 * np.random.default_rng(5).standard_normal(20)
        self.x, _ = w.logistic_data()
        self.labels = sigmoid(self.x @ self.theta)

    def compare(self, name: str, found: float) -> None:
        skew = w.logistic_skew() * (name == "logistic-giirr")
        # Central differences with steps of 10⁻⁴ are good to about 10⁻⁸.
        self.assertAlmostEqual(found, drift_sum(self.x, skew, self.theta), delta=1e-6)

    def test_numba(self) -> None:
        from numba_logistic import logistic_metric_chains
        from numba_rng import seeds

        for name in ("logistic-rm", "logistic-giirr"):
            sums = []
            for h in SIZES:
                out = np.empty((1, 2))
                logistic_metric_chains(
                    out, self.theta[None].copy(), seeds(3, 1), self.x, self.labels,
                    w.logistic_skew(), 1, 0, h, w.LOGISTIC_ALPHA, name == "logistic-giirr", False,
                )  # fmt: skip
                sums.append(out[0, 0])
            self.compare(name, solve(self.theta.sum(), sums))

    @unittest.skipUnless(importlib.util.find_spec("jax"), "jax is not installed")
    def test_jax(self) -> None:
        import jax.numpy as jnp

        import jax_peer

        dtype = jnp.dtype(jnp.float64)
        words = np.random.default_rng(4).integers(0, 2**32, (10 + 60, 1), dtype=np.uint32)
        for name in ("logistic-rm", "logistic-giirr"):
            sums = []
            with mock.patch.object(w, "logistic_data", lambda: (self.x, self.labels)):
                for h in SIZES:
                    work = dataclasses.replace(w.WORKLOADS[name], step_size=h)
                    step = jax_peer.logistic_metric_step(work, dtype, False)
                    theta = step(jnp.asarray(self.theta[:, None]), jnp.asarray(words))
                    sums.append(float(theta.sum()))
            self.compare(name, solve(self.theta.sum(), sums))


if __name__ == "__main__":
    unittest.main()
