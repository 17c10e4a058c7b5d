"""Numbers that sum up chains."""

from __future__ import annotations

from dataclasses import dataclass

from . import _core

COLUMNS = ("mean", "sd", "q5", "q95", "mcse_mean", "mcse_sd", "ess_bulk", "ess_tail", "r_hat")


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
    ...                   n_steps=1_000, seed=0, progress=False)
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


def spread(values: list[float]) -> Spread:
    """Mean over chains with its standard error, NaN where there are too few."""
    if not values:
        return Spread(float("nan"), float("nan"))
    if len(values) == 1:
        return Spread(values[0], float("nan"))
    return Spread(*_core.spread(values))
