"""Write fixed files atomically, with an undo journal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from kdoctor.documents import read_regular, uninterrupted, write_atomically
from kdoctor.engine.fixes.undo_journal import Journal, left_by_last_apply, undo_command
from kdoctor.engine.result import FixedFile, FixResult, LeftAlone, ScanResult
from kdoctor.errors import FileProblem
from kdoctor.model import Place
from kdoctor.project.git import not_in_git

T = TypeVar("T")


def write(result: FixResult, refused: Collection[str] = ()) -> FixResult:
    """Write the files of a fix, except those of the ``refused`` paths.

    Raises:
        KeyboardInterrupt: with a sentence that says how far it came.
    """
    journal = Journal(result.root)
    wanted = [file for file in result.files if file.path not in refused]
    written: list[FixedFile] = []
    failed: list[LeftAlone] = []
    split: list[str] = []
    try:
        for file in wanted:
            # What one file takes is done to its end: an interrupt comes between two of them.
            with uninterrupted():
                links = _links(file)
                reason = None if file.is_stdin else _write(file, journal)
                if reason is None:
                    written.append(file)
                    split += [file.path] if links > 1 else []
                else:
                    failed.append(LeftAlone(file.path, reason))
        old = {*refused, *(file.path for file in failed)} & {file.path for file in result.files}
        return replace(
            result,
            files=tuple(written),
            left=_without_unwritten(result.found, result.left, old) if old else result.left,
            left_alone=(*result.left_alone, *failed),
            written=True,
            no_undo=journal.problem,
            split=tuple(split),
        )
    except KeyboardInterrupt:
        raise _interrupted(len(written), len(wanted), journal.root, journal.problem) from None
    finally:
        if not written:
            journal.drop()


def interrupted_after_writing(result: FixResult, wanted: int) -> KeyboardInterrupt:
    """Return what ends a fix that wrote its files and was interrupted before it had said so."""
    return _interrupted(len(result.files), wanted, result.root, result.no_undo)


def with_files_fixed_again(result: FixResult, again: Mapping[str, FixResult]) -> FixResult:
    """Return the fix with some files replaced by another fix of them."""
    files: list[FixedFile] = []
    for file in result.files:
        files += [file] if file.path not in again else again[file.path].files
    left = result.left
    for path, other in again.items():
        left = _without_unwritten(other.left, left, {path})
    return replace(result, files=tuple(files), left=left)


def uncommitted_files(result: FixResult, refused: Collection[str] = ()) -> list[str]:
    """Return the files to be written whose content neither git nor kdoctor has stored."""
    files = [file for file in result.files if not file.is_stdin and file.path not in refused]
    ours = {file.path for file in left_by_last_apply(result.root, files)}
    return [path for path in not_in_git([file.path for file in files]) if path not in ours]


def _write(file: FixedFile, journal: Journal) -> str | None:
    """Write a file's new bytes. Return the reason if it was not written."""
    path = Path(file.path)
    try:
        if read_regular(path) != file.before:
            return "it changed while it was being fixed, so it was not written; run again"
        journal.keep(file.path, file.before, file.after)
        write_atomically(path, file.after)
    except OSError as error:
        return f"cannot be read again: {error.strerror or error}"
    except FileProblem as problem:
        return str(problem)
    return None


def _links(file: FixedFile) -> int:
    try:
        return 1 if file.is_stdin else Path(file.path).stat().st_nlink
    except OSError:
        return 1


def _interrupted(written: int, wanted: int, root: Path, no_undo: str) -> KeyboardInterrupt:
    if not written:
        return KeyboardInterrupt("interrupted; no file was written")
    rest = "" if written == wanted else ", the others are unchanged"
    back = "" if no_undo else f"; `{undo_command(root)}` undoes it"
    return KeyboardInterrupt(f"interrupted; {written} of {wanted} files were written{rest}{back}")


def _without_unwritten(found: ScanResult, left: ScanResult, old: Collection[str]) -> ScanResult:
    """Return the remaining findings if the ``old`` paths stay unchanged."""

    def both(part: Callable[[ScanResult], Iterable[T]], path: Callable[[T], str]) -> tuple[T, ...]:
        kept = [each for each in part(left) if path(each) not in old]
        return (*kept, *(each for each in part(found) if path(each) in old))

    def places(part: Callable[[ScanResult], Iterable[tuple[Place, T]]]) -> dict[Place, T]:
        return dict(both(part, lambda item: item[0].path))

    findings = both(lambda scan: scan.findings, lambda each: each.place.path)
    return replace(
        left,
        findings=tuple(sorted(findings, key=lambda each: (each.place, each.code, each.message))),
        lines=places(lambda scan: scan.lines.items()),
        regions=places(lambda scan: scan.regions.items()),
        anchors=places(lambda scan: scan.anchors.items()),
        suppressed=tuple(
            sorted(
                both(lambda scan: scan.suppressed, lambda each: each.finding.place.path),
                key=lambda each: (each.finding.place, each.finding.code, each.finding.message),
            )
        ),
        skipped=both(lambda scan: scan.skipped, lambda part: part.path),
        unreadable=tuple(
            sorted(
                both(lambda scan: scan.unreadable, lambda file: file.path),
                key=lambda file: (file.path, file.why),
            )
        ),
    )
