"""A progress bar with rate, escapes and time left: tqdm's where there is one, else our own."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from ._arrays import flag


def wanted(progress: bool | None) -> bool:
    """Whether to show a bar; by default where a person is watching."""
    if progress is not None:
        return flag("progress", progress)
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", lambda: False)())


def _duration(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes:02}:{whole % 60:02}"


def _rate(steps: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if steps >= limit:
            return f"{steps / limit:.3g}{unit}"
    return f"{steps:.3g}"


class Bar:
    """Shows chain-steps done; called with their number and that of escapes."""

    def __init__(self, total: int, label: str, show: bool) -> None:
        self._total = total
        self._label = label
        self._show = show
        self._begin = time.perf_counter()
        self._drawn = 0.0
        self._bar: Any = None

    def __enter__(self) -> Bar:
        if self._show:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return self
            self._bar = tqdm(total=self._total, desc=self._label, unit="step", unit_scale=True)
        return self

    def __call__(self, done: int, escapes: int) -> None:
        """Moves the bar."""
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
            if escapes:
                self._bar.set_postfix(escapes=escapes)
            return
        now = time.perf_counter()
        if self._show and (now - self._drawn > 0.2 or done >= self._total):
            self._drawn = now
            self._draw(done, escapes, now - self._begin)

    def _draw(self, done: int, escapes: int, elapsed: float) -> None:
        share = min(1.0, done / max(1, self._total))
        bar = ("█" * round(24 * share)).ljust(24, "·")
        left = _duration(elapsed / share - elapsed) if share > 0 else "?"
        bad = f", {escapes} escaped" if escapes else ""
        sys.stderr.write(
            f"\r{self._label} {share:4.0%} |{bar}| {_rate(done / max(elapsed, 1e-9))} steps/s, "
            f"{_duration(elapsed)} gone, {left} left{bad}  "
        )
        sys.stderr.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._show:
            sys.stderr.write("\n")
