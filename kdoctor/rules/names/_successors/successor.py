"""What a hand-stated successor is."""

from __future__ import annotations

from msgspec import Struct

from kdoctor.rewrite import Rewrite
from kdoctor.rules.rule import Example


class Successor(Struct, frozen=True):
    """A rewrite of a name for which release data has no move, and what was run to show it.

    ``proof`` compares both with each other; without one, or where ``unsafe_because`` says what else
    there is to think of, the rewrite is not safe.
    """

    row: Rewrite
    proof: Example | None = None
    unsafe_because: str = ""
