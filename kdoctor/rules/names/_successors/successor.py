"""What a hand-stated successor is."""

from __future__ import annotations

from msgspec import Struct

from kdoctor.rewrite import Rewrite


class Successor(Struct, frozen=True):
    """A rewrite of a name for which release data has no move, and what shows that it is right.

    ``proven_by`` is a group of examples of KD102, which compare both with each other; without one,
    or where ``unsafe_because`` says what else there is to think of, the rewrite is not safe.
    """

    row: Rewrite
    proven_by: str = ""
    unsafe_because: str = ""
