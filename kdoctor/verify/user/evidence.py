"""The statements that a verdict is based on. Nothing is run here."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kdoctor import parse_ast
from kdoctor.verify.user.definitions import Source
from kdoctor.verify.user.local_modules import ModulePlace, place_of
from kdoctor.verify.user.slicing import NotSliced, Slice, Sliced
from kdoctor.verify.user.verifying import Texts


@dataclass(frozen=True, slots=True)
class Evidence:
    """A definition that was compared, and the code that ran for it.

    ``names`` maps the real path of each file to the names whose code ran before the fix. ``ran`` is
    the code that ran after it.
    """

    source: int
    name: str
    names: Mapping[str, frozenset[str]]
    ran: tuple[str, ...]


def evidence_for(
    sources: Sequence[Source], texts: Texts, wanted: Collection[tuple[str, str]]
) -> list[Evidence]:
    """Return the evidence for the ``wanted`` definitions, given by path and name."""
    found = []
    for number, source in enumerate(sources):
        before = _sliced(source.path, source.before, texts, 0)
        for path, name in sorted(wanted):
            old = _slice(before, name) if path == source.path else None
            ran = None if old is None else _code(source, source.after, texts, name)
            if old is not None and ran is not None:
                names = {os.path.realpath(piece.path): piece.names for piece in old.pieces}
                found.append(Evidence(number, name, names, ran))
    return found


def still_runs(evidence: Evidence, source: Source, text: str, texts: Texts) -> bool:
    """Say whether ``text``, with ``texts`` for other modules, still contains the code that ran."""
    return _code(source, text, texts, evidence.name) == evidence.ran


def _code(source: Source, text: str, texts: Texts, name: str) -> tuple[str, ...] | None:
    found = _slice(_sliced(source.path, text, texts, 1), name)
    if found is None:
        return None
    # Compared as trees: line numbers do not matter.
    return tuple(f"{p.name}:{ast.dump(parse_ast.parse(p.text))}" for p in found.pieces)


def _sliced(path: str, text: str, texts: Texts, which: int) -> Sliced:
    def read(place: ModulePlace) -> str | None:
        pair = texts(place.path)
        return None if pair is None else pair[which]

    return Sliced(text, place_of(Path(path)), read)


def _slice(sliced: Sliced, name: str) -> Slice | None:
    try:
        return sliced.slice(name) if name in sliced.bound else None
    except (NotSliced, SyntaxError):
        return None
