"""Write which members objects of a kind lost on the way to some release of Keras 3.

``python tools/gone_members.py --write`` writes ``kdoctor/rules/members/_gone_of_kinds.py``: to ask
the data of all releases for it takes longer than to look into a file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kdoctor.keras_api import ever_members, known_releases, resolve_target
from kdoctor.kinds import Kind
from kdoctor.rules.facts import Facts
from kdoctor.rules.members._advice import NOT_PUBLIC
from kdoctor.rules.members._gone import GENERAL
from kdoctor.rules.members._owners import last_release_with

_FILE = Path(__file__).parents[1] / "kdoctor/rules/members/_gone_of_kinds.py"
_HEAD = '''"""Members that objects of a kind lost by some Keras 3. Generated, do not edit.

``python tools/gone_members.py --write`` asks the data of all releases.
"""

from __future__ import annotations

from typing import Final

from kdoctor.kinds import Kind

GONE: Final[dict[Kind, frozenset[str]]] = {
'''


def gone_on(release: str) -> dict[Kind, set[str]]:
    """Return what objects lack on one release of which no more than the kind is known."""
    facts = Facts(resolve_target(f"keras=={release}", "tools"))
    found: dict[Kind, set[str]] = {}
    for owner in GENERAL:
        for member in ever_members() | NOT_PUBLIC:
            if last_release_with(facts, owner, member) is not None:
                found.setdefault(owner.kind, set()).add(member)
    return found


def written() -> str:
    """Return the text of the file."""
    gone: dict[Kind, set[str]] = {}
    for release in known_releases("keras"):
        if release.startswith("3."):
            for kind, members in gone_on(release).items():
                gone.setdefault(kind, set()).update(members)
    lines = [
        f"    Kind.{kind.name}: frozenset({sorted(members)!r}),\n".replace("'", '"')
        for kind, members in sorted(gone.items(), key=lambda pair: pair[0].name)
    ]
    return f"{_HEAD}{''.join(lines)}}}\n"


if __name__ == "__main__" and "--write" in sys.argv:
    _FILE.write_text(written(), "utf-8")
