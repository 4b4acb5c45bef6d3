"""Pages about code: what they show is run by somebody, somewhere, and no program of its own."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from kdoctor.syntax import Module

_ENDINGS: Final = (".md", ".markdown", ".rst")
NOT_IN_A_TEXT: Final = (
    "this is a page about code: its author decides how readers set up the library"
)


def is_a_text(module: Module) -> bool:
    """Say whether the code is an excerpt of a page, and no program or notebook."""
    return PurePath(module.path.lower()).suffix in _ENDINGS
