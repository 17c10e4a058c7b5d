"""What is sampled: the interface of all targets, and targets of your own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, count, listed, states
from .metric import Metric
from .scales import Scale, layout
from .skew import Skew, random_skew

Function = Callable[[Array], Any]
ParametersArgument = Union[Mapping[str, Union[Sequence[int], Scale]], Sequence[str], None]


@dataclass(frozen=True)
class Parameter:
    """A named block of coordinates.

    >>> import langevin as lv
    >>> lv.Parameter("w", (2, 3)).size
    6
    """

    name: str
    shape: tuple[int, ...] = ()
    column_major: bool = False
    #: Names of its dimensions, or none: then they are `name_dim_0`, `name_dim_1`, ….
    dims: tuple[str, ...] = ()
    #: Labels along each of `dims`; None stands for 0, 1, ….
    coords: tuple[tuple[str, ...] | None, ...] = ()

    @property
    def size(self) -> int:
        """Number of coordinates.

        >>> import langevin as lv
        >>> lv.Parameter("mu").size
        1
        """
        return int(np.prod(self.shape, dtype=int))

    def take(self, draws: Array, first: int) -> Array:
        """Its part of draws of shape (chain, draw, dim), starting at coordinate `first`.

        >>> import numpy as np
        >>> import langevin as lv
        >>> lv.Parameter("w", (2, 3)).take(np.zeros((4, 5, 7)), 1).shape
        (4, 5, 2, 3)
        """
        part = draws[..., first : first + self.size]
        if not self.column_major:
            return part.reshape(*draws.shape[:-1], *self.shape)
        turned = part.reshape(*draws.shape[:-1], *self.shape[::-1])
        lead = draws.ndim - 1
        axes = (*range(lead), *range(turned.ndim - 1, lead - 1, -1))
        return turned.transpose(axes)

    def labels(self) -> list[str]:
        """One label for each coordinate, in the order of the state.

        >>> import langevin as lv
        >>> lv.Parameter("w", (2,)).labels()
        ['w[0]', 'w[1]']
        >>> lv.Parameter("w", (2,), dims=("feature",), coords=(("age", "income"),)).labels()
        ['w[age]', 'w[income]']
        """
        if not self.shape:
            return [self.name]
        order = "F" if self.column_major else "C"
        index = np.stack(np.unravel_index(np.arange(self.size), self.shape, order=order), axis=1)  # type: ignore[call-overload]
        coords = self.coords or (None,) * len(self.shape)

        def label(row: Any) -> str:
            return ", ".join(str(i) if c is None else c[i] for i, c in zip(row, coords))

        return [f"{self.name}[{label(row)}]" for row in index]


def scales_of(value: ParametersArgument) -> str | None:
    """The layout of what a person gave, where it has scales that are not real."""
    if not isinstance(value, Mapping) or not any(isinstance(s, Scale) for s in value.values()):
        return None

    def scale(name: str, given: Any) -> Scale:
        return given if isinstance(given, Scale) else Scale("real", _shape(name, given))

    text = layout([(str(name), scale(str(name), given)) for name, given in value.items()])
    if text is not None:
        _core.layout_of(text)
    return text


def parameters_of(value: ParametersArgument, dim: int) -> tuple[Parameter, ...]:
    """Named parameters from what a person gave; `theta` if nothing."""
    if value is None:
        return (Parameter("theta", (dim,)),)
    if isinstance(value, Mapping):
        parameters = tuple(Parameter(str(n), _shape(n, s)) for n, s in value.items())
    else:
        parameters = tuple(Parameter(str(name)) for name in listed("parameters", value))
    names = [p.name for p in parameters]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two parameters are called {name!r}")
    size = sum(p.size for p in parameters)
    if size != dim:
        raise ValueError(f"parameters have {size} coordinates, but dim is {dim}")
    return parameters


def _shape(name: str, shape: Any) -> tuple[int, ...]:
    if isinstance(shape, Scale):
        return shape.shape
    label = f"the shape of {name!r}"
    return tuple(count(label, length, 0) for length in listed(label, shape))


class BaseTarget(ABC):
    """The interface that `sample` needs; see `Target` for one of your own."""

    name: str = "target"
    dim: int
    n_data: int = 0
    parameters: tuple[Parameter, ...]
    #: The target's own metric, used where a dynamics names none.
    metric: Metric | str = "identity"
    #: The scales of its coordinates, where they are not all real: chains move in free coordinates.
    scales: str | None = None

    @property
    def free_dim(self) -> int:
        """Number of coordinates in which chains move."""
        return self.dim if self.scales is None else _core.layout_of(self.scales)[1]

    @abstractmethod
    def log_density(self, theta: ArrayLike) -> Any:
        """log π up to a constant, of one state or of several."""

    @abstractmethod
    def score(self, theta: ArrayLike) -> Array:
        """∇ log π of one state or of several."""

    @abstractmethod
    def _native(self) -> _core.Target:
        """What the native half samples."""

    def _metric_named(self, name: str) -> str | Metric:
        """What a name means for this target."""
        if name == "identity":
            return name
        own = self.metric
        if name == "natural" and isinstance(own, Metric):
            return own
        raise ValueError(
            f"this target has no metric called {name!r}; "
            "give a matrix, a function of theta, or 'identity'"
        )

    def _default_skew(self) -> Skew:
        return random_skew(seed=0)

    def _default_start(self, n_chains: int, seed: int) -> Array | None:
        return None

    def _constrained(self, draws: Array) -> tuple[Array, tuple[Parameter, ...]]:
        """Draws on the scale of the model, with their names."""
        if self.scales is None:
            return draws, self.parameters
        flat = np.ascontiguousarray(draws.reshape(-1, self.free_dim))
        shown = _core.constrain(self.scales, flat)
        return shown.reshape(*draws.shape[:2], self.dim), self.parameters

    def _free(self, states: Array) -> Array:
        """States that a person gave, of shape (n, dim), in free coordinates."""
        return states if self.scales is None else _core.unconstrain(self.scales, states)

    def _shows(self) -> Callable[[Array], Array] | None:
        """What shows states as people see them, where only Python can."""
        return None

    def _draw_labels(self) -> list[str] | None:
        """Names of the numbers that draws show, where they are known beforehand."""
        return [label for parameter in self.parameters for label in parameter.labels()]


class Target(BaseTarget):
    """A posterior of your own, as vectorised functions of states of shape (chains, dim).

    `score` returns ∇ log π with the shape of its argument; `log_density`, of shape (chains,), is
    what exact draws need, and the paper's dynamics do not. There is one call per step for all chains, so a thousand
    chains cost little more than one.

    For minibatches, give the number of data `n_data`, `datum_score(theta, rows)` and
    `prior_score(theta)` instead of (or along with) `score`: `rows` has shape (chains, n), and the
    result, of shape (chains, dim), is the sum of ∇ log p(x_row | θ) over the rows of each chain.

    `parameters` names the coordinates: a list of names, or a dictionary of shapes and scales, such
    as ``{"mu": (), "sigma": lv.positive(), "p": lv.simplex(3)}``. With scales, the functions are
    written for constrained states, without any Jacobian; chains move freely, and draws, starts and
    observables are on the scales. (Coordinates in `positive` must stay above 0, and chains of the
    paper's dynamics that leave them end there.)

    >>> import numpy as np
    >>> import langevin as lv
    >>> banana = lv.Target(
    ...     2,
    ...     score=lambda t: np.stack(
    ...         [-t[:, 0] + 4 * t[:, 0] * (t[:, 1] - t[:, 0] ** 2), 2 * (t[:, 0] ** 2 - t[:, 1])],
    ...         axis=1),
    ...     parameters=["x", "y"],
    ... )
    >>> trace = lv.sample(banana, "LD", step_size=0.05, n_steps=2_000, n_chains=100,
    ...                   burn_in=1_000, seed=0, progress=False)
    >>> trace["y"].shape
    (100, 1000)
    """

    def __init__(
        self,
        dim: int,
        *,
        score: Function | None = None,
        log_density: Function | None = None,
        datum_score: Callable[[Array, Any], Any] | None = None,
        prior_score: Function | None = None,
        n_data: int = 0,
        positive: Sequence[int] = (),
        parameters: ParametersArgument = None,
        metric: Function | Metric | None = None,
        name: str = "target",
    ) -> None:
        self.name = name
        self.dim = count("dim", dim, 1)
        self.n_data = count("n_data", n_data, 0)
        self.parameters = parameters_of(parameters, self.dim)
        self.scales = scales_of(parameters)
        functions = {
            "score": score,
            "log_density": log_density,
            "datum_score": datum_score,
            "prior_score": prior_score,
        }
        for label, function in functions.items():
            if function is not None and not callable(function):
                raise TypeError(f"{label} must be a function of theta, but is {function!r}")
        if score is None and datum_score is None:
            raise TypeError(
                "score is missing; from_jax derives it from a log density written with JAX"
            )
        if datum_score is not None and self.n_data == 0:
            raise ValueError("datum_score needs n_data, the number of data")
        self.positive = [count("positive", c, 0) for c in listed("positive", positive)]
        if any(c >= self.dim for c in self.positive):
            raise ValueError(f"positive names coordinate {max(self.positive)}, but dim is {dim}")
        self._log_density = log_density
        self._datum_score = datum_score
        self._prior_score = prior_score
        self._score = score if score is not None else self._full_score
        if metric is not None:
            self.metric = metric if isinstance(metric, Metric) else Metric(metric)

    def log_density(self, theta: ArrayLike) -> Any:
        """log π up to a constant, of one state or of several.

        >>> import langevin as lv
        >>> target = lv.Target(1, score=lambda t: -t, log_density=lambda t: -0.5 * t[:, 0] ** 2)
        >>> target.log_density([2.0])
        -2.0
        """
        if self._log_density is None:
            raise TypeError("this target was made without a log_density")
        rows, single = states(theta, self.dim)
        values = np.asarray(self._log_density(rows), dtype=np.float64)
        if values.shape != (len(rows),):
            raise ValueError(
                f"log_density returned an array of shape {values.shape}, "
                f"but {(len(rows),)} was expected"
            )
        return float(values[0]) if single else values

    def score(self, theta: ArrayLike) -> Array:
        """∇ log π of one state or of several.

        >>> import langevin as lv
        >>> lv.Target(1, score=lambda t: -t).score([2.0])
        array([-2.])
        """
        rows, single = states(theta, self.dim)
        values = np.asarray(self._score(rows), dtype=np.float64)
        if values.shape != rows.shape:
            raise ValueError(
                f"score returned an array of shape {values.shape}, but {rows.shape} was expected"
            )
        return values[0] if single else values

    def check(self, theta: ArrayLike) -> float:
        """The largest difference between `score` and central differences of `log_density`.

        >>> import langevin as lv
        >>> target = lv.Target(1, score=lambda t: -t, log_density=lambda t: -0.5 * t[:, 0] ** 2)
        >>> target.check([0.3]) < 1e-8
        True
        """
        rows, _ = states(theta, self.dim)
        difference = self.score(rows)
        for axis in range(self.dim):
            step = 6.1e-6 * np.maximum(np.abs(rows[:, axis]), 1.0)
            up, down = rows.copy(), rows.copy()
            up[:, axis] += step
            down[:, axis] -= step
            rise = self.log_density(up) - self.log_density(down)
            difference[:, axis] -= rise / (up[:, axis] - down[:, axis])
        return float(np.max(np.abs(difference)))

    def _native(self) -> _core.Target:
        minibatch = None if self._datum_score is None else self._minibatch_score
        density = None if self._log_density is None else self._density
        return (self.dim, self.n_data, self.positive, self._score, minibatch, density)

    def _density(self, theta: Array) -> tuple[Any, Any]:
        assert self._log_density is not None
        return self._log_density(theta), self._score(theta)

    def _full_score(self, theta: Array) -> Any:
        rows = np.broadcast_to(np.arange(self.n_data), (len(theta), self.n_data))
        return self._minibatch_score(theta, rows)

    def _minibatch_score(self, theta: Array, rows: Any) -> Any:
        assert self._datum_score is not None
        score = np.asarray(self._datum_score(theta, rows), dtype=np.float64)
        if score.shape != theta.shape:
            raise ValueError(
                f"datum_score returned an array of shape {score.shape}, "
                f"but {theta.shape} was expected"
            )
        score = score * (self.n_data / rows.shape[1])
        return score if self._prior_score is None else score + self._prior_score(theta)
