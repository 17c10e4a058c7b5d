"""numba by hand: every workload as one compiled loop per chain, chains spread over the threads.

What makes it quick: random state and small states in registers, sums over data reordered freely
(`fastmath` where it changes rounding only), branch-free exponentials in loops that vectorise, and
constant sizes, so that short loops unroll.
"""

from __future__ import annotations

import math
import os

# One BLAS thread in each of ours.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numba import njit, prange, set_num_threads

import workloads as w
from numba_ica import ica_chains
from numba_ksd import ksd_curve
from numba_logistic import logistic_metric_chains
from numba_rng import LOW_32, U32, below, distinct_rows, exp, next_word, normal, seeds
from protocol import Request, Stopwatch, chain_answer, ksd_answer, main

SUMS = {"reassoc", "contract", "nsz", "arcp"}  # changes rounding, keeps NaN and infinity


@njit(parallel=True, fastmath=SUMS, error_model="numpy")
def gaussian_chains(out, start, state, pulls, precision, steps, burn_in, h, replacement):
    """Linear Gaussian LD: θ ← θ + ½h(N/n Σ Γ_X x − Γθ) + sqrt(h) ξ, two rows of ten."""
    n_data = pulls.shape[0]
    rate, spread = 0.5 * h, math.sqrt(h)
    pull = pulls * (rate * n_data / 2.0)
    # F = I − ½hΓ, so that a step is Fθ + pulls + noise.
    f = np.eye(3) - rate * precision
    f00, f01, f02 = f[0, 0], f[0, 1], f[0, 2]
    f11, f12, f22 = f[1, 1], f[1, 2], f[2, 2]
    for chain in prange(start.shape[0]):
        x, y, z = start[chain, 0], start[chain, 1], start[chain, 2]
        s = (state[chain, 0], state[chain, 1], state[chain, 2], state[chain, 3])
        phi1 = phi2 = 0.0
        for length in (burn_in, steps - burn_in):
            phi1 = phi2 = 0.0
            for _ in range(length):
                word, s = next_word(s)
                a = below(word & LOW_32, n_data)
                if replacement:
                    b = below(word >> U32, n_data)
                else:
                    b = below(word >> U32, n_data - 1)
                    b += b >= a
                n0, s = normal(s)
                n1, s = normal(s)
                n2, s = normal(s)
                x_new = f00 * x + f01 * y + f02 * z + (pull[a, 0] + pull[b, 0] + spread * n0)
                y_new = f01 * x + f11 * y + f12 * z + (pull[a, 1] + pull[b, 1] + spread * n1)
                z_new = f02 * x + f12 * y + f22 * z + (pull[a, 2] + pull[b, 2] + spread * n2)
                x, y, z = x_new, y_new, z_new
                phi1 += x + y + z
                phi2 += x * x + y * y + z * z
        out[chain, 0] = phi1 / (steps - burn_in)
        out[chain, 1] = phi2 / (steps - burn_in)


@njit(forceinline=True)
def six_rows_sums(s, n_data, x, x2, replacement):
    """Σx and Σx² over six distinct rows of at most 64; the rows taken are bits of one word."""
    taken = np.int64(0)
    first = second = 0.0
    for k in range(3):
        word, s = next_word(s)
        for half in range(2):
            bits = word & LOW_32 if half == 0 else word >> U32
            if replacement:
                row = below(bits, n_data)
            else:
                last = n_data - 6 + 2 * k + half
                row = below(bits, last + 1)
                row = last if (taken >> row) & 1 else row
                taken |= np.int64(1) << row
            first += x[row]
            second += x2[row]
    return first, second, s


@njit(parallel=True, fastmath=SUMS, error_model="numpy")
def normal_chains(out, start, state, data, steps, burn_in, h, delta, geometric, replacement):
    """Mean and standard deviation of normal data: LD, or GiIrr with B = σ²/N·diag(1, ½)."""
    n_data = data.shape[0]
    count = float(n_data)
    centre = data.mean()
    x = data - centre
    x2 = x * x
    weight = count / 6.0
    rate, spread = 0.5 * h, math.sqrt(h)
    root, half_root = math.sqrt(1.0 / count), math.sqrt(0.5 / count)
    for chain in prange(start.shape[0]):
        mu, sigma = start[chain, 0] - centre, start[chain, 1]
        s = (state[chain, 0], state[chain, 1], state[chain, 2], state[chain, 3])
        phi1 = phi2 = 0.0
        for length in (burn_in, steps - burn_in):
            phi1 = phi2 = 0.0
            for _ in range(length):
                first, second, s = six_rows_sums(s, n_data, x, x2, replacement)
                n0, s = normal(s)
                n1, s = normal(s)
                first *= weight
                second *= weight
                m1 = first - count * mu
                m2 = second - mu * (first + m1)
                if geometric:
                    # σ² times the score, with B, C = (3σ²/4N)J and both divergences folded in:
                    # ½B s + ½ div B + C s + div C.
                    inverse = 1.0 / sigma
                    g0 = m1
                    g1 = m2 * inverse - count * sigma
                    drift0 = (0.5 * g0 + 0.75 * delta * g1 + 1.5 * delta * sigma) / count
                    drift1 = (0.25 * g1 - 0.75 * delta * g0 + 0.5 * sigma) / count
                    mu += h * drift0 + spread * root * sigma * n0
                    sigma += h * drift1 + spread * half_root * sigma * n1
                else:
                    inverse = 1.0 / sigma
                    square = inverse * inverse
                    mu += rate * (m1 * square) + spread * n0
                    sigma += rate * ((m2 * square - count) * inverse) + spread * n1
                # A step across σ = 0 is an escape, and NaN from then on.
                sigma = sigma if sigma > 0.0 else math.nan
                place = mu + centre
                phi1 += place + sigma
                phi2 += place * place + sigma * sigma
        out[chain, 0] = phi1 / (steps - burn_in)
        out[chain, 1] = phi2 / (steps - burn_in)


