"""Read and write the proof record that ships with the rules, and check that it matches them.

An entry is the result of one rewrite or example on TensorFlow, which decides what is safe. Its
``backends`` hold the results on the others; a missing backend was not run. So new rewrites can be
proven without JAX and PyTorch installed, and no other results are lost.
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
    """Return the record; empty if there is no file."""
    if not path.is_file():
        return {}
    record: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return record


def parts(record: Mapping[str, dict[str, Any]]) -> Parts:
    """Split the entries by backend."""
    found: Parts = {}
    for key, entry in record.items():
        if key == ABOUT:
            continue
        elsewhere = entry.get(_ELSEWHERE, {})
        found[key, DEFAULT_BACKEND] = {k: v for k, v in entry.items() if k != _ELSEWHERE}
        found |= {(key, backend): part for backend, part in elsewhere.items()}
    return found


def write(about: Mapping[str, Any], found: Parts, path: Path = RECORD) -> None:
    """Write the record, sorted and without anything that changes from run to run.

    Results on other backends without one on TensorFlow are dropped.
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
    """Return the parts of a record that are valid for these ids and for ``about``.

    Results of other versions or other inputs are not. Results on backends that are not run this
    time stay valid.
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
    """Return ``about`` with the versions of all backends in the record."""
    then = known.get(ABOUT, {}).get(_ELSEWHERE, {})
    present = {backend for _, backend in found}
    now = {
        backend: version if version != NOT_RUN else then.get(backend, NOT_RUN)
        for backend, version in about[_ELSEWHERE].items()
    }
    shown = {k: v if k in present else NOT_RUN for k, v in now.items()}
    return {**about, _ELSEWHERE: shown}


def unrecorded(ids: Iterable[str], record: dict[str, dict[str, Any]]) -> list[str]:
    """Return the ids that are not in the record."""
    return sorted(set(ids) - set(record))


def stale(ids: Iterable[str], record: dict[str, dict[str, Any]]) -> list[str]:
    """Return the entries of the record that no rewrite or example has any more."""
    return sorted(set(record) - set(ids) - {ABOUT})


def broken_promises(
    outcomes: Iterable[Outcome], record: Mapping[str, dict[str, Any]]
) -> list[Outcome]:
    """Return the outcomes that fail although they hold in the record."""
    known = parts(record)
    return [
        outcome
        for outcome in outcomes
        if not outcome.holds and known.get((outcome.id, outcome.backend), {}).get("holds") is True
    ]
