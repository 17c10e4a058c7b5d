"""Observables: what is averaged over every state, by its name."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _core
from ._arrays import Array, listed
from .target import BaseTarget

Observables = Union[
    Sequence[Union[str, int, Callable[[Array], Any]]],
    Mapping[str, Union[str, int, Callable[[Array], Any]]],
]

#: Observables of the whole state.
SIMPLE = ("sum", "sum_of_squares", "square_of_sum")


def observables_of(target: BaseTarget, given: Observables) -> dict[str, Any]:
    """What is measured, by its name."""
    pairs: list[tuple[str | None, Any]]
    if isinstance(given, Mapping):
        pairs = [(_checked_name(name), value) for name, value in given.items()]
    else:
        pairs = [(None, value) for value in listed("observables", given)]
    named: dict[str, Any] = {}
    for name, value in pairs:
        own, measured = _observable(target, value, name)
        if target.scales is not None:
            measured = _on_scale(target, measured)
        if own in named:
            raise ValueError(
                f"two observables are called {own!r}; a dictionary gives them other names"
            )
        named[own] = measured
    return named


def _on_scale(target: BaseTarget, measured: Any) -> Callable[[Array], Any]:
    """An observable of constrained states as a function of free ones."""
    scales = target.scales
    assert scales is not None

    def simple(states: Array) -> Any:
        if measured == "sum":
            return states.sum(axis=1)
        if measured == "sum_of_squares":
            return (states**2).sum(axis=1)
        if measured == "square_of_sum":
            return states.sum(axis=1) ** 2
        return states[:, measured]

    function = measured if callable(measured) else simple
    return lambda free: function(_core.constrain(scales, np.ascontiguousarray(free)))


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError(f"the name of an observable must be a text, but is {name!r}")
    return name


def _observable(target: BaseTarget, value: Any, name: str | None) -> tuple[str, Any]:
    """An observable with its name: the given one, or its own."""
    if isinstance(value, str):
        return name or value, value if value in SIMPLE else _coordinate(target, value)
    if callable(value):
        own = str(name or getattr(value, "__name__", "<lambda>"))
        if own == "<lambda>":
            raise TypeError("functions need names: observables={'name': function}")
        return own, value
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError("a truth value is no number")
        coordinate = operator.index(value)
    except TypeError as error:
        raise TypeError(
            "an observable must be a name, the number of a coordinate or a function, "
            f"but is {value!r}"
        ) from error
    if not 0 <= coordinate < target.dim:
        raise ValueError(f"there is no coordinate {coordinate}; dim is {target.dim}")
    return name or _labels(target)[coordinate], coordinate


def _labels(target: BaseTarget) -> list[str]:
    return [label for parameter in target.parameters for label in parameter.labels()]


def _coordinate(target: BaseTarget, name: str) -> int:
    """The number of the coordinate with this label; blanks do not matter."""
    labels = _labels(target)
    bare = [label.replace(" ", "") for label in labels]
    if name.replace(" ", "") in bare:
        return bare.index(name.replace(" ", ""))
    raise ValueError(
        f"there is no observable called {name!r}; expected one of {', '.join(SIMPLE)}, the name "
        f"of a coordinate ({', '.join(labels[:8])}{', …' if len(labels) > 8 else ''}), or a "
        "function"
    )
