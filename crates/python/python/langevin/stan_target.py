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
from ._arrays import Array, count, real, states
from ._extras import require
from .metric import Metric
from .target import BaseTarget, Parameter


class StanTarget(BaseTarget):
    """A Stan model with its data; made by `from_stan`.

    >>> import bridgestan
    >>> import langevin as lv
    >>> target = lv.StanTarget(bridgestan.compile_model("normal.stan"), {"N": 2, "x": [1.0, 3.0]})
    >>> target.score([2.0, 0.0])
    array([0., 1.])
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
        if path.endswith(".stan"):
            bridgestan = require("bridgestan", "stan")
            path = str(bridgestan.compile_model(path, make_args=["STAN_THREADS=true"]))
        self._inner = _core.StanModel(path, _json(data), count("seed", seed, 0))
        self.name = self._inner.name
        self.dim = self._inner.dim
        #: Whether chains run in several threads: whether it was built with STAN_THREADS=true.
        self.threaded = self._inner.threaded
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
        """States on the model's own scale, of shape (n,) or (chains, n), to `start=` of `sample`.

        >>> import bridgestan
        >>> import langevin as lv
        >>> library = bridgestan.compile_model("normal.stan")
        >>> lv.from_stan(library, {"N": 2, "x": [1.0, 3.0]}).unconstrain([5.0, 1.0])
        array([5., 0.])
        """
        array = real("values", values)
        rows = np.ascontiguousarray(np.atleast_2d(array))
        free = self._inner.unconstrain(rows)
        return free[0] if array.ndim == 1 else free

    def _draw_labels(self) -> list[str] | None:
        return None

    def _native(self) -> _core.Target:
        return self._inner

    def _constrained(self, draws: Array) -> tuple[Array, tuple[Parameter, ...]]:
        chains, length = draws.shape[:2]
        flat = np.ascontiguousarray(draws.reshape(-1, self.dim))
        values = self._inner.constrain(flat)
        return values.reshape(chains, length, values.shape[1]), self._names


def _json(data: Any) -> str:
    """Data as Stan reads them: JSON, from a dictionary, a text or a file."""
    if data is None:
        return ""
    if isinstance(data, Mapping):
        return json.dumps(dict(data), default=lambda value: np.asarray(value).tolist())
    text = str(os.fspath(data))
    if not text.strip() or text.lstrip().startswith("{"):
        return text
    with open(text, encoding="utf-8") as file:
        return file.read()


def _group(names: list[str]) -> tuple[Parameter, ...]:
    """`beta.1, beta.2` to a parameter `beta` of shape (2,); Stan runs through arrays column by
    column. Parts of tuples and complex numbers (`z.real`) keep their names."""
    shapes: dict[str, tuple[int, ...]] = {}
    for full in names:
        name = re.sub(r"(\.\d+)+$", "", full)
        index = full[len(name) :].split(".")[1:]
        shapes[name] = tuple(int(i) for i in index)
    return tuple(Parameter(name, shape, column_major=True) for name, shape in shapes.items())


def from_stan(
    library: str | os.PathLike[str], data: Any = None, *, seed: int = 0
) -> StanTarget:
    """A target from a Stan model that BridgeStan (version 2) compiled to a shared library.

    `library` is what ``bridgestan.compile_model`` returned, unchanged, or a .stan file, which is
    then compiled by it. `data` is a dictionary, JSON, or the name of a JSON file. Chains move on
    Stan's unconstrained scale; draws come back on the model's own scale with their own names,
    without transformed parameters and generated quantities.

    Chains run without the interpreter lock: in all threads if the library was built with
    ``make_args=["STAN_THREADS=true"]``, as it says itself, and otherwise in one.

    >>> import bridgestan
    >>> import langevin as lv
    >>> library = bridgestan.compile_model("normal.stan", make_args=["STAN_THREADS=true"])
    >>> target = lv.from_stan(library, {"N": 3, "x": [1.0, 2.0, 4.0]})
    >>> trace = lv.sample(target, step_size=0.01, n_steps=1_000, seed=0, progress=False)
    >>> trace["sigma"].shape, target.threaded
    ((4, 1000), True)
    """
    return StanTarget(library, data, seed)
