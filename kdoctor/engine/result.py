"""The results of a scan and a fix: plain data for reporters and Python callers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from kdoctor.model import Finding, Place, Region, Suppressed, Unreadable
from kdoctor.target import Target


class SkippedPart(Struct, frozen=True, array_like=True, gc=False):
    """A code block or cell of a readable file that is not Python, and why.

    ``line`` counts in the file, in a notebook in the cell. ``python_2`` is the construct of
    Python 2 that stands there, "" where none does.
    """

    path: str
    cell: int | None
    line: int
    why: str
    python_2: str = ""


class ProjectNotes(Struct, frozen=True):
    """Notes on the project's own files, such as those that name the target.

    ``conflicts`` are sentences about files that contradict each other. ``unreadable`` are the
    files that could not be understood; the target comes from the others. ``remarks`` are sentences
    about what of the project was not done as it asks, or not read.
    """

    conflicts: tuple[str, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    remarks: tuple[str, ...] = ()


class TargetUse(Struct, frozen=True):
    """How many Keras files a target applies to."""

    target: Target
    files: int


class OwnTarget(Struct, frozen=True, array_like=True, gc=False):
    """A file that switches itself to tf_keras, or installs a Keras, whatever the target.

    ``run_target`` is the target of the run, ``tf_keras`` the version that the file's own
    ``tf.keras`` is, ``why`` says what sets it. ``counts``: the file was checked against that
    version, else against ``run_target``, which was named explicitly. ``place`` is the line that
    sets it, None if it is in another file. ``keras`` is what it installs, "" where it switches.
    """

    path: str
    run_target: str
    tf_keras: str
    why: str
    counts: bool
    place: Place | None = None
    keras: str = ""

    @property
    def is_keras_2(self) -> bool:
        """Whether it installs a Keras 2, and was checked against that."""
        return bool(self.keras) and self.counts and not self.tf_keras.startswith("3.")

    @property
    def description(self) -> str:
        """The target that the file was checked for, and why, in words."""
        if self.keras:
            return f"checked against {self.keras}: {self.why}"
        if self.counts:
            return f"checked against tf_keras {self.tf_keras} as its `tf.keras`: {self.why}"
        return (
            f"checked against {self.run_target}, as --target says; on its own, its `tf.keras` "
            f"would be tf_keras {self.tf_keras}: {self.why}"
        )


class Anchor(Struct, frozen=True, array_like=True, gc=False):
    """The line-independent identity of a finding.

    ``scope`` is the qualified name of the definition around it (``Attention.call``), "" at module
    level; ``source`` its own code without layout, and ``context`` that of about a line around it.
    """

    scope: str
    source: str
    context: str = ""


class FileScan(Struct, frozen=True):
    """The result of one file. ``unreadable`` with findings: a part of it failed.

    ``own_target`` is there where the file has another target than the run by its own code.
    ``lasts``: a second look at the same file would give the same. ``old_names`` are the old codes
    and names of rules that its comments say.
    """

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    lines: Mapping[Place, str] = field(default_factory=dict)
    regions: Mapping[Place, Region] = field(default_factory=dict)
    skipped: tuple[SkippedPart, ...] = ()
    unreadable: Unreadable | None = None
    anchors: Mapping[Place, Anchor] = field(default_factory=dict)
    lasts: bool = True
    own_target: OwnTarget | None = None
    old_names: tuple[str, ...] = ()

    @property
    def without_notes(self) -> FileScan:
        """The same, with nothing said of the file but its findings."""
        return replace(self, skipped=(), unreadable=None, own_target=None, old_names=())

    @property
    def without_edits(self) -> FileScan:
        """The same, with fixes that cannot be applied."""
        suppressed = tuple(
            replace(each, finding=_without_edits(each.finding)) for each in self.suppressed
        )
        return replace(
            self, findings=tuple(map(_without_edits, self.findings)), suppressed=suppressed
        )


def _without_edits(finding: Finding) -> Finding:
    if finding.fix is None:
        return finding
    return replace(finding, fix=replace(finding.fix, edits=(), imports=(), drops=()))


class ScanResult(Struct, frozen=True):
    """The findings of some files for one target.

    ``findings`` stand in order of place, then code. ``lines`` gives, for each finding's place, the
    user's source line on which it starts (without its newline), for display, ``anchors`` what it
    is known by when that line moves, and ``regions``, for a place in a notebook, where it stands in
    the file itself. ``known`` are the findings that a baseline accepts, and that are not among
    ``findings`` for that. ``target`` is that of the folder in which all paths lie, if any file has
    it; ``targets`` are those of all files. ``files`` are the ``read`` files in the order of their
    paths. ``suppressed`` are the findings that comments in the code silence; they are not among
    ``findings`` either. ``own_targets`` are the files that have another target by their own code.
    ``saved_models`` counts files below the folders that were passed, and are called as such.
    """

    target: Target
    findings: tuple[Finding, ...] = ()
    lines: Mapping[Place, str] = field(default_factory=dict)
    regions: Mapping[Place, Region] = field(default_factory=dict)
    read: int = 0
    files: tuple[str, ...] = ()
    skipped: tuple[SkippedPart, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    project: ProjectNotes = ProjectNotes()
    targets: tuple[TargetUse, ...] = ()
    anchors: Mapping[Place, Anchor] = field(default_factory=dict)
    known: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    own_targets: tuple[OwnTarget, ...] = ()
    saved_models: int = 0

    @property
    def unhandled(self) -> tuple[Unreadable, ...]:
        """The files that could not be examined, target files included, by path."""
        every = {*self.unreadable, *self.project.unreadable}
        return tuple(sorted(every, key=lambda file: (file.path, file.why)))

    @property
    def has_read_nothing(self) -> bool:
        """Whether no file was found at all, not even an unreadable one."""
        return not (self.read or self.unreadable)

    def region(self, place: Place) -> Region:
        """Return the position of a finding in the file itself."""
        own = Region(place.line, place.column, place.end_line, place.end_column)
        return self.regions.get(place, own)


class FixedFile(Struct, frozen=True):
    """A file that a fix changes: bytes before and after, and the findings fixed.

    ``diff`` is a unified diff with ``a/`` and ``b/`` headers; for a notebook, one of each changed
    cell's source. Bytes that are not UTF-8 stand in it as surrogate escapes, so that encoding it
    with ``errors="surrogateescape"`` gives a patch that applies to the file byte for byte.
    ``is_stdin``: it came from standard input, under whatever name, and is never written.
    """

    path: str
    before: bytes
    after: bytes
    diff: str
    applied: tuple[Finding, ...]
    is_stdin: bool = False


class LeftAlone(Struct, frozen=True):
    """A file with fixes that was left unchanged, and why."""

    path: str
    why: str


class FileFix(Struct, frozen=True):
    """The fix of one file: findings before and after, and the new bytes."""

    found: FileScan
    left: FileScan
    fixed: FixedFile | None = None
    left_alone: LeftAlone | None = None


class FixResult(Struct, frozen=True):
    """The result of a fix, applied or not.

    ``left`` is what a scan of the files finds after the fix, ``found`` what one found before it.
    ``written`` says whether the changed files were written (``apply=True``). ``root`` is the folder
    whose journal keeps what they were; ``no_undo`` says why it does not. ``split`` are the files
    that had other hard links: these still have the old content. ``ignores``: instead of
    being fixed, the findings were silenced by comments. ``unsafe``: also fixes that no proof
    calls safe were used.
    """

    files: tuple[FixedFile, ...]
    left: ScanResult
    left_alone: tuple[LeftAlone, ...]
    written: bool
    found: ScanResult
    root: Path
    no_undo: str = ""
    split: tuple[str, ...] = ()
    ignores: bool = False
    unsafe: bool = False

    @property
    def target(self) -> Target:
        """The Keras target that the files were fixed for."""
        return self.left.target
