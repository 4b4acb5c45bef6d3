"""Requirements that keep a project on Keras 2, wherever it writes what is to be installed.

Read are the files from which kdoctor takes the target, and the lines that call an installer: in
Dockerfiles, CI files, shell scripts, Makefiles and notebooks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from packaging.version import Version

from kdoctor.errors import FileProblem
from kdoctor.keras_api.surface import tensorflow_release
from kdoctor.lazy_regex import pattern
from kdoctor.project.decision import FIRST_WITH_KERAS_3
from kdoctor.project.evidence import WORDS, Distribution, Evidence, EvidenceKind
from kdoctor.project.requirement import Where, parse_conda, parse_requirement
from kdoctor.project.root import folders_to_root, shown
from kdoctor.project.search import sources_in
from kdoctor.project.versions import allowed, exact
from kdoctor.target import Target

_INSTALLS: Final = pattern(r"\b(pip[\d.]*|conda|mamba|micromamba)\s+install\b([^\n|&;#]*)")
_ARGUMENT: Final = pattern(r"""'([^']*)'|("[^"]*"|[^\s"']+)""")
# Where installers are called, by name or by the end of the name; workflows have their own folder.
_CALLERS: Final = frozenset({"makefile", ".travis.yml", ".gitlab-ci.yml", "azure-pipelines.yml"})
_CALLER_ENDINGS: Final = (".sh", ".bash", ".ipynb", ".dockerfile")
_WORKFLOWS: Final = Path(".github") / "workflows"
_MOST_BYTES: Final = 5_000_000
_FIRST_KERAS_3: Final = {
    Distribution.KERAS: Version("3"),
    Distribution.TENSORFLOW: FIRST_WITH_KERAS_3,
}


class Pin(Struct, frozen=True, order=True):
    """A requirement that allows no Keras 3, and what to write in its place."""

    path: str
    line: int
    requirement: str
    instead: str

    @property
    def place(self) -> str:
        """Its location, for display."""
        return f"{self.path}:{self.line}"


def pins(folders: Iterable[Path], target: Target) -> tuple[Pin, ...]:
    """Return what keeps the projects of these folders on Keras 2.

    The folders above, up to the top of the project, are looked at as well. A file that cannot be
    read says nothing: that of the target is reported by whoever asks for it.
    """
    every = {each for folder in folders for each in folders_to_root(folder)}
    found = set[Pin]()
    for folder in sorted(every):
        for source in sources_in(folder):
            is_lock = source.kind is EvidenceKind.LOCK
            found.update(_pins(source.evidence, target, is_lock=is_lock))
        for path in _callers(folder):
            found.update(_pins(_installed(path), target))
    return tuple(sorted(found))


def _pins(evidence: Iterable[Evidence], target: Target, *, is_lock: bool = False) -> Iterator[Pin]:
    for each in evidence:
        pin = _pin(each, target)
        if pin is not None:
            yield replace(pin, instead="lock it again") if is_lock else pin


def _pin(evidence: Evidence, target: Target) -> Pin | None:
    first = _FIRST_KERAS_3.get(evidence.distribution)
    if first is None or evidence.line is None or evidence.nightly or not evidence.specifiers:
        return None
    if any(version >= first for version in allowed((evidence,))):
        return None
    name = evidence.distribution.value
    release = _release(evidence.distribution, target)
    instead = f"{name}>={first}" if exact(evidence) is None else f"{name}=={release}"
    return Pin(evidence.path, evidence.line, evidence.requirement.strip(), instead)


def _release(distribution: Distribution, target: Target) -> str:
    if distribution is Distribution.KERAS:
        return target.keras_version
    if target.name == "tensorflow":
        return target.version
    return tensorflow_release(target) or str(FIRST_WITH_KERAS_3)


def _callers(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder in which an installer may be called."""
    for below in (folder, folder / _WORKFLOWS):
        try:
            names = sorted(os.listdir(below))  # noqa: PTH208 - hot
        except OSError:
            continue
        for name in names:
            low = name.lower()
            is_workflow = below != folder and low.endswith((".yml", ".yaml"))
            if (
                is_workflow
                or low in _CALLERS
                or low.startswith("dockerfile")
                or low.endswith(_CALLER_ENDINGS)
            ):
                yield below / name


def _installed(path: Path) -> Iterator[Evidence]:
    """Yield what the lines of a file have installed."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return
        data = path.read_bytes()
    except OSError:
        return
    if b"install" not in data or not any(word in data for word in WORDS):
        return
    for line, text in _joined_lines(data.decode(errors="replace")):
        for call in _INSTALLS.finditer(text):
            parse = parse_requirement if "pip" in call[1] else parse_conda
            for word in _words(call[2]):
                yield from _requirement(word, parse, Where(shown(path), line))


def _joined_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield lines with their numbers, those that go on behind a backslash as one.

    >>> list(_joined_lines("a \\\n  b\nc"))
    [(1, 'a    b'), (3, 'c')]
    """
    begun, parts = 1, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun if parts else number
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield begun, " ".join(parts)
            parts = []
    if parts:
        yield begun, " ".join(parts)


def _words(arguments: str) -> Iterator[str]:
    """Yield the arguments of a call, also where it stands in the JSON of a notebook."""
    for quoted, plain in _ARGUMENT.findall(arguments.replace('\\"', "'").replace("\\n", " ")):
        yield (quoted or plain).strip("\"',`[]")


def _requirement(
    word: str, parse: Callable[[str, Where], Evidence | None], where: Where
) -> Iterator[Evidence]:
    if word.startswith("-") or not any(mark in word for mark in "=<>~"):
        return
    try:
        found = parse(word, where)
    except FileProblem:
        return
    if found is not None:
        yield found
