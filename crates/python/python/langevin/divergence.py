"""Chains that were lost on the way."""

from __future__ import annotations

from dataclasses import dataclass

from ._warnings import warn


class DivergenceWarning(UserWarning):
    """Chains left the finite numbers or the support and are not in the draws.

    >>> import langevin as lv
    >>> issubclass(lv.DivergenceWarning, UserWarning)
    True
    """


@dataclass(frozen=True)
class Divergence:
    """A chain that left the finite numbers or the support, and the number of its first bad state.

    >>> import langevin as lv
    >>> lv.Divergence(chain=3, step=17).step
    17
    """

    chain: int
    step: int


def warn_of(divergences: tuple[Divergence, ...], n_chains: int) -> None:
    """Says that chains diverged."""
    if divergences:
        first = min(divergences, key=lambda d: d.step)
        warn(
            f"{len(divergences)} of {n_chains} chains diverged (the first, chain {first.chain}, at "
            f"step {first.step}) and are left out; a smaller step_size may help",
            DivergenceWarning,
        )
