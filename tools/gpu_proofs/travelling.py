"""What goes from one machine to the other: plain data, which needs no TensorFlow to be read."""

from __future__ import annotations

import gzip
import hashlib
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kdoctor.verify.results import Ran
from kdoctor.verify.values import Array


@dataclass(frozen=True, slots=True)
class Question:
    """One run of the new side: all of its arguments, and what is known of the place of the call."""

    mode: str
    arguments: dict[str, Any]
    facts: frozenset[str]
    digest: str


@dataclass(frozen=True, slots=True)
class Asked:
    """All questions of one rewrite; ``why_not`` says why there are none, "" where there are.

    ``seed`` is set before each run of what draws at random.
    """

    id: str
    right: str
    seed: int | None
    questions: list[Question] = field(default_factory=list)
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Raised:
    """What the new side raised."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What one backend gave there, by rewrite and digest, and what ran it.

    ``not_asked`` says why of each rewrite that there was nothing to ask of.
    """

    about: dict[str, str]
    given: dict[str, dict[str, Ran | Raised]]
    not_asked: dict[str, str]


def digest(mode: str, arguments: dict[str, Any]) -> str:
    """Return the same for the same run, in whichever process its inputs were drawn."""
    found = hashlib.sha256(mode.encode())
    for name, value in arguments.items():
        found.update(f"\0{name}\0".encode())
        _add(value, found)
    return found.hexdigest()[:24]


def _add(value: Any, found: Any) -> None:
    match value:
        case Array():
            found.update(f"{value.role} {value.dtype} {value.data.shape}".encode())
            found.update(value.data.tobytes())
        case list() | tuple():
            found.update(f"{type(value).__name__} {len(value)}".encode())
            for each in value:
                _add(each, found)
        case _:
            found.update(repr(value).encode())


def write(path: Path, what: Any) -> None:
    """Write it compressed."""
    path.write_bytes(gzip.compress(pickle.dumps(what), 6, mtime=0))


def read(path: Path) -> Any:
    """Return what was written. Only for files that one made oneself: pickles can run code."""
    return pickle.loads(gzip.decompress(path.read_bytes()))  # noqa: S301
