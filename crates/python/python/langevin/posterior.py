"""Draws of a posterior without choices: tuned, stopped when they are precise, with an honest word."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import Array, count, finite, flag, real
from ._warnings import warn
from .dynamics import Dynamics
from .progress import wanted
from .summary import Spread
from .target import BaseTarget
from .trace import Trace

#: Seconds that a run may take unless it is told otherwise.
MAX_TIME = 600.0
#: Gradients of all chains that it may evaluate.
MAX_GRADIENTS = 10**10


class SamplingWarning(UserWarning):
    """Something speaks against the draws of a run.

    >>> import langevin as lv
    >>> issubclass(lv.SamplingWarning, UserWarning)
    True
    """


@dataclass(frozen=True, repr=False)
class PosteriorTrace(Trace):
    """Draws of the exact posterior, and what they are worth.

    >>> import langevin as lv
    >>> target = lv.LogisticRegression([[1.0], [-1.0], [0.3]], [1, 0, 1])
    >>> trace = lv.sample(target, seed=0, progress=False)
    >>> trace.precise, trace.warnings
    (True, ())
    """

    #: Effective draws for means, quantiles and standard deviations of all parameters; None where
    #: there is no such thing: chains that have not met, or that hardly move.
    ess: float | None = None
    #: Whether there are as many of them as were wanted.
    precise: bool = False
    #: What speaks against the draws; empty where nothing does.
    warnings: tuple[str, ...] = ()
    #: What the run did and what it cost: gradients, seconds, tuning, the warm-up apart.
    report: dict[str, Any] = field(default_factory=dict)
    #: ∇ log π at the draws, in the coordinates of `unconstrained`.
    scores: Array = field(default_factory=lambda: np.empty((0, 0, 0)))

    def __repr__(self) -> str:
        chains, draws = self.draws.shape[:2]
        names = ", ".join(p.name for p in self.parameters)
        ess = "no effective sample size" if self.ess is None else f"ESS {self.ess:.0f}"
        bad = f"; {len(self.warnings)} warnings" if self.warnings else ""
        stopped = "; interrupted" if self.interrupted else ""
        return (
            f"PosteriorTrace({chains} chains × {draws} draws of {names}; {ess}, "
            f"seed {self.seed}{bad}{stopped})"
        )

    def control_variates(
        self, function: Callable[[Array], Any] | None = None, *, order: int = 1
    ) -> dict[str, Spread] | Spread:
        """Means with the error that is left once the scores have explained what they can: fitted on
        half of the chains, applied to the other half.

        `function` maps draws in free coordinates, of shape (n, dim), to values of shape (n,);
        without it, means of these coordinates themselves. Order 2 adds products of coordinates and
        helps second moments; it needs ten effective draws for each of its d(d + 3)/2 regressors.

        >>> import langevin as lv
        >>> target = lv.LinearGaussian([[1.0], [2.0], [6.0]])
        >>> trace = lv.sample(target, seed=0, progress=False)
        >>> estimate = trace.control_variates(lambda theta: theta[:, 0])
        >>> abs(estimate.mean - 2.25) < 1e-9
        True
        """
        if order not in (1, 2):
            raise ValueError(f"order must be 1 or 2, but is {order!r}")
        free = np.ascontiguousarray(self.unconstrained)
        flat = free.reshape(-1, free.shape[2])
        groups = len(free) // int(self.report.get("superchain_size", 1))

        def mean(values: Any) -> Spread:
            array = np.ascontiguousarray(real("the values of the function", values))
            if array.shape != (len(flat),):
                raise ValueError(
                    f"function returned an array of shape {array.shape}, "
                    f"but {(len(flat),)} was expected"
                )
            scores = np.ascontiguousarray(self.scores)
            return Spread(*_core.control_variate(free, scores, groups, array, order))

        if function is not None:
            return mean(function(flat))
        labels = [f"theta[{i}]" for i in range(flat.shape[1])]
        if self.draws.shape == free.shape:
            labels = list(self.names)
        return {label: mean(flat[:, i]) for i, label in enumerate(labels)}


def draw(
    target: BaseTarget,
    *,
    draws: int | None,
    tune: int | None,
    chains: int | None,
    min_ess: float | None,
    max_time: float,
    max_gradients: int,
    target_accept: float | None,
    initvals: ArrayLike | None,
    check: bool,
    seed: int,
    progress: bool | None,
    threads: int | None,
) -> PosteriorTrace:
    """`sample` without a dynamics."""
    if draws is not None and min_ess is not None:
        raise ValueError("draws and min_ess both say when to stop; give one of them")
    starts = None if initvals is None else _starts(target, initvals, chains)
    n_chains = None if chains is None else count("chains", chains, 1)
    asked: _core.Asked = {
        "n_chains": n_chains if starts is None else None,
        "starts": starts,
        "seed": seed,
        "min_ess": None if min_ess is None else _above("min_ess", min_ess, 0.0),
        "n_draws": None if draws is None else count("draws", draws, 4),
        "tune": None if tune is None else count("tune", tune, 1),
        "target_accept": None if target_accept is None else finite("target_accept", target_accept),
        "max_seconds": _above("max_time", max_time, 0.0),
        "max_gradients": count("max_gradients", max_gradients, 1),
        "check": flag("check", check),
        "names": target._draw_labels(),
        "scales": target.scales,
        "shows": target._shows(),
        "threads": None if threads is None else count("threads", threads, 1),
        "tell": None,
    }
    with _Line(wanted(progress)) as line:
        asked["tell"] = line
        found = _core.draw(target._native(), asked)
    return _trace(found, target, seed)


def _above(name: str, value: Any, low: float) -> float:
    found = finite(name, value)
    if found <= low:
        raise ValueError(f"{name} must be greater than {low:g}, but is {found:g}")
    return found


def _starts(target: BaseTarget, initvals: ArrayLike, chains: int | None) -> Array:
    """Initial states of all chains in the target's own coordinates."""
    array = np.atleast_1d(real("initvals", initvals))
    n = count("chains", chains, 1) if chains is not None else len(np.atleast_2d(array))
    if array.ndim == 1:
        if chains is None:
            raise ValueError(
                "initvals is one state: say for how many chains (chains=), or give one for each; "
                "chains that all start at one point cannot show that they have met"
            )
        array = np.broadcast_to(array, (n, len(array)))
    if array.shape != (n, target.dim):
        raise ValueError(
            f"initvals must have shape ({n}, {target.dim}), but its shape is {array.shape}"
        )
    return np.ascontiguousarray(array)