@njit(parallel=True, fastmath=SUMS, error_model="numpy")
def logistic_chains(out, start, state, x, labels, steps, burn_in, h, alpha, replacement):
    """Logistic LD, d = 20, ten rows a step."""
    n_data = x.shape[0]
    rate, spread = 0.5 * h, math.sqrt(h)
    weight = rate * n_data / 10.0
    keep = 1.0 - rate * alpha
    for chain in prange(start.shape[0]):
        theta = start[chain].copy()
        s = (state[chain, 0], state[chain, 1], state[chain, 2], state[chain, 3])
        stamps = np.full(n_data, -1)
        rows = np.empty(10, np.int64)
        residual = np.empty(10)
        noise = np.empty(20)
        step = 0
        phi1 = phi2 = 0.0
        for length in (burn_in, steps - burn_in):
            phi1 = phi2 = 0.0
            for _ in range(length):
                step += 1
                s = distinct_rows(s, n_data, 10, stamps, step, rows, replacement)
                for i in range(20):
                    noise[i], s = normal(s)
                for k in range(10):
                    row = x[rows[k]]
                    dot = 0.0
                    for i in range(20):
                        dot += row[i] * theta[i]
                    residual[k] = dot
                for k in range(10):
                    residual[k] = weight * (labels[rows[k]] - 1.0 / (1.0 + exp(-residual[k])))
                for i in range(20):
                    theta[i] = keep * theta[i] + spread * noise[i]
                for k in range(10):
                    row = x[rows[k]]
                    for i in range(20):
                        theta[i] += residual[k] * row[i]
                for i in range(20):
                    phi1 += theta[i]
                    phi2 += theta[i] * theta[i]
        out[chain, 0] = phi1 / (steps - burn_in)
        out[chain, 1] = phi2 / (steps - burn_in)


def chains(r: Request) -> np.ndarray:
    """Per-chain averages of φ1 and φ2."""
    h = w.WORKLOADS[r.workload].step_size
    out = np.full((r.chains, 2), np.nan)
    start = w.start(r.workload, r.chains, r.seed)
    state = seeds(r.seed, r.chains)
    tail = (r.steps, r.burn_in, h)
    if r.workload == "gaussian-ld":
        model = w.linear_gaussian()
        gaussian_chains(out, start, state, model.pulls, model.precision, *tail, r.replacement)
    elif r.workload.startswith("normal"):
        geometric = r.workload == "normal-giirr"
        data = w.normal_observations()
        normal_chains(out, start, state, data, *tail, w.NORMAL_DELTA, geometric, r.replacement)
    elif r.workload == "logistic-ld":
        x, labels = w.logistic_data()
        logistic_chains(out, start, state, x, labels, *tail, w.LOGISTIC_ALPHA, r.replacement)
    elif r.workload.startswith("logistic"):
        x, labels = w.logistic_data()
        skew = w.logistic_skew()
        geometric = r.workload == "logistic-giirr"
        logistic_metric_chains(
            out, start, state, x, labels, skew, *tail, w.LOGISTIC_ALPHA, geometric, r.replacement
        )
    else:
        geometric = r.workload == "ica-giirr"
        data = w.ica_observations()
        ica_chains(out, start, state, data, *tail, w.ICA_LAMBDA, w.ICA_C0, geometric, r.replacement)
    return out


_warm: set[tuple[str, bool]] = set()


def run(r: Request) -> dict | None:
    if r.precision != "f64":
        return None
    set_num_threads(r.threads)
    if r.workload in w.KSD_WORKLOADS:
        points, scores = w.ksd_points(r.steps)
        ksd_curve(points[:10_000], scores[:10_000])
        with Stopwatch() as watch:
            curve = ksd_curve(points, scores)
        return ksd_answer("numba", r, watch, float(curve[-1]))
    if (r.workload, r.replacement) not in _warm:
        _warm.add((r.workload, r.replacement))
        chains(Request(r.workload, r.precision, 2, 4, 1, 1, r.threads, r.replacement))
    with Stopwatch() as watch:
        averages = chains(r)
    return chain_answer("numba", r, watch, averages, r.replacement)


if __name__ == "__main__":
    main(run)
