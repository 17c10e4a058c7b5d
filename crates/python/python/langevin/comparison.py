"""`compare`: the same target under several dynamics, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import listed
from ._extras import require
from .dynamics import Dynamics
from .observables import Observables
from .sampling import StepSchedule, prepare, shared_settings
from .summary import Spread, spread
from .target import BaseTarget
from .trace import Trace


@dataclass(frozen=True)
class Row:
    """One dynamics and one observable.

    `variance` is the asymptotic variance per unit of time, `gain` that of the first dynamics over
    it (chains of one number share their random numbers, and its error allows for that), and
    `cost` the squared error of the average after one second of computing, bias aside: the
    asymptotic variance times seconds per unit of time.
    """

    dynamics: str
    observable: str
    mean: float
    variance: Spread
    gain: Spread
    cost: float
    escapes: int


@dataclass(frozen=True)
class Comparison:
    """Traces of several dynamics by name, with a table and a figure.

    >>> import numpy as np
    >>> import langevin as lv
    >>> target = lv.LinearGaussian(np.random.default_rng(1).normal(size=(20, 3)))
    >>> comparison = lv.compare(target, ["LD", "Irr"], step_size=0.01, n_steps=2_000, n_chains=4,
    ...                         seed=0, progress=False)
    >>> [row.dynamics for row in comparison.rows()]
    ['LD', 'Irr', 'LD', 'Irr']
    """

    traces: dict[str, Trace]
    observables: tuple[str, ...]
    #: Of `run`: everything that the program writes to results.json, else None.
    results: dict[str, Any] | None = None
    #: Of `run`: everything that the program writes to timing.json, else None.
    timing: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> Trace:
        return self.traces[name]

    def rows(self) -> list[Row]:
        """All results, observable by observable.

        >>> import langevin as lv
        >>> comparison = lv.compare(lv.LinearGaussian([[1.0, 2.0]]), ["LD", "RM"], step_size=0.05,
        ...                         n_steps=1_000, observables=["sum"], seed=0, progress=False)
        >>> comparison.rows()[1].dynamics
        'RM'
        """
        rows = []
        for observable in self.observables:
            first: list[tuple[int, float]] | None = None
            for name, trace in self.traces.items():
                averages, index = trace._recorded(observable)
                variances = averages.variances(index)
                first = variances if first is None else first
                variance = spread([v for _, v in variances])
                gain = _core.ratio(first, variances) or (float("nan"), float("nan"))
                done = trace.n_steps * (len(trace.chains) + len(trace.escapes))
                seconds = trace.seconds / (max(1, done) * trace.step_size)
                rows.append(
                    Row(
                        dynamics=name,
                        observable=observable,
                        mean=trace.mean(observable),
                        variance=variance,
                        gain=Spread(*gain),
                        cost=variance.mean * seconds,
                        escapes=len(trace.escapes),
                    )
                )
        return rows

    def table(self) -> str:
        """The results as text.

        >>> import langevin as lv
        >>> comparison = lv.compare(lv.LinearGaussian([[1.0, 2.0]]), ["LD", "RM"], step_size=0.05,
        ...                         n_steps=1_000, observables=["sum"], seed=0, progress=False)
        >>> print(comparison.table().splitlines()[0])
        observable  dynamics        mean   asymptotic variance                gain   cost/s   escaped
        """
        width = max([len(o) for o in self.observables] + [10])
        head = f"{'dynamics':<10}{'mean':>10}{'asymptotic variance':>22}{'gain':>20}"
        lines = [f"{'observable':<{width}}  {head}{'cost/s':>9}{'escaped':>10}"]
        for row in self.rows():
            lines.append(
                f"{row.observable:<{width}}  {row.dynamics:<10}{row.mean:>10.4g}"
                f"{row.variance!s:>22}{row.gain!s:>20}{row.cost:>9.1e}{row.escapes:>10}"
            )
        return "\n".join(lines)

    __str__ = table

    def plot(self, axes: Any = None) -> Any:
        """A figure: how the error of running averages falls, and the asymptotic variances.

        The error is the spread over chains; a bias that all chains share does not show. Returns
        the matplotlib figure.

        >>> import langevin as lv
        >>> comparison = lv.compare(lv.LinearGaussian([[1.0, 2.0]]), ["LD", "RM"], step_size=0.05,
        ...                         n_steps=1_000, observables=["sum"], seed=0, progress=False)
        >>> len(comparison.plot().axes)
        2
        """
        pyplot = require("matplotlib.pyplot", "plot")
        n = len(self.observables)
        if axes is None:
            _, axes = pyplot.subplots(
                2, n, figsize=(4.2 * n, 6.4), squeeze=False, layout="constrained"
            )
        axes = np.asarray(axes).reshape(2, n)
        rows = self.rows()
        for column, observable in enumerate(self.observables):
            self._plot_spread(axes[0, column], observable)
            mine = [row for row in rows if row.observable == observable]
            _plot_variances(axes[1, column], mine)
        axes[0, 0].legend(frameon=False)
        return axes[0, 0].figure

    def _plot_spread(self, axis: Any, observable: str) -> None:
        for name, trace in self.traces.items():
            steps, averages = trace.running_average(observable)
            colour, dash, _ = style(name)
            spread = averages.std(axis=0, ddof=1)
            time = steps * trace.step_size
            # Chains that start together have no spread yet, and no place on a log scale.
            spread[spread <= 0.0] = np.nan
            axis.loglog(time, spread, color=colour, linestyle=dash, label=name)
        axis.set(xlabel="time", ylabel="spread of the running average", title=observable)


def _plot_variances(axis: Any, rows: list[Row]) -> None:
    for x, row in enumerate(rows):
        colour, _, marker = style(row.dynamics)
        axis.errorbar(x, row.variance.mean, 2 * row.variance.se, color=colour, marker=marker)
    axis.set_yscale("log")
    axis.set_xticks(range(len(rows)), [row.dynamics for row in rows])
    axis.set(ylabel="asymptotic variance (± 2 se)")


def style(name: str) -> tuple[str, Any, str]:
    """Colour, line style and marker of a dynamics, those of the program's figures."""
    colour, dash, marker = _core.style(name)
    return colour, "-" if dash is None else (0, tuple(dash)), marker


