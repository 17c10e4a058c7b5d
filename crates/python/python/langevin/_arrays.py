"""Input to arrays of floats, with errors that name the argument."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def floats(name: str, value: ArrayLike, ndim: int) -> Array:
    """The value as a C-ordered array of float64 with `ndim` axes; a copy only where needed."""
    try:
        if np.iscomplexobj(value):
            raise TypeError("it holds complex ones")
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of real numbers: {error}") from error
    if np.ndim(value) != ndim:
        raise ValueError(f"{name} must have {ndim} axes, but its shape is {np.shape(value)}")
    return array


def states(theta: ArrayLike, dim: int) -> tuple[Array, bool]:
    """States as rows, and whether a single one was given."""
    array = np.asarray(theta, dtype=np.float64)
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
    """A real number."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, but is {value!r}") from error
