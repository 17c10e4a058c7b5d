"""Compiled log densities by address: numba's `cfunc`, C, or anything with the same signature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, count, states
from .metric import Metric
from .target import BaseTarget, ParametersArgument, parameters_of


class CompiledTarget(BaseTarget):
    """A compiled log density; made by `from_cfunc`.

    >>> import langevin as lv
    >>> lv.CompiledTarget("not an address", dim=2)
    Traceback (most recent call last):
    TypeError: function must be the address of a compiled function or have an attribute address, but is 'not an address'
    """

    def __init__(
        self,
        function: Any,
        dim: int,
        user_data: int = 0,
        parameters: ParametersArgument = None,
        name: str = "compiled",
    ) -> None:
        self.name = name
        self.dim = count("dim", dim, 1)
        self.parameters = parameters_of(parameters, self.dim)
        address = getattr(function, "address", function)
        if isinstance(address, bool) or not isinstance(address, (int, np.integer)):
            raise TypeError(
                "function must be the address of a compiled function or have an attribute "
                f"address, but is {function!r}"
            )
        # The function must live as long as its address is used.
        self._keep = function
        self._inner = _core.Compiled(int(address), self.dim, count("user_data", user_data, 0))

    def log_density(self, theta: ArrayLike) -> Any:
        """log π up to a constant, of one state or of several; NaN where the function fails."""
        rows, single = states(theta, self.dim)
        values, _ = self._inner.evaluate(rows)
        return float(values[0]) if single else values

    def score(self, theta: ArrayLike) -> Array:
        """∇ log π of one state or of several; NaN where the function fails."""
        rows, single = states(theta, self.dim)
        _, scores = self._inner.evaluate(rows)
        return scores[0] if single else scores

    def _native(self) -> _core.Target:
        return self._inner


def from_cfunc(
    function: Any,
    dim: int,
    *,
    user_data: int = 0,
    parameters: ParametersArgument = None,
    name: str = "compiled",
) -> CompiledTarget:
    """A target from a compiled function with the signature that nutpie uses::

        int64 f(uint64 dim, double *theta, double *gradient, double *log_density, void *user_data)

    `function` is its address, or an object with an attribute ``address`` such as numba's `cfunc`;
    it returns 0 on success. It is called without the interpreter lock and from several threads.
    The address is trusted: a wrong one crashes the process.

    >>> import langevin as lv
    >>> from numba import carray, cfunc, types
    >>> number = types.CPointer(types.double)
    >>> @cfunc(types.int64(types.uint64, number, number, number, types.voidptr))
    ... def normal(dim, theta, gradient, value, _):
    ...     x, g = carray(theta, (dim,)), carray(gradient, (dim,))
    ...     g[:] = -x
    ...     value[0] = -0.5 * (x * x).sum()
    ...     return 0
    >>> target = lv.from_cfunc(normal, 3)
    >>> target.log_density([1.0, 1.0, 1.0])
    -1.5
    >>> lv.sample(target, step_size=0.1, n_steps=100, seed=0, progress=False)
    Trace(4 chains × 100 draws of theta; LD, seed 0)
    """
    return CompiledTarget(function, dim, user_data, parameters, name)
