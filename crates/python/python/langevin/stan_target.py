"""Stan models in shared libraries with BridgeStan's interface."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, count, states
from .metric import Metric
from .target import BaseTarget, Parameter


class StanTarget(BaseTarget):
    """A Stan model with its data; made by `from_stan`.

    >>> import langevin as lv
    >>> issubclass(lv.StanTarget, object)
    True
    """

    def __init__(
        self, library: str | os.PathLike[str], data: Any = None, seed: int = 0
    ) -> None:
        path = os.path.abspath(os.fspath(library))
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"there is no library {path}; build one with "
                "bridgestan.compile_model('model.stan') (pip install 'langevin[stan]')"
            )
        self._inner = _core.StanModel(path, _json(data), count("seed", seed, 0))
        self.name = self._inner.name
        self.dim = self._inner.dim
        self.parameters = (Parameter("theta", (self.dim,)),)
        self._names = _group(self._inner.parameter_names)

    def log_density(self, theta: ArrayLike) -> Any:
        """log π of one unconstrained state or of several, with the Jacobian."""
        rows, single = states(theta, self.dim)
        values, _ = self._inner.evaluate(rows)
        return float(values[0]) if single else values

    def score(self, theta: ArrayLike) -> Array:
        """∇ log π of one unconstrained state or of several."""
        rows, single = states(theta, self.dim)
        _, scores = self._inner.evaluate(rows)
        return scores[0] if single else scores

    def unconstrain(self, values: ArrayLike) -> Array:
        """States on the model's own scale, of shape (n,) or (chains, n), to `start=` of `sample`."""
        array = np.asarray(values, dtype=np.float64)
        rows = np.ascontiguousarray(np.atleast_2d(array))
        free = self._inner.unconstrain(rows)
        return free[0] if array.ndim == 1 else free

    def _run(self, settings: _core.Settings, metric: Metric | None) -> _core.Recorded:
        if metric is not None:
            return _core.sample_functions(
                (self.dim, 0, [], self.score, None), metric._functions(), settings
            )
        return _core.sample_stan(self._inner, settings)

    def _constrained(self, draws: Array) -> tuple[Array, tuple[Parameter, ...]]:
        chains, length = draws.shape[:2]
        flat = np.ascontiguousarray(draws.reshape(-1, self.dim))
        values = self._inner.constrain(flat)
        return values.reshape(chains, length, values.shape[1]), self._names


def _json(data: Any) -> str:
    """Data as Stan reads them: JSON, or the name of a file with it."""
    if data is None:
        return ""
    if isinstance(data, Mapping):

        def plain(value: Any) -> Any:
            return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value

        return json.dumps({key: plain(value) for key, value in data.items()})
    return str(os.fspath(data))


def _group(names: list[str]) -> tuple[Parameter, ...]:
    """`beta.1, beta.2` to a parameter `beta` of shape (2,); Stan runs through arrays column by
    column."""
    shapes: dict[str, tuple[int, ...]] = {}
    for full in names:
        name, *index = re.split(r"[.:]", full)
        shapes[name] = tuple(int(i) for i in index)
    return tuple(Parameter(name, shape, column_major=True) for name, shape in shapes.items())


def from_stan(
    library: str | os.PathLike[str], data: Any = None, *, seed: int = 0
) -> StanTarget:
    """A target from a Stan model that BridgeStan compiled to a shared library.

    `data` is a dictionary, JSON, or the name of a JSON file. Chains move on Stan's unconstrained
    scale, in all threads if the library was built with ``STAN_THREADS=true`` (pass ``threads=1``
    to `sample` otherwise); draws come back on the model's own scale with their own names.

    >>> import langevin as lv
    >>> import bridgestan  # doctest: +SKIP
    >>> library = bridgestan.compile_model("model.stan", make_args=["STAN_THREADS=true"])  # doctest: +SKIP
    >>> trace = lv.sample(lv.from_stan(library, {"N": 2, "y": [1.0, 3.0]}), step_size=0.01,
    ...                   steps=1_000)  # doctest: +SKIP
    """
    return StanTarget(library, data, seed)
