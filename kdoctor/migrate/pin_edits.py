"""Write requirements anew: those that keep a project on Keras 2 get a release of Keras 3."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kdoctor.documents import write_atomically
from kdoctor.errors import FileProblem
from kdoctor.lazy_regex import pattern
from kdoctor.project.pins import Pin

# A name, extras, and the versions that are asked for; what follows (a marker, a hash) stays.
_VERSIONS: Final = r"\s*(?:[=<>!~]=?=?\s*[\w.*+!-]+(?:\s*,\s*[=<>!~]=?=?\s*[\w.*+!-]+)*)"
_PARTS: Final = pattern(r"(?P<name>[\w.-]+)(?P<extras>\[[^\]]*\])?(?P<versions>.*)")
_NEW: Final = pattern(r"[\w.-]+(?P<versions>[=<>].*)")


def edit(pins: Iterable[Pin], unchanged: Iterable[str] = ()) -> tuple[list[Pin], list[Pin]]:
    """Write what can be written; return those that were, and those that are left for people.

    Files of the ``unchanged`` paths are not written. A lock file is made anew by its tool.
    """
    done, left = list[Pin](), list[Pin]()
    for pin in pins:
        written = pin.path not in unchanged and _edit(pin)
        (done if written else left).append(pin)
    return done, left


def _edit(pin: Pin) -> bool:
    new = _NEW.fullmatch(pin.instead)
    if new is None:
        return False
    path = Path(pin.path)
    try:
        data = path.read_bytes()
    except OSError:
        return False
    lines = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    # A call that goes on behind a backslash names its first line.
    for index in range(pin.line - 1, len(lines)):
        edited = edited_line(lines[index], pin.requirement, new["versions"])
        if edited is not None:
            lines[index] = edited
            try:
                write_atomically(path, "".join(lines).encode("utf-8", "surrogateescape"))
            except FileProblem:
                return False
            return True
        if not lines[index].rstrip("\r\n").endswith("\\"):
            return False
    return False


def edited_line(line: str, requirement: str, versions: str) -> str | None:
    """Return a line with other versions in a requirement, None where it does not stand in it.

    >>> edited_line("  - 'keras[a] == 2.2.4; extra == x'  # old", "keras==2.2.4", "==3.1")
    "  - 'keras[a]==3.1; extra == x'  # old"
    """
    parts = _PARTS.match(requirement)
    if parts is None:
        return None
    name = re.escape(parts["name"])
    found = re.search(rf"(?<![\w.-]){name}(?:\[[^\]]*\])?(?P<versions>{_VERSIONS})", line)
    if found is None:
        return None
    start, end = found.span("versions")
    return f"{line[:start]}{versions}{line[end:]}"
