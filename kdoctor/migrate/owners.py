"""Who owns what there is to do, by the ``CODEOWNERS`` file of a repository.

Source: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pathspec
from msgspec import Struct

from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding
from kdoctor.project.root import root_of

# In the order in which the services that read them look.
_PLACES: Final = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
_MOST_BYTES: Final = 3_000_000  # a longer one GitHub does not load
_SECTION: Final = pattern(r"\^?\[")
_WORD: Final = pattern(r"(?:\\.|[^\s\\])+")
# Of a folder's own files alone, where for git it would be all that lies below.
_FILES_OF_A_FOLDER: Final = "/*"


class Share(Struct, frozen=True):
    """What one owner, or several together, have to do; ``owner`` is "" where nobody owns it."""

    owner: str
    places: int
    files: int


class _Rule(Struct, frozen=True):
    spec: pathspec.GitIgnoreSpec
    depth: int | None  # how many folders lead to what it fits, None for any number
    owners: str


class CodeOwners(Struct, frozen=True):
    """The rules of one file, for the repository at ``root``; ``path`` is as people write it."""

    root: str
    path: str
    rules: tuple[_Rule, ...]

    def owner_of(self, path: str) -> str:
        """Return the owners of a file, "" if there are none: those of the last rule that fits."""
        inside = os.path.relpath(os.path.realpath(path), self.root).replace(os.sep, "/")
        for rule in reversed(self.rules):
            if rule.spec.match_file(inside) and rule.depth in {None, inside.count("/")}:
                return rule.owners
        return ""

    def shares(self, findings: Iterable[Finding]) -> tuple[Share, ...]:
        """Return who has to do with findings, those with most of them first."""
        by_file = Counter(each.place.path for each in findings)
        places, files = Counter[str](), Counter[str]()
        for path, number in by_file.items():
            owner = self.owner_of(path)
            places[owner] += number
            files[owner] += 1
        ordered = sorted(places, key=lambda owner: (-places[owner], not owner, owner))
        return tuple(Share(each, places[each], files[each]) for each in ordered)


def code_owners(start: Path) -> CodeOwners | None:
    """Return the owners that the repository around a folder names; None if it names none."""
    root = root_of(start)
    for place in _PLACES if root is not None else ():
        assert root is not None
        file = root / place
        try:
            if file.stat().st_size > _MOST_BYTES:
                return None
            text = file.read_text("utf-8", "replace")
        except OSError:
            continue
        rules = tuple(filter(None, map(_rule, text.splitlines())))
        return CodeOwners(os.path.realpath(root), place, rules)
    return None


def _rule(line: str) -> _Rule | None:
    r"""Return the rule of a line, None where it holds none.

    >>> _rule(r"/my\ docs/* @a b@c.org  # ours").owners
    '@a b@c.org'
    """
    words = _WORD.findall(line.strip())
    comment = next((place for place, word in enumerate(words) if word.startswith("#")), None)
    words = words[:comment]
    if not words or _SECTION.match(words[0]) or words[0].startswith("!"):
        return None
    written = words[0]
    try:
        spec = pathspec.GitIgnoreSpec.from_lines([written])
    except ValueError:
        return None
    is_of_files = written.endswith(_FILES_OF_A_FOLDER) and not written.endswith("**/*")
    depth = written.strip("/").count("/") if is_of_files else None
    return _Rule(spec, depth, " ".join(words[1:]))
