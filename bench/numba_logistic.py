"""numba by hand: logistic regression with the metric B = I + G⁻¹ over all data, RM and GiIrr.

With p = logistic(x·w), λ = p(1−p), λ' = λ(1−2p), g = G⁻¹x, q = x·g, t = g·Jx:
div B = −Σ λ' q g and div(BJ) = −Σ λ' t g, where G = αI + Σ λ x xᵀ.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from numba_rng import distinct_rows, exp, normal

SUMS = {"reassoc", "contract", "nsz", "arcp"}
D = 20
BATCH = 10


@njit(fastmath=SUMS, error_model="numpy")
def weights(x, theta, lam, slope, p):
    """λ, λ' and p of every row."""
    for n in range(x.shape[0]):
        dot = 0.0
        for i in range(D):
            dot += x[n, i] * theta[i]
        p[n] = dot
    for n in range(x.shape[0]):
        p[n] = 1.0 / (1.0 + exp(-p[n]))
        lam[n] = p[n] * (1.0 - p[n])
        slope[n] = lam[n] * (1.0 - 2.0 * p[n])


@njit(fastmath=SUMS, error_model="numpy")
def cholesky(a, lower):
    """Lower factor with reciprocal diagonal."""
    for j in range(D):
        total = a[j, j]
        for k in range(j):
            total -= lower[j, k] * lower[j, k]
        inverse = 1.0 / math.sqrt(total)
        lower[j, j] = inverse
        for i in range(j + 1, D):
            total = a[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            lower[i, j] = total * inverse


@njit(fastmath=SUMS, error_model="numpy")
def invert(lower, inverse_lower, inverse):
    """L⁻¹, then G⁻¹ = L⁻ᵀL⁻¹."""
    inverse_lower[:] = 0.0
    for i in range(D):
        inverse_lower[i, i] = lower[i, i]
        for k in range(i):
            factor = lower[i, k] * lower[i, i]
            for j in range(k + 1):
                inverse_lower[i, j] -= factor * inverse_lower[k, j]
    inverse[:] = 0.0
    for k in range(D):
        for i in range(k + 1):
            for j in range(D):
                inverse[i, j] += inverse_lower[k, i] * inverse_lower[k, j]


@njit(fastmath=SUMS, error_model="numpy")
def apply(inverse, v, out):
    """out = (I + G⁻¹) v."""
    for i in range(D):
        total = v[i]
        for j in range(D):
            total += inverse[i, j] * v[j]
        out[i] = total


@njit(fastmath=SUMS, error_model="numpy")
def skew_apply(skew, v, out):
    for i in range(D):
        total = 0.0
        for j in range(D):
            total += skew[i, j] * v[j]
        out[i] = total


@njit(parallel=True, fastmath=SUMS, error_model="numpy")
def logistic_metric_chains(
    out, start, state, x, labels, skew, steps, burn_in, h, alpha, geometric, replacement
):
    """Fills `out` with per-chain averages of φ1 and φ2."""
    n_data = x.shape[0]
    weight = n_data / BATCH
    spread = math.sqrt(h)
    x_columns = x.T.copy()
    jx = x @ skew.T  # row n is J xₙ
    for chain in prange(start.shape[0]):
        theta = start[chain].copy()
        s = (state[chain, 0], state[chain, 1], state[chain, 2], state[chain, 3])
        stamps = np.full(n_data, -1)
        rows = np.empty(BATCH, np.int64)
        p, lam, slope = np.empty(n_data), np.empty(n_data), np.empty(n_data)
        scaled = np.empty((n_data, D))
        g_rows = np.empty((n_data, D))
        metric, lower = np.empty((D, D)), np.zeros((D, D))
        inverse_lower, inverse = np.empty((D, D)), np.empty((D, D))
        score, v, work, drift = np.empty(D), np.empty(D), np.empty(D), np.empty(D)
        sum_q, sum_t = np.empty(D), np.empty(D)
        noise = np.empty(2 * D)
        step = 0
        phi1 = phi2 = 0.0
        for length in (burn_in, steps - burn_in):
            phi1 = phi2 = 0.0
            for _ in range(length):
                step += 1
                s = distinct_rows(s, n_data, BATCH, stamps, step, rows, replacement)
                for i in range(2 * D):
                    noise[i], s = normal(s)
                weights(x, theta, lam, slope, p)
                for n in range(n_data):
                    for i in range(D):
                        scaled[n, i] = lam[n] * x[n, i]
                np.dot(x_columns, scaled, metric)
                for i in range(D):
                    metric[i, i] += alpha
                cholesky(metric, lower)
                invert(lower, inverse_lower, inverse)
                np.dot(x, inverse, g_rows)
                sum_q[:] = 0.0
                sum_t[:] = 0.0
                for n in range(n_data):
                    q = t = 0.0
                    for i in range(D):
                        q += g_rows[n, i] * x[n, i]
                    q *= slope[n]
                    if geometric:
                        for i in range(D):
                            t += g_rows[n, i] * jx[n, i]
                        t *= slope[n]
                        for i in range(D):
                            sum_t[i] -= t * g_rows[n, i]
                    for i in range(D):
                        sum_q[i] -= q * g_rows[n, i]
                for i in range(D):
                    score[i] = -alpha * theta[i]
                for k in range(BATCH):
                    residual = weight * (labels[rows[k]] - p[rows[k]])
                    for i in range(D):
                        score[i] += residual * x[rows[k], i]
                # v = B s + div B; the drift is βv, plus ½Jv + ½(BJs + div(BJ)) for GiIrr.
                apply(inverse, score, v)
                for i in range(D):
                    v[i] += sum_q[i]
                    drift[i] = 0.5 * v[i]
                if geometric:
                    skew_apply(skew, v, work)
                    for i in range(D):
                        drift[i] += 0.5 * (work[i] + sum_t[i])
                    skew_apply(skew, score, work)
                    apply(inverse, work, v)
                    for i in range(D):
                        drift[i] += 0.5 * v[i]
                # The noise ξ₁ + L⁻ᵀξ₂ has covariance I + G⁻¹.
                for i in range(D):
                    work[i] = noise[i]
                for k in range(D):
                    for i in range(k + 1):
                        work[i] += inverse_lower[k, i] * noise[D + k]
                for i in range(D):
                    theta[i] += h * drift[i] + spread * work[i]
                    phi1 += theta[i]
                    phi2 += theta[i] * theta[i]
        out[chain, 0] = phi1 / (steps - burn_in)
        out[chain, 1] = phi2 / (steps - burn_in)
