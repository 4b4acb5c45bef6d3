"""Write which members objects of a kind, and of a class, lost on the way to some Keras 3.

``python tools/gone_members.py --write`` writes ``kdoctor/rules/members/_removed_members.py`` and
``gone_of_classes.json`` beside it (minutes): to ask the data of all releases for it takes longer
than to look into a file.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import (
    ever_members,
    known_releases,
    members_once,
    oracle,
    resolve_target,
    tables,
)
from kdoctor.keras_api.surface import TABLES
from kdoctor.rules.members._advice import NOT_PUBLIC
from kdoctor.rules.members._error_owner import last_release_with
from kdoctor.rules.members._lost_members import GENERAL, GONE_OF_CLASSES, called
from kdoctor.rules.members._removed_members import GONE
from kdoctor.value_types import Kind, Type

_FILE = Path(__file__).parents[1] / "kdoctor/rules/members/_removed_members.py"
_HEAD = '''"""Members that objects of a kind lost by some Keras 3. Generated, do not edit.

``python tools/gone_members.py --write`` asks the data of all releases.
"""

from __future__ import annotations

from typing import Final

from kdoctor.value_types import Kind

# fmt: off
GONE: Final[dict[Kind, frozenset[str]]] = {
'''


def gone_on(release: str) -> dict[Kind, set[str]]:
    """Return what objects lack on one release of which no more than the kind is known."""
    facts = TargetFacts(resolve_target(f"keras=={release}", "tools"))
    found: dict[Kind, set[str]] = {}
    for owner in GENERAL:
        for member in ever_members() | NOT_PUBLIC:
            if last_release_with(facts, owner, member) is not None:
                found.setdefault(owner.kind, set()).add(member)
    return found


def gone_of_classes_on(release: str, names: Iterable[str]) -> dict[str, set[str]]:
    """Return what objects lack on one release, by what their class is called.

    Without what is gone of their kind altogether. ``names`` are those of the classes below a root.
    """
    facts = TargetFacts(resolve_target(f"keras=={release}", "tools"))
    found: dict[str, set[str]] = {}
    for owner in _owners(facts, names):
        for member in members_once(owner) - GONE.get(owner.kind, frozenset()):
            if last_release_with(facts, owner, member) is not None:
                found.setdefault(called(owner), set()).add(member)
    return found


def _owners(facts: TargetFacts, names: Iterable[str]) -> dict[Type, None]:
    """Return what instances of such classes are, under whatever root."""
    known = oracle(facts.target)
    roots = [root.replace("tf.", "tensorflow.") for root in TABLES]
    dotted = (f"{root}.{name}" for name in names for root in roots)
    found: dict[Type, None] = {}
    for made in filter(None, map(known.class_type, dotted)):
        # As itself, as a class of the user's own, and where it is one of two that are called so.
        others = ({"cls": ""}, {"cls": None}, {"qualified": None})
        found |= dict.fromkeys((made, *(replace(made, **other) for other in others)))
    return found


def written_of_classes() -> str:
    """Return the text of the file on classes."""
    names = sorted({name for root in TABLES for name in tables.names_table(root).names})
    gone: dict[str, set[str]] = {}
    for release in _releases():
        for name, members in gone_of_classes_on(release, names).items():
            gone.setdefault(name, set()).update(members)
    lines = [f"{json.dumps(each)}: {json.dumps(sorted(gone[each]))}" for each in sorted(gone)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _releases() -> Iterator[str]:
    return (each for each in known_releases("keras") if each.startswith("3."))


def written() -> str:
    """Return the text of the file on kinds."""
    gone: dict[Kind, set[str]] = {}
    for release in _releases():
        for kind, members in gone_on(release).items():
            gone.setdefault(kind, set()).update(members)
    lines = [
        f"    Kind.{kind.name}: frozenset((\n{_wrapped(members)}\n    )),\n"
        for kind, members in sorted(gone.items(), key=lambda pair: pair[0].name)
    ]
    return f"{_HEAD}{''.join(lines)}}}\n# fmt: on\n"


def _wrapped(members: Iterable[str]) -> str:
    listed = ", ".join(f'"{each}"' for each in sorted(members))
    return textwrap.fill(f"{listed},", 98, initial_indent=" " * 8, subsequent_indent=" " * 8)


if __name__ == "__main__" and "--write" in sys.argv:
    _FILE.write_text(written(), "utf-8")
    GONE_OF_CLASSES.write_text(written_of_classes(), "utf-8")
