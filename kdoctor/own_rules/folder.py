"""Read the files of a folder with rules of one's own, and name the folders that settings name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from kdoctor.digests import blake2b
from kdoctor.documents.reading import read_regular
from kdoctor.errors import UsageProblem
from kdoctor.model import Unreadable
from kdoctor.project import Layer
from kdoctor.project.root import shown
from kdoctor.rules.own import RuleFolder

RECORD: Final = "proofs.json"
_PYTHON: Final = ".py"
_PAGE: Final = ".md"


class FolderFiles(Struct, frozen=True):
    """What the files of a folder hold: its Python and pages by file name, and its proof record."""

    folder: RuleFolder
    python: dict[str, bytes]
    pages: dict[str, bytes]
    record: bytes
    problems: tuple[Unreadable, ...]

    @property
    def rule_files(self) -> Iterator[str]:
        """The names of the files that are to hold a rule each: an underscore marks the others."""
        for name in sorted(self.python):
            if self.folder.only in ("", name) and not name.startswith("_"):
                yield name


def read_folder(folder: RuleFolder) -> FolderFiles:
    """Read a folder. A file that is a link, or cannot be read, is among the problems.

    So is the folder of an installed package, where that has none.

    Raises:
        UsageProblem: there is no such folder, or it cannot be read.
    """
    python: dict[str, bytes] = {}
    pages: dict[str, bytes] = {}
    problems: list[Unreadable] = []
    record = b""
    if not folder.path:
        why = "there is no such package with files of rules; update the one that names it"
        return FolderFiles(folder, {}, {}, b"", (Unreadable(folder.named_by, why),))
    for path in _listed(folder):
        try:
            if path.is_symlink() and not folder.installed:
                why = "it is a link, which may lead anywhere; put the file itself there"
                problems.append(Unreadable(shown(path), why))
            elif path.name == RECORD:
                record = read_regular(path)
            else:
                (pages if path.suffix == _PAGE else python)[path.name] = read_regular(path)
        except OSError as error:
            why = f"it cannot be read: {error.strerror or error}"
            problems.append(Unreadable(shown(path), why))
    return FolderFiles(folder, python, pages, record, tuple(problems))


def _listed(folder: RuleFolder) -> list[Path]:
    where = Path(folder.path)
    try:
        every = sorted(where.iterdir())
    except FileNotFoundError:
        raise UsageProblem(
            f"{folder.named_by}: there is no folder {shown(where)}; make it, or name another"
        ) from None
    except OSError as error:
        raise UsageProblem(
            f"{folder.named_by}: {shown(where)} cannot be read: {error.strerror or error}"
        ) from None
    stems = {path.stem for path in every if path.suffix == _PYTHON}
    return [
        path
        for path in every
        if path.suffix == _PYTHON
        or path.name == RECORD
        or (path.suffix == _PAGE and path.stem in stems)
    ]


def digest_of(folders: Iterable[FolderFiles], withheld: str) -> str:
    """Return a digest of all that decides what the rules find; "" where there are none."""
    digest = blake2b(digest_size=12)
    found = bool(withheld)
    for each in folders:
        texts = sorted({**each.python, **each.pages}.items())
        for name, data in (*texts, (RECORD, each.record)):
            found = True
            head = f"{each.folder.path}\0{each.folder.only}\0{name}\0{len(data)}\0"
            digest.update(head.encode(errors="surrogateescape") + data)
    digest.update(withheld.encode())
    return digest.hexdigest() if found else ""


def named_folders(layer: Layer, root: Path) -> Iterator[RuleFolder]:
    """Yield the folders that a settings file names as ``rules``.

    ``root`` is where the project begins: nothing is imported from outside of it, and no link is
    followed, so that who reads the project's files has read all that runs.

    Raises:
        UsageProblem: a path leads out of the project, through a link, or to no folder.
    """
    place = f"{layer.place('rules')}: rules"
    for named in layer.config.rules or ():
        path = Path(os.path.normpath(os.path.join(layer.folder, named)))  # noqa: PTH118
        if not path.is_relative_to(root) or path == root:
            raise UsageProblem(
                f"{place}: {named or repr(named)} is no folder within the project, {shown(root)}; "
                "put the rules into one, or install them as a package with an entry point"
            )
        link = next((each for each in (path, *path.parents) if _is_link(each, root)), None)
        if link is not None:
            raise UsageProblem(
                f"{place}: {shown(link)} is a link, which may lead anywhere; name the folder itself"
            )
        if path.is_file():
            raise UsageProblem(f"{place}: {named} is a file; name the folder that it lies in")
        yield RuleFolder(str(path), place)


def _is_link(path: Path, root: Path) -> bool:
    return path != root and path.is_relative_to(root) and path.is_symlink()
