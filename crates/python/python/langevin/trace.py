"""What a run gave: draws, averages, escapes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import Array, flag
from ._extras import require
from ._warnings import warn
from .escape import Escape, warn_of
from .dynamics import DEFAULT_BETA, Dynamics
from .summary import COLUMNS, Spread, Summary, spread
from .target import BaseTarget, Parameter


@dataclass(frozen=True)
class Trace:
    """Draws of the healthy chains, averages of the observables, and what happened.

    >>> import numpy as np
    >>> import langevin as lv
    >>> target = lv.NormalParameters(np.random.default_rng(0).normal(size=30))
    >>> trace = lv.sample(target, "RM", step_size=0.1, n_steps=2_000, burn_in=100, seed=0,
    ...                   progress=False)
    >>> trace
    Trace(4 chains × 1900 draws of mu, sigma; RM, seed 0)
    """

    #: Draws of shape (chain, draw, dim), of the chains in `chains`, on the model's own scale.
    draws: Array
    #: The same on the scale on which the chains moved.
    unconstrained: Array
    #: Numbers of the chains that the draws are of.
    chains: NDArray[np.int64]
    #: Names and shapes of the coordinates of `draws`.
    parameters: tuple[Parameter, ...]
    #: Chains that escaped.
    escapes: tuple[Escape, ...]
    #: Whether the run was stopped before its end.
    interrupted: bool
    #: Seconds that the run took.
    seconds: float
    #: Estimated relative error of the divergence of a metric that is a function, else None.
    metric_error: float | None
    dynamics: Dynamics
    n_steps: int
    #: The step size (its `a` if it decreases); NaN where a store does not say.
    step_size: float
    burn_in: int
    thin: int
    #: The seed, given or new: with it the same run gives the same draws. None where a store does
    #: not say.
    seed: int | None
    observables: tuple[str, ...]
    #: Numbers for each draw, of shape (chain, draw), by name.
    sample_stats: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    #: What else is known about the run, for stores and ArviZ.
    attributes: dict[str, Any] = field(default_factory=dict, repr=False)
    _averages: _core.Averages | None = field(default=None, repr=False)

    @staticmethod
    def _of(
        recorded: _core.Recorded,
        *,
        target: BaseTarget,
        dynamics: Dynamics,
        settings: _core.Settings,
        metric_error: float | None,
    ) -> Trace:
        escapes = tuple(Escape(c, s) for c, s in recorded.escapes)
        healthy = np.ones(settings["n_chains"], dtype=bool)
        healthy[[d.chain for d in escapes]] = False
        draws, lengths = recorded.draws(), recorded.lengths()
        kept = healthy.copy()
        if recorded.cancelled:
            n = _best_length(lengths[healthy])
            kept &= lengths >= n
            draws = draws[:, :n]
            warn(f"the run was interrupted; {int(kept.sum())} chains with {n} draws each are kept")
        warn_of(escapes, settings["n_chains"])
        unconstrained = draws[kept]
        constrained, parameters = target._constrained(unconstrained)
        burn_in, thin = settings["burn_in"], settings["thin"]
        states = burn_in + thin * np.arange(draws.shape[1], dtype=np.int64)
        shape = unconstrained.shape[:2]
        return Trace(
            draws=constrained,
            unconstrained=unconstrained,
            chains=np.flatnonzero(kept),
            parameters=parameters,
            escapes=escapes,
            interrupted=recorded.cancelled,
            seconds=recorded.seconds,
            metric_error=metric_error,
            dynamics=dynamics,
            n_steps=settings["n_steps"],
            step_size=settings["step_size"],
            burn_in=burn_in,
            thin=thin,
            seed=settings["seed"],
            observables=tuple(name for name, _ in settings["observables"]),
            sample_stats={
                "diverging": np.zeros(shape, dtype=bool),
                "step": np.broadcast_to(states, shape).copy(),
            },
            attributes={"model": target.name},
            _averages=recorded.averages(),
        )

    @staticmethod
    def _of_stored(
        stored: _core.Stored,
        escapes: list[tuple[int, int]] | None = None,
        seconds: float | None = None,
    ) -> Trace:
        """The chains of a store whose draws are all finite."""
        values = stored.values()
        attributes: dict[str, Any] = json.loads(stored.attributes)
        burn_in, thin = int(attributes.get("burn_in", 0)), int(attributes.get("thin", 1))
        finite = np.all(np.isfinite(values), axis=2)
        healthy = np.all(finite, axis=1)
        if escapes is None:
            # Where nobody has written down the step, the first bad draw has to do.
            bad = np.flatnonzero(~healthy)
            steps = {int(c): burn_in + thin * int(np.argmin(finite[c])) for c in bad}
            known = zip(attributes.get("escaped_chains", ()), attributes.get("escaped_at", ()))
            escapes = sorted((steps | dict(known)).items())
        parameters = tuple(
            Parameter(
                name,
                tuple(length for _, length, _ in dims),
                dims=tuple(dim for dim, _, _ in dims),
                coords=tuple(None if c is None else tuple(c) for _, _, c in dims),
            )
            for name, dims in stored.parameters
        )
        marks = stored.diverging()
        stats = {} if marks is None else {"diverging": marks}
        settings = _settings(attributes)
        step_size = settings.get("step_size", float("nan"))
        seed = attributes.get("seed")
        return Trace(
            draws=values[healthy],
            unconstrained=values[healthy],
            chains=np.flatnonzero(healthy),
            parameters=parameters,
            escapes=tuple(Escape(c, s) for c, s in escapes),
            interrupted=False,
            seconds=attributes.get("sampling_time", float("nan")) if seconds is None else seconds,
            metric_error=None,
            dynamics=_dynamics(attributes, settings),
            n_steps=int(attributes.get("n_steps", burn_in + thin * values.shape[1])),
            step_size=step_size["a"] if isinstance(step_size, dict) else float(step_size),
            burn_in=burn_in,
            thin=thin,
            seed=None if seed is None else int(seed),
            observables=(),
            sample_stats={n: a[healthy] for n, a in (stats | dict(stored.stats())).items()},
            attributes=attributes,
        )

    def __repr__(self) -> str:
        chains, draws = self.draws.shape[:2]
        names = ", ".join(p.name for p in self.parameters)
        seed = "" if self.seed is None else f", seed {self.seed}"
        bad = f"; {len(self.escapes)} chains escaped" if self.escapes else ""
        stopped = "; interrupted" if self.interrupted else ""
        run = f"{self.dynamics.name}{seed}{bad}{stopped}"
        return f"Trace({chains} chains × {draws} draws of {names}; {run})"

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
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1, n_steps=50,
        ...                   seed=0, progress=False)
        >>> trace.keys()
        ['mu', 'sigma']
        """
        return [p.name for p in self.parameters]

    @property
    def names(self) -> tuple[str, ...]:
        """One label for each coordinate of `draws`.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.LinearGaussian([[1.0, 2.0]]), step_size=0.1, n_steps=50,
        ...                   seed=0, progress=False)
        >>> trace.names
        ('theta[0]', 'theta[1]')
        """
        return tuple(label for p in self.parameters for label in p.labels())

    def summary(self) -> Summary:
        """The usual table: one row for each coordinate.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0, 3.5]), "RM", step_size=0.1,
        ...                   n_steps=1_000, seed=0, progress=False)
        >>> sorted(trace.summary()["mu"])[:3]
        ['ess_bulk', 'ess_tail', 'mcse_mean']
        """
        if self.draws.size == 0:
            raise ValueError("there are no draws to summarise")
        return Summary(
            {
                label: dict(
                    zip(COLUMNS, _core.summary(np.ascontiguousarray(self.draws[..., i])))
                )
                for i, label in enumerate(self.names)
            }
        )

    def running_average(self, observable: str) -> tuple[NDArray[np.int64], Array]:
        """Numbers of states, and the averages of an observable over the first so many states of
        each healthy chain, of shape (chain, mark); NaN where an interrupted chain did not get.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1,
        ...                   n_steps=100, observables=["sum"], seed=0, progress=False)
        >>> steps, averages = trace.running_average("sum")
        >>> int(steps[-1]), averages.shape == (4, len(steps))
        (100, True)
        """
        averages, index = self._recorded(observable)
        return averages.running(index)

    def batch_averages(self, observable: str) -> Array:
        """Averages of an observable over consecutive batches after the burn-in, of shape (chain,
        batch); only chains that ran to the end.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1,
        ...                   n_steps=100, observables=["sum"], n_batches=5, seed=0, progress=False)
        >>> trace.batch_averages("sum").shape
        (4, 5)
        """
        averages, index = self._recorded(observable)
        return averages.batches(index)

    def mean(self, observable: str) -> float:
        """The average of an observable over all healthy chains after the burn-in.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 3.0, 2.5]), "RM", step_size=0.1,
        ...                   n_steps=5_000, observables={"mu": 0}, seed=0, progress=False)
        >>> 1.0 < trace.mean("mu") < 3.0
        True
        """
        averages, index = self._recorded(observable)
        return spread(averages.means(index)).mean

    def asymptotic_variance(self, observable: str) -> Spread:
        """The batch-means estimate of lim T·Var of the time average, in units of time, with its
        standard error over chains; NaN for step sizes that decrease.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 3.0, 2.5]), "RM", step_size=0.1,
        ...                   n_steps=5_000, observables={"mu": 0}, seed=0, progress=False)
        >>> trace.asymptotic_variance("mu").mean > 0
        True
        """
        averages, index = self._recorded(observable)
        return spread([variance for _, variance in averages.variances(index)])

    def save(self, path: str | os.PathLike[str], *, replace: bool = False) -> None:
        """Writes the draws as a store that `open_store`, xarray, ArviZ and the program's
        ``langevin diagnose`` open. Chains that escaped are in it as NaN.

        >>> import tempfile
        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1, n_steps=50,
        ...                   seed=0, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trace.save(f"{folder}/draws.zarr")
        ...     again = lv.open_store(f"{folder}/draws.zarr")
        >>> bool((again.draws == trace.draws).all())
        True
        """
        escaped = [d.chain for d in self.escapes]
        place = np.searchsorted(np.sort([*self.chains, *escaped]), self.chains)
        shape = (len(self.chains) + len(escaped), self.draws.shape[1])
        draws = np.full((*shape, self.draws.shape[2]), np.nan)
        draws[place] = np.concatenate([_row_major(self, p) for p in self.parameters], axis=2)
        diverging = np.ones(shape, dtype=bool)
        diverging[place] = self.sample_stats.get("diverging", False)
        stats: list[tuple[str, NDArray[Any]]] = []
        for name, values in self.sample_stats.items():
            if name != "diverging":
                real = np.issubdtype(values.dtype, np.floating)
                full = np.full(shape, np.nan if real else -1, float if real else np.int64)
                full[place] = values
                stats.append((name, full))
        layout = [(p.name, _dims(p)) for p in self.parameters]
        attributes = json.dumps(self._attributes())
        stored = _core.Stored(layout, draws, diverging, stats, attributes)
        stored.write(os.fspath(path), flag("replace", replace))

    def to_arviz(self) -> Any:
        """A DataTree with ArviZ ≥ 1, an InferenceData with older ones.

        >>> import langevin as lv
        >>> trace = lv.sample(lv.NormalParameters([1.0, 2.0, 4.0]), "RM", step_size=0.1, n_steps=50,
        ...                   seed=0, progress=False)
        >>> trace.to_arviz()["posterior"]["mu"].shape
        (4, 50)
        """
        arviz = require("arviz", "arviz")
        posterior = {name: self[name] for name in self.keys()}
        stats = dict(self.sample_stats)
        dims = {p.name: list(p.dims) for p in self.parameters if p.dims}
        coords = {
            dim: list(labels)
            for p in self.parameters
            for dim, labels in zip(p.dims, p.coords)
            if labels is not None
        }
        attributes = self._attributes() | {
            "inference_library": "langevin",
            "inference_library_version": _core.__version__,
        }
        options = {"dims": dims, "coords": coords}
        # ArviZ 1 still answers for InferenceData, with a warning: only the version tells.
        if int(arviz.__version__.split(".")[0]) < 1:
            data = arviz.from_dict(posterior=posterior, sample_stats=stats, **options)
            for group in (data.posterior, data.sample_stats):
                group.attrs.update(attributes)
            return data
        tree = arviz.from_dict({"posterior": posterior, "sample_stats": stats}, **options)
        for name in ("posterior", "sample_stats"):
            tree[name].attrs.update(attributes)
        return tree

    def _attributes(self) -> dict[str, Any]:
        """What stores and ArviZ are told about the run: numbers and texts only."""
        known: dict[str, Any] = {
            "dynamics": self.dynamics.name,
            "settings": json.dumps(self._settings()),
            "n_steps": self.n_steps,
            "burn_in": self.burn_in,
            "thin": self.thin,
        }
        if self.seed is not None:
            known["seed"] = self.seed
        if np.isfinite(self.seconds):
            known["sampling_time"] = self.seconds
        if self.escapes:
            known["escaped_chains"] = [d.chain for d in self.escapes]
            known["escaped_at"] = [d.step for d in self.escapes]
        return known | {name: _plain(value) for name, value in self.attributes.items()}

    def _settings(self) -> dict[str, Any]:
        """The choices of the dynamics, spelt as the program does."""
        dynamics, dim = self.dynamics, self.unconstrained.shape[2]
        metric = dynamics.metric if isinstance(dynamics.metric, str) else None
        skew = None
        if dynamics.skew is not None and dynamics.field != "none":
            skew = dynamics.skew.matrix(dim).tolist()
        return {
            "name": dynamics.name,
            "metric": metric,
            "field": dynamics.field,
            "skew": skew,
            "beta": dynamics.beta,
            "step_size": self.step_size if np.isfinite(self.step_size) else None,
        }

    def _recorded(self, observable: str) -> tuple[_core.Averages, int]:
        if observable not in self.observables or self._averages is None:
            names = ", ".join(self.observables) or "none"
            raise KeyError(f"the observable {observable!r} was not recorded; recorded: {names}")
        return self._averages, self.observables.index(observable)


