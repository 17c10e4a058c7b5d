"""What a run gave: draws, averages, divergences."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import Array
from ._extras import require
from .dynamics import Dynamics
from .target import BaseTarget, Parameter

COLUMNS = ("mean", "sd", "q5", "q95", "mcse_mean", "mcse_sd", "ess_bulk", "ess_tail", "r_hat")


class DivergenceWarning(UserWarning):
    """Chains left the finite numbers or the support and are not in the draws.

    >>> import langevin as lv
    >>> issubclass(lv.DivergenceWarning, UserWarning)
    True
    """


@dataclass(frozen=True)
class Divergence:
    """A chain that left the finite numbers or the support, and the number of its first bad state.

    >>> import langevin as lv
    >>> lv.Divergence(chain=3, step=17).step
    17
    """

    chain: int
    step: int


@dataclass(frozen=True)
class Spread:
    """A mean over chains with its standard error.

    >>> import langevin as lv
    >>> print(lv.Spread(1.234, 0.05))
    1.234 ± 0.05
    """

    mean: float
    se: float

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {self.se:.2g}"


class Summary(dict[str, dict[str, float]]):
    """Mean, sd, quantiles, errors, effective sizes and R-hat of every coordinate by its label;
    prints as a table.

    >>> import numpy as np
    >>> import langevin as lv
    >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0, 3.5]), "RM", step_size=0.1,
    ...                   steps=1_000, progress=False)
    >>> list(trace.summary())
    ['mu', 'sigma']
    """

    def __str__(self) -> str:
        width = max([len(label) for label in self] + [4])
        lines = [" " * width + "".join(f"{c:>11}" for c in COLUMNS)]
        for label, row in self.items():
            lines.append(label.ljust(width) + "".join(f"{row[c]:>11.4g}" for c in COLUMNS))
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True)
class Trace:
    """Draws of the healthy chains, averages of the observables, and what happened.

    >>> import numpy as np
    >>> import langevin as lv
    >>> target = lv.NormalParameters(np.random.default_rng(0).normal(size=30))
    >>> trace = lv.sample(target, "RM", step_size=0.1, steps=2_000, burn_in=100, progress=False)
    >>> trace
    Trace(4 chains × 1900 draws of mu, sigma; RM)
    """

    #: Draws of shape (chain, draw, dim), of the chains in `chains`, on the model's own scale.
    draws: Array
    #: The same on the scale on which the chains moved.
    unconstrained: Array
    #: Numbers of the chains that the draws are of.
    chains: NDArray[np.int64]
    #: Names and shapes of the coordinates of `draws`.
    parameters: tuple[Parameter, ...]
    #: Chains that diverged.
    divergences: tuple[Divergence, ...]
    #: Whether the run was stopped before its end.
    interrupted: bool
    #: Seconds that the run took.
    seconds: float
    #: Estimated relative error of the divergence of a metric that is a function, else None.
    metric_error: float | None
    dynamics: Dynamics
    steps: int
    step_size: float
    burn_in: int
    thin: int
    seed: int
    observables: tuple[str, ...]
    _marks: list[int] = field(repr=False)
    _batch_edges: list[int] = field(repr=False)
    _weights: Array = field(repr=False)
    _sums: Array = field(repr=False)

    @staticmethod
    def _of(
        recorded: _core.Recorded,
        *,
        target: BaseTarget,
        dynamics: Dynamics,
        settings: _core.Settings,
        burn_in: int,
        thin: int,
        batch_edges: list[int],
        metric_error: float | None,
    ) -> Trace:
        divergences = tuple(Divergence(c, s) for c, s in recorded.divergences)
        healthy = np.ones(settings["chains"], dtype=bool)
        healthy[[d.chain for d in divergences]] = False
        draws, lengths = recorded.draws(), recorded.lengths()
        kept = healthy.copy()
        if recorded.cancelled:
            n = _best_length(lengths[healthy])
            kept &= lengths >= n
            draws = draws[:, :n]
            warnings.warn(
                f"the run was interrupted; {int(kept.sum())} chains with {n} draws each are kept",
                stacklevel=3,
            )
        _warn_of(divergences, settings["chains"])
        unconstrained = draws[kept]
        constrained, parameters = target._constrained(unconstrained)
        return Trace(
            draws=constrained,
            unconstrained=unconstrained,
            chains=np.flatnonzero(kept),
            parameters=parameters,
            divergences=divergences,
            interrupted=recorded.cancelled,
            seconds=recorded.seconds,
            metric_error=metric_error,
            dynamics=dynamics,
            steps=settings["steps"],
            step_size=settings["step_size"],
            burn_in=burn_in,
            thin=thin,
            seed=settings["seed"],
            observables=tuple(name for name, _ in settings["observables"]),
            _marks=settings["marks"],
            _batch_edges=batch_edges,
            _weights=np.asarray(recorded.weights()),
            _sums=recorded.sums()[healthy],
        )

    def __repr__(self) -> str:
        chains, draws = self.draws.shape[:2]
        names = ", ".join(p.name for p in self.parameters)
        bad = f"; {len(self.divergences)} chains diverged" if self.divergences else ""
        stopped = "; interrupted" if self.interrupted else ""
        return f"Trace({chains} chains × {draws} draws of {names}; {self.dynamics.name}{bad}{stopped})"

    def __getitem__(self, name: str) -> Array:
        """Draws of a parameter, of shape (chain, draw, *its shape)."""
        first = 0
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter.take(self.draws, first)
            first += parameter.size
        names = ", ".join(p.name for p in self.parameters)
        raise KeyError(f"there is no parameter called {name!r}; expected one of {names}")

    def __iter__(self) -> Iterator[str]:
        return (p.name for p in self.parameters)

    def keys(self) -> list[str]:
        """Names of the parameters; with indexing, this makes ``dict(trace)`` work.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1, steps=50,
        ...                   progress=False)
        >>> trace.keys()
        ['mu', 'sigma']
        """
        return [p.name for p in self.parameters]

    def summary(self) -> Summary:
        """The usual table: one row for each coordinate.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0, 3.5]), "RM", step_size=0.1,
        ...                   steps=1_000, progress=False)
        >>> sorted(trace.summary()["mu"])[:3]
        ['ess_bulk', 'ess_tail', 'mcse_mean']
        """
        labels = [label for p in self.parameters for label in p.labels()]
        if self.draws.size == 0:
            raise ValueError("there are no draws to summarise")
        return Summary(
            {
                label: dict(
                    zip(COLUMNS, _core.summary(np.ascontiguousarray(self.draws[..., i])))
                )
                for i, label in enumerate(labels)
            }
        )

    def running_average(self, observable: str) -> tuple[NDArray[np.int64], Array]:
        """Numbers of states, and the averages of an observable over the first so many states of
        each healthy chain, of shape (chain, mark); NaN where an interrupted chain did not get.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1, steps=100,
        ...                   observables=["sum"], progress=False)
        >>> steps, averages = trace.running_average("sum")
        >>> int(steps[-1]), averages.shape == (4, len(steps))
        (100, True)
        """
        sums = np.cumsum(self._sums[:, :, self._index(observable)], axis=1)
        marks = np.asarray(self._marks[: sums.shape[1]], dtype=np.int64)
        return marks, sums / np.cumsum(self._weights)

    def batch_averages(self, observable: str) -> Array:
        """Averages of an observable over consecutive batches after the burn-in, of shape (chain,
        batch); only chains that ran to the end.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1, steps=100,
        ...                   observables=["sum"], batches=5, progress=False)
        >>> trace.batch_averages("sum").shape
        (4, 5)
        """
        index = self._index(observable)
        if self._sums.shape[1] < len(self._marks):
            return np.empty((0, len(self._batch_edges) - 1))
        zero = np.zeros((len(self._sums), 1))
        sums = np.concatenate([zero, np.cumsum(self._sums[:, :, index], axis=1)], axis=1)
        weights = np.concatenate([[0.0], np.cumsum(self._weights)])
        at = [0 if edge == 0 else self._marks.index(edge) + 1 for edge in self._batch_edges]
        averages = np.diff(sums[:, at], axis=1) / np.diff(weights[at])
        whole: Array = averages[np.isfinite(averages).all(axis=1)]
        return whole

    def mean(self, observable: str) -> float:
        """The average of an observable over all healthy chains after the burn-in.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 3.0, 2.5]), "RM", step_size=0.1,
        ...                   steps=5_000, observables={"mu": 0}, progress=False)
        >>> 1.0 < trace.mean("mu") < 3.0
        True
        """
        averages = self.batch_averages(observable)
        return float(averages.mean()) if averages.size else float("nan")

    def asymptotic_variance(self, observable: str) -> Spread:
        """The batch-means estimate of lim T·Var of the time average, in units of time, with its
        standard error over chains.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 3.0, 2.5]), "RM", step_size=0.1,
        ...                   steps=5_000, observables={"mu": 0}, progress=False)
        >>> trace.asymptotic_variance("mu").mean > 0
        True
        """
        averages = self.batch_averages(observable)
        length = np.diff(self._batch_edges)[0]
        values = self.step_size * length * averages.var(axis=1, ddof=1)
        if len(values) == 0:
            return Spread(float("nan"), float("nan"))
        se = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
        return Spread(float(values.mean()), float(se))

    def to_arviz(self) -> Any:
        """A DataTree with ArviZ ≥ 1, an InferenceData with older ones.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1, steps=50,
        ...                   progress=False)
        >>> idata = trace.to_arviz()  # doctest: +SKIP
        """
        arviz = require("arviz", "arviz")
        posterior = {name: self[name] for name in self.keys()}
        chains, draws = self.draws.shape[:2]
        first = np.arange(draws) * self.thin + self.burn_in
        stats = {
            "step": np.broadcast_to(first, (chains, draws)).copy(),
            "diverging": np.zeros((chains, draws), dtype=bool),
        }
        attributes = {
            "inference_library": "langevin",
            "inference_library_version": _core.__version__,
            "sampling_time": self.seconds,
            "dynamics": self.dynamics.name,
            "step_size": self.step_size,
            "seed": self.seed,
            "diverged_chains": len(self.divergences),
        }
        # ArviZ 1 still answers for InferenceData, with a warning: only the version tells.
        if int(arviz.__version__.split(".")[0]) < 1:
            data = arviz.from_dict(posterior=posterior, sample_stats=stats)
            for group in (data.posterior, data.sample_stats):
                group.attrs.update(attributes)
            return data
        tree = arviz.from_dict({"posterior": posterior, "sample_stats": stats})
        for name in ("posterior", "sample_stats"):
            tree[name].attrs.update(attributes)
        return tree

    def _index(self, observable: str) -> int:
        try:
            return self.observables.index(observable)
        except ValueError:
            names = ", ".join(self.observables) or "none"
            raise KeyError(
                f"the observable {observable!r} was not recorded; recorded: {names}"
            ) from None


def _best_length(lengths: NDArray[np.int64]) -> int:
    """The number of draws that keeps the most of them, over all chains that have so many."""
    ordered = np.sort(lengths)[::-1]
    if len(ordered) == 0:
        return 0
    return int(ordered[np.argmax(ordered * np.arange(1, len(ordered) + 1))])


def _warn_of(divergences: tuple[Divergence, ...], chains: int) -> None:
    if divergences:
        first = min(divergences, key=lambda d: d.step)
        warnings.warn(
            f"{len(divergences)} of {chains} chains diverged (the first, chain {first.chain}, at "
            f"step {first.step}) and are left out; a smaller step_size may help",
            DivergenceWarning,
            stacklevel=4,
        )
