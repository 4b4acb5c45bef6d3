"""What is done beside giving a value: what is printed, and what is written into files."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

PRINTED, WRITTEN = "printed output", "contents of"
# Bars of progress, which each Keras draws in its own way, and how long something took.
_BAR = re.compile(r"[^\n]*(?:\[[=>.\s]*\]|[━─]{2,})[^\n]*\n?|\x1b\[[0-9;]*[A-Za-z]|[\x08\r]")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf)(?![\w.]*\w)")
_MAX_TEXT_LENGTH = 20_000  # characters of what is printed, and of a file
_MAX_EVENTS = 200
_TEXTS = {".csv", ".json", ".log", ".txt", ".yaml", ".yml", ".tsv", ".md"}
_ROUNDING_OF_BYTES = 0.6 / 255


@contextlib.contextmanager
def printing() -> Iterator[io.StringIO]:
    """Give what is printed inside."""
    kept = io.StringIO()
    with contextlib.redirect_stdout(kept):
        yield kept


def printed(text: str) -> dict[str, Any] | None:
    """Return what is printed, its numbers apart from the words; None: nothing is."""
    text = _BAR.sub("", text)[:_MAX_TEXT_LENGTH]
    text = "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    return parted(text) if text else None


def parted(text: str) -> dict[str, Any]:
    """Return a text as words with holes, and the numbers that stand there."""
    numbers = [float(each) for each in _NUMBER.findall(text)]
    return {"words": _NUMBER.sub("#", text), "numbers": np.asarray(numbers, "float64")}


def files(folder: Path) -> dict[Path, int]:
    """Return the files below ``folder``, and when they were written last."""
    return {each: each.stat().st_mtime_ns for each in folder.rglob("*") if each.is_file()}


def written(folder: Path, known: Mapping[Path, int]) -> dict[str, Any]:
    """Return what is in the files that were not ``known`` as they are: texts, arrays, events.

    A file is named by its ending and its place among those: names may hold the time.
    """
    found: dict[str, Any] = {}
    counts: dict[str, int] = {}
    there = files(folder)
    for path in sorted(each for each in there if known.get(each) != there[each]):
        kind = "events" if "tfevents" in path.name else path.suffix
        with contextlib.suppress(Exception):
            value = _read(path, kind)
            if value is None:
                continue
            counts[kind] = counts.get(kind, 0) + 1
            found[f"{WRITTEN} {kind.lstrip('.')} file {counts[kind]}"] = value
    return found


def unread(folder: Path, known: Mapping[Path, int]) -> list[str]:
    """Return the endings of such files that nothing is compared of, as of weights."""
    there = files(folder)
    new = {each for each in there if known.get(each) != there[each]}
    return sorted({each.suffix or each.name for each in new if not _is_read(each)})


def _is_read(path: Path) -> bool:
    return "tfevents" in path.name or path.suffix in _TEXTS | {".npy", ".npz"}


def _read(path: Path, kind: str) -> Any:
    if kind == "events":
        return _events_of(path) or None
    if kind in _TEXTS:
        return parted(path.read_text("utf-8")[:_MAX_TEXT_LENGTH])
    if kind == ".npy":
        return np.load(path)
    if kind == ".npz":
        with np.load(path) as arrays:
            return {name: arrays[name] for name in sorted(arrays.files)}
    return None


def _events_of(path: Path) -> dict[str, Any]:
    """Return what was written for TensorBoard, by its tag and step."""
    import tensorflow as tf

    found: dict[str, Any] = {}
    for event in tf.compat.v1.train.summary_iterator(str(path)):
        for value in event.summary.value:
            if value.HasField("simple_value"):
                found[f"{value.tag} {event.step}"] = float(value.simple_value)
            elif value.HasField("tensor"):
                found[f"{value.tag} {event.step}"] = _tensor_of(tf.make_ndarray(value.tensor))
        if len(found) > _MAX_EVENTS:
            break
    return found


def _tensor_of(array: np.ndarray) -> Any:
    """Return a tensor of an event: of a picture its pixels, from 0 to 1."""
    import tensorflow as tf

    if array.dtype != object:
        return array
    parts = []
    for each in array.ravel():
        is_picture = isinstance(each, bytes) and each.startswith(b"\x89PNG")
        told = each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each)
        parts.append(np.asarray(tf.io.decode_png(each)) / 255.0 if is_picture else told)
    return parts


def roughness() -> dict[str, float]:
    """Return how much of its size a value that is written moves by rounding: bytes of pictures."""
    return {WRITTEN: _ROUNDING_OF_BYTES / 10}
