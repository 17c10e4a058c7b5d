"""The workloads of the benchmark: sizes, step sizes and data, the same for every program.

All run the Euler-Maruyama chain of dθ = [(βB + C)∇log π + div(βB + C)]dt + sqrt(2βB)dW with β = ½.
The time of a step does not depend on the step size, so step sizes are chosen such that a run of
`steps` steps forgets its start and a wrong program is found out by its averages.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
BETA = 0.5

#: Noise precision Γ_X = 0.25 I of the linear Gaussian model.
NOISE_PRECISION = 0.25
#: δ of the normal model's J = δ (0 1; −1 0).
NORMAL_DELTA = 2.0
#: α, the prior precision of logistic regression.
LOGISTIC_ALPHA = 1.0
#: λ, the prior precision of independent component analysis.
ICA_LAMBDA = 1.0
#: The entries ±1/(2√3) of C0, with which J = I⊗C0 + C0⊗I has norm 1.
ICA_C0 = 1.0 / (2.0 * np.sqrt(3.0))


@dataclass(frozen=True)
class Workload:
    """One row of the table."""

    name: str
    title: str
    dim: int
    n_data: int
    batch: int
    step_size: float
    #: Steps of every chain, and how many of them the averages leave out.
    steps: int
    burn_in: int


WORKLOADS: dict[str, Workload] = {
    w.name: w
    for w in [
        Workload("gaussian-ld", "linear Gaussian LD, n=2 of 10", 3, 10, 2, 5e-3, 5000, 1000),
        Workload("normal-ld", "normal LD, n=6 of 30", 2, 30, 6, 1e-2, 5000, 1000),
        Workload("normal-giirr", "normal GiIrr, n=6 of 30", 2, 30, 6, 1e-2, 5000, 1000),
        Workload("logistic-ld", "logistic LD, d=20, n=10 of 400", 20, 400, 10, 5e-4, 2500, 500),
        Workload("logistic-rm", "logistic RM (B = I + G⁻¹)", 20, 400, 10, 1e-3, 500, 100),
        Workload("logistic-giirr", "logistic GiIrr (B = I + G⁻¹)", 20, 400, 10, 1e-3, 500, 100),
        Workload("ica-ld", "ICA LD, 3×3, n=40 of 400", 9, 400, 40, 1e-4, 2000, 500),
        Workload("ica-giirr", "ICA GiIrr, 3×3, n=40 of 400", 9, 400, 40, 1e-4, 2000, 500),
    ]
}


@dataclass(frozen=True)
class KsdWorkload:
    """The whole curve of the kernel Stein discrepancy of `points` points in `dim` dimensions."""

    name: str
    title: str
    points: int
    dim: int = 9


KSD_WORKLOADS: dict[str, KsdWorkload] = {
    w.name: w
    for w in [
        KsdWorkload("ksd-1e4", "KSD curve, d=9, K=10⁴", 10_000),
        KsdWorkload("ksd-1e5", "KSD curve, d=9, K=10⁵", 100_000),
    ]
}


@functools.cache
def read_csv(path: str) -> np.ndarray:
    """The numbers of a file with one header line."""
    return np.loadtxt(ROOT / path, delimiter=",", skiprows=1, ndmin=2)


@dataclass(frozen=True)
class LinearGaussian:
    """Γ_X x_i for every observation, the posterior precision Γ and the prior precision."""

    observations: np.ndarray
    pulls: np.ndarray
    precision: np.ndarray
    prior_precision: np.ndarray


def linear_gaussian() -> LinearGaussian:
    x = read_csv("bench/data/linear-gaussian-observations.csv")
    prior = read_csv("bench/data/linear-gaussian-prior.csv")
    precision = prior + len(x) * NOISE_PRECISION * np.eye(3)
    return LinearGaussian(x, NOISE_PRECISION * x, precision, prior)


def normal_observations() -> np.ndarray:
    return read_csv("data/normal-observations.csv")[:, 0]


@functools.cache
def logistic_data() -> tuple[np.ndarray, np.ndarray]:
    """Features (z-scored over all 1000 rows) and labels of the 400 training rows."""
    table = read_csv("data/german-credit.csv")
    features, label, train = table[:, :20], table[:, 20], table[:, 21] == 1
    scored = (features - features.mean(0)) / features.std(0, ddof=1)
    return np.ascontiguousarray(scored[train]), np.ascontiguousarray(label[train])


def logistic_skew() -> np.ndarray:
    return read_csv("bench/data/logistic-skew.csv")


def ica_observations() -> np.ndarray:
    return read_csv("data/ica-observations.csv")


def ica_c0() -> np.ndarray:
    """δ times the sign pattern: + above the diagonal, − below."""
    return ICA_C0 * (np.triu(np.ones((3, 3)), 1) - np.tril(np.ones((3, 3)), -1))


def start(name: str, chains: int, seed: int) -> np.ndarray:
    """Initial states, one row per chain; ICA's column-major vec of a diagonal of random signs."""
    if name.startswith("normal"):
        return np.tile([5.0, 20.0], (chains, 1))
    theta = np.zeros((chains, WORKLOADS[name].dim))
    if name.startswith("ica"):
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(chains, 3))
        theta[:, [0, 4, 8]] = signs
    return theta


def ksd_points(points: int, dim: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Points without a pattern that any language makes alike, and the scores −x of N(0, I).

    Entry k is 4·frac(k·0.6180339887498949) − 2, row by row.
    """
    k = np.arange(points * dim, dtype=np.float64)
    x = 4.0 * np.modf(k * 0.618_033_988_749_894_9)[0] - 2.0
    x = x.reshape(points, dim)
    return x, -x
