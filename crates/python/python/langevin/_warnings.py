"""Warnings that point at the line of whoever called the package."""

from __future__ import annotations

import os
import sys
import warnings

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the first line outside the package, however deep inside it is called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _inside(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _inside(path: str) -> bool:
    return os.path.dirname(os.path.abspath(path)) == _FOLDER
