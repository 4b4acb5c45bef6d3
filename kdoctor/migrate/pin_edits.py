"""Write requirements anew: those that keep a project on Keras 2 get a release of Keras 3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from kdoctor.documents import write_atomically
from kdoctor.documents.encoding import decode_any
from kdoctor.errors import FileProblem
from kdoctor.model import Span
from kdoctor.project.pins import Pin
from kdoctor.rewrite import render


def edit(pins: Iterable[Pin], unchanged: Iterable[str] = ()) -> tuple[list[Pin], list[Pin]]:
    """Write what can be written; return those that were, and those that are left for people.

    Files of the ``unchanged`` paths are not written. A lock file is made anew by its tool.
    """
    done, left = list[Pin](), list[Pin]()
    for path, found in groupby(sorted(pins), attrgetter("path")):
        here = list(found)
        writable = [each for each in here if each.edit is not None and path not in unchanged]
        written = writable if writable and _write(Path(path), writable) else []
        done += written
        left += [each for each in here if each not in written]
    return done, left


def _write(path: Path, pins: Sequence[Pin]) -> bool:
    try:
        decoded = decode_any(path.read_bytes())
    except OSError:
        return False
    text = decoded.text
    if any(each.span.end > len(text) for each in pins):
        return False  # it is another file by now
    edits = [each.edit for each in pins if each.edit is not None]
    try:
        new = render(text, edits, Span(0, len(text)), "\n")
        write_atomically(path, decoded.encode(new))
    except (FileProblem, ValueError):
        return False
    return True
