"""Optional packages."""

from __future__ import annotations

import importlib
from typing import Any


def require(module: str, extra: str) -> Any:
    """Imports an optional package, or says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this needs the package {module.split('.')[0]!r}: pip install 'langevin[{extra}]'"
        ) from error
