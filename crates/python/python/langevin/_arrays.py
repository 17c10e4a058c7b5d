"""Input to numbers and arrays of floats, with errors that name the argument."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def real(name: str, value: ArrayLike) -> Array:
    """The value as an array of float64; a text that reads like a number is none."""
    try:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise TypeError("it holds complex ones")
        if array.dtype.kind not in "biufO":
            raise TypeError(f"it holds {array.dtype}")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of real numbers: {error}") from error


def floats(name: str, value: ArrayLike, ndim: int) -> Array:
    """The value as a C-ordered array of float64 with `ndim` axes; a copy only where needed."""
    array = real(name, value)
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, but its shape is {array.shape}")
    return np.ascontiguousarray(array)


def states(theta: ArrayLike, dim: int) -> tuple[Array, bool]:
    """States as rows, and whether a single one was given."""
    array = real("theta", theta)
    single = array.ndim == 1
    rows = np.ascontiguousarray(np.atleast_2d(array))
    if rows.ndim != 2 or rows.shape[1] != dim:
        raise ValueError(
            f"theta must have shape ({dim},) or (n, {dim}), but its shape is {array.shape}"
        )
    return rows, single


def count(name: str, value: int, smallest: int) -> int:
    """A whole number that is at least `smallest`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, but is {value!r}")
    if value < smallest:
        raise ValueError(f"{name} must be at least {smallest}, but is {value}")
    if value >= 2**64:
        raise ValueError(f"{name} must be less than 2**64, but is {value}")
    return int(value)


def number(name: str, value: Any) -> float:
    """A real number; neither a truth value nor a text that reads like a number."""
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)) or np.ndim(value) != 0:
            raise TypeError(f"it is a {type(value).__name__}")
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be a number, but is {value!r}") from error


def finite(name: str, value: Any) -> float:
    """A real number that is neither NaN nor infinite."""
    found = number(name, value)
    if not math.isfinite(found):
        raise ValueError(f"{name} must be finite, but is {found}")
    return found


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that is merely taken for one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, but is {value!r}")
    return bool(value)


def listed(name: str, value: Any) -> list[Any]:
    """The items of a list, a tuple or an array; a text is not a list of its letters."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError("it is a text")
        return list(value)
    except TypeError as error:
        raise TypeError(f"{name} must be a list, but is {value!r}") from error
