"""Skew-symmetric matrices J, the irreversible part of a dynamics."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, count, finite, floats


@dataclass(frozen=True)
class Skew:
    """A skew-symmetric matrix that adapts to the dimension of the target.

    >>> import langevin as lv
    >>> lv.Skew.of([[0.0, 2.0], [-2.0, 0.0]]).matrix(2)
    array([[ 0.,  2.],
           [-2.,  0.]])
    """

    label: str
    _make: Callable[[int], Array]

    @staticmethod
    def of(value: Skew | ArrayLike) -> Skew:
        """An array as it is; anything not skew-symmetric is refused.

        >>> import langevin as lv
        >>> lv.Skew.of([[0.0, 2.0], [2.0, 0.0]])
        Traceback (most recent call last):
        ValueError: J is not skew-symmetric: |J + Jᵀ| = 4e0 at (1, 0)
        """
        if isinstance(value, Skew):
            return value
        j = floats("skew", value, 2)
        _core.skew_norm(j)
        return Skew("array", lambda dim: j)

    def matrix(self, dim: int) -> Array:
        """J for states of `dim` coordinates.

        >>> import langevin as lv
        >>> lv.sign_skew(1.0).matrix(2)
        array([[ 0.,  1.],
               [-1.,  0.]])
        """
        return self._make(dim)


def _norm(value: float) -> float:
    norm = finite("norm", value)
    if norm < 0.0:
        raise ValueError(f"norm must not be negative, but is {norm}")
    return norm


def random_skew(seed: int = 0, norm: float = 1.0) -> Skew:
    """Random signs, scaled to the given spectral norm.

    >>> import langevin as lv
    >>> j = lv.random_skew(seed=1).matrix(5)
    >>> bool((j == -j.T).all())
    True
    """
    seed, norm = count("seed", seed, 0), _norm(norm)
    return Skew(f"random_skew(seed={seed})", lambda dim: norm * _core.random_skew(dim, seed))


def sign_skew(delta: float = 1.0) -> Skew:
    """``delta`` times +1 above the diagonal and −1 below it.

    >>> import langevin as lv
    >>> lv.sign_skew(0.5).matrix(3)[0]
    array([0. , 0.5, 0.5])
    """
    delta = finite("delta", delta)
    return Skew(f"sign_skew({delta})", lambda dim: _core.sign_skew(dim, delta))


def kronecker_skew(norm: float = 1.0) -> Skew:
    """I ⊗ C₀ + C₀ ⊗ I with the sign pattern C₀, for targets whose state is a square matrix.

    >>> import langevin as lv
    >>> lv.kronecker_skew().matrix(9).shape
    (9, 9)
    """
    norm = _norm(norm)

    def make(dim: int) -> Array:
        size = math.isqrt(dim)
        if size * size != dim:
            raise ValueError(f"kronecker_skew needs a square number of coordinates, not {dim}")
        return np.ascontiguousarray(norm * _core.kronecker_skew(size))

    return Skew("kronecker_skew()", make)
