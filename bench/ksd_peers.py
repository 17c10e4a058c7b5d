"""The kernel Stein discrepancy's whole curve by NumPy and by stein-thinning.

`ksd_peers.py numpy ...` or `ksd_peers.py stein-thinning ...`, then the usual arguments.
"""

from __future__ import annotations

import os

# NumPy's blocks are spread over our threads, so each needs one BLAS thread only.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import workloads as w
from protocol import Request, Stopwatch, ksd_answer, main

BLOCK = 256


def numpy_block(x: np.ndarray, b: np.ndarray, first: int) -> np.ndarray:
    """2 Σ_{j<i} k(i, j) + k(i, i) for the rows i of one block, by blocks of columns j ≤ i."""
    rows = slice(first, min(first + BLOCK, len(x)))
    xi, bi, dim = x[rows], b[rows], x.shape[1]
    norm, lean = (x * x).sum(1), (x * b).sum(1)
    sums = np.zeros(len(xi))
    for start in range(0, rows.stop, BLOCK):
        columns = slice(start, min(start + BLOCK, rows.stop))
        xj, bj = x[columns], b[columns]
        square = norm[rows, None] + norm[columns] - 2.0 * (xi @ xj.T)
        np.maximum(square, 0.0, out=square)
        cross = lean[rows, None] + lean[columns] - bi @ xj.T - xi @ bj.T
        inverse = 1.0 / (1.0 + square)
        values = np.sqrt(inverse) * (bi @ bj.T + inverse * (cross + dim - 3.0 * square * inverse))
        if start == first:
            sums += 2.0 * np.tril(values, -1).sum(1) + np.diagonal(values)
        else:
            sums += 2.0 * values.sum(1)
    return sums


def numpy_curve(points: np.ndarray, scores: np.ndarray, threads: int) -> np.ndarray:
    with ThreadPoolExecutor(threads) as pool:
        # Long rows first, so that no thread is left with them at the end.
        starts = range(0, len(points), BLOCK)[::-1]
        sums = list(pool.map(lambda first: numpy_block(points, scores, first), starts))
    total = np.cumsum(np.concatenate(sums[::-1]))
    return np.sqrt(total) / np.arange(1, len(points) + 1)


def stein_thinning_curve(points: np.ndarray, scores: np.ndarray) -> np.ndarray:
    from stein_thinning.kernel import make_imq
    from stein_thinning.stein import ksd

    kernel = make_imq(points, "id")
    return ksd(lambda i, j: kernel(points[i], points[j], scores[i], scores[j]), len(points))


def run_numpy(r: Request) -> dict | None:
    if r.workload not in w.KSD_WORKLOADS:
        return None
    points, scores = w.ksd_points(r.steps)
    with Stopwatch() as watch:
        curve = numpy_curve(points, scores, r.threads)
    return ksd_answer("numpy", r, watch, float(curve[-1]))


def run_stein_thinning(r: Request) -> dict | None:
    if r.workload not in w.KSD_WORKLOADS:
        return None
    points, scores = w.ksd_points(r.steps)
    with Stopwatch() as watch:
        curve = stein_thinning_curve(points, scores)
    return ksd_answer("stein-thinning", r, watch, float(curve[-1]))


if __name__ == "__main__":
    name = sys.argv.pop(1)
    main({"numpy": run_numpy, "stein-thinning": run_stein_thinning}[name])
