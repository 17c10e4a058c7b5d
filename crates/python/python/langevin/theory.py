"""Exact answers: what a sampler must return, computed without sampling.

Observables are "sum", "sum_of_squares", "square_of_sum", the number of a coordinate, or a pair
(v, S) that stands for v·θ + θᵀSθ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, count, flag, floats, number, real
from .dynamics import Dynamics
from .models import LinearGaussian, NormalParameters

__all__ = ["EulerChain", "Gaussian", "Moments", "Normal"]

Observable = Union[str, int, tuple[ArrayLike, ArrayLike]]


def _observable(value: Observable, dim: int) -> tuple[Array, Array]:
    zeros, square = np.zeros(dim), np.zeros((dim, dim))
    if isinstance(value, tuple) and len(value) == 2:
        return floats("v", value[0], 1), floats("S", value[1], 2)
    if isinstance(value, (int, np.integer)):
        coordinate = count("a coordinate", value, 0)
        if coordinate >= dim:
            raise ValueError(f"there is no coordinate {coordinate}; dim is {dim}")
        return np.eye(dim)[coordinate], square
    if value == "sum":
        return np.ones(dim), square
    if value == "sum_of_squares":
        return zeros, np.eye(dim)
    if value == "square_of_sum":
        return zeros, np.ones((dim, dim))
    raise ValueError(
        f"there is no observable called {value!r}; "
        "expected sum, sum_of_squares, square_of_sum, a coordinate or (v, S)"
    )


@dataclass(frozen=True)
class Moments:
    """Bias and variance of an estimator.

    >>> from langevin.theory import Moments
    >>> Moments(bias=0.5, variance=0.25).mean_squared_error
    0.5
    """

    bias: float
    variance: float

    @property
    def mean_squared_error(self) -> float:
        """Squared bias plus variance.

        >>> from langevin.theory import Moments
        >>> Moments(bias=2.0, variance=1.0).mean_squared_error
        5.0
        """
        return self.bias**2 + self.variance


class Gaussian:
    """A Gaussian posterior under dynamics with a constant metric, in continuous time.

    >>> import langevin as lv
    >>> target = lv.LinearGaussian([[1.0], [2.0], [6.0]])
    >>> exact = lv.theory.Gaussian(target, "LD")
    >>> round(exact.expectation("sum"), 12)
    2.25
    >>> round(exact.asymptotic_variance("sum"), 12)
    0.25
    """

    def __init__(self, target: LinearGaussian, dynamics: Dynamics | str = "LD") -> None:
        if not isinstance(target, LinearGaussian):
            raise TypeError(f"target must be a LinearGaussian, but is {target!r}")
        chosen = Dynamics.of(dynamics)
        self._target = target
        dim = target.dim
        metric: Any = target.metric if chosen.metric is None else chosen.metric
        if isinstance(metric, str):
            named = target._metric_named(metric)
            b = np.eye(dim) if named == "identity" else np.linalg.inv(target.precision)
            b = (b + b.T) / 2
        elif callable(metric) or not np.ndim(metric):
            raise TypeError("exact answers need a constant metric: a name or an array")
        else:
            b = real("metric", metric)
            b = np.diag(b) if b.ndim == 1 else b
        c = np.zeros((dim, dim))
        if chosen.field != "none":
            skew = chosen.skew if chosen.skew is not None else target._default_skew()
            j = skew.matrix(dim)
            c = j if chosen.field == "constant" else (j @ b + b @ j) / 2
        self._inner = _core.LinearDiffusion(
            target.precision, target.mean, np.ascontiguousarray(b), c, chosen.beta
        )

    @property
    def largest_stable_step(self) -> float:
        """Step sizes from here on make the Euler–Maruyama chain explode.

        >>> import langevin as lv
        >>> exact = lv.theory.Gaussian(lv.LinearGaussian([[1.0], [2.0], [6.0]]), "LD")
        >>> round(exact.largest_stable_step, 12)
        1.0
        """
        return self._inner.largest_stable_step

    def expectation(self, observable: Observable) -> float:
        """The posterior expectation.

        >>> import langevin as lv
        >>> round(lv.theory.Gaussian(lv.LinearGaussian([[3.0]])).expectation("sum"), 12)
        1.5
        """
        return self._inner.expectation(_observable(observable, self._target.dim))

    def asymptotic_variance(self, observable: Observable) -> float:
        """lim T·Var of the time average over [0, T].

        >>> import langevin as lv
        >>> round(lv.theory.Gaussian(lv.LinearGaussian([[3.0]])).asymptotic_variance("sum"), 12)
        1.0
        """
        return self._inner.asymptotic_variance(_observable(observable, self._target.dim))

    def batch_means_expectation(
        self, observable: Observable, n_batches: int, batch_time: float
    ) -> float:
        """The expectation of the batch-means estimator, in stationarity.

        >>> import langevin as lv
        >>> exact = lv.theory.Gaussian(lv.LinearGaussian([[3.0]]))
        >>> exact.batch_means_expectation("sum", 20, 100.0) < exact.asymptotic_variance("sum")
        True
        """
        phi = _observable(observable, self._target.dim)
        return self._inner.batch_means_expectation(
            phi, count("n_batches", n_batches, 2), number("batch_time", batch_time)
        )

    def euler_maruyama(
        self, step_size: float, batch_size: int | None = None, with_replacement: bool = False
    ) -> EulerChain:
        """The chain with this step size, and with minibatches of this size.

        >>> import langevin as lv
        >>> exact = lv.theory.Gaussian(lv.LinearGaussian([[1.0], [2.0]]))
        >>> exact.euler_maruyama(0.1, batch_size=1).stationary_covariance.shape
        (1, 1)
        """
        minibatch = None
        replaced = flag("with_replacement", with_replacement)
        if replaced and batch_size is None:
            raise ValueError("with_replacement has no effect without a batch_size")
        if batch_size is not None:
            size = count("batch_size", batch_size, 1)
            minibatch = (self._target.data, self._target.noise_precision, size, replaced)
        inner = self._inner.euler_maruyama(number("step_size", step_size), minibatch)
        return EulerChain(inner, self._target.dim)


class EulerChain:
    """An Euler–Maruyama chain on a Gaussian posterior; made by `Gaussian.euler_maruyama`.

    >>> import langevin as lv
    >>> chain = lv.theory.Gaussian(lv.LinearGaussian([[1.0], [2.0]])).euler_maruyama(0.1)
    >>> round(chain.expectation("sum"), 12)
    1.0
    """

    def __init__(self, inner: _core.EulerChain, dim: int) -> None:
        self._inner = inner
        self._dim = dim

    @property
    def stationary_covariance(self) -> Array:
        """The covariance of the chain's stationary law.

        >>> import langevin as lv
        >>> chain = lv.theory.Gaussian(lv.LinearGaussian([[1.0]])).euler_maruyama(0.1)
        >>> chain.stationary_covariance.round(6)
        array([[0.526316]])
        """
        return self._inner.stationary_covariance()

    def expectation(self, observable: Observable) -> float:
        """The stationary expectation.

        >>> import langevin as lv
        >>> chain = lv.theory.Gaussian(lv.LinearGaussian([[1.0]])).euler_maruyama(0.1)
        >>> round(chain.expectation(0), 12)
        0.5
        """
        return self._inner.mean(_observable(observable, self._dim))

    def asymptotic_variance(self, observable: Observable) -> float:
        """lim T·Var of the average over the steps of a time T.

        >>> import langevin as lv
        >>> chain = lv.theory.Gaussian(lv.LinearGaussian([[3.0]])).euler_maruyama(0.1)
        >>> round(chain.asymptotic_variance("sum"), 12)
        1.0
        """
        return self._inner.asymptotic_variance(_observable(observable, self._dim))

    def batch_means_expectation(
        self,
        observable: Observable,
        n_batches: int,
        batch_steps: int,
        start: ArrayLike | None = None,
    ) -> float:
        """The expectation of the batch-means estimator, from a start or in stationarity.

        >>> import langevin as lv
        >>> chain = lv.theory.Gaussian(lv.LinearGaussian([[3.0]])).euler_maruyama(0.1)
        >>> 0 < chain.batch_means_expectation("sum", 20, 100) < 1.0
        True
        """
        phi = _observable(observable, self._dim)
        theta = None if start is None else floats("start", start, 1)
        return self._inner.batch_means_expectation(
            phi, count("n_batches", n_batches, 2), count("batch_steps", batch_steps, 1), theta
        )

    def running_average(
        self, observable: Observable, n_steps: int, start: ArrayLike
    ) -> Moments:
        """Bias and variance of the average over the first `n_steps` states from a start.

        >>> import langevin as lv
        >>> chain = lv.theory.Gaussian(lv.LinearGaussian([[3.0]])).euler_maruyama(0.1)
        >>> round(chain.running_average("sum", 1, [0.0]).bias, 12)
        -1.5
        """
        phi = _observable(observable, self._dim)
        states, theta = count("n_steps", n_steps, 1), floats("start", start, 1)
        return Moments(*self._inner.running_average(phi, states, theta))


class Normal:
    """The posterior of mean and standard deviation of normal data, θ = (mu, sigma), and diffusions
    on it.  The skew matrix must be a `sign_skew` (any 2 × 2 skew matrix is one).

    >>> import langevin as lv
    >>> data = [float(x) for x in range(30)]
    >>> exact = lv.theory.Normal(lv.NormalParameters(data), lv.GiIrr(skew=lv.sign_skew(2.0)))
    >>> round(exact.expectation(0), 9)
    14.5
    """

    def __init__(self, target: NormalParameters, dynamics: Dynamics | str = "LD") -> None:
        if not isinstance(target, NormalParameters):
            raise TypeError(f"target must be a NormalParameters, but is {target!r}")
        chosen = Dynamics.of(dynamics)
        self._posterior = _core.NormalPosterior(
            target.n_data, target.sample_mean, target.sample_sd
        )
        metric = target.metric if chosen.metric is None else chosen.metric
        if not isinstance(metric, str):
            raise TypeError("exact answers need the metric 'identity' or 'natural'")
        natural = target._metric_named(metric) != "identity"
        delta = 0.0
        if chosen.field != "none":
            skew = chosen.skew if chosen.skew is not None else target._default_skew()
            j = skew.matrix(2)
            if j.shape != (2, 2):
                raise ValueError(f"J has size {len(j)}, but the target has 2 coordinates")
            delta = float(j[0, 1])
        self._arguments = (natural, chosen.field, delta, chosen.beta)
        self._diffusion: _core.NormalDiffusion | None = None

    def _inner(self) -> _core.NormalDiffusion:
        if self._diffusion is None:
            self._diffusion = _core.NormalDiffusion(self._posterior, *self._arguments)
        return self._diffusion

    def expectation(self, observable: Observable) -> float:
        """The posterior expectation.

        >>> import langevin as lv
        >>> exact = lv.theory.Normal(lv.NormalParameters([-1.0, 0.0, 1.0, 2.0]))
        >>> round(exact.expectation(0), 12)
        0.5
        """
        return self._posterior.expectation(_observable(observable, 2))

    def variance(self, observable: Observable) -> float:
        """The posterior variance.

        >>> import langevin as lv
        >>> exact = lv.theory.Normal(lv.NormalParameters([float(x) for x in range(30)]))
        >>> exact.variance(0) > 0
        True
        """
        return self._posterior.variance(_observable(observable, 2))

    def asymptotic_variance(self, observable: Observable) -> float:
        """lim T·Var of the time average over [0, T]; needs at least 11 data.

        >>> import langevin as lv
        >>> target = lv.NormalParameters([float(x) for x in range(30)])
        >>> gi = lv.theory.Normal(target, lv.GiIrr(skew=lv.sign_skew(2.0)))
        >>> gi.asymptotic_variance("sum") < lv.theory.Normal(target).asymptotic_variance("sum")
        True
        """
        return self._inner().asymptotic_variance(_observable(observable, 2))

    def batch_means_expectation(
        self, observable: Observable, n_batches: int, batch_time: float
    ) -> float:
        """The expectation of the batch-means estimator, in stationarity.

        >>> import langevin as lv
        >>> exact = lv.theory.Normal(lv.NormalParameters([float(x) for x in range(30)]))
        >>> exact.batch_means_expectation("sum", 20, 50.0) > 0
        True
        """
        phi = _observable(observable, 2)
        return self._inner().batch_means_expectation(
            phi, count("n_batches", n_batches, 2), number("batch_time", batch_time)
        )
