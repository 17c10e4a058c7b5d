"""`sample`: these dynamics on this target, with these things measured."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, count, flag, listed, number, real
from .dynamics import DEFAULT_BETA, Dynamics
from .metric import Metric, check_divergence
from .observables import Observables, observables_of
from .posterior import MAX_GRADIENTS, MAX_TIME, draw
from .progress import Bar, wanted
from .target import BaseTarget
from .trace import Trace


@dataclass(frozen=True)
class StepSchedule:
    """Step sizes a(b + k)^(−γ); made by `decreasing`."""

    a: float
    b: float
    gamma: float


def decreasing(a: float, b: float = 1.0, gamma: float = 1 / 3) -> StepSchedule:
    """The step sizes h_k = a(b + k)^(−γ) of stochastic gradient Langevin dynamics; averages are
    then weighted by the step sizes.

    >>> import langevin as lv
    >>> lv.decreasing(0.1, b=10.0, gamma=0.55)
    StepSchedule(a=0.1, b=10.0, gamma=0.55)
    """
    return StepSchedule(number("a", a), number("b", b), number("gamma", gamma))


def sample(
    target: BaseTarget,
    dynamics: Dynamics | str | None = None,
    *,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    min_ess: float | None = None,
    max_time: float | None = None,
    max_gradients: int | None = None,
    target_accept: float | None = None,
    initvals: ArrayLike | None = None,
    check: bool = True,
    step_size: float | StepSchedule | None = None,
    n_steps: int | None = None,
    n_chains: int | None = None,
    batch_size: int | None = None,
    with_replacement: bool = False,
    burn_in: int = 0,
    thin: int = 1,
    seed: int | None = None,
    start: ArrayLike | None = None,
    observables: Observables = (),
    n_batches: int = 20,
    marks: Sequence[int] | None = None,
    keep_draws: bool = True,
    progress: bool | None = None,
    threads: int | None = None,
) -> Trace:
    """Draws from the posterior of a target.

    **Without a dynamics**, nothing has to be chosen: ``lv.sample(target)`` gives draws of the exact
    posterior from a tuned, Metropolis-adjusted sampler, as many as are needed for `min_ess`
    effective ones (100 for each chain and at least 1000, for the worst of bulk, tail and squared
    deviations of all parameters). Or ask for `draws` of each chain. `max_time` in seconds (600) and
    `max_gradients` are the budget; a run that ends there says so. `chains`, `tune` (most iterations
    of the warm-up), `target_accept` (0.8) and `initvals` (one state for each chain) follow the
    target if not given. Own code is compared with its differences first, unless `check` is False.
    The result is a `PosteriorTrace`, whose `warnings` are empty where all is well.

    >>> import numpy as np
    >>> import langevin as lv
    >>> target = lv.NormalParameters(np.random.default_rng(1).normal(2.0, 3.0, size=40))
    >>> trace = lv.sample(target, seed=0, progress=False)
    >>> trace.precise, bool(abs(trace["mu"].mean() - target.sample_mean) < 0.1)
    (True, True)

    **With a dynamics** of the paper, chains of `n_steps` states each run at its `step_size` and
    keep the bias of that. Every `thin`-th state from number `burn_in` on is kept as a draw.
    `batch_size` rows of the data, drawn anew for every step and chain, estimate the score; None uses
    all. `start` is a state of shape (dim,) or one for each chain, (n_chains, dim).

    `observables` are averaged over every state, kept or not: "sum", "sum_of_squares",
    "square_of_sum", the name or number of a coordinate, or functions from states of shape
    (n, dim) to values of shape (n,); a dictionary gives them other names. Their running averages
    are known at `marks` (by default 20 per decade) and, after the burn-in, for `n_batches`
    batches.

    The result depends on the seed and the chain's number alone, not on `threads`. Without a seed
    every run gets a new one from the operating system; it is `Trace.seed`, and given as `seed` it
    gives the same draws again. Ctrl-C returns what is finished. Chains that leave the finite
    numbers are reported and left out.

    >>> import numpy as np
    >>> import langevin as lv
    >>> target = lv.LinearGaussian(np.random.default_rng(1).normal(2.0, 1.0, size=(20, 2)))
    >>> trace = lv.sample(target, "Irr", step_size=0.01, n_steps=20_000, n_chains=4,
    ...                   observables=["sum"], burn_in=2_000, thin=10, seed=0, progress=False)
    >>> trace.draws.shape
    (4, 1800, 2)
    >>> bool(abs(trace.mean("sum") - target.mean.sum()) < 0.05)
    True
    """
    own = {
        "draws": draws, "tune": tune, "chains": chains, "min_ess": min_ess, "max_time": max_time,
        "max_gradients": max_gradients, "target_accept": target_accept, "initvals": initvals,
    }
    if dynamics is None and step_size is None and n_steps is None:
        theirs = {
            "n_chains": n_chains, "batch_size": batch_size, "start": start, "marks": marks,
            "burn_in": burn_in or None, "observables": observables or None,
            "thin": None if thin == 1 else thin, "with_replacement": with_replacement or None,
        }
        _only(theirs, "belongs to runs of a dynamics: sample(target, 'LD', step_size=…, n_steps=…)")
        _check_target(target)
        return draw(
            target,
            draws=draws,
            tune=tune,
            chains=chains,
            min_ess=min_ess,
            max_time=MAX_TIME if max_time is None else max_time,
            max_gradients=MAX_GRADIENTS if max_gradients is None else max_gradients,
            target_accept=target_accept,
            initvals=initvals,
            check=check,
            seed=_seed(seed),
            progress=progress,
            threads=threads,
        )
    _only(own, "belongs to sample(target) without a dynamics")
    if step_size is None or n_steps is None:
        missing = "step_size" if step_size is None else "n_steps"
        raise TypeError(f"a run of a dynamics needs {missing}; sample(target) needs neither")
    chosen = Dynamics.of("LD" if dynamics is None else dynamics)
    shared = shared_settings(
        target,
        n_steps=n_steps,
        n_chains=4 if n_chains is None else n_chains,
        batch_size=batch_size,
        with_replacement=with_replacement,
        burn_in=burn_in,
        thin=thin,
        seed=seed,
        start=start,
        observables=observables,
        n_batches=n_batches,
        marks=marks,
        keep_draws=keep_draws,
        threads=threads,
    )
    return prepare(target, chosen, step_size, shared).run(progress)


def shared_settings(
    target: BaseTarget,
    *,
    n_steps: int,
    n_chains: int,
    batch_size: int | None,
    with_replacement: bool,
    burn_in: int,
    thin: int,
    seed: int | None,
    start: ArrayLike | None,
    observables: Observables,
    n_batches: int,
    marks: Sequence[int] | None,
    keep_draws: bool,
    threads: int | None,
) -> _core.Settings:
    """What `sample` says about a run, checked, before a dynamics and its step size are chosen."""
    _check_target(target)
    n_steps, n_chains = count("n_steps", n_steps, 1), count("n_chains", n_chains, 1)
    burn_in, thin = count("burn_in", burn_in, 0), count("thin", thin, 1)
    seed, n_batches = _seed(seed), count("n_batches", n_batches, 2)
    if burn_in >= n_steps:
        raise ValueError(f"burn_in must be less than n_steps = {n_steps}, but is {burn_in}")
    keep_draws = flag("keep_draws", keep_draws)
    _check_memory(target.free_dim, n_chains, -(-(n_steps - burn_in) // thin) if keep_draws else 0)
    if flag("with_replacement", with_replacement) and batch_size is None:
        raise ValueError("with_replacement has no effect without a batch_size")
    checkpoints = _checkpoints(n_steps, marks)
    named = observables_of(target, observables)
    if named and n_batches > n_steps - burn_in:
        raise ValueError(
            f"{n_steps - burn_in} states after the burn-in cannot be cut into {n_batches} batches"
        )
    return {
        "check_only": False,
        "n_steps": n_steps,
        "step_size": float("nan"),
        "decreasing": None,
        "n_chains": n_chains,
        "seed": seed,
        "batch_size": None if batch_size is None else count("batch_size", batch_size, 1),
        "with_replacement": bool(with_replacement),
        "start": _start(target, start, n_chains, seed),
        "keep_draws": keep_draws,
        "thin": thin,
        "threads": None if threads is None else count("threads", threads, 1),
        "observables": list(named.items()),
        "burn_in": burn_in,
        "checkpoints": checkpoints if named else [],
        "n_batches": n_batches,
        "metric": "identity",
        "diagonal": None,
        "dense": None,
        "skew": "none",
        "j": None,
        "beta": DEFAULT_BETA,
        "progress": None,
    }


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to start: a target, a dynamics, and settings for the native half."""

    target: BaseTarget
    dynamics: Dynamics
    settings: _core.Settings
    #: The metric, where it is a function.
    metric: Metric | None
    #: How far its divergence may be off.
    metric_error: float | None

    def check(self) -> None:
        """Refuses what `run` would refuse, without taking a step."""
        settings = self.settings.copy()
        settings["check_only"] = True
        self._sample(settings)

    def run(self, progress: bool | None) -> Trace:
        """Runs the chains."""
        settings = self.settings.copy()
        work = settings["n_steps"] * settings["n_chains"]
        with Bar(work, self.dynamics.name, wanted(progress)) as bar:
            settings["progress"] = bar
            recorded = self._sample(settings)
        assert recorded is not None
        return Trace._of(
            recorded,
            target=self.target,
            dynamics=self.dynamics,
            settings=settings,
            metric_error=self.metric_error,
        )

    def _sample(self, settings: _core.Settings) -> _core.Recorded | None:
        functions = None if self.metric is None else self.metric._functions()
        return _core.sample(self.target._native(), functions, settings, self.target.scales)


