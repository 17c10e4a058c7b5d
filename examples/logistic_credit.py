"""Logistic regression on the German credit data: which dynamics should I use?

Run from the root of the project with

    python examples/logistic_credit.py [figure.png]

It compares the five dynamics on the posterior of 20 coefficients and answers with the squared
error that each reaches per second of computing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import langevin as lv

DATA = Path(__file__).parent.parent / "data" / "german-credit.csv"


def load() -> lv.LogisticRegression:
    """Features scaled to mean 0 and variance 1 over all rows; 400 rows to train on."""
    table = np.loadtxt(DATA, delimiter=",", skiprows=1)
    features, bad, train = table[:, :20], table[:, 20], table[:, 21] == 1
    features = (features - features.mean(axis=0)) / features.std(axis=0, ddof=1)
    return lv.LogisticRegression(features[train], bad[train], prior_precision=1.0)


def main(n_steps: int = 25_000, n_chains: int = 32) -> lv.Comparison:
    """Samples under the five dynamics and says which is worth it."""
    target = load()
    print(target)
    comparison = lv.compare(
        target,
        ["LD", "RM", "Irr", "RMIrr", "GiIrr"],
        step_size=2e-3,
        n_steps=n_steps,
        burn_in=n_steps // 10,
        n_batches=10,
        n_chains=n_chains,
        seed=0,
    )
    print(comparison.table())
    for observable in comparison.observables:
        rows = [row for row in comparison.rows() if row.observable == observable]
        per_time = min(rows, key=lambda row: row.variance.mean)
        per_second = min(rows, key=lambda row: row.cost)
        print(
            f"{observable}: {per_time.dynamics} has the smallest variance per unit of time "
            f"({per_time.gain} times better than LD), {per_second.dynamics} per second of computing"
        )
    return comparison


if __name__ == "__main__":
    result = main()
    if len(sys.argv) > 1:
        result.plot().savefig(sys.argv[1], dpi=150)
