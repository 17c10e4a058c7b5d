"""The five dynamics: a metric, a skew field and the temperature β."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NoReturn, Union

from numpy.typing import ArrayLike

from ._arrays import Array, finite
from .metric import Metric
from .skew import Skew

MetricArgument = Union[str, ArrayLike, Callable[[Array], Any], Metric, None]
SkewArgument = Union[Skew, ArrayLike, None]
Field = Literal["none", "constant", "geometric"]

DEFAULT_BETA = 0.5


class Dynamics:
    """Any metric with any skew field: C = 0 ("none"), J ("constant") or ½(JB + BJ) ("geometric").

    `metric` is the name of one ("identity", "natural", "natural+identity"), a diagonal, a matrix,
    a vectorised function of the state, or a `Metric`; None is the target's own.  `skew` is a
    `Skew` or an array; None is ``kronecker_skew()`` for `Ica` and ``random_skew(seed=0)``
    otherwise.

    >>> import langevin as lv
    >>> lv.Dynamics("fast", metric="identity", skew=lv.sign_skew(3.0), field="constant")
    Dynamics('fast', metric='identity', skew=sign_skew(3.0), field='constant', beta=0.5)
    """

    def __init__(
        self,
        name: str,
        *,
        metric: MetricArgument = "identity",
        skew: SkewArgument = None,
        field: Field = "none",
        beta: float = DEFAULT_BETA,
    ) -> None:
        if field not in ("none", "constant", "geometric"):
            raise ValueError(
                f"there is no skew field called {field!r}; "
                "expected one of none, constant, geometric"
            )
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be a text, but is {name!r}")
        if skew is not None and field == "none":
            raise ValueError(
                "skew has no effect without a field; say field='constant' or field='geometric'"
            )
        self.name = name
        self.metric = metric
        self.skew = None if skew is None else Skew.of(skew)
        self.field: Field = field
        self.beta = finite("beta", beta)
        if self.beta <= 0.0:
            raise ValueError(f"beta must be greater than 0, but is {self.beta}")

    def __repr__(self) -> str:
        metric = self.metric if isinstance(self.metric, (str, type(None))) else "..."
        skew = "default" if self.skew is None else self.skew.label
        return (
            f"{type(self).__name__}({self.name!r}, metric={metric!r}, skew={skew}, "
            f"field={self.field!r}, beta={self.beta})"
        )

    @staticmethod
    def of(value: Dynamics | str) -> Dynamics:
        """One of the five by its name, with the target's own metric and the usual skew matrix.

        >>> import langevin as lv
        >>> lv.Dynamics.of("GiIrr").field
        'geometric'
        """
        if isinstance(value, Dynamics):
            return value
        if not isinstance(value, str):
            raise TypeError(f"dynamics must be a name or a Dynamics, but is {value!r}")
        if value not in BY_NAME:
            raise ValueError(
                f"there is no dynamics called {value!r}; expected one of {', '.join(BY_NAME)}"
            )
        return BY_NAME[value]()


class LD(Dynamics):
    """Langevin dynamics: B = I, C = 0.

    >>> import langevin as lv
    >>> lv.LD().name
    'LD'
    """

    def __init__(self, *, beta: float = DEFAULT_BETA) -> None:
        super().__init__("LD", beta=beta)


class RM(Dynamics):
    """Riemannian manifold Langevin dynamics: B(θ), C = 0.

    >>> import langevin as lv
    >>> lv.RM(metric="natural").metric
    'natural'
    """

    def __init__(self, metric: MetricArgument = None, *, beta: float = DEFAULT_BETA) -> None:
        super().__init__("RM", metric=metric, beta=beta)


class Irr(Dynamics):
    """Irreversible Langevin dynamics: B = I, C = J.

    >>> import langevin as lv
    >>> lv.Irr(skew=lv.sign_skew(2.0)).field
    'constant'
    """

    def __init__(self, skew: SkewArgument = None, *, beta: float = DEFAULT_BETA) -> None:
        super().__init__("Irr", skew=skew, field="constant", beta=beta)


def _refuse_positional(name: str, given: tuple[Any, ...]) -> None:
    """A lone matrix could be the metric or the skew matrix, and either would run."""
    if given:
        raise TypeError(f"{name} takes no positional argument; say skew= or metric=")


class RMIrr(Dynamics):
    """A metric and a constant skew matrix: B(θ), C = J.

    >>> import langevin as lv
    >>> lv.RMIrr(metric="natural", skew=lv.random_skew(seed=3)).name
    'RMIrr'
    """

    def __init__(
        self,
        *positional: NoReturn,
        metric: MetricArgument = None,
        skew: SkewArgument = None,
        beta: float = DEFAULT_BETA,
    ) -> None:
        _refuse_positional("RMIrr", positional)
        super().__init__("RMIrr", metric=metric, skew=skew, field="constant", beta=beta)


class GiIrr(Dynamics):
    """A metric and the geometry-informed skew field: B(θ), C = ½(JB + BJ).

    >>> import langevin as lv
    >>> lv.GiIrr(metric="natural+identity", skew=lv.random_skew(seed=1)).field
    'geometric'
    """

    def __init__(
        self,
        *positional: NoReturn,
        metric: MetricArgument = None,
        skew: SkewArgument = None,
        beta: float = DEFAULT_BETA,
    ) -> None:
        _refuse_positional("GiIrr", positional)
        super().__init__("GiIrr", metric=metric, skew=skew, field="geometric", beta=beta)


BY_NAME: dict[str, Callable[[], Dynamics]] = {
    "LD": LD,
    "RM": RM,
    "Irr": Irr,
    "RMIrr": RMIrr,
    "GiIrr": GiIrr,
}
