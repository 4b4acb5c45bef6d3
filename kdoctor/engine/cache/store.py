"""The cache file: one snapshot, replaced atomically.

So runs side by side, and one that is killed, leave a whole file behind, and nobody waits for a
lock. It holds data only: to read it runs no code. What is no snapshot of this version of kdoctor,
whole and unharmed, is none.
"""

from __future__ import annotations

import contextlib
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from kdoctor.documents.reading import open_regular
from kdoctor.modules.file_stamp import FileStamp

_MAGIC: Final = b"kdoctor cache 1\n"
NUMBERS: Final = "I"  # what `array` calls the numbers of paths
_SUM: Final = 4
# Bytes: what is larger would cost more memory than it saves time.
_MAX_CACHE_BYTES: Final = 512_000_000
_MAX_AGE_DAYS: Final = 14
_MAX_RULE_VERSIONS: Final = 4  # of the rules of one's own, for which results are kept
_DAY: Final = 86_400
_IGNORED: Final = "# kdoctor's own; nothing to commit\n*\n"
_TAG: Final = "CACHEDIR.TAG"
_TAGGED: Final = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of kdoctor, see bford.info/cachedir.\n"
)


class FactsRow(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Cached prefilter facts of a file. ``needs`` are the states that they are valid for."""

    path: int
    size: int
    speaks: bool
    marked: bool
    imports: bytes
    needs: bytes
    day: int


class ScanRow(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The cached result ``raw`` of a file under its path as given, with options ``key``."""

    path: int
    given_path: str
    key: bytes
    needs: bytes
    raw: msgspec.Raw
    day: int


class Snapshot(msgspec.Struct, array_like=True, gc=False):
    """The whole cache. Numbers index ``paths``; ``states`` has one state for each path.

    No row holds for another state than that, and a path without a state is only named.
    """

    day: int = 0
    paths: list[str] = []
    states: list[FileStamp | None] = []
    facts: list[FactsRow] = []
    scans: list[ScanRow] = []


def today() -> int:
    """Return today's date as a number of days."""
    return int(time.time() // _DAY)


def is_old(day: int) -> bool:
    """Say whether an entry last used on that day should be evicted."""
    return not 0 <= today() - day <= _MAX_AGE_DAYS


class Store:
    """The cache file of one project and kdoctor version. I/O errors only disable it."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._file = folder / "scan" / name
        self._read: tuple[int, int, int] | None = None

    @property
    def folder(self) -> Path:
        """The folder of the cache file."""
        return self._file.parent

    def read(self) -> Snapshot:
        """Return the cached snapshot, an empty one if there is no valid file."""
        self._read = None
        try:
            with open_regular(self._file) as file:
                found = os.fstat(file.fileno())
                if found.st_size > _MAX_CACHE_BYTES:
                    return Snapshot()
                data = file.read()
        except OSError:
            return Snapshot()
        snapshot = _decoded(data)
        if snapshot is None:
            return Snapshot()
        self._read = found.st_ino, found.st_mtime_ns, found.st_size
        return snapshot

    def is_as_read(self) -> bool:
        """Say whether the file is unchanged since it was read."""
        try:
            found = self._file.stat()
        except OSError:
            return self._read is None
        return self._read == (found.st_ino, found.st_mtime_ns, found.st_size)

    def write(self, snapshot: Snapshot) -> None:
        """Replace the cache file with a snapshot, where that is possible."""
        payload = msgspec.msgpack.encode(snapshot)
        total = zlib.crc32(payload).to_bytes(_SUM, "little")
        if len(payload) > _MAX_CACHE_BYTES:
            return
        beside = self._file.with_name(f"{self._file.name}.{os.urandom(4).hex()}.tmp")
        try:
            self._make_folder()
            try:
                beside.write_bytes(b"".join([_MAGIC, total, payload]))
                beside.replace(self._file)
            except BaseException:
                with contextlib.suppress(OSError):
                    beside.unlink()
                raise
        except OSError:
            return

    def tidy(self) -> None:
        """Remove old cache files of other versions and of killed runs.

        Of those that rules of one's own made, each edit of a rule makes a new one.
        """
        with contextlib.suppress(OSError):
            versions = sorted(self._beside(), key=lambda each: each.stat().st_mtime)
            for each in versions[:-_MAX_RULE_VERSIONS]:
                os.unlink(each.path)  # noqa: PTH108
            for each in os.scandir(self._file.parent):
                if each.name == _TAG:
                    continue
                age = time.time() - each.stat().st_mtime
                if age > _DAY * (1 if each.name.endswith(".tmp") else _MAX_AGE_DAYS):
                    os.unlink(each.path)  # noqa: PTH108

    def _beside(self) -> Iterator[os.DirEntry[str]]:
        """Yield the files of the same project and kdoctor, with whichever rules of one's own."""
        start = "-".join(self._file.name.split("-")[:2])
        for each in os.scandir(self._file.parent):
            if each.name.startswith(f"{start}-") and not each.name.endswith(".tmp"):
                yield each

    def _make_folder(self) -> None:
        own = self._file.parent
        if own.is_dir():
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        own.mkdir(mode=0o700, exist_ok=True)  # it has lines of files that not all may read
        # The tag is not for the folder above: there lies what can take a fix back.
        for path, text in ((self._folder / ".gitignore", _IGNORED), (own / _TAG, _TAGGED)):
            with contextlib.suppress(FileExistsError), path.open("x", encoding="ascii") as file:
                file.write(text)


def _decoded(data: bytes) -> Snapshot | None:
    start = len(_MAGIC) + _SUM
    payload = memoryview(data)[start:]
    if data[:start] != _MAGIC + zlib.crc32(payload).to_bytes(_SUM, "little"):
        return None
    try:
        return msgspec.msgpack.decode(payload, type=Snapshot)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