def prepare(
    target: BaseTarget,
    dynamics: Dynamics,
    step_size: float | StepSchedule,
    shared: _core.Settings,
) -> Prepared:
    """Adds a dynamics and its step size to the settings."""
    settings = shared.copy()
    if isinstance(step_size, StepSchedule):
        settings["step_size"] = step_size.a
        settings["decreasing"] = (step_size.b, step_size.gamma)
    else:
        settings["step_size"] = number("step_size", step_size)
    settings["skew"], settings["j"] = dynamics.field, _skew(target, dynamics)
    settings["beta"] = dynamics.beta
    metric = _metric(target, dynamics, settings)
    error = None if metric is None else _check(target, dynamics, metric, settings)
    return Prepared(target, dynamics, settings, metric, error)


def _only(others: dict[str, Any], why: str) -> None:
    """Refuses arguments of the other way to sample."""
    for name, value in others.items():
        if value is not None:
            raise TypeError(f"{name} {why}")


def _check_target(target: Any) -> None:
    if not isinstance(target, BaseTarget):
        raise TypeError(
            f"target must be a model of this package or a langevin.Target, but is {target!r}"
        )


def _seed(given: int | None) -> int:
    """The given seed, or a new one of 63 bits: what reads stores may know signed numbers only."""
    return secrets.randbits(63) if given is None else count("seed", given, 0)


