"""Encode the result of one file as bytes, and decode it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from kdoctor.engine.result import Anchor, FileScan, OwnTarget, SkippedPart
from kdoctor.model import Finding, Place, Region, Suppressed, Unreadable

T = TypeVar("T")


class _Found(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Data of places is in the order of the findings, the suppressed ones last."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    lines: tuple[str | None, ...]
    regions: tuple[Region | None, ...]
    skipped: tuple[SkippedPart, ...]
    unreadable: Unreadable | None
    anchors: tuple[Anchor | None, ...]
    own_target: OwnTarget | None
    old_names: tuple[str, ...]


def encode_scan(scan: FileScan) -> bytes | None:
    """Return a result as bytes, None if it contains lone surrogates."""
    places = _places(scan)
    found = _Found(
        scan.findings,
        scan.suppressed,
        _in_order(places, scan.lines),
        _in_order(places, scan.regions),
        scan.skipped,
        scan.unreadable,
        _in_order(places, scan.anchors),
        scan.own_target,
        scan.old_names,
    )
    try:
        return msgspec.msgpack.encode(found)
    except UnicodeEncodeError:
        return None


def decode_scan(data: bytes | msgspec.Raw) -> FileScan | None:
    """Return the result encoded in some bytes, None if they are not valid."""
    if bytes(data) == _PACKED_NOTHING:  # most files
        return _NOTHING
    try:
        found = _DECODER.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    places = _places(found)
    return FileScan(
        found.findings,
        found.suppressed,
        _by_place(places, found.lines),
        _by_place(places, found.regions),
        found.skipped,
        found.unreadable,
        _by_place(places, found.anchors),
        own_target=found.own_target,
        old_names=found.old_names,
    )


def _places(found: FileScan | _Found) -> list[Place]:
    return [
        *(finding.place for finding in found.findings),
        *(each.finding.place for each in found.suppressed),
    ]


def _in_order(places: Sequence[Place], values: Mapping[Place, T]) -> tuple[T | None, ...]:
    return tuple(map(values.get, places)) if values else ()


def _by_place(places: Sequence[Place], values: Iterable[T | None]) -> dict[Place, T]:
    # Not strict: there is nothing at all where no place has it.
    return {place: each for place, each in zip(places, values, strict=False) if each is not None}


_DECODER: Final = msgspec.msgpack.Decoder(_Found)
_NOTHING: Final = FileScan()
_PACKED_NOTHING: Final = encode_scan(_NOTHING)
