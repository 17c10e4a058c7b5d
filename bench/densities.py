"""Log prior and log likelihood of one datum, as users of BlackJAX and SGMCMCJax write them."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import workloads as w


def densities(name: str) -> tuple[Callable, Callable, tuple[jax.Array, ...]]:
    """log p(θ), log p(datum | θ) where the datum is a tuple, and the data as a tuple of arrays."""
    if name == "gaussian-ld":
        model = w.linear_gaussian()
        prior = jnp.asarray(model.prior_precision, jnp.float32)
        return (
            lambda theta: -0.5 * theta @ prior @ theta,
            lambda theta, datum: -0.5 * w.NOISE_PRECISION * jnp.sum((datum[0] - theta) ** 2),
            _arrays(model.observations),
        )
    if name == "normal-ld":
        return (
            lambda theta: 0.0,
            lambda theta, datum: -jnp.log(theta[1]) - 0.5 * ((datum[0] - theta[0]) / theta[1]) ** 2,
            _arrays(w.normal_observations()),
        )
    if name == "logistic-ld":
        return (
            lambda theta: -0.5 * w.LOGISTIC_ALPHA * theta @ theta,
            lambda theta, datum: datum[1] * (datum[0] @ theta) - jax.nn.softplus(datum[0] @ theta),
            _arrays(*w.logistic_data()),
        )
    if name == "ica-ld":

        def log_likelihood(theta: jax.Array, datum: tuple[jax.Array]) -> jax.Array:
            matrix = theta.reshape(3, 3).T
            y = matrix @ datum[0]
            return jnp.linalg.slogdet(matrix)[1] + jnp.sum(y - 2.0 * jax.nn.softplus(y))

        return (
            lambda theta: -0.5 * w.ICA_LAMBDA * theta @ theta,
            log_likelihood,
            _arrays(w.ica_observations()),
        )
    raise KeyError(name)


def _arrays(*data: np.ndarray) -> tuple[jax.Array, ...]:
    return tuple(jnp.asarray(d, jnp.float32) for d in data)
