"""numba by hand: the whole curve of the kernel Stein discrepancy in nine dimensions."""

from __future__ import annotations

import math

import numpy as np
from numba import get_num_threads, njit, prange

SUMS = {"reassoc", "contract", "nsz", "arcp"}
DIM = 9  # a constant, so that the loop over coordinates unrolls inside the one over points


@njit(parallel=True, fastmath=SUMS, error_model="numpy")
def row_sums(x, b, sums):
    """sums[i] = 2 Σ_{j<i} k(i, j) + k(i, i), each pair once; x and b have one row per coordinate.

    With D = x − y and ρ = 1 + |D|²: k = b(x)·b(y) ρ^(−½) + [(b(x) − b(y))·D + d] ρ^(−³⁄₂)
    − 3 |D|² ρ^(−⁵⁄₂).
    """
    count = x.shape[1]
    threads = get_num_threads()
    for thread in prange(threads):
        for i in range(thread, count, threads):
            xi, bi = x[:, i].copy(), b[:, i].copy()
            total = 0.0
            for j in range(i):
                square = inner = cross = 0.0
                for c in range(DIM):
                    delta = xi[c] - x[c, j]
                    other = b[c, j]
                    square += delta * delta
                    inner += bi[c] * other
                    cross += (bi[c] - other) * delta
                root = 1.0 / math.sqrt(1.0 + square)
                inverse = root * root
                tail = cross + DIM - 3.0 * square * inverse
                total += root * (inner + inverse * tail)
            own = float(DIM)
            for c in range(DIM):
                own += bi[c] * bi[c]
            sums[i] = 2.0 * total + own


def ksd_curve(points: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """KSD of the first K points for every K."""
    count = len(points)
    sums = np.empty(count)
    row_sums(np.ascontiguousarray(points.T), np.ascontiguousarray(scores.T), sums)
    return np.sqrt(np.cumsum(sums)) / np.arange(1, count + 1)
