"""Package exports whose modules are imported on first access."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping


def deferred(package: str, homes: Mapping[str, str], name: str) -> object:
    """Import ``name`` from the module of the package that ``homes`` names.

    For a package's ``__getattr__``; the package is not asked again.

    Raises:
        AttributeError: it has no such name.
    """
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{package}.{homes[name]}"), name)
    setattr(sys.modules[package], name, value)
    return value
