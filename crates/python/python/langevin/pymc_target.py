"""PyMC models: sampled on PyMC's unconstrained scale, returned on the model's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, states
from ._extras import require
from .metric import Metric
from .target import BaseTarget, Parameter


class PymcTarget(BaseTarget):
    """A PyMC model; made by `from_pymc`.

    >>> import langevin as lv
    >>> issubclass(lv.PymcTarget, object)
    True
    """

    def __init__(self, model: Any, mode: str | None = None) -> None:
        pymc = require("pymc", "pymc")
        tensor = require("pytensor.tensor", "pymc")
        compile_function = require("pytensor", "pymc").function
        vectorize = require("pytensor.graph.replace", "pymc").vectorize_graph
        if not isinstance(model, pymc.Model):
            raise TypeError(f"model must be a pymc.Model, but is {model!r}")
        if model.discrete_value_vars:
            names = ", ".join(v.name for v in model.discrete_value_vars)
            raise ValueError(f"the model has discrete variables, which have no score: {names}")
        self.name = str(model.name or "pymc")
        self._model = model
        point = model.initial_point()
        values = model.continuous_value_vars
        # Free variables with a transform appear twice: transformed, and on their own scale.
        transformed = {
            model.rvs_to_values[rv].name
            for rv in model.free_RVs
            if model.rvs_to_transforms.get(rv) is not None
        }
        outputs = [v for v in model.unobserved_value_vars if v.name not in transformed]
        graph, joined = pymc.pytensorf.join_nonshared_inputs(
            point, [model.logp(), *outputs], values
        )
        many = tensor.matrix("theta", dtype="float64")
        one = joined.astype("float64") if joined.dtype != "float64" else joined
        batch = vectorize([graph[0], tensor.grad(graph[0], joined)], {one: many})
        # Shared so that functions of the same graph reuse PyTensor's cache.
        options: dict[str, Any] = {} if mode is None else {"mode": mode}
        self._logp_score = compile_function([many], batch, **options)
        constrained = vectorize(graph[1:], {one: many})
        self._outputs = compile_function([many], constrained, **options)
        self._start = np.concatenate(
            [np.ravel(np.asarray(point[v.name], dtype=np.float64)) for v in values]
        )
        self.dim = len(self._start)
        self.parameters = tuple(Parameter(v.name, np.shape(point[v.name])) for v in values)
        self._output_names = [v.name for v in outputs]

    def log_density(self, theta: ArrayLike) -> Any:
        """log π of one unconstrained state or of several, with the Jacobian."""
        rows, single = states(theta, self.dim)
        values = np.asarray(self._logp_score(rows)[0], dtype=np.float64)
        return float(values[0]) if single else values

    def score(self, theta: ArrayLike) -> Array:
        """∇ log π of one unconstrained state or of several."""
        rows, single = states(theta, self.dim)
        scores = self._score(rows)
        return scores[0] if single else scores

    def _score(self, theta: Array) -> Array:
        return np.asarray(self._logp_score(theta)[1], dtype=np.float64)

    def _run(self, settings: _core.Settings, metric: Metric | None) -> _core.Recorded:
        functions = None if metric is None else metric._functions()
        return _core.sample_functions((self.dim, 0, [], self._score, None), functions, settings)

    def _default_start(self, chains: int, seed: int) -> Array | None:
        return np.ascontiguousarray(np.broadcast_to(self._start, (chains, self.dim)))

    def _constrained(self, draws: Array) -> tuple[Array, tuple[Parameter, ...]]:
        chains, length = draws.shape[:2]
        values = self._outputs(np.ascontiguousarray(draws.reshape(-1, self.dim)))
        columns, parameters = [], []
        for name, value in zip(self._output_names, values):
            array = np.asarray(value, dtype=np.float64)
            parameters.append(Parameter(name, array.shape[1:]))
            columns.append(array.reshape(chains, length, -1))
        return np.concatenate(columns, axis=2), tuple(parameters)


def from_pymc(model: Any, mode: str | None = None) -> PymcTarget:
    """A target from a PyMC model, compiled by PyTensor for all chains at once.

    Chains move on PyMC's unconstrained scale and start at its initial point; draws come back on
    the model's own scale, deterministics included. `mode` is PyTensor's, such as "NUMBA".

    >>> import langevin as lv
    >>> import pymc as pm  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     sigma = pm.HalfNormal("sigma")
    ...     pm.Normal("x", 0.0, sigma, observed=[0.3, -1.2, 0.4])
    >>> trace = lv.sample(lv.from_pymc(model), step_size=0.05, steps=1_000)  # doctest: +SKIP
    >>> trace["sigma"].shape  # doctest: +SKIP
    (4, 1000)
    """
    return PymcTarget(model, mode)
