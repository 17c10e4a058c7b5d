"""Metrics that are functions of the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, floats
from ._warnings import warn

Divergences = tuple[Array, "Array | None"]


class Metric:
    """A symmetric positive definite matrix B(θ) as a vectorised function.

    `matrix` takes states of shape (n, dim) and returns matrices of shape (n, dim, dim). Its
    divergence comes from `derivative` (shape (n, dim, dim, dim), entry ``[c, i, j, k]`` is
    ∂B_ij/∂θ_k) where that is given, and otherwise from central differences, with 2·dim more
    matrices per state and step.

    >>> import numpy as np
    >>> import langevin as lv
    >>> def growing(theta):
    ...     size = 1.0 + (theta**2).sum(axis=1)
    ...     return size[:, None, None] * np.eye(theta.shape[1])
    >>> metric = lv.Metric(growing)
    >>> metric.divergence(np.array([[1.0, 3.0]]))[0].round(6)
    array([[2., 6.]])
    """

    def __init__(
        self,
        matrix: Callable[[Array], Any],
        derivative: Callable[[Array], Any] | None = None,
    ) -> None:
        if not callable(matrix):
            raise TypeError(f"matrix must be a function of theta, but is {matrix!r}")
        if derivative is not None and not callable(derivative):
            raise TypeError(f"derivative must be a function of theta, but is {derivative!r}")
        self.matrix = matrix
        self.derivative = derivative

    def divergence(self, theta: Array, j: Array | None = None) -> Divergences:
        """div B and, where J is given, div(BJ) at states of shape (n, dim).

        >>> import numpy as np
        >>> import langevin as lv
        >>> flat = lv.Metric(lambda theta: np.broadcast_to(np.eye(2), (len(theta), 2, 2)))
        >>> flat.divergence(np.zeros((1, 2)))[0]
        array([[0., 0.]])
        """
        theta, j = floats("theta", theta, 2), None if j is None else floats("j", j, 2)
        own = self._divergence()
        if own is not None:
            return own(theta, j)
        return self._contract(self._differences(theta), j)

    def error(self, theta: Array, j: Array | None = None) -> float:
        """How far the divergences may be off at states of shape (n, dim), as a fraction of the
        largest: the estimated error of central differences, or the distance of the given
        derivative from them.

        >>> import numpy as np
        >>> import langevin as lv
        >>> bent = lv.Metric(lambda t: np.exp(t[:, :1, None]) * np.eye(1))
        >>> bent.error(np.array([[0.5]])) < 1e-8
        True
        """
        theta, j = floats("theta", theta, 2), None if j is None else floats("j", j, 2)
        return _core.divergence_error(self.matrix, self._divergence(), theta, j)

    def _functions(self) -> tuple[Callable[..., Any], Callable[..., Any] | None]:
        return self.matrix, self._divergence()

    def _divergence(self) -> Callable[[Array, Array | None], Divergences] | None:
        derivative = self.derivative
        if derivative is None:
            return None

        def divergence(theta: Array, j: Array | None) -> Divergences:
            n, dim = theta.shape
            slopes = np.asarray(derivative(theta), dtype=np.float64)
            if slopes.shape != (n, dim, dim, dim):
                raise ValueError(
                    f"derivative returned an array of shape {slopes.shape}, "
                    f"but {(n, dim, dim, dim)} was expected"
                )
            return self._contract(slopes, j)

        return divergence

    @staticmethod
    def _contract(slopes: Array, j: Array | None) -> Divergences:
        div_b = np.einsum("cikk->ci", slopes)
        return div_b, None if j is None else np.einsum("cikj,kj->ci", slopes, j)

    def _differences(self, theta: Array) -> Array:
        n, dim = theta.shape
        slopes = np.empty((n, dim, dim, dim))
        for axis in range(dim):
            h = 6.1e-6 * np.maximum(np.abs(theta[:, axis]), 1.0)
            up, down = theta.copy(), theta.copy()
            up[:, axis] += h
            down[:, axis] -= h
            width = up[:, axis] - down[:, axis]
            rise = np.asarray(self.matrix(up)) - np.asarray(self.matrix(down))
            slopes[..., axis] = rise / width[:, None, None]
        return slopes


def check_divergence(metric: Metric, theta: Array, j: Array | None) -> float:
    """Refuses a derivative that is plainly wrong, warns where differences are rough."""
    error = metric.error(theta, j)
    if metric._divergence() is not None and not error < 1e-3:
        raise ValueError(
            "the derivative of the metric disagrees with central differences at the initial "
            f"states: they differ by {error:.1e} of the largest entry"
        )
    if not error < 1e-3:
        warn(
            "central differences of the metric may be off by "
            f"{error:.1e} of the largest divergence; give its derivative"
        )
    return error
