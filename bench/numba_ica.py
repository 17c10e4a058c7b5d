"""numba by hand: independent component analysis of three signals, LD and GiIrr."""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from numba_rng import distinct_rows, exp, normal

SUMS = {"reassoc", "contract", "nsz", "arcp"}
BATCH = 40


@njit(forceinline=True, fastmath=SUMS, error_model="numpy")
def multiply(a, b, out):
    """out = a b for 3×3 matrices."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@njit(forceinline=True, fastmath=SUMS, error_model="numpy")
def minibatch_score(w, rows, data, weight, n_data, prior, x, t, out):
    """N W⁻ᵀ − λW − (N/n) Σ tanh(½Wx) xᵀ; data, x and t have one row per signal."""
    for i in range(3):
        for k in range(BATCH):
            x[i, k] = data[i, rows[k]]
    for i in range(3):
        a, b, c = w[i, 0], w[i, 1], w[i, 2]
        for k in range(BATCH):
            y = a * x[0, k] + b * x[1, k] + c * x[2, k]
            t[i, k] = 1.0 - 2.0 / (exp(y) + 1.0)
    det = (
        w[0, 0] * (w[1, 1] * w[2, 2] - w[1, 2] * w[2, 1])
        + w[0, 1] * (w[1, 2] * w[2, 0] - w[1, 0] * w[2, 2])
        + w[0, 2] * (w[1, 0] * w[2, 1] - w[1, 1] * w[2, 0])
    )
    scale = n_data / det
    for i in range(3):
        p, q = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            u, v = (j + 1) % 3, (j + 2) % 3
            total = 0.0
            for k in range(BATCH):
                total += t[i, k] * x[j, k]
            cofactor = w[p, u] * w[q, v] - w[p, v] * w[q, u]
            out[i, j] = scale * cofactor - prior * w[i, j] - weight * total


@njit(forceinline=True, fastmath=SUMS, error_model="numpy")
def geometric_step(w, score, xi, h, spread, c0, p, work, work2, drift):
    """GiIrr with P = I + WᵀW: β(FP + 4W) + C0 F P − ½F(P C0 + C0 P) + 4 C0 W − ³⁄₂ W C0."""
    for i in range(3):
        for j in range(3):
            p[i, j] = w[0, i] * w[0, j] + w[1, i] * w[1, j] + w[2, i] * w[2, j]
        p[i, i] += 1.0
    multiply(score, p, work)
    for i in range(3):
        for j in range(3):
            work[i, j] += 4.0 * w[i, j]
            drift[i, j] = 0.5 * work[i, j]
    # C0 (F P + 4W) in one product.
    multiply(c0, work, work2)
    for i in range(3):
        for j in range(3):
            drift[i, j] += work2[i, j]
            work[i, j] = 0.0
            for k in range(3):
                work[i, j] -= 0.5 * (p[i, k] * c0[k, j] + c0[i, k] * p[k, j])
    multiply(score, work, work2)
    multiply(w, c0, work)
    # The noise Z Lᵀ with P = LLᵀ.
    l00 = math.sqrt(p[0, 0])
    l10, l20 = p[1, 0] / l00, p[2, 0] / l00
    l11 = math.sqrt(p[1, 1] - l10 * l10)
    l21 = (p[2, 1] - l20 * l10) / l11
    l22 = math.sqrt(p[2, 2] - l20 * l20 - l21 * l21)
    for i in range(3):
        for j in range(3):
            w[i, j] += h * (drift[i, j] + work2[i, j] - 1.5 * work[i, j])
        w[i, 0] += spread * (l00 * xi[i, 0])
        w[i, 1] += spread * (l10 * xi[i, 0] + l11 * xi[i, 1])
        w[i, 2] += spread * (l20 * xi[i, 0] + l21 * xi[i, 1] + l22 * xi[i, 2])


@njit(parallel=True, fastmath=SUMS, error_model="numpy")
def ica_chains(
    out, start, state, observations, steps, burn_in, h, prior, c0_entry, geometric, replacement
):
    """Fills `out` with per-chain averages of φ1 and φ2."""
    n_data = observations.shape[0]
    data = observations.T.copy()
    weight = n_data / BATCH
    rate, spread = 0.5 * h, math.sqrt(h)
    c0 = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1, 3):
            c0[i, j] = c0_entry
            c0[j, i] = -c0_entry
    for chain in prange(start.shape[0]):
        w = start[chain].copy().reshape(3, 3).T.copy()
        s = (state[chain, 0], state[chain, 1], state[chain, 2], state[chain, 3])
        stamps = np.full(n_data, -1)
        rows = np.empty(BATCH, np.int64)
        x = np.empty((3, BATCH))
        t = np.empty((3, BATCH))
        score = np.empty((3, 3))
        xi = np.empty((3, 3))
        p, work = np.empty((3, 3)), np.empty((3, 3))
        work2, drift = np.empty((3, 3)), np.empty((3, 3))
        step = 0
        phi1 = phi2 = 0.0
        for length in (burn_in, steps - burn_in):
            phi1 = phi2 = 0.0
            for _ in range(length):
                step += 1
                s = distinct_rows(s, n_data, BATCH, stamps, step, rows, replacement)
                for i in range(3):
                    for j in range(3):
                        xi[i, j], s = normal(s)
                minibatch_score(w, rows, data, weight, n_data, prior, x, t, score)
                if geometric:
                    geometric_step(w, score, xi, h, spread, c0, p, work, work2, drift)
                else:
                    for i in range(3):
                        for j in range(3):
                            w[i, j] += rate * score[i, j] + spread * xi[i, j]
                for i in range(3):
                    for j in range(3):
                        phi1 += w[i, j]
                        phi2 += w[i, j] * w[i, j]
        out[chain, 0] = phi1 / (steps - burn_in)
        out[chain, 1] = phi2 / (steps - burn_in)
