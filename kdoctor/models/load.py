"""A call of code that loads a saved model."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from kdoctor.model import Place


class Load(Struct, frozen=True):
    """A call that loads a saved model: where it stands, how it reads, and the file."""

    place: Place
    call: str
    path: Path
