"""The models of the library: native, fast, with their own metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, count, floats, number, states
from .metric import Metric
from .skew import Skew, kronecker_skew
from .target import BaseTarget, Parameter


class NativeTarget(BaseTarget):
    """What the native models share."""

    #: Names of its metrics, besides "identity".
    _metrics: tuple[str, ...] = ()

    def __init__(self, model: _core.Model) -> None:
        self._model = model
        self.name = model.name
        self.dim = model.dim
        self.n_data = model.n_data
        self.metric = model.default_metric
        self.parameters = tuple(
            Parameter(name, tuple(shape), column_major)
            for name, shape, column_major in model.parameters
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim}, n_data={self.n_data})"

    def log_density(self, theta: ArrayLike) -> Any:
        """log π up to a constant, of one state or of several.

        >>> import langevin as lv
        >>> target = lv.LogisticRegression([[1.0], [-1.0]], [1, 0])
        >>> round(target.log_density([0.0]), 6)
        -1.386294
        """
        rows, single = states(theta, self.dim)
        values = self._model.log_density(rows)
        return float(values[0]) if single else values

    def score(self, theta: ArrayLike) -> Array:
        """∇ log π of one state or of several.

        >>> import langevin as lv
        >>> lv.LogisticRegression([[1.0], [-1.0]], [1, 0]).score([0.0])
        array([1.])
        """
        rows, single = states(theta, self.dim)
        values = self._model.score(rows)
        return values[0] if single else values

    def _native(self) -> _core.Target:
        return self._model

    def _metric_named(self, name: str) -> str | Metric:
        if name == "identity":
            return name
        if name not in self._metrics:
            names = ", ".join(["identity", *self._metrics])
            raise ValueError(
                f"the model {self.name!r} has no metric called {name!r}; expected one of {names}"
            )
        return name

    def _default_start(self, n_chains: int, seed: int) -> Array | None:
        return self._model.default_start(n_chains, seed)


class LinearGaussian(NativeTarget):
    """The mean θ of data with known noise precision, under a Gaussian prior around 0.

    `data` has shape (N, dim). A number as a precision stands for that number times the identity.

    >>> import langevin as lv
    >>> target = lv.LinearGaussian([[1.0], [2.0], [6.0]])
    >>> target.mean
    array([2.25])
    """

    _metrics = ("natural",)

    def __init__(
        self,
        data: ArrayLike,
        noise_precision: ArrayLike = 1.0,
        prior_precision: ArrayLike = 1.0,
    ) -> None:
        self.data = floats("data", data, 2)
        dim = self.data.shape[1]

        def precision(name: str, value: ArrayLike) -> Array:
            if np.ndim(value) == 0:
                return np.eye(dim) * number(name, value)
            return floats(name, value, 2)

        self.noise_precision = precision("noise_precision", noise_precision)
        prior = precision("prior_precision", prior_precision)
        super().__init__(_core.Model.linear_gaussian(self.data, self.noise_precision, prior))
        gaussian = self._model.gaussian()
        assert gaussian is not None
        self.mean, self.precision = gaussian

    def exact_draws(self, n: int, seed: int = 0) -> Array:
        """Independent draws from the posterior, of shape (n, dim).

        >>> import langevin as lv
        >>> lv.LinearGaussian([[1.0], [2.0]]).exact_draws(5).shape
        (5, 1)
        """
        return self._model.exact_draws(count("n", n, 1), count("seed", seed, 0))


class NormalParameters(NativeTarget):
    """Mean and standard deviation of normal data under a flat prior, θ = (mu, sigma).

    Chains start at the sample moments unless told otherwise.

    >>> import langevin as lv
    >>> target = lv.NormalParameters([-1.0, 0.0, 1.0, 4.0])
    >>> target.sample_mean
    1.0
    """

    _metrics = ("natural",)

    def __init__(self, data: ArrayLike) -> None:
        self.data = floats("data", data, 1)
        super().__init__(_core.Model.normal(self.data))
        moments = self._model.sample_moments()
        assert moments is not None
        self.sample_mean, self.sample_sd = moments

    def exact_draws(self, n: int, seed: int = 0) -> Array:
        """Independent draws from the posterior, of shape (n, 2).

        >>> import langevin as lv
        >>> lv.NormalParameters([-1.0, 0.0, 1.0, 4.0]).exact_draws(5).shape
        (5, 2)
        """
        return self._model.exact_draws(count("n", n, 1), count("seed", seed, 0))


class LogisticRegression(NativeTarget):
    """Logistic regression with labels 0 and 1 and a Gaussian prior of the given precision.

    `X` has shape (N, dim). Metrics: "natural" is G(w)⁻¹ with G the Fisher information plus the
    prior precision, "natural+identity" is I + G(w)⁻¹.

    >>> import numpy as np
    >>> import langevin as lv
    >>> X = np.array([[1.0, 0.5], [1.0, -0.3], [1.0, 1.2]])
    >>> lv.LogisticRegression(X, [1, 0, 1], prior_precision=1.0).dim
    2
    """

    _metrics = ("natural", "natural+identity")

    def __init__(self, X: ArrayLike, y: ArrayLike, prior_precision: float = 1.0) -> None:
        features, labels = floats("X", X, 2), floats("y", y, 1)
        precision = number("prior_precision", prior_precision)
        super().__init__(_core.Model.logistic(features, labels, precision))


class Ica(NativeTarget):
    """Independent component analysis: the de-mixing matrix W of signals with a sech² density.

    `data` has shape (N, m). Metrics: "natural" is WᵀW ⊗ I, "natural+identity" is
    (I + WᵀW) ⊗ I. Chains start at diagonal matrices of random signs unless told otherwise.

    >>> import numpy as np
    >>> import langevin as lv
    >>> lv.Ica(np.random.default_rng(0).logistic(size=(50, 3))).parameters[0].shape
    (3, 3)
    """

    _metrics = ("natural", "natural+identity")

    def __init__(self, data: ArrayLike, prior_precision: float = 1.0) -> None:
        precision = number("prior_precision", prior_precision)
        super().__init__(_core.Model.ica(floats("data", data, 2), precision))

    def _default_skew(self) -> Skew:
        return kronecker_skew()