def _check_memory(dim: int, n_chains: int, draws: int) -> None:
    """Refuses what cannot fit: running out of memory would end the process."""
    needed = 8 * dim * n_chains * (draws + 10)
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        there = 2**62  # not known on this system
    if needed > there:
        raise ValueError(
            f"{n_chains} chains of {draws} draws take {needed / 1e9:.3g} GB, but this machine has "
            f"{there / 1e9:.3g} GB; a larger thin or keep_draws=False needs less"
        )


def _checkpoints(n_steps: int, marks: Sequence[int] | None) -> list[int]:
    if marks is None:
        return _core.log_spaced(n_steps, 20)
    checked = {count("marks", m, 1) for m in listed("marks", marks)}
    if checked and max(checked) > n_steps:
        raise ValueError(f"marks must be at most n_steps = {n_steps}, but one is {max(checked)}")
    return sorted(checked)


def _start(
    target: BaseTarget, start: ArrayLike | None, n_chains: int, seed: int
) -> Array | None:
    if start is None:
        return target._default_start(n_chains, seed)
    array = np.atleast_1d(real("start", start))
    if array.shape not in ((target.dim,), (n_chains, target.dim)):
        raise ValueError(
            f"start must have shape ({target.dim},) or ({n_chains}, {target.dim}), "
            f"but its shape is {array.shape}"
        )
    rows = np.ascontiguousarray(np.broadcast_to(array, (n_chains, target.dim)))
    return target._free(rows)


def _skew(target: BaseTarget, dynamics: Dynamics) -> Array | None:
    if dynamics.field == "none":
        return None
    skew = dynamics.skew if dynamics.skew is not None else target._default_skew()
    return np.ascontiguousarray(skew.matrix(target.free_dim), dtype=np.float64)


def _metric(
    target: BaseTarget, dynamics: Dynamics, settings: _core.Settings
) -> Metric | None:
    """Enters a named or constant metric into the settings; returns one that is a function."""
    given: Any = dynamics.metric
    if given is None:
        given = target.metric
        if given == "identity":
            raise ValueError(
                f"{dynamics.name} needs a metric, and this target has none of its own; "
                "give metric= a matrix or a function of theta"
            )
    if isinstance(given, str):
        given = target._metric_named(given)
    if isinstance(given, str):
        settings["metric"] = given
        return None
    if isinstance(given, Metric):
        return given
    if callable(given):
        return Metric(given)
    array = np.ascontiguousarray(real("metric", given))
    if array.shape == (target.free_dim,):
        settings["metric"], settings["diagonal"] = "diagonal", array
    elif array.shape == (target.free_dim, target.free_dim):
        settings["metric"], settings["dense"] = "dense", array
    else:
        raise ValueError(
            f"metric must have shape ({target.dim},) or ({target.dim}, {target.dim}), "
            f"but its shape is {array.shape}"
        )
    return None


def _check(
    target: BaseTarget, dynamics: Dynamics, metric: Metric, settings: _core.Settings
) -> float | None:
    """The error of the metric's divergence at up to ten initial states."""
    start = settings["start"]
    theta = np.zeros((1, target.free_dim)) if start is None else np.unique(start[:10], axis=0)
    if not np.isfinite(theta).all():
        return None  # The run refuses these states with a better message.
    j = settings["j"] if dynamics.field == "geometric" else None
    return check_divergence(metric, theta, j)
