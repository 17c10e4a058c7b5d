"""JAX by hand: one `lax.scan` over the steps, all chains of a step at once, one device per thread.

Chains are the last axis (the one that vectorises) wherever a step is elementwise, and the first
where it is a matrix product.
"""

from __future__ import annotations

import os

THREADS = 2
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# One device per thread, and no further threads inside a device.
os.environ["XLA_FLAGS"] = (
    f"--xla_force_host_platform_device_count={THREADS} --xla_cpu_multi_thread_eigen=false"
)

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

import workloads as w
from jax_random import next_words, normals, rows, streams, words_for_normals
from protocol import Request, Stopwatch, chain_answer, main

jax.config.update("jax_enable_x64", True)

Step = Callable[[jax.Array, jax.Array], jax.Array]


def split(words: jax.Array, batch: int, noise: int, n_data: int, dtype, replacement: bool):
    """Row numbers and normal numbers of a step from its words."""
    picked = rows(words[:batch], n_data, batch, replacement)
    return picked, normals(words[batch:], noise, dtype)


def gaussian_step(work: w.Workload, dtype, replacement: bool) -> Step:
    model = w.linear_gaussian()
    h = work.step_size
    f = np.eye(3) - 0.5 * h * model.precision
    pull = jnp.asarray(0.5 * h * work.n_data / work.batch * model.pulls.T, dtype)

    def step(theta: jax.Array, words: jax.Array) -> jax.Array:
        picked, xi = split(words, 2, 3, work.n_data, dtype, replacement)
        return jnp.stack(
            [
                sum(float(f[i, j]) * theta[j] for j in range(3))
                + pull[i][picked[0]]
                + pull[i][picked[1]]
                + float(np.sqrt(h)) * xi[i]
                for i in range(3)
            ]
        )

    return step


def normal_step(work: w.Workload, dtype, replacement: bool) -> Step:
    data = w.normal_observations()
    n, h, delta = float(work.n_data), work.step_size, w.NORMAL_DELTA
    x = jnp.asarray(data, dtype)
    spread = float(np.sqrt(h))

    def step(theta: jax.Array, words: jax.Array) -> jax.Array:
        picked, xi = split(words, 6, 2, work.n_data, dtype, replacement)
        mu, sigma = theta[0], theta[1]
        away = [x[picked[k]] - mu for k in range(6)]
        m1 = (n / 6) * sum(away)
        m2 = (n / 6) * sum(a * a for a in away)
        inverse = 1.0 / sigma
        if work.name == "normal-giirr":
            # ½B s + ½ div B + C s + div C with B = σ²/N·diag(1, ½), C = (3σ²/4N)J.
            g0, g1 = m1, m2 * inverse - n * sigma
            drift0 = (0.5 * g0 + 0.75 * delta * g1 + 1.5 * delta * sigma) / n
            drift1 = (0.25 * g1 - 0.75 * delta * g0 + 0.5 * sigma) / n
            mu = mu + h * drift0 + (spread / n**0.5) * sigma * xi[0]
            sigma = sigma + h * drift1 + (spread / (2 * n) ** 0.5) * sigma * xi[1]
        else:
            square = inverse * inverse
            mu = mu + (0.5 * h) * m1 * square + spread * xi[0]
            sigma = sigma + (0.5 * h) * (m2 * square - n) * inverse + spread * xi[1]
        return jnp.stack([mu, jnp.where(sigma > 0, sigma, jnp.nan)])

    return step


def logistic_step(work: w.Workload, dtype, replacement: bool) -> Step:
    features, labels = w.logistic_data()
    x, t = jnp.asarray(features, dtype), jnp.asarray(labels, dtype)
    h = work.step_size
    weight = 0.5 * h * work.n_data / work.batch

    def step(theta: jax.Array, words: jax.Array) -> jax.Array:
        picked, xi = split(words, work.batch, 20, work.n_data, dtype, replacement)
        row = x[picked]  # (batch, chains, 20)
        dot = jnp.einsum("kci,ic->kc", row, theta)
        residual = weight * (t[picked] - jax.nn.sigmoid(dot))
        pull = jnp.einsum("kc,kci->ic", residual, row)
        return (1.0 - 0.5 * h * w.LOGISTIC_ALPHA) * theta + pull + float(np.sqrt(h)) * xi

    return step