def _row_major(trace: Trace, parameter: Parameter) -> Array:
    """Draws of a parameter, of shape (chain, draw, its size)."""
    return trace[parameter.name].reshape(*trace.draws.shape[:2], parameter.size)


def _dims(parameter: Parameter) -> list[tuple[str, int, list[str] | None]]:
    names = parameter.dims or [f"{parameter.name}_dim_{i}" for i in range(len(parameter.shape))]
    coords = parameter.coords or [None] * len(parameter.shape)
    return [
        (name, length, None if labels is None else list(labels))
        for name, length, labels in zip(names, parameter.shape, coords)
    ]


def _plain(value: Any) -> Any:
    """Numbers, texts and lists of them as they are, anything else as JSON."""

    def plain(item: Any) -> bool:
        return isinstance(item, (str, int, float)) and not isinstance(item, bool)

    if plain(value) or (isinstance(value, list) and all(map(plain, value))):
        return value
    return json.dumps(value)


def _settings(attributes: dict[str, Any]) -> dict[str, Any]:
    """The choices of the dynamics, where a store has them."""
    try:
        found = json.loads(attributes["settings"])
    except (KeyError, TypeError, ValueError):
        return {}
    return {k: v for k, v in found.items() if v is not None} if isinstance(found, dict) else {}


def _dynamics(attributes: dict[str, Any], settings: dict[str, Any]) -> Dynamics:
    return Dynamics(
        str(attributes.get("dynamics", "unknown")),
        metric=settings.get("metric"),
        skew=settings.get("skew"),
        field=settings.get("field", "none"),
        beta=settings.get("beta", DEFAULT_BETA),
    )


def _best_length(lengths: NDArray[np.int64]) -> int:
    """The number of draws that keeps the most of them, over all chains that have so many."""
    ordered = np.sort(lengths)[::-1]
    if len(ordered) == 0:
        return 0
    return int(ordered[np.argmax(ordered * np.arange(1, len(ordered) + 1))])
