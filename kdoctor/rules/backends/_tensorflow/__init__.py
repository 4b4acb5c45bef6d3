"""What takes the place of TensorFlow functions in code that Keras runs, one table per subject.

The rows of ``idioms._tensorflow`` are proven for symbolic tensors. In code that Keras runs tensors
have values and sizes that nobody knows, or are variables and arrays: ``REWRITES`` are proven for
these. The others are ``OF_SYMBOLIC``, never safe here. ``BY_HAND`` says what to do where no row
holds. Names are those of TensorFlow 2, without aliases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from kdoctor.rewrite import Rewrite, rewrite
from kdoctor.rules.backends._tensorflow import (
    chance,
    creation,
    elements,
    networks,
    numbers,
    variables,
)
from kdoctor.rules.backends._tensorflow.guards import once_made, run_by_keras
from kdoctor.rules.idioms import _tensorflow as of_symbolic
from kdoctor.rules.names._backend.value_guards import nothing_sparse

__all__ = ["BY_HAND", "OF_SYMBOLIC", "REWRITES", "canonical", "is_told"]

_ROOT: Final = "tensorflow."
_TABLES: Final = (variables, creation, numbers, elements, networks)
_RANDOM: Final = "keras.random."
# Functions whose rows are proven for code that Keras runs. To add one, name it here and run
# `python -m kdoctor.verify.prove --missing --only run_by_keras`.
_PROVEN: Final = frozenset({
    *("abs", "acos", "add", "asin", "atan", "atan2", "cast", "clip_by_value", "cos", "cosh"),
    *("divide", "equal", "exp", "floor", "greater", "greater_equal", "identity", "less"),
    *("less_equal", "logical_and", "logical_not", "math.is_finite", "math.is_inf", "math.is_nan"),
    *("math.log", "math.rsqrt", "maximum", "minimum", "multiply", "not_equal", "pow", "round"),
    *("sign", "sin", "sqrt", "square", "stop_gradient", "subtract", "where"),
    *("sigmoid", "tanh", "ones_like", "zeros_like", "reduce_sum", "reduce_mean", "reduce_max"),
    *("reduce_min", "reduce_prod", "reduce_all", "reduce_any", "argmax", "matmul", "reshape"),
    *("expand_dims", "concat", "stack", "tile", "transpose", "nn.relu", "nn.softmax"),
})  # fmt: skip


def _in_code_that_keras_runs(rows: tuple[Rewrite, ...]) -> Iterator[Rewrite]:
    for row in rows:
        # Numbers drawn in `call` want a generator of the layer's own: see ``chance``.
        where = once_made() if _RANDOM in row.right else run_by_keras()
        guard = nothing_sparse() & where
        yield rewrite(row.left, row.right, guard if row.when is None else row.when & guard)


_SHARED: Final = {
    row: row.left.partition("(")[0].removeprefix(_ROOT)
    for row in of_symbolic.REWRITES
    if "somewhere()" not in str(row.when)  # a last resort, never proven
}
REWRITES: Final[tuple[Rewrite, ...]] = tuple(
    _in_code_that_keras_runs(
        (
            *(row for table in (*_TABLES, chance) for row in table.REWRITES),
            *(row for row, name in _SHARED.items() if name in _PROVEN),
        )
    )
)
OF_SYMBOLIC: Final = tuple(row for row, name in _SHARED.items() if name not in _PROVEN)
"""The rows that are tried, too, and are not proven for code that Keras runs."""
BY_HAND: Final[Mapping[str, str]] = {
    **{name: f"write {row.right}" for row, name in _SHARED.items() if name not in _PROVEN},
    **of_symbolic.BY_HAND,
    **{name: text for table in (*_TABLES, chance) for name, text in table.BY_HAND.items()},
}


def is_told(name: str) -> bool:
    """Say whether it is a function of TensorFlow that works with tensors, or is known here."""
    known = canonical(name).removeprefix(_ROOT)
    return known in _with_rows() or known in BY_HAND or known in _functions()


@cache
def _with_rows() -> frozenset[str]:
    return frozenset(row.left.partition("(")[0].removeprefix(_ROOT) for row in REWRITES)


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