def logistic_metric_step(work: w.Workload, dtype, replacement: bool) -> Step:
    """B = I + G⁻¹; sums over the data are matrix products with the packed x xᵀ and sym(x (Jx)ᵀ)."""
    features, labels = w.logistic_data()
    skew_matrix = w.logistic_skew()
    upper = np.triu_indices(20)
    unpack = np.zeros((20, 20), int)
    unpack[upper] = unpack.T[upper] = np.arange(210)
    twice = np.where(upper[0] == upper[1], 1.0, 2.0)
    jx = features @ skew_matrix.T
    own = features[:, upper[0]] * features[:, upper[1]]
    mixed = 0.5 * (
        features[:, upper[0]] * jx[:, upper[1]] + features[:, upper[1]] * jx[:, upper[0]]
    )
    geometric = work.name == "logistic-giirr"

    x, t = jnp.asarray(features, dtype), jnp.asarray(labels, dtype)
    products = jnp.asarray(own.T, dtype)
    quadratic = jnp.asarray(np.concatenate([own, mixed] if geometric else [own]) * twice, dtype)
    skew = jnp.asarray(skew_matrix, dtype)
    alpha, h = w.LOGISTIC_ALPHA, work.step_size
    weight = work.n_data / work.batch

    def step(theta: jax.Array, words: jax.Array) -> jax.Array:
        picked, xi = split(words, work.batch, 40, work.n_data, dtype, replacement)
        p = jax.nn.sigmoid(x @ theta)
        lam = p * (1 - p)
        slope = lam * (1 - 2 * p)
        metric = (products @ lam)[unpack] + alpha * jnp.eye(20, dtype=dtype)[:, :, None]
        inverse, inverse_lower = invert(metric)
        forms = quadratic @ inverse[upper]
        residual = weight * (t[picked] - jnp.take_along_axis(p, picked, axis=0))
        score = jnp.einsum("kc,kci->ic", residual, x[picked]) - alpha * theta

        def apply(v: jax.Array) -> jax.Array:
            return (inverse * v).sum(axis=1)

        v = score + apply(score - x.T @ (slope * forms[:400]))
        drift = 0.5 * v
        if geometric:
            js = skew @ score
            drift = drift + 0.5 * (skew @ v + js + apply(js - x.T @ (slope * forms[400:])))
        noise = xi[:20] + (inverse_lower * xi[20:, None]).sum(axis=0)
        return theta + h * drift + float(np.sqrt(h)) * noise

    return step


def invert(metric: jax.Array) -> tuple[jax.Array, jax.Array]:
    """G⁻¹ and L⁻¹ for (20, 20, chains) matrices G = LLᵀ, by elimination in [G | I].

    At step k the columns before k of G are done and those after k of I are still zero, so that 20
    columns remain: k.. of G, then ..k−1 of I.
    """
    size = metric.shape[0]
    active = metric
    inverse_rows = []
    for k in range(size):
        root = lax.rsqrt(active[0, 0])
        top = active[0] * root
        # Columns k+1.. of G and ..k−1 of I, then column k of I, where row k has its 1.
        row = jnp.concatenate([top[1:], root[None]])
        inverse_rows.append(jnp.pad(row[size - 1 - k :], ((0, size - 1 - k), (0, 0))))
        below = active[1:]
        shifted = jnp.concatenate([below[:, 1:], jnp.zeros_like(below[:, :1])], axis=1)
        active = shifted - (below[:, 0] * root)[:, None] * row
    inverse_lower = jnp.stack(inverse_rows)
    # As a stack of matrix products: the sum of outer products would be ten times slower.
    inverse = jnp.einsum("kic,kjc->cij", inverse_lower, inverse_lower).transpose(1, 2, 0)
    return inverse, inverse_lower


