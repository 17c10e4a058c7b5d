"""Writes the inputs of the benchmark that are not among the data sets in `data/`.

Deterministic: the files are committed, and running this program again reproduces them byte for
byte. Data that an experiment shares with the benchmark are read from `data/` instead.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "data"


def write(name: str, header: str, values: np.ndarray) -> None:
    """Numbers with all their digits, one row per line."""
    lines = [header] + [",".join(repr(float(v)) for v in row) for row in values]
    (FOLDER / name).write_text("\n".join(lines) + "\n")


def linear_gaussian(rng: np.random.Generator) -> None:
    """Ten observations in three dimensions; a prior precision with eigenvalues 0.2, 0.01, 0.05."""
    truth = np.array([-0.4, -1.6, 1.5])
    observations = truth + 2.0 * rng.standard_normal((10, 3))
    basis, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    precision = (basis * [0.2, 0.01, 0.05]) @ basis.T
    write("linear-gaussian-observations.csv", "x1,x2,x3", observations.round(12))
    write("linear-gaussian-prior.csv", "g1,g2,g3", (0.5 * (precision + precision.T)).round(12))


def logistic_skew(rng: np.random.Generator, dim: int = 20) -> None:
    """Random signs below the diagonal, their negatives above, scaled to spectral norm 1."""
    lower = np.tril(rng.choice([-1.0, 1.0], size=(dim, dim)), -1)
    skew = lower - lower.T
    skew = (skew / np.linalg.norm(skew, 2)).round(15)
    write("logistic-skew.csv", ",".join(f"j{i + 1}" for i in range(dim)), skew)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    linear_gaussian(np.random.default_rng(1))
    logistic_skew(np.random.default_rng(2))


if __name__ == "__main__":
    main()
