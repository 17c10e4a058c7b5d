"""Diagnostics and discrepancies of draws, ours or anybody's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Array, count, floats, number, real


def _each(function: Callable[[Array], float], draws: ArrayLike) -> Any:
    """Applies a function of (chain, draw) to every coordinate of (chain, draw, …)."""
    array = real("draws", draws)
    if array.ndim < 2:
        raise ValueError(f"draws must have shape (chain, draw, ...), but it is {array.shape}")
    if array.ndim == 2:
        return function(np.ascontiguousarray(array))
    flat = array.reshape(*array.shape[:2], -1)
    values = [function(np.ascontiguousarray(flat[..., i])) for i in range(flat.shape[2])]
    return np.reshape(values, array.shape[2:])


def rhat(draws: ArrayLike) -> Any:
    """Rank-normalised split R-hat of draws of shape (chain, draw) or (chain, draw, …).

    >>> import numpy as np
    >>> import langevin as lv
    >>> lv.rhat(np.random.default_rng(0).normal(size=(4, 1000))) < 1.01
    True
    """
    return _each(_core.rhat, draws)


def ess_bulk(draws: ArrayLike) -> Any:
    """Effective number of draws in the bulk.

    >>> import numpy as np
    >>> import langevin as lv
    >>> lv.ess_bulk(np.random.default_rng(0).normal(size=(4, 1000, 2))).shape
    (2,)
    """
    return _each(_core.ess_bulk, draws)


def ess_tail(draws: ArrayLike) -> Any:
    """Effective number of draws for the 5 % and 95 % quantiles, the smaller.

    >>> import numpy as np
    >>> import langevin as lv
    >>> lv.ess_tail(np.random.default_rng(0).normal(size=(4, 1000))) > 2000
    True
    """
    return _each(_core.ess_tail, draws)


def ess_mean(draws: ArrayLike) -> Any:
    """Effective number of draws for the mean.

    >>> import numpy as np
    >>> import langevin as lv
    >>> lv.ess_mean(np.random.default_rng(0).normal(size=(4, 1000))) > 2000
    True
    """
    return _each(_core.ess_mean, draws)


def ess_sd(draws: ArrayLike) -> Any:
    """Effective number of draws for the standard deviation.

    >>> import numpy as np
    >>> import langevin as lv
    >>> lv.ess_sd(np.random.default_rng(0).normal(size=(4, 1000))) > 2000
    True
    """
    return _each(_core.ess_sd, draws)


def ess_quantile(draws: ArrayLike, prob: float) -> Any:
    """Effective number of draws for a quantile.

    >>> import numpy as np
    >>> import langevin as lv
    >>> lv.ess_quantile(np.random.default_rng(0).normal(size=(4, 1000)), 0.5) > 2000
    True
    """
    level = number("prob", prob)
    return _each(lambda d: _core.ess_quantile(d, level), draws)


def mcse_mean(draws: ArrayLike) -> Any:
    """Monte-Carlo standard error of the mean.

    >>> import numpy as np
    >>> import langevin as lv
    >>> 0.01 < lv.mcse_mean(np.random.default_rng(0).normal(size=(4, 1000))) < 0.02
    True
    """
    return _each(_core.mcse_mean, draws)


def mcse_sd(draws: ArrayLike) -> Any:
    """Monte-Carlo standard error of the standard deviation.

    >>> import numpy as np
    >>> import langevin as lv
    >>> lv.mcse_sd(np.random.default_rng(0).normal(size=(4, 1000))) < 0.02
    True
    """
    return _each(_core.mcse_sd, draws)


def batch_means(series: ArrayLike, step_size: float, n_batches: int = 20) -> float:
    """Batch-means estimate of the asymptotic variance of the time average of one series.

    >>> import langevin as lv
    >>> lv.batch_means([9.0, 1.0, 3.0, 5.0, 7.0], step_size=0.5, n_batches=2)
    8.0
    """
    return _core.batch_means(
        floats("series", series, 1),
        count("n_batches", n_batches, 2),
        number("step_size", step_size),
    )


def _points(draws: ArrayLike, scores: ArrayLike) -> tuple[Array, Array]:
    points, slopes = real("draws", draws), real("scores", scores)
    if points.ndim < 2 or points.shape != slopes.shape:
        raise ValueError(
            "draws and scores must have the same shape (n, dim) or (chain, draw, dim), but have "
            f"{points.shape} and {slopes.shape}"
        )
    dim = points.shape[-1]
    return (
        np.ascontiguousarray(points.reshape(-1, dim)),
        np.ascontiguousarray(slopes.reshape(-1, dim)),
    )


def ksd(draws: ArrayLike, scores: ArrayLike, *, c: float = 1.0, exponent: float = -0.5) -> float:
    """Kernel Stein discrepancy of draws whose scores ∇ log π are known, with the inverse
    multiquadric kernel (c² + |x − y|²)^exponent.

    >>> import numpy as np
    >>> import langevin as lv
    >>> x = np.random.default_rng(0).normal(size=(500, 2))
    >>> lv.ksd(x, -x) < lv.ksd(x + 1.0, -x - 1.0)
    True
    """
    return float(ksd_curve(draws, scores, c=c, exponent=exponent)[-1])


def ksd_curve(
    draws: ArrayLike, scores: ArrayLike, *, c: float = 1.0, exponent: float = -0.5
) -> Array:
    """Kernel Stein discrepancies of the first 1, 2, …, n draws, for the price of the last one.

    >>> import numpy as np
    >>> import langevin as lv
    >>> x = np.random.default_rng(0).normal(size=(500, 2))
    >>> lv.ksd_curve(x, -x).shape
    (500,)
    """
    points, slopes = _points(draws, scores)
    return _core.ksd_curve(points, slopes, number("c", c), number("exponent", exponent))