def compare(
    target: BaseTarget,
    dynamics: Sequence[Dynamics | str] = ("LD", "RM", "Irr", "RMIrr", "GiIrr"),
    *,
    step_size: float | StepSchedule | Mapping[str, float | StepSchedule],
    n_steps: int,
    n_chains: int = 100,
    batch_size: int | None = None,
    with_replacement: bool = False,
    burn_in: int = 0,
    thin: int = 1,
    seed: int | None = None,
    start: ArrayLike | None = None,
    observables: Observables = ("sum", "sum_of_squares"),
    n_batches: int = 20,
    marks: Sequence[int] | None = None,
    keep_draws: bool = False,
    progress: bool | None = None,
    threads: int | None = None,
) -> Comparison:
    """Samples the target under each dynamics with the same seed and settings.

    `step_size` is one for all or a dictionary by name; the other options are those of `sample`.
    Without a seed, all dynamics share a new one.
    The settings of all dynamics are checked before the first one runs. Ctrl-C returns the
    dynamics that are finished.

    >>> import numpy as np
    >>> import langevin as lv
    >>> target = lv.NormalParameters(np.random.default_rng(0).normal(size=30))
    >>> comparison = lv.compare(target, ["LD", "RM"], step_size={"LD": 0.001, "RM": 0.05},
    ...                         n_steps=1_000, n_chains=10, seed=0, progress=False)
    >>> sorted(comparison.traces)
    ['LD', 'RM']
    """
    sized = _with_step_sizes([Dynamics.of(d) for d in listed("dynamics", dynamics)], step_size)
    shared = shared_settings(
        target,
        n_steps=n_steps,
        n_chains=n_chains,
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
    runs = [prepare(target, each, size, shared) for each, size in sized]
    for run in runs:
        run.check()
    traces: dict[str, Trace] = {}
    for run in runs:
        trace = run.run(progress)
        if trace.interrupted:
            break
        traces[run.dynamics.name] = trace
    first = next(iter(traces.values()), None)
    return Comparison(traces, () if first is None else first.observables)


def _with_step_sizes(
    chosen: list[Dynamics],
    step_size: float | StepSchedule | Mapping[str, float | StepSchedule],
) -> list[tuple[Dynamics, float | StepSchedule]]:
    """Each dynamics with its step size."""
    names = [d.name for d in chosen]
    if not names:
        raise ValueError("dynamics is empty; give at least one name")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two dynamics are called {name!r}; give them different names")
        if isinstance(step_size, Mapping) and name not in step_size:
            raise ValueError(f"step_size has no entry for {name!r}")
    return [
        (d, step_size[d.name] if isinstance(step_size, Mapping) else step_size) for d in chosen
    ]
