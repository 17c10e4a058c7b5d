"""What the tests share: one small posterior in many forms."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import langevin as lv

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def data() -> np.ndarray:
    """Forty normal observations."""
    return np.random.default_rng(0).normal(3.0, 2.0, size=40)


@pytest.fixture(scope="session")
def native(data: np.ndarray) -> lv.NormalParameters:
    """The native posterior of their mean and standard deviation."""
    return lv.NormalParameters(data)


@pytest.fixture(scope="session")
def logistic() -> tuple[np.ndarray, np.ndarray, lv.LogisticRegression]:
    """Signs of labels, features, and the native logistic regression on them."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 4))
    y = (rng.random(60) < 1 / (1 + np.exp(-x @ [1.0, -1.0, 0.5, 0.0]))).astype(float)
    return 2 * y - 1, x, lv.LogisticRegression(x, y, prior_precision=0.5)
