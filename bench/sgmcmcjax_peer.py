"""SGMCMCJax's SGLD as its users write it; needs jax 0.4.35, hence an environment of its own.

It draws minibatches with replacement, and its step is x + ε∇ + sqrt(2ε)ξ, so ε is half of our step
size. Chains by `vmap`, threads by `pmap`.
"""

from __future__ import annotations

import os

THREADS = 2
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = (
    f"--xla_force_host_platform_device_count={THREADS} --xla_cpu_multi_thread_eigen=false"
)

import functools

import jax
import jax.numpy as jnp
import numpy as np
from sgmcmcjax.kernels import build_sgld_kernel

import workloads as w
from densities import densities
from protocol import Request, Stopwatch, chain_answer, main


@functools.cache
def compiled(name: str, chains: int, steps: int, burn_in: int):
    """(keys, initial states) → per-chain averages, compiled for one shape."""
    work = w.WORKLOADS[name]
    log_prior, log_likelihood, data = densities(name)
    init, kernel, get_params = build_sgld_kernel(
        work.step_size / 2,
        lambda theta, *datum: log_likelihood(theta, datum),
        log_prior,
        data,
        work.batch,
    )

    def one_chain(key: jax.Array, theta: jax.Array) -> jax.Array:
        def body(carry, i_and_key):
            state, sums = carry
            state = kernel(i_and_key[0], i_and_key[1], state)
            theta = get_params(state)
            sums = sums + jnp.stack([theta.sum(), (theta**2).sum()])
            return (state, sums), None

        start, first, second = jax.random.split(key, 3)
        zero = jnp.zeros(2, theta.dtype)
        before = (jnp.arange(burn_in), jax.random.split(first, burn_in))
        (state, _), _ = jax.lax.scan(body, (init(start, theta), zero), before)
        rest = (jnp.arange(burn_in, steps), jax.random.split(second, steps - burn_in))
        (_, sums), _ = jax.lax.scan(body, (state, zero), rest)
        return sums / (steps - burn_in)

    devices = THREADS if chains % THREADS == 0 else 1
    keys = jax.ShapeDtypeStruct((devices, chains // devices, 2), jnp.uint32)
    theta = jax.ShapeDtypeStruct((devices, chains // devices, work.dim), jnp.float32)
    program = jax.pmap(jax.vmap(one_chain), devices=jax.devices()[:devices])
    return program.lower(keys, theta).compile(), devices


def run(r: Request) -> dict | None:
    if not r.workload.endswith("-ld") or r.precision != "f32":
        return None
    program, devices = compiled(r.workload, r.chains, r.steps, r.burn_in)
    each = r.chains // devices
    keys = jax.random.split(jax.random.PRNGKey(r.seed), r.chains).reshape(devices, each, 2)
    theta = jnp.asarray(w.start(r.workload, r.chains, r.seed), jnp.float32)
    theta = theta.reshape(devices, each, -1)
    jax.block_until_ready((keys, theta))
    with Stopwatch() as watch:
        averages = np.asarray(program(keys, theta))
    return chain_answer("sgmcmcjax", r, watch, averages.reshape(r.chains, 2), replacement=True)


if __name__ == "__main__":
    main(run)
