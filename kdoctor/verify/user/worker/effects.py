"""Side effects that are compared: printed output and the contents of files."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

PRINTED, WRITTEN = "printed output", "contents of"
# Progress bars, which the two Keras versions draw differently, and their timings.
_BAR = re.compile(r"[^\n]*(?:\[[=>.\s]*\]|[━─]{2,})[^\n]*\n?|\x1b\[[0-9;]*[A-Za-z]|[\x08\r]")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf)(?![\w.]*\w)")
_MAX_TEXT_LENGTH = 20_000  # characters of output, or of a file
_MAX_EVENTS = 200
_TEXTS = {".csv", ".json", ".log", ".txt", ".yaml", ".yml", ".tsv", ".md"}
_ROUNDING_OF_BYTES = 0.6 / 255


@contextlib.contextmanager
def printing() -> Iterator[io.StringIO]:
    """Capture printed output."""
    kept = io.StringIO()
    with contextlib.redirect_stdout(kept):
        yield kept


def printed(text: str) -> dict[str, Any] | None:
    """Return printed output with numbers split from words; None if nothing was printed."""
    text = _BAR.sub("", text)[:_MAX_TEXT_LENGTH]
    text = "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    return parted(text) if text else None


def parted(text: str) -> dict[str, Any]:
    """Split a text into words with placeholders, and the numbers in their place."""
    numbers = [float(each) for each in _NUMBER.findall(text)]
    return {"words": _NUMBER.sub("#", text), "numbers": np.asarray(numbers, "float64")}


def files(folder: Path) -> dict[Path, int]:
    """Return the files below ``folder`` with their modification times."""
    return {each: each.stat().st_mtime_ns for each in folder.rglob("*") if each.is_file()}


def written(folder: Path, known: Mapping[Path, int]) -> dict[str, Any]:
    """Return the contents of files that are new or changed: texts, arrays, events.

    Files are named by extension and number, because their own names may contain the time.
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
    """Return the extensions of new or changed files that are not compared, such as weights."""
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
    """Return the values written for TensorBoard, by tag and step."""
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
    """Return the tensor of an event; for an image, its pixels from 0 to 1."""
    import tensorflow as tf

    if array.dtype != object:
        return array
    parts = []
    for each in array.ravel():
        is_picture = isinstance(each, bytes) and each.startswith(b"\x89PNG")
        decoded = each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each)
        parts.append(np.asarray(tf.io.decode_png(each)) / 255.0 if is_picture else decoded)
    return parts


def roughness() -> dict[str, float]:
    """Return the relative rounding error of written values: image pixels are bytes."""
    return {WRITTEN: _ROUNDING_OF_BYTES / 10}
