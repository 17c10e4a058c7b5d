"""Scales of parameters: what values they can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from ._arrays import count, finite, listed

Shape = Union[int, Sequence[int]]


@dataclass(frozen=True)
class Scale:
    """The values of a parameter and its shape; made by `positive`, `interval` and the others.

    >>> import langevin as lv
    >>> lv.positive(shape=3)
    Scale('positive', shape=(3,))
    """

    text: str
    shape: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"Scale({self.text!r}, shape={self.shape})"


def _scale(text: str, shape: Shape) -> Scale:
    lengths = [shape] if isinstance(shape, int) else listed("shape", shape)
    return Scale(text, tuple(count("shape", length, 1) for length in lengths))


def real(shape: Shape = ()) -> Scale:
    """Any number.

    >>> import langevin as lv
    >>> lv.real()
    Scale('real', shape=())
    """
    return _scale("real", shape)


def positive(shape: Shape = ()) -> Scale:
    """Above 0.

    >>> import langevin as lv
    >>> lv.positive()
    Scale('positive', shape=())
    """
    return _scale("positive", shape)


def above(low: float, shape: Shape = ()) -> Scale:
    """Above a bound.

    >>> import langevin as lv
    >>> lv.above(1.5)
    Scale('above(1.5)', shape=())
    """
    return _scale(f"above({finite('low', low)!r})", shape)


def below(high: float, shape: Shape = ()) -> Scale:
    """Below a bound.

    >>> import langevin as lv
    >>> lv.below(0)
    Scale('below(0.0)', shape=())
    """
    return _scale(f"below({finite('high', high)!r})", shape)


def interval(low: float, high: float, shape: Shape = ()) -> Scale:
    """Between two bounds.

    >>> import langevin as lv
    >>> lv.interval(0, 1)
    Scale('interval(0.0, 1.0)', shape=())
    """
    low, high = finite("low", low), finite("high", high)
    if not low < high:
        raise ValueError(f"low must be less than high = {high}, but is {low}")
    return _scale(f"interval({low!r}, {high!r})", shape)


def ordered(shape: Shape) -> Scale:
    """Vectors whose elements increase, along the last axis.

    >>> import langevin as lv
    >>> lv.ordered(2)
    Scale('ordered', shape=(2,))
    """
    return _scale("ordered", shape)


def simplex(shape: Shape) -> Scale:
    """Vectors of positive numbers that sum to 1, along the last axis. The density is one of all
    elements but the last.

    >>> import langevin as lv
    >>> lv.simplex(3)
    Scale('simplex', shape=(3,))
    """
    return _scale("simplex", shape)


def unit_vector(shape: Shape) -> Scale:
    """Vectors of length 1, along the last axis. The density is one on the sphere.

    >>> import langevin as lv
    >>> lv.unit_vector(3)
    Scale('unit_vector', shape=(3,))
    """
    return _scale("unit_vector", shape)


def correlation_cholesky(size: int) -> Scale:
    """The Cholesky factor of a correlation matrix. The density is one of the elements below its
    diagonal.

    >>> import langevin as lv
    >>> lv.correlation_cholesky(2)
    Scale('correlation_cholesky', shape=(2, 2))
    """
    return _scale("correlation_cholesky", (size, size))


def layout(parameters: Sequence[tuple[str, Scale]]) -> str | None:
    """The declaration as the native half reads it; None where everything is real."""
    if all(scale.text == "real" for _, scale in parameters):
        return None

    def block(name: str, scale: Scale) -> str:
        shape = f"[{','.join(map(str, scale.shape))}]" if scale.shape else ""
        return f"{name}{shape}: {scale.text}"

    return ", ".join(block(name, scale) for name, scale in parameters)