def ica_step(work: w.Workload, dtype, replacement: bool) -> Step:
    data = [jnp.asarray(column, dtype) for column in w.ica_observations().T]
    n, h = float(work.n_data), work.step_size
    weight = n / work.batch
    c0 = w.ica_c0()
    geometric = work.name == "ica-giirr"
    spread = float(np.sqrt(h))

    def product(a, b):
        return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]

    def step(theta: jax.Array, words: jax.Array) -> jax.Array:
        picked, xi = split(words, work.batch, 9, work.n_data, dtype, replacement)
        wm = [[theta[3 * j + i] for j in range(3)] for i in range(3)]  # column-major vec
        z = [[xi[3 * j + i] for j in range(3)] for i in range(3)]
        x = [column[picked] for column in data]  # (batch, chains) each
        t = [jnp.tanh(0.5 * sum(wm[i][j] * x[j] for j in range(3))) for i in range(3)]
        co = [
            [
                wm[(i + 1) % 3][(j + 1) % 3] * wm[(i + 2) % 3][(j + 2) % 3]
                - wm[(i + 1) % 3][(j + 2) % 3] * wm[(i + 2) % 3][(j + 1) % 3]
                for j in range(3)
            ]
            for i in range(3)
        ]
        scale = n / sum(wm[0][j] * co[0][j] for j in range(3))
        score = [
            [
                scale * co[i][j] - w.ICA_LAMBDA * wm[i][j] - weight * (t[i] * x[j]).sum(axis=0)
                for j in range(3)
            ]
            for i in range(3)
        ]
        if not geometric:
            new = [
                [wm[i][j] + 0.5 * h * score[i][j] + spread * z[i][j] for j in range(3)]
                for i in range(3)
            ]
        else:
            new = geometric_move(wm, score, z)
        return jnp.stack([new[i][j] for j in range(3) for i in range(3)])

    def geometric_move(wm, score, z):
        """β(FP + 4W) + C0(FP + 4W) − ½F(P C0 + C0 P) − ³⁄₂ W C0, noise Z Lᵀ with P = LLᵀ."""
        p = product(list(zip(*wm)), wm)
        p = [[p[i][j] + float(i == j) for j in range(3)] for i in range(3)]
        fp = product(score, p)
        v = [[fp[i][j] + 4.0 * wm[i][j] for j in range(3)] for i in range(3)]
        cv = product(c0.tolist(), v)
        pc, cp = product(p, c0.tolist()), product(c0.tolist(), p)
        fs = product(score, [[pc[i][j] + cp[i][j] for j in range(3)] for i in range(3)])
        wc = product(wm, c0.tolist())
        l00 = jnp.sqrt(p[0][0])
        l10, l20 = p[1][0] / l00, p[2][0] / l00
        l11 = jnp.sqrt(p[1][1] - l10 * l10)
        l21 = (p[2][1] - l20 * l10) / l11
        l22 = jnp.sqrt(p[2][2] - l20 * l20 - l21 * l21)
        lower = [[l00], [l10, l11], [l20, l21, l22]]
        return [
            [
                wm[i][j]
                + h * (0.5 * v[i][j] + cv[i][j] - 0.5 * fs[i][j] - 1.5 * wc[i][j])
                + spread * sum(z[i][k] * lower[j][k] for k in range(j + 1))
                for j in range(3)
            ]
            for i in range(3)
        ]

    return step


STEPS = {
    "gaussian-ld": gaussian_step,
    "normal-ld": normal_step,
    "normal-giirr": normal_step,
    "logistic-ld": logistic_step,
    "logistic-rm": logistic_metric_step,
    "logistic-giirr": logistic_metric_step,
    "ica-ld": ica_step,
    "ica-giirr": ica_step,
}


@functools.cache
def compiled(name: str, precision: str, chains: int, steps: int, burn_in: int, replacement: bool):
    """(key, initial states) → per-chain averages, compiled for one shape."""
    work = w.WORKLOADS[name]
    dtype = jnp.dtype(jnp.float32 if precision == "f32" else jnp.float64)
    step = STEPS[name](work, dtype, replacement)
    noise = 40 if name in ("logistic-rm", "logistic-giirr") else work.dim
    width = work.batch + words_for_normals(noise, dtype)
    devices = THREADS if chains % THREADS == 0 else 1

    def run(keys: jax.Array, theta: jax.Array) -> jax.Array:
        random = streams(keys[0], width, theta.shape[1])

        def body(carry, _):
            theta, random, sums = carry
            words, random = next_words(random)
            theta = step(theta, words)
            sums = sums + jnp.stack([theta.sum(axis=0), (theta * theta).sum(axis=0)])
            return (theta, random, sums), None

        sums = jnp.zeros((2, theta.shape[1]), dtype)
        (theta, random, _), _ = lax.scan(body, (theta, random, sums), length=burn_in)
        carry, _ = lax.scan(body, (theta, random, sums), length=steps - burn_in)
        return carry[2] / (steps - burn_in)

    mesh = Mesh(np.array(jax.devices()[:devices]), ("thread",))
    p = PartitionSpec
    sharded = jax.shard_map(
        run,
        mesh=mesh,
        in_specs=(p("thread"), p(None, "thread")),
        out_specs=p(None, "thread"),
        check_vma=False,
    )
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), devices))
    theta = jax.ShapeDtypeStruct((work.dim, chains), dtype)
    return jax.jit(sharded).lower(keys, theta).compile(), devices, dtype


def run(r: Request) -> dict | None:
    if r.workload not in STEPS:
        return None
    program, devices, dtype = compiled(
        r.workload, r.precision, r.chains, r.steps, r.burn_in, r.replacement
    )
    keys = jax.random.split(jax.random.key(r.seed), devices)
    theta = jnp.asarray(w.start(r.workload, r.chains, r.seed).T, dtype)
    jax.block_until_ready((keys, theta))
    with Stopwatch() as watch:
        averages = np.asarray(program(keys, theta))
    return chain_answer("jax", r, watch, averages.T, r.replacement)


if __name__ == "__main__":
    main(run)
