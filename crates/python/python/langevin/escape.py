"""Chains that were lost on the way."""

from __future__ import annotations

from dataclasses import dataclass

from ._warnings import warn


class EscapeWarning(UserWarning):
    """Chains left the finite numbers or the support and are not in the draws.

    >>> import langevin as lv
    >>> issubclass(lv.EscapeWarning, UserWarning)
    True
    """


@dataclass(frozen=True)
class Escape:
    """A chain that left the finite numbers or the support, and the number of its first bad state.

    >>> import langevin as lv
    >>> lv.Escape(chain=3, step=17).step
    17
    """

    chain: int
    step: int


def warn_of(escapes: tuple[Escape, ...], n_chains: int) -> None:
    """Says that chains escaped."""
    if escapes:
        first = min(escapes, key=lambda d: d.step)
        warn(
            f"{len(escapes)} of {n_chains} chains escaped (the first, chain {first.chain}, at "
            f"step {first.step}) and are left out; a smaller step_size may help",
            EscapeWarning,
        )
