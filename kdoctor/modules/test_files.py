"""Which files are tests, by where they lie and what they are called."""

from __future__ import annotations

from pathlib import PurePath


def is_test_file(path: str) -> bool:
    """Say whether a file has tests, or is there for them."""
    pure = PurePath(path)
    stem = pure.stem
    return (
        stem.startswith(("test_", "conftest"))
        or stem.endswith("_test")
        or (not {"tests", "test"}.isdisjoint(pure.parts))
    )
