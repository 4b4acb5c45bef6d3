"""The result of one file as bytes, and back."""

from __future__ import annotations

from typing import Final

import msgspec

from kdoctor.engine.result import Anchor, FileScan, SkippedPart
from kdoctor.model import Finding, Place, Region, Unreadable
from kdoctor.suppression import Suppressed


class _Found(msgspec.Struct, array_like=True, frozen=True):
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    lines: tuple[tuple[Place, str], ...]  # a key of a map cannot have parts
    regions: tuple[tuple[Place, Region], ...]
    skipped: tuple[SkippedPart, ...]
    unreadable: Unreadable | None
    anchors: tuple[tuple[Place, Anchor], ...]


def packed(scan: FileScan) -> bytes | None:
    """Return a result as bytes, None where it holds what they cannot: half of a character."""
    found = _Found(
        scan.findings,
        scan.suppressed,
        tuple(scan.lines.items()),
        tuple(scan.regions.items()),
        scan.skipped,
        scan.unreadable,
        tuple(scan.anchors.items()),
    )
    try:
        return msgspec.msgpack.encode(found)
    except UnicodeEncodeError:
        return None


def unpacked(data: bytes | msgspec.Raw) -> FileScan | None:
    """Return the result that some bytes are, None where they are none."""
    if bytes(data) == _PACKED_NOTHING:  # most files
        return _NOTHING
    try:
        found = _DECODER.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return FileScan(
        found.findings,
        found.suppressed,
        dict(found.lines),
        dict(found.regions),
        found.skipped,
        found.unreadable,
        dict(found.anchors),
    )


_DECODER: Final = msgspec.msgpack.Decoder(_Found)
_NOTHING: Final = FileScan()
_PACKED_NOTHING: Final = packed(_NOTHING)
