"""Targets and metrics written with JAX, differentiated by JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, count, floats, states
from ._extras import require
from .metric import Divergences, Metric
from .target import BaseTarget, ParametersArgument, Target, parameters_of, scales_of


def _double(jax: Any) -> Any:
    """Double precision, which JAX does not use unless told."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return jax.experimental.enable_x64()


class JaxMetric(Metric):
    """A metric B(θ) as a JAX function of one state; its divergences are derived by JAX.

    >>> import numpy as np
    >>> import jax.numpy as jnp
    >>> import langevin as lv
    >>> metric = lv.JaxMetric(lambda t: (1.0 + t @ t) * jnp.eye(2))
    >>> metric.divergence(np.array([[1.0, 3.0]]))[0]
    array([[2., 6.]])
    """

    def __init__(self, matrix: Callable[[Any], Any]) -> None:
        if not callable(matrix):
            raise TypeError(f"matrix must be a function of theta, but is {matrix!r}")
        jax = require("jax", "jax")
        self._jax = jax
        self._matrix = jax.jit(jax.vmap(matrix))

        def divergences(theta: Any, j: Any) -> Any:
            """div B and div(BJ) from one directional derivative for each coordinate."""

            def slope(axis: Any) -> Any:
                unit = jax.nn.one_hot(axis, theta.shape[0], dtype=theta.dtype)
                b = jax.jvp(matrix, (theta,), (unit,))[1]
                return b[:, axis], b @ j[:, axis]

            columns = jax.lax.map(slope, jax.numpy.arange(theta.shape[0]))
            return columns[0].sum(axis=0), columns[1].sum(axis=0)

        self._divergences = jax.jit(jax.vmap(divergences, in_axes=(0, None)))
        super().__init__(self._call_matrix)

    def _call_matrix(self, theta: Array) -> Array:
        with _double(self._jax):
            return np.asarray(self._matrix(theta), dtype=np.float64)

    def _divergence(self) -> Callable[[Array, Array | None], Divergences]:
        def divergence(theta: Array, j: Array | None) -> Divergences:
            matrix = np.zeros((theta.shape[1],) * 2) if j is None else j
            with _double(self._jax):
                div_b, div_bj = self._divergences(theta, matrix)
                return np.asarray(div_b), None if j is None else np.asarray(div_bj)

        return divergence


class JaxTarget(BaseTarget):
    """A log density written with JAX; made by `from_jax`.

    >>> import langevin as lv
    >>> target = lv.JaxTarget(lambda t: -0.5 * (t @ t), dim=2)
    >>> target.log_density([1.0, 1.0])
    -1.0
    """

    def __init__(
        self,
        log_density: Callable[[Any], Any],
        dim: int,
        *,
        log_likelihood: Callable[[Any, Any], Any] | None = None,
        data: ArrayLike | None = None,
        metric: Callable[[Any], Any] | Metric | None = None,
        positive: Sequence[int] = (),
        parameters: ParametersArgument = None,
        name: str = "jax",
    ) -> None:
        for label, function in (("log_density", log_density), ("log_likelihood", log_likelihood)):
            if function is not None and not callable(function):
                raise TypeError(f"{label} must be a function, but is {function!r}")
        if log_density is None or (log_likelihood is None) != (data is None):
            raise TypeError("log_likelihood and data go together, along with the log prior")
        jax = require("jax", "jax")
        self._jax = jax
        self.name = name
        self.dim = count("dim", dim, 1)
        self.parameters = parameters_of(parameters, self.dim)
        self.scales = scales_of(parameters)
        if metric is not None:
            self.metric = metric if isinstance(metric, Metric) else JaxMetric(metric)
        prior_score = jax.vmap(jax.grad(log_density))
        if log_likelihood is None:
            total, self._score = log_density, jax.jit(prior_score)
            self._inner = Target(
                self.dim, score=self._call_score, positive=positive, name=name
            )
        else:
            likelihood = jax.vmap(log_likelihood, in_axes=(None, 0))
            table = floats("data", np.atleast_2d(np.asarray(data).T).T, 2)
            self.n_data = len(table)

            def total(theta: Any) -> Any:
                return log_density(theta) + likelihood(theta, table).sum()

            def batch(theta: Any, rows: Any, weight: Any) -> Any:
                def value(t: Any) -> Any:
                    return log_density(t) + weight * likelihood(t, table_of()[rows]).sum()

                return jax.grad(value)(theta)

            def table_of() -> Any:
                return jax.numpy.asarray(table)

            self._score = jax.jit(jax.vmap(jax.grad(total)))
            self._batch_score = jax.jit(jax.vmap(batch, in_axes=(0, 0, None)))
            self._inner = Target(
                self.dim,
                score=self._call_score,
                datum_score=self._unused,
                n_data=self.n_data,
                positive=positive,
                name=name,
            )
        self._value = jax.jit(jax.vmap(total))
        self._both = jax.jit(jax.vmap(jax.value_and_grad(total)))

    def log_density(self, theta: ArrayLike) -> Any:
        """log π up to a constant, of one state or of several."""
        rows, single = states(theta, self.dim)
        with _double(self._jax):
            values = np.asarray(self._value(rows), dtype=np.float64)
        return float(values[0]) if single else values

    def score(self, theta: ArrayLike) -> Array:
        """∇ log π of one state or of several."""
        return self._inner.score(theta)

    def _call_score(self, theta: Array) -> Array:
        with _double(self._jax):
            return np.asarray(self._score(theta), dtype=np.float64)

    def _call_batch(self, theta: Array, rows: Any) -> Array:
        with _double(self._jax):
            weight = self.n_data / rows.shape[1]
            return np.asarray(self._batch_score(theta, rows, weight), dtype=np.float64)

    @staticmethod
    def _unused(theta: Array, rows: Any) -> Array:
        raise NotImplementedError

    def _native(self) -> _core.Target:
        batch = self._call_batch if self.n_data else None
        return (
            self.dim, self.n_data, self._inner.positive, self._call_score, batch, self._density
        )

    def _density(self, theta: Array) -> tuple[Array, Array]:
        with _double(self._jax):
            values, scores = self._both(theta)
            return np.asarray(values, np.float64), np.asarray(scores, np.float64)


def from_jax(
    log_density: Callable[[Any], Any],
    dim: int,
    *,
    log_likelihood: Callable[[Any, Any], Any] | None = None,
    data: ArrayLike | None = None,
    metric: Callable[[Any], Any] | Metric | None = None,
    positive: Sequence[int] = (),
    parameters: ParametersArgument = None,
    name: str = "jax",
) -> JaxTarget:
    """A target from a JAX function of one state of shape (dim,), in double precision.

    For minibatches, `log_density` is the log prior, and `log_likelihood(theta, row)` is that of
    one row of `data`. `metric` is a JAX function from a state to B of shape (dim, dim), which
    RM, RMIrr and GiIrr then use; its divergences are derived by JAX too.

    >>> import langevin as lv
    >>> target = lv.from_jax(lambda t: -0.5 * (t @ t), dim=3)
    >>> target.score([1.0, 2.0, 3.0])
    array([-1., -2., -3.])
    """
    return JaxTarget(
        log_density,
        dim,
        log_likelihood=log_likelihood,
        data=data,
        metric=metric,
        positive=positive,
        parameters=parameters,
        name=name,
    )
