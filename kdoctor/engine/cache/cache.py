"""Look up and store results in the cache during one run."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from kdoctor.digests import blake2b
from kdoctor.engine.cache.codec import decode_scan, encode_scan
from kdoctor.engine.cache.merging import NewScans, merge_snapshots
from kdoctor.engine.cache.recorder import Recorded
from kdoctor.engine.cache.store import NUMBERS, FactsRow, ScanRow, Store, today
from kdoctor.engine.result import FileScan
from kdoctor.engine.schedule.task import ScanOptions, Task, absolute, working_folder
from kdoctor.modules.dependencies import Seen
from kdoctor.modules.file_stamp import (
    FileStamp,
    Signature,
    parse_import_query,
    signature_of,
    state_of,
)
from kdoctor.modules.prefilter import FileWords

if TYPE_CHECKING:
    from kdoctor.modules.reverse_imports import ReverseImports

T = TypeVar("T")


class Cache:
    """The result cache during one run; the state of each file is read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known = store.read()
        self._numbers = {path: number for number, path in enumerate(self._known.paths)}
        self._same: list[bool | None] = [None] * len(self._known.paths)
        paths = self._known.paths
        self._facts: dict[str, FactsRow] = {paths[row.path]: row for row in self._known.facts}
        self._scans: dict[tuple[int, str, bytes], ScanRow] = {
            (row.path, row.given_path, row.key): row for row in self._known.scans
        }
        self._keys: dict[object, bytes] = {}
        self._now: dict[str, FileStamp] = {}
        self._new_facts: dict[str, tuple[FileWords, Seen]] = {}
        self._new_scans: NewScans = {}
        self._is_news = False
        self._here = working_folder()

    def facts(self, path: str) -> FileWords | None:
        """Return the cached prefilter facts of a file, given by its absolute path."""
        row = self._facts.get(path)
        if row is None or not self._holds(row.needs):
            return None
        paths = self._known.paths
        imports = tuple(paths[each] for each in array(NUMBERS, row.imports)) if row.imports else ()
        return FileWords(row.size, row.speaks, row.marked, imports)

    def store_facts(self, path: str, facts: FileWords, seen: Seen) -> None:
        """Store the prefilter facts of a file."""
        self._new_facts[path] = facts, seen

    def through(
        self,
        scan_options: ScanOptions,
        tasks: Collection[Task],
        work: Callable[[Sequence[Task]], Sequence[Recorded[T]]],
        *,
        of_scan: Callable[[FileScan], T | None],
        scan_of: Callable[[T], FileScan],
    ) -> list[T]:
        """Return each task's result, from the cache where it is still valid.

        ``of_scan`` makes a result out of what was found in a file, where that is all it needs;
        ``scan_of`` says what a result found, which is kept.
        """
        scans = (self.scan(scan_options, task) for task in tasks)
        known = [None if scan is None else of_scan(scan) for scan in scans]
        missing = [task for task, result in zip(tasks, known, strict=True) if result is None]
        found = iter(work(missing))
        results: list[T] = []
        for task, result in zip(tasks, known, strict=True):
            if result is None:
                noted = next(found)
                self.store_scan(scan_options, task, scan_of(noted.result), noted.seen)
                results.append(noted.result)
            else:
                results.append(result)
        self.write()
        return results

    def scan(self, scan_options: ScanOptions, task: Task) -> FileScan | None:
        """Return the cached result of a file, None if there is none or it is out of date."""
        if task.source.is_stdin:
            return None
        number = self._numbers.get(absolute(task.source.path, self._here))
        if number is None:
            return None
        row = self._scans.get((number, task.source.path, self._key(scan_options, task)))
        return decode_scan(row.raw) if row is not None and self._holds(row.needs) else None

    def store_scan(
        self, scan_options: ScanOptions, task: Task, scan: FileScan, seen: Seen | None
    ) -> None:
        """Store the result of a file, if a new scan would give the same."""
        if seen is None or not scan.lasts:
            return
        raw = encode_scan(scan)
        if raw is not None:
            place = (
                absolute(task.source.path, self._here),
                task.source.path,
                self._key(scan_options, task),
            )
            self._new_scans[place] = raw, seen

    def write(self) -> None:
        """Write new entries to disk, and once a day when each was last used."""
        day = today()
        if not (self._new_facts or self._new_scans or self._is_news or self._known.day != day):
            return
        known = self._known if self._store.is_as_read() else self._store.read()
        if known.day != day:
            self._store.tidy()
        self._store.write(merge_snapshots(known, self._now, self._new_facts, self._new_scans))

    def _holds(self, needs: bytes) -> bool:
        same = self._same
        for number in array(NUMBERS, needs):
            found = same[number]
            if found is None:
                found = same[number] = self._is_same(number)
            if not found:
                return False
        return True

    def _is_same(self, number: int) -> bool:
        """Say whether a file or folder is unchanged, by its signature, else by its content."""
        path, before = self._known.paths[number], self._known.states[number]
        if before is None:
            return False
        if before.signature is not None and self._signature_of(path) == before.signature:
            self._now[path] = before
            return True
        now = self._now[path] = self._state_of(path)
        if now.digest != before.digest:
            return False
        self._is_news = self._is_news or now.signature != before.signature
        return True

    def _signature_of(self, key: str) -> Signature | None:
        query = parse_import_query(key)
        return signature_of(key) if query is None else self._importers.signature(query[0])

    def _state_of(self, key: str) -> FileStamp:
        query = parse_import_query(key)
        return state_of(key) if query is None else self._importers.state(*query)

    @cached_property
    def _importers(self) -> ReverseImports:
        from kdoctor.modules.reverse_imports import ReverseImports  # noqa: PLC0415 - rarely needed

        return ReverseImports()

    def _key(self, scan_options: ScanOptions, task: Task) -> bytes:
        """Return a digest of the options that apply to a file."""
        own = (
            *(task.target, task.codes, task.namespace, task.admitted, task.style),
            *(task.keras_2_helpers, task.project_types, task.backends),
        )
        if own not in self._keys:
            aimed = scan_options.aimed(task)
            target = aimed.target.as_examined
            parts = (
                *(
                    target,
                    aimed.is_target_explicit,
                    aimed.codes,
                    aimed.kind,
                    aimed.gate,
                    aimed.namespace,
                ),
                *(aimed.edits, aimed.diffs, aimed.replacements, aimed.anchors, task.admitted),
                *(aimed.style, aimed.keras_2_helpers, aimed.project_types, aimed.backends),
                aimed.observations,
            )
            self._keys[own] = blake2b(repr(parts).encode(), digest_size=16).digest()
        return self._keys[own]
