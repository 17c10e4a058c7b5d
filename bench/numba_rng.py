"""Random numbers and a vectorisable exponential for the numba programs.

xoshiro256++ (Blackman and Vigna, 2021) with its state in four local variables, normal numbers by
the ziggurat of 256 layers (Marsaglia and Tsang, 2000) from one word each, and distinct rows by
Floyd's algorithm (Bentley and Floyd, 1987), two from each word.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

# Mixing uint64 with plain integers would make numba fall back to floating point.
U5, U11, U17, U19, U23, U32, U41, U45, U64 = (
    np.uint64(k) for k in (5, 11, 17, 19, 23, 32, 41, 45, 64)
)
LOW_32 = np.uint64(0xFFFFFFFF)
LAYER_MASK = np.uint64(0xFF)

LAYERS = 256
TAIL = 3.6541528853610088  # where the lowest layer ends
AREA = 0.00492867323399  # of every layer


def ziggurat() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right edges x_i of the layers; x_i·2⁻⁵²; and the integers below which a point is inside."""
    x = np.empty(LAYERS + 1)
    x[0] = AREA / math.exp(-0.5 * TAIL * TAIL)
    x[1] = TAIL
    for i in range(2, LAYERS):
        x[i] = math.sqrt(-2.0 * math.log(AREA / x[i - 1] + math.exp(-0.5 * x[i - 1] ** 2)))
    x[LAYERS] = 0.0
    inside = (x[1:] / x[:-1] * 2.0**52).astype(np.int64)
    return x, x[:-1] * 2.0**-52, inside


EDGES, SCALES, INSIDE = ziggurat()


@njit(forceinline=True)
def rotate_left(x, k):
    return (x << k) | (x >> (U64 - k))


@njit(forceinline=True)
def next_word(s):
    """The next 64 bits and the new state."""
    s0, s1, s2, s3 = s
    word = rotate_left(s0 + s3, U23) + s0
    t = s1 << U17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    return word, (s0, s1, s2 ^ t, rotate_left(s3, U45))


@njit(forceinline=True)
def unit(word):
    """Uniform on (0, 1)."""
    return (np.float64(word >> U11) + 0.5) * 2.0**-53


@njit(inline="never")
def normal_outside(s, signed, layer):
    """The rest of the ziggurat, where the point is not inside its rectangle (1.2 % of all)."""
    while True:
        x = signed * SCALES[layer]
        if layer == 0:
            # Marsaglia's method for the tail beyond TAIL.
            while True:
                word, s = next_word(s)
                a = -math.log(unit(word)) / TAIL
                word, s = next_word(s)
                b = -math.log(unit(word))
                if b + b > a * a:
                    return (TAIL + a if signed >= 0 else -TAIL - a), s
        lower = math.exp(-0.5 * EDGES[layer] ** 2)
        upper = math.exp(-0.5 * EDGES[layer + 1] ** 2)
        word, s = next_word(s)
        if lower + unit(word) * (upper - lower) < math.exp(-0.5 * x * x):
            return x, s
        word, s = next_word(s)
        layer = np.int64(word & LAYER_MASK)
        signed = np.int64(word) >> 11
        if abs(signed) < INSIDE[layer]:
            return signed * SCALES[layer], s


@njit(forceinline=True)
def normal(s):
    """A standard normal number: low 8 bits choose the layer, high 53 the place in it."""
    word, s = next_word(s)
    layer = np.int64(word & LAYER_MASK)
    signed = np.int64(word) >> 11
    x = signed * SCALES[layer]
    if abs(signed) >= INSIDE[layer]:
        x, s = normal_outside(s, signed, layer)
    return x, s


@njit
def seeds(seed, chains):
    """One state per chain, by splitmix64 from the seed and the chain's number."""
    state = np.empty((chains, 4), dtype=np.uint64)
    for chain in range(chains):
        z = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(chain) * np.uint64(4)
        z *= np.uint64(0x9E3779B97F4A7C15)
        for i in range(4):
            z += np.uint64(0x9E3779B97F4A7C15)
            y = z
            y = (y ^ (y >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            y = (y ^ (y >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state[chain, i] = y ^ (y >> np.uint64(31))
    return state


@njit(forceinline=True)
def below(half_word, bound):
    """Uniform on 0..bound−1 from 32 bits; no row is off by more than bound·2⁻³² of its share."""
    return np.int64((half_word * np.uint64(bound)) >> U32)


@njit(forceinline=True)
def distinct_rows(s, n_data, batch, stamps, stamp, rows, replacement):
    """Floyd's algorithm; `stamps[row] == stamp` marks the rows of the present batch.

    With `replacement`, plain independent rows.
    """
    word = np.uint64(0)
    for k in range(batch):
        if k % 2 == 0:
            word, s = next_word(s)
        else:
            word >>= U32
        if replacement:
            rows[k] = below(word & LOW_32, n_data)
        else:
            last = n_data - batch + k
            row = below(word & LOW_32, last + 1)
            row = last if stamps[row] == stamp else row
            stamps[row] = stamp
            rows[k] = row
    return s


@intrinsic
def as_float(typing_context, bits):
    """The float64 with these bits: unlike an array view, it does not stop vectorisation."""

    def code(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), code


@intrinsic
def as_bits(typing_context, x):
    """The bits of a float64."""

    def code(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), code


LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471803691238
LN2_LOW = 1.9082149292705877e-10
#: Adding it rounds to the nearest integer, which then stands in the low bits.
ROUNDER = 6755399441055744.0
ONE_BITS = 0x3FF0000000000000


@njit(forceinline=True, fastmath={"contract", "nsz"})
def exp(x):
    """eˣ to about 1 ulp for |x| ≤ 700, clamped beyond; branch-free, so that loops vectorise."""
    x = min(max(x, -700.0), 700.0)
    shifted = x * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    # Taylor's series to order 13; |r| ≤ ½ ln 2 leaves 4·10⁻¹⁸.
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * (r * r) + r + 1.0
    return p * as_float((as_bits(shifted) << 52) + ONE_BITS)
