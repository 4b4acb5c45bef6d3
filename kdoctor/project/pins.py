"""Requirements that keep a project on Keras 2, wherever it writes what is to be installed.

Read are the files from which kdoctor takes the target, and the lines that call an installer: in
Dockerfiles, CI files, shell scripts, Makefiles and notebooks.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from packaging.version import Version

from kdoctor.documents.encoding import decode_any
from kdoctor.errors import FileProblem
from kdoctor.keras_api import newest_target
from kdoctor.keras_api.surface import tensorflow_release
from kdoctor.model import Edit, Span
from kdoctor.project.decision import FIRST_WITH_KERAS_3
from kdoctor.project.evidence import Distribution, Evidence, EvidenceKind, may_name_keras
from kdoctor.project.installer_calls import included, installed
from kdoctor.project.pin_places import Lines
from kdoctor.project.readers import File, Reader, reader_of
from kdoctor.project.root import folders_to_root, shown
from kdoctor.project.search import sources_in
from kdoctor.project.versions import allowed, exact
from kdoctor.target import Target

# Where installers are called, by name or by the end of the name; workflows have their own folder.
_CALLERS: Final = frozenset({"makefile", ".travis.yml", ".gitlab-ci.yml", "azure-pipelines.yml"})
_CALLER_ENDINGS: Final = (".sh", ".bash", ".ipynb", ".dockerfile")
_WORKFLOWS: Final = Path(".github") / "workflows"
_NOTEBOOK: Final = ".ipynb"
_REQUIREMENTS: Final = "requirements.txt"  # what a file is that pip is given
_MOST_BYTES: Final = 5_000_000
_LOCKED: Final = "lock it again"
_IS_LOCK: Final = "it is a lock file: let its tool lock it again"
_SEVERAL: Final = (
    "there are several, each for some installations: which of them is to go, only people know"
)
_FIRST_KERAS_3: Final = {
    Distribution.KERAS: Version("3"),
    Distribution.TENSORFLOW: FIRST_WITH_KERAS_3,
}


class Pin(Struct, frozen=True, order=True):
    """A requirement that allows no Keras 3, and what to write in its place.

    ``span`` are its characters in the text of the file, ``edit`` writes it anew there; where there
    is none, ``why_not`` says why. ``package`` is what brings Keras: ``keras`` or ``tensorflow``.
    """

    path: str
    line: int
    requirement: str
    instead: str
    span: Span = Span(0, 0)
    edit: Edit | None = None
    why_not: str = ""
    package: str = ""

    @property
    def is_written_by_hand(self) -> bool:
        """Whether people write it: not in a lock file."""
        return self.instead != _LOCKED

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
            by_path = dict[str, list[Evidence]]()
            for each in source.evidence:
                by_path.setdefault(each.path, []).append(each)
            for path, evidence in by_path.items():
                if any(_first(each) for each in evidence) and (text := _text(Path(path))):
                    found.update(_pins(evidence, text, target, kind=source.kind))
        for real in _callers(folder):
            text, is_notebook = _text(real), real.suffix == _NOTEBOOK
            calls = installed(text, shown(real), is_notebook=is_notebook)
            found.update(_pins(list(calls), text, target))
            for listed in _included(real, is_notebook=is_notebook):
                found.update(pins_in(shown(listed), _text(listed), target, _REQUIREMENTS))
    return tuple(sorted(found))


def _included(caller: Path, *, is_notebook: bool) -> Iterator[Path]:
    """Yield the files of requirements that a file has pip read, whatever they are called.

    Their paths count from the folder in which the call is made: that of the file, the top of the
    project for a workflow. In a Dockerfile they may stand below where they are copied to.
    """
    above = caller.parent
    folder = above.parents[1] if above.parts[-2:] == _WORKFLOWS.parts else above
    for name in included(_text(caller, any_text=True), is_notebook=is_notebook):
        copied = folder / Path(name).name
        real = copied if Path(name).is_absolute() else folder / name
        if real.is_file():
            yield real


def pins_in(path: str, text: str, target: Target, name: str = "") -> tuple[Pin, ...]:
    """Return the pins of one file, given by its path and text.

    What it includes is for the other file. What is no file of its kind has none. ``name`` is what
    tells the kind, where that is not the path.
    """
    reader = reader_of(name or path)
    if reader is None:
        return pins_of_calls(text, path, target)
    return tuple(sorted(_pins(_read(reader, path, text), text, target, kind=reader.kind)))


def has_pins(path: str, data: bytes) -> bool:
    """Say whether the bytes of a file keep something on Keras 2."""
    return bool(pins_in(path, decode_any(data).text, newest_target()))


def pins_of_calls(text: str, path: str, target: Target, beside: str = "") -> tuple[Pin, ...]:
    """Return what the calls of installers in a text keep on Keras 2.

    Where one of them, or of another text ``beside`` it, installs a Keras 3, it is for another
    world.
    """
    others = list(installed(beside, path))
    return tuple(sorted(_pins(list(installed(text, path)), text, target, others=others)))


def _read(reader: Reader, path: str, text: str) -> list[Evidence]:
    file = File(path, Path(path), text.encode("utf-8", "replace"))
    try:
        said = list(reader.read(file))
    except (FileProblem, RecursionError):
        return []
    return [each for each in said if isinstance(each, Evidence) and each.path == path]


def _pins(
    evidence: Sequence[Evidence],
    text: str,
    target: Target,
    kind: EvidenceKind | None = None,
    others: Sequence[Evidence] = (),
) -> Iterator[Pin]:
    """Yield the pins among some requirements of one file; without ``kind``, of calls in it.

    Passed over is what counts under a condition beside what allows Keras 3, and any call beside
    one that installs Keras 3: it is for another world.
    """
    lines: Lines | None = None
    every = (*evidence, *others)
    free = {each.distribution for each in every if _allows_keras_3(each)}
    if any(map(_asks_for_keras_3, every)):
        free.update(Distribution)
    conditional = Counter(each.distribution for each in evidence if each.is_conditional)
    for each in evidence:
        if each.line is None or _allows_keras_3(each):
            continue
        if (kind is None or each.is_conditional) and each.distribution in free:
            continue
        lines = lines or Lines(text)
        requirement, package = each.requirement.strip(), each.distribution.value
        instead = _instead(each, target)
        written = lines.written(each.line, requirement, instead, in_shell=kind is None)
        edit, why_not = written.edit, written.why_not
        if kind is EvidenceKind.LOCK:
            instead, edit, why_not = _LOCKED, None, _IS_LOCK
        elif each.is_conditional and conditional[each.distribution] > 1:
            edit, why_not = None, _SEVERAL
        yield Pin(each.path, each.line, requirement, instead, written.span, edit, why_not, package)


def _first(evidence: Evidence) -> Version | None:
    return _FIRST_KERAS_3.get(evidence.distribution)


def _allows_keras_3(evidence: Evidence) -> bool:
    first = _first(evidence)
    if first is None or evidence.nightly or not evidence.specifiers:
        return True
    return any(_has_keras_3(version, first) for version in allowed((evidence,)))


def _asks_for_keras_3(evidence: Evidence) -> bool:
    """Say whether a requirement allows nothing but Keras 3."""
    first = _first(evidence)
    if first is None or not (evidence.nightly or evidence.specifiers):
        return False
    versions = allowed((evidence,))
    return evidence.nightly or (
        bool(versions) and all(_has_keras_3(version, first) for version in versions)
    )


def _has_keras_3(version: Version, first: Version) -> bool:
    return Version(version.base_version) >= first  # what comes before 2.16 has it, too: 2.16.0rc0


def _instead(evidence: Evidence, target: Target) -> str:
    name = evidence.distribution.value
    if exact(evidence) is None:
        return f"{name}>={_first(evidence)}"
    return f"{name}=={_release(evidence.distribution, target)}"


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


def _text(path: Path, *, any_text: bool = False) -> str:
    """Return the text of a file that may name a Keras, "" of another one; or of any one."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return ""
        data = path.read_bytes()
    except OSError:
        return ""
    return decode_any(data).text if any_text or may_name_keras(data) else ""