def _trace(found: _core.Posterior, target: BaseTarget, seed: int) -> PosteriorTrace:
    report: dict[str, Any] = json.loads(found.report)
    free = found.free()
    # (Where the model itself knows more than its coordinates, it is asked.)
    asks = type(target)._constrained is not BaseTarget._constrained
    shown, parameters = (
        target._constrained(free) if asks else (found.shown(), target.parameters)
    )
    log_density, acceptance, energy_error = found.told()
    thin, n_draws = int(report["thin"]), free.shape[1]
    states = thin * np.arange(n_draws, dtype=np.int64)
    stats: dict[str, NDArray[Any]] = {
        "lp": log_density,
        "acceptance_rate": acceptance,
        "energy_error": energy_error,
        "diverging": ~(np.abs(energy_error) < 1000.0),
        "step": np.broadcast_to(states, free.shape[:2]).copy(),
    }
    warnings = tuple(found.warnings)
    for text in warnings:
        warn(text, SamplingWarning)
    return PosteriorTrace(
        draws=shown,
        unconstrained=free,
        chains=np.arange(len(free)),
        parameters=parameters,
        escapes=(),
        interrupted=report["why"] == "interrupted",
        seconds=report["timing"]["warm_up_seconds"] + report["timing"]["seconds"],
        metric_error=None,
        dynamics=Dynamics("exact", metric=None),
        n_steps=int(report["n_steps"]),
        step_size=float(report["angle"]),
        burn_in=0,
        thin=thin,
        seed=seed,
        observables=(),
        sample_stats=stats,
        attributes={"model": target.name, "warnings": list(warnings)},
        ess=report["ess"],
        precise=report["why"] in ("precise", "draws") and report["ess"] is not None,
        warnings=warnings,
        report=report,
        scores=found.scores(),
    )


class _Line:
    """One line that says how far it is."""

    def __init__(self, show: bool) -> None:
        self._show = show
        self._shown = False

    def __enter__(self) -> _Line:
        return self

    def __call__(self, text: str) -> None:
        status: dict[str, Any] = json.loads(text)
        if not self._show or status["seconds"] < 0.3:
            return
        self._shown = True
        sys.stderr.write("\r" + _words(status).ljust(100))
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\n")


def _words(status: dict[str, Any]) -> str:
    if status["warming_up"]:
        return f"warming up, {status['seconds']:.0f} s"
    parts = [f"{status['n_draws']} draws"]
    if status["ess"] is not None:
        wanted_ess = f" of {status['wanted']:.0f}" if status["wanted"] else ""
        parts.append(f"ESS {status['ess']:.0f}{wanted_ess}")
    if status["rhat"] is not None:
        parts.append(f"R-hat {status['rhat']:.3f}")
    rate = status["gradients"] / max(status["seconds"], 1e-9)
    parts.append(f"{rate:.3g} gradients/s")
    if status["left"] is not None:
        parts.append(f"about {status['left']:.0f} s left")
    return ", ".join(parts)
