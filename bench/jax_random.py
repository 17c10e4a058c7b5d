"""Random numbers for the hand-written JAX program: faster than `jax.random` on processors.

Every chain owns `width` streams of xoshiro128++ (Blackman and Vigna, 2021), one for each 32-bit word
that a step needs, so that one elementwise update makes all words of all chains.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

State = tuple[jax.Array, jax.Array, jax.Array, jax.Array]


def streams(key: jax.Array, width: int, chains: int) -> State:
    words = jax.random.bits(key, (4, width, chains), jnp.uint32)
    return words[0], words[1], words[2], words[3]


def next_words(s: State) -> tuple[jax.Array, State]:
    """A (width, chains) array of words and the new state."""
    s0, s1, s2, s3 = s
    word = _rotate(s0 + s3, 7) + s0
    t = s1 << 9
    s2 = s2 ^ s0
    s3 = s3 ^ s1
    s1 = s1 ^ s2
    s0 = s0 ^ s3
    return word, (s0, s1, s2 ^ t, _rotate(s3, 11))


def _rotate(x: jax.Array, k: int) -> jax.Array:
    return (x << k) | (x >> (32 - k))


def words_for_normals(count: int, dtype: jnp.dtype) -> int:
    """Words that `normals` takes: per pair, one (f32) or two (f64) for the radius, one for the angle."""
    pairs = (count + 1) // 2
    return pairs * (2 if dtype == jnp.float32 else 3)


def normals(words: jax.Array, count: int, dtype: jnp.dtype) -> jax.Array:
    """(count, chains) standard normal numbers by the Box-Muller transform."""
    pairs = (count + 1) // 2
    angle, radius = words[:pairs], words[pairs:]
    if dtype == jnp.float32:
        u = ((radius >> 8).astype(dtype) + 0.5) * 2.0**-24
    else:
        high, low = radius[:pairs].astype(dtype), radius[pairs:].astype(dtype)
        u = (high + (low + 0.5) * 2.0**-32) * 2.0**-32
    r = jnp.sqrt(-2.0 * jnp.log(u))
    sin, cos = _sin_cos(angle, dtype)
    return jnp.concatenate([r * cos, r * sin])[:count]


def _sin_cos(word: jax.Array, dtype: jnp.dtype) -> tuple[jax.Array, jax.Array]:
    """Sine and cosine of a uniform angle: 30 bits place it in (−π/4, π/4), two choose the quarter."""
    bits = 24 if dtype == jnp.float32 else 30
    place = ((word >> 2) >> (30 - bits)).astype(dtype) * 2.0**-bits - (0.5 - 2.0 ** -(bits + 1))
    x = place * (jnp.pi / 2)
    z = x * x
    terms = 5 if dtype == jnp.float32 else 9
    sin, cos = _series(z, 1, terms) * x, _series(z, 0, terms)
    swap = (word & 1) != 0
    sin, cos = jnp.where(swap, cos, sin), jnp.where(swap, sin, cos)
    flip = (word & 2) != 0
    return jnp.where(flip, -sin, sin), jnp.where(flip ^ swap, -cos, cos)


def _series(z: jax.Array, odd: int, terms: int) -> jax.Array:
    """Σ (−z)ᵏ/(2k + odd)!, Taylor's series of the cosine, and for odd = 1 of the sine over x, z = x²."""
    total = jnp.zeros_like(z)
    for k in reversed(range(terms)):
        total = total * z + (-1.0) ** k / math.factorial(2 * k + odd)
    return total


def below(word: jax.Array, bound: int | jax.Array) -> jax.Array:
    """Uniform on 0..bound−1: the high half of word·bound, in 32-bit arithmetic for bound < 2¹⁶."""
    bound = jnp.asarray(bound, jnp.uint32)
    low = ((word & 0xFFFF) * bound) >> 16
    return (((word >> 16) * bound + low) >> 16).astype(jnp.int32)


def rows(words: jax.Array, n_data: int, batch: int, replacement: bool) -> jax.Array:
    """(batch, chains) row numbers, distinct by Floyd's algorithm unless `replacement`."""
    if replacement:
        return below(words, n_data)
    first = n_data - batch
    if batch <= 10:
        picked: list[jax.Array] = []
        for k in range(batch):
            row = below(words[k], first + k + 1)
            taken = jnp.zeros(row.shape, bool)
            for other in picked:
                taken |= row == other
            picked.append(jnp.where(taken, first + k, row))
        return jnp.stack(picked)
    candidates = below(words, jnp.arange(first + 1, n_data + 1)[:, None])

    def pick(k: jax.Array, out: jax.Array) -> jax.Array:
        row = lax.dynamic_index_in_dim(candidates, k, 0, keepdims=False)
        taken = (out == row).any(axis=0)
        row = jnp.where(taken, first + k, row).astype(jnp.int32)
        return lax.dynamic_update_index_in_dim(out, row, k, 0)

    return lax.fori_loop(0, batch, pick, jnp.full(words.shape, -1, jnp.int32))
