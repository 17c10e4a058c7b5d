"""PyMC models: sampled on PyMC's unconstrained scale, returned on the model's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, states
from ._extras import require
from .compiled import CompiledTarget
from .metric import Metric
from .target import BaseTarget, Parameter


class PymcTarget(BaseTarget):
    """A PyMC model; made by `from_pymc`.

    >>> import pymc as pm
    >>> import langevin as lv
    >>> with pm.Model() as model:
    ...     _ = pm.Normal("x", shape=2)
    >>> target = lv.PymcTarget(model, mode="FAST_COMPILE")
    >>> target.score([1.0, -2.0])
    array([-1.,  2.])
    """

    def __init__(self, model: Any, mode: str | None = None) -> None:
        pymc = require("pymc", "pymc")
        if not isinstance(model, pymc.Model):
            raise TypeError(f"model must be a pymc.Model, but is {model!r}")
        if model.discrete_value_vars:
            names = ", ".join(v.name for v in model.discrete_value_vars)
            raise ValueError(f"the model has discrete variables, which have no score: {names}")
        self.name = str(model.name or "pymc")
        point = model.initial_point()
        values = model.continuous_value_vars
        self._start = np.concatenate(
            [np.ravel(np.asarray(point[v.name], dtype=np.float64)) for v in values]
        )
        self.dim = len(self._start)
        self.parameters = tuple(Parameter(v.name, np.shape(point[v.name])) for v in values)
        # Free variables with a transform appear twice: transformed, and on their own scale.
        transformed = {
            model.rvs_to_values[rv].name
            for rv in model.free_RVs
            if model.rvs_to_transforms.get(rv) is not None
        }
        outputs = [v for v in model.unobserved_value_vars if v.name not in transformed]
        self._outputs_of = [_named(model, v.name) for v in outputs]
        graph, joined = pymc.pytensorf.join_nonshared_inputs(
            point, [model.logp(), *outputs], values
        )
        graph = _frozen(graph)
        #: Whether chains call compiled code without the interpreter lock, from all threads.
        self.compiled = mode in (None, "NUMBA") and find_spec("numba") is not None
        self._compiled: CompiledTarget | None = None
        if self.compiled:
            self._compiled = CompiledTarget(_cfunc(graph[0], joined), self.dim)
        else:
            self._function = _vectorised(_with_gradient(graph[0], joined), joined, mode)
        # Called once, for all draws: there compiling would take longer than running.
        self._outputs = _vectorised(graph[1:], joined, mode or "FAST_COMPILE")

    def log_density(self, theta: ArrayLike) -> Any:
        """log π of one unconstrained state or of several, with the Jacobian."""
        if self._compiled is not None:
            return self._compiled.log_density(theta)
        rows, single = states(theta, self.dim)
        values = np.asarray(self._function(rows)[0], dtype=np.float64)
        return float(values[0]) if single else values

    def score(self, theta: ArrayLike) -> Array:
        """∇ log π of one unconstrained state or of several."""
        if self._compiled is not None:
            return self._compiled.score(theta)
        rows, single = states(theta, self.dim)
        scores = self._score(rows)
        return scores[0] if single else scores

    def _score(self, theta: Array) -> Array:
        return np.asarray(self._function(theta)[1], dtype=np.float64)

    def _density(self, theta: Array) -> tuple[Any, Any]:
        values, scores = self._function(theta)
        return np.asarray(values, np.float64), np.asarray(scores, np.float64)

    def _shows(self) -> Callable[[Array], Array] | None:
        return lambda states: np.ascontiguousarray(self._constrained(states[None])[0][0])

    def _draw_labels(self) -> list[str] | None:
        _, parameters = self._constrained(np.ascontiguousarray(self._start[None, None]))
        return [label for parameter in parameters for label in parameter.labels()]

    def _native(self) -> _core.Target:
        if self._compiled is not None:
            return self._compiled._native()
        return (self.dim, 0, [], self._score, None, self._density)

    def _default_start(self, n_chains: int, seed: int) -> Array | None:
        return np.ascontiguousarray(np.broadcast_to(self._start, (n_chains, self.dim)))

    def _constrained(self, draws: Array) -> tuple[Array, tuple[Parameter, ...]]:
        chains, length = draws.shape[:2]
        values = self._outputs(np.ascontiguousarray(draws.reshape(-1, self.dim)))
        columns, parameters = [], []
        for parameter, value in zip(self._outputs_of, values):
            array = np.asarray(value, dtype=np.float64)
            parameters.append(replace(parameter, shape=array.shape[1:]))
            columns.append(array.reshape(chains, length, -1))
        return np.concatenate(columns, axis=2), tuple(parameters)


def _named(model: Any, name: str) -> Parameter:
    """A variable of the model with the names and labels of its dimensions; its shape is known
    only from its values."""
    dims = tuple(model.named_vars_to_dims.get(name, ()))
    if not all(isinstance(dim, str) for dim in dims):
        return Parameter(name)

    def labels(dim: str) -> tuple[str, ...] | None:
        found = model.coords.get(dim)
        numbers = found is None or all(label == i for i, label in enumerate(found))
        return None if numbers else tuple(map(str, found))

    return Parameter(name, dims=dims, coords=tuple(map(labels, dims)))


def _frozen(graph: list[Any]) -> list[Any]:
    """The graph with the present values of its shared variables (`pm.Data`) as constants."""
    tensor = require("pytensor.tensor", "pymc")
    shared_type = require("pytensor.compile.sharedvalue", "pymc").SharedVariable
    try:
        from pytensor.graph.traversal import graph_inputs
    except ImportError:  # where it was before PyTensor 2.32
        from pytensor.graph.basic import graph_inputs
    values = {
        v: tensor.constant(v.get_value(), name=v.name)
        for v in graph_inputs(graph)
        if isinstance(v, shared_type)
    }
    clone = require("pytensor.graph.replace", "pymc").clone_replace
    return list(clone(graph, values, rebuild_strict=False)) if values else graph


def _with_gradient(log_density: Any, joined: Any) -> list[Any]:
    return [log_density, require("pytensor.tensor", "pymc").grad(log_density, joined)]


def _vectorised(graph: list[Any], joined: Any, mode: str | None) -> Any:
    """A function of many states at once."""
    tensor = require("pytensor.tensor", "pymc")
    vectorize = require("pytensor.graph.replace", "pymc").vectorize_graph
    many = tensor.matrix("theta", dtype="float64")
    options: dict[str, Any] = {} if mode is None else {"mode": mode}
    compiled = require("pytensor", "pymc").function
    return compiled([many], vectorize(graph, {joined: many}), **options)


def _cfunc(log_density: Any, joined: Any) -> Any:
    """The log density and its gradient as numba's C function."""
    numba = require("numba", "pymc")
    compiled = require("pytensor", "pymc").function
    function = compiled([joined], _with_gradient(log_density, joined), mode="NUMBA")
    evaluate = function.vm.jit_fn
    number = numba.types.CPointer(numba.types.double)
    signature = numba.types.int64(
        numba.types.uint64, number, number, number, numba.types.voidptr
    )

    def call(dim: Any, theta: Any, gradient: Any, value: Any, _: Any) -> int:
        try:
            at, slope = numba.carray(theta, (dim,)), numba.carray(gradient, (dim,))
            result = evaluate(at)
            value[0] = result[0].item()
            slope[:] = result[1]
            return 0
        except Exception:
            return 1

    with warnings.catch_warnings():
        # That the compiled function cannot be kept on disk.
        warnings.simplefilter("ignore", numba.NumbaWarning)
        return numba.cfunc(signature)(call)


def from_pymc(model: Any, mode: str | None = None) -> PymcTarget:
    """A target from a PyMC model.

    Chains move on PyMC's unconstrained scale and start at its initial point; draws come back on
    the model's own scale, deterministics included, with their dimensions and labels. Data
    (`pm.Data`) are those that the model holds now.

    With numba (``pip install 'langevin[pymc]'`` has it) the log density is compiled once, which
    takes some seconds, and then called by its address from all threads, without the interpreter
    lock. Without numba, or with another PyTensor `mode` such as "FAST_COMPILE", it is PyTensor's
    own function of all chains at once, in one thread and under the lock; `PymcTarget.compiled`
    tells which.

    >>> import langevin as lv
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     sigma = pm.HalfNormal("sigma")
    ...     _ = pm.Normal("x", 0.0, sigma, observed=[0.3, -1.2, 0.4])
    >>> target = lv.from_pymc(model)
    >>> trace = lv.sample(target, step_size=0.05, n_steps=1_000, seed=0, progress=False)
    >>> trace["sigma"].shape, target.compiled
    ((4, 1000), True)
    """
    return PymcTarget(model, mode)
