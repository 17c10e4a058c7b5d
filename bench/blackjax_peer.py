"""BlackJAX's SGLD as its users write it: log densities, automatic gradients, `vmap` over chains.

Minibatches are drawn with replacement, by `jax.random.choice`, as in BlackJAX's own examples. Its step
is θ + ε∇ + sqrt(2ε)ξ, so ε is half of our step size. One device per thread.
"""

from __future__ import annotations

import os

THREADS = 2
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = (
    f"--xla_force_host_platform_device_count={THREADS} --xla_cpu_multi_thread_eigen=false"
)

import functools

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

import workloads as w
from densities import densities
from protocol import Request, Stopwatch, chain_answer, main


@functools.cache
def compiled(name: str, chains: int, steps: int, burn_in: int):
    """(keys, initial states) → per-chain averages, compiled for one shape."""
    work = w.WORKLOADS[name]
    log_prior, log_likelihood, data = densities(name)
    gradient = blackjax.sgmcmc.gradients.grad_estimator(log_prior, log_likelihood, work.n_data)
    sgld = blackjax.sgld(gradient)

    def one_chain(key: jax.Array, position: jax.Array) -> jax.Array:
        def body(carry, key):
            position, sums = carry
            batch_key, step_key = jax.random.split(key)
            rows = jax.random.choice(batch_key, work.n_data, (work.batch,))
            minibatch = jax.tree.map(lambda x: x[rows], data)
            position = sgld.step(step_key, position, minibatch, work.step_size / 2)
            sums = sums + jnp.stack([position.sum(), (position**2).sum()])
            return (position, sums), None

        first, second = jax.random.split(key)
        zero = jnp.zeros(2, position.dtype)
        (position, _), _ = jax.lax.scan(body, (position, zero), jax.random.split(first, burn_in))
        keys = jax.random.split(second, steps - burn_in)
        (_, sums), _ = jax.lax.scan(body, (position, zero), keys)
        return sums / (steps - burn_in)

    devices = THREADS if chains % THREADS == 0 else 1
    mesh = Mesh(np.array(jax.devices()[:devices]), ("thread",))
    spec = PartitionSpec("thread")
    sharded = jax.shard_map(
        jax.vmap(one_chain), mesh=mesh, in_specs=(spec, spec), out_specs=spec, check_vma=False
    )
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), chains))
    theta = jax.ShapeDtypeStruct((chains, work.dim), jnp.float32)
    return jax.jit(sharded).lower(keys, theta).compile()


def run(r: Request) -> dict | None:
    if not r.workload.endswith("-ld") or r.precision != "f32":
        return None
    program = compiled(r.workload, r.chains, r.steps, r.burn_in)
    keys = jax.random.split(jax.random.key(r.seed), r.chains)
    theta = jnp.asarray(w.start(r.workload, r.chains, r.seed), jnp.float32)
    jax.block_until_ready((keys, theta))
    with Stopwatch() as watch:
        averages = np.asarray(program(keys, theta))
    return chain_answer("blackjax", r, watch, averages, replacement=True)


if __name__ == "__main__":
    main(run)
