"""The proof record that ships with the rules: what it holds, and whether it fits them.

An entry is what became of one rewrite or example on TensorFlow, which decides what is safe. Under
``backends`` it has the same of the others, each as it was run; one that is not there was not run.
So a new row can be proven where JAX and PyTorch are not installed, and nothing else is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kdoctor.documents import write_anew
from kdoctor.verify.jobs import BACKENDS, DEFAULT_BACKEND, Outcome

Parts = dict[tuple[str, str], dict[str, Any]]  # by id and backend

RECORD = Path(__file__).parent.parent / "rules" / "proofs.json"
ABOUT = "about"
NOT_RUN = "not run"
_ELSEWHERE = "backends"


def read(path: Path = RECORD) -> dict[str, dict[str, Any]]:
    """Return the record; empty where there is none."""
    if not path.is_file():
        return {}
    record: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return record


def parts(record: Mapping[str, dict[str, Any]]) -> Parts:
    """Take the entries apart by backend."""
    found: Parts = {}
    for key, entry in record.items():
        if key == ABOUT:
            continue
        elsewhere = entry.get(_ELSEWHERE, {})
        found[key, DEFAULT_BACKEND] = {k: v for k, v in entry.items() if k != _ELSEWHERE}
        found |= {(key, backend): part for backend, part in elsewhere.items()}
    return found


def write(about: Mapping[str, Any], found: Parts, path: Path = RECORD) -> None:
    """Write the record: sorted, and without anything that changes from day to day.

    A part without one for TensorFlow is of nothing that was proven, and is left out.
    """
    record: dict[str, dict[str, Any]] = {}
    for (key, backend), part in found.items():
        if backend == DEFAULT_BACKEND:
            record[key] = {**part, **record.get(key, {})}
        elif (key, DEFAULT_BACKEND) in found:
            record.setdefault(key, {}).setdefault(_ELSEWHERE, {})[backend] = part
    text = json.dumps({**record, ABOUT: about}, indent=1, sort_keys=True, ensure_ascii=False)
    write_anew(path, f"{text}\n".encode())


def standing(
    known: Mapping[str, dict[str, Any]], about: Mapping[str, Any], ids: Iterable[str]
) -> Parts:
    """Return the parts of a record that say something of these ids and of what ``about`` tells.

    What was run on other versions, or with other inputs, says nothing of these. Of a backend that
    is not run this time, what the record says stands.
    """
    then = known.get(ABOUT, {})
    same = {backend for backend in BACKENDS if _is_as_then(backend, then, about)}
    wanted = set(ids)
    return {
        (key, backend): part
        for (key, backend), part in parts(known).items()
        if key in wanted and backend in same
    }


def _is_as_then(backend: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    cases = "cases_per_rewrite" if backend == DEFAULT_BACKEND else "cases_elsewhere"
    if any(then.get(key) != now[key] for key in ("frameworks", "seed", cases)):
        return False
    version = now[_ELSEWHERE].get(backend, NOT_RUN)
    return backend == DEFAULT_BACKEND or version in (NOT_RUN, then[_ELSEWHERE].get(backend))


def with_backends(about: Mapping[str, Any], known: Mapping[str, Any], found: Parts) -> Any:
    """Return ``about`` with the versions of all backends that the record has parts of."""
    then = known.get(ABOUT, {}).get(_ELSEWHERE, {})
    present = {backend for _, backend in found}
    now = {
        backend: version if version != NOT_RUN else then.get(backend, NOT_RUN)
        for backend, version in about[_ELSEWHERE].items()
    }
    shown = {k: v if k in present else NOT_RUN for k, v in now.items()}
    return {**about, _ELSEWHERE: shown}


def unrecorded(ids: Iterable[str], record: dict[str, dict[str, Any]]) -> list[str]:
    """Return which of these were never proven."""
    return sorted(set(ids) - set(record))


def stale(ids: Iterable[str], record: dict[str, dict[str, Any]]) -> list[str]:
    """Return which entries of the record belong to nothing any more."""
    return sorted(set(record) - set(ids) - {ABOUT})


def broken_promises(
    outcomes: Iterable[Outcome], record: Mapping[str, dict[str, Any]]
) -> list[Outcome]:
    """Return the outcomes that fail although the record says that they hold."""
    known = parts(record)
    return [
        outcome
        for outcome in outcomes
        if not outcome.holds and known.get((outcome.id, outcome.backend), {}).get("holds") is True
    ]
