"""What takes the place of TensorFlow functions in code that Keras runs, one table per subject.

The rows of ``idioms._tensorflow`` are proven for symbolic tensors. In code that Keras runs tensors
have values and sizes that nobody knows, or are variables and arrays: here they have a guard that
says so, and a proof of their own. ``BY_HAND`` says what to do where no row holds. Names are those
of TensorFlow 2, without aliases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from kdoctor.rewrite import Rewrite, rewrite
from kdoctor.rewrite.guard_base import Guard
from kdoctor.rules.backends._tensorflow import (
    chance,
    creation,
    elements,
    networks,
    numbers,
    variables,
)
from kdoctor.rules.backends._tensorflow.guards import (
    no_halves,
    nothing_sparse,
    once_made,
    run_by_keras,
)
from kdoctor.rules.idioms import _tensorflow as of_symbolic
from kdoctor.rules.names._backend.value_guards import somewhere

__all__ = ["BY_HAND", "REWRITES", "canonical", "is_told"]

_ROOT: Final = "tensorflow."
_TABLES: Final = (variables, creation, numbers, elements, networks)
# Of half precision without axes, and a number, PyTorch makes single precision.
_WIDENED: Final = frozenset({
    *("atan2", "clip_by_value", "constant", "math.conj", "math.floormod", "pow", "subtract"),
})  # fmt: skip
_RANDOM: Final = "keras.random."


def _in_code_that_keras_runs(rows: tuple[Rewrite, ...]) -> Iterator[Rewrite]:
    for row in rows:
        if _RANDOM in row.right:
            yield _guarded(row, nothing_sparse() & once_made())
            # In `call` it wants a generator of the layer's own, which KD817 gives it.
            yield _guarded(row, run_by_keras() & somewhere())
            continue
        if _name(row) in _WIDENED:
            yield _guarded(row, no_halves() & nothing_sparse() & run_by_keras())
        yield _guarded(row, nothing_sparse() & run_by_keras())


def _guarded(row: Rewrite, guard: Guard) -> Rewrite:
    return rewrite(row.left, row.right, guard if row.when is None else row.when & guard)


def _name(row: Rewrite) -> str:
    return row.left.partition("(")[0].removeprefix(_ROOT)


_SHARED: Final = tuple(
    row
    for row in of_symbolic.REWRITES
    if "somewhere()" not in str(row.when)  # a last resort, never proven
)
REWRITES: Final[tuple[Rewrite, ...]] = tuple(
    _in_code_that_keras_runs(
        (
            *(row for table in (*_TABLES, chance) for row in table.REWRITES),
            *_SHARED,
        )
    )
)
BY_HAND: Final[Mapping[str, str]] = {
    **{_name(row): f"write {row.right}" for row in _SHARED},
    **of_symbolic.BY_HAND,
    **{name: text for table in (*_TABLES, chance) for name, text in table.BY_HAND.items()},
}


def is_told(name: str) -> bool:
    """Say whether it is a function of TensorFlow that works with tensors, or is known here."""
    known = canonical(name).removeprefix(_ROOT)
    return known in _with_rows() or known in BY_HAND or known in _functions()


@cache
def _with_rows() -> frozenset[str]:
    return frozenset(map(_name, REWRITES))


@cache
def _functions() -> frozenset[str]:
    return frozenset(_data().functions)


def canonical(name: str) -> str:
    """Return the name under which the tables have a function: ``tensorflow.eye``."""
    known = of_symbolic.canonical(name)
    rest = known.removeprefix(_ROOT)
    return _ROOT + _data().aliases.get(rest, rest)


class _Names(Struct):
    aliases: dict[str, str]
    functions: list[str]


@cache
def _data() -> _Names:
    """Return what ``python -m tools.tensorflow_names backends`` wrote."""
    return msgspec.json.decode(Path(__file__).with_name("names.json").read_bytes(), type=_Names)
