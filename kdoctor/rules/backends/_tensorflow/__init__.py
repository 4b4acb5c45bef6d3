"""What takes the place of TensorFlow functions in code that Keras runs, one table per subject.

The rows of ``idioms._tensorflow`` are proven for symbolic tensors. In code that Keras runs tensors
have values and sizes that nobody knows, or are variables and arrays: here they have a guard that
says so, and a proof of their own. ``BY_HAND`` says what to do where no row holds. Names are those
of TensorFlow 2, without aliases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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

__all__ = ["BY_HAND", "REWRITES", "UNPROVEN", "canonical", "is_told"]

_ROOT: Final = "tensorflow."
_TABLES: Final = (variables, creation, numbers, elements, networks)
# Of half precision without axes, and a number, PyTorch makes single precision; and it takes no
# bfloat16 of NumPy.
_WIDENED: Final = frozenset({
    *("atan2", "clip_by_value", "constant", "math.conj", "math.floormod", "pow", "subtract"),
})  # fmt: skip
_RANDOM: Final = "keras.random."
# Functions whose rows nobody has proven for code that Keras runs. To change that, take the name out
# and run `python -m kdoctor.verify.prove --missing --only run_by_keras`.
_NOT_PROVEN: Final = frozenset({
    *("add_n", "argsort", "image.flip_left_right", "image.flip_up_down"),
    *("image.rgb_to_grayscale", "linalg.cholesky", "linalg.det", "linalg.inv"),
    *("linalg.matrix_transpose", "linalg.trace", "math.ceil", "math.count_nonzero"),
    *("math.cumprod", "math.divide_no_nan", "math.expm1", "math.floordiv", "math.floormod"),
    *("math.log_sigmoid", "math.logical_xor", "math.reciprocal", "math.reduce_std"),
    *("math.reduce_variance", "nn.avg_pool2d", "nn.bias_add", "nn.conv2d", "nn.depth_to_space"),
    *("nn.dropout", "nn.gelu", "nn.l2_loss", "nn.log_softmax", "nn.max_pool2d", "nn.moments"),
    *("nn.relu6", "nn.selu", "nn.silu", "nn.softmax_cross_entropy_with_logits", "nn.softsign"),
    *("nn.space_to_depth", "nn.sparse_softmax_cross_entropy_with_logits"),
    *("nn.weighted_cross_entropy_with_logits", "norm", "rank", "reduce_logsumexp", "repeat"),
    *("reverse", "roll", "sinh", "slice", "sort", "tan", "truediv"),
})  # fmt: skip


def _in_code_that_keras_runs(rows: Iterable[Rewrite]) -> Iterator[Rewrite]:
    for row in rows:
        if _is_last_resort(row):
            continue
        where = once_made() if _RANDOM in row.right else run_by_keras()
        guarded = _guarded(row, nothing_sparse() & where)
        assert guarded.when is not None
        if _name(row) in _WIDENED:
            yield rewrite(row.left, row.right, no_halves() & guarded.when)
        if _name(row) not in _NOT_PROVEN:
            yield guarded


def _tried_last(rows: Iterable[Rewrite]) -> Iterator[Rewrite]:
    for row in rows:
        # In `call` a function of chance wants a generator of the layer's own: KD817 gives it one.
        if _is_last_resort(row) or _RANDOM in row.right or _name(row) in _NOT_PROVEN:
            yield _guarded(row, nothing_sparse() & run_by_keras())


def _guarded(row: Rewrite, guard: Guard) -> Rewrite:
    return rewrite(row.left, row.right, guard if row.when is None else row.when & guard)


def _is_last_resort(row: Rewrite) -> bool:
    return "somewhere()" in str(row.when)


def _name(row: Rewrite) -> str:
    return row.left.partition("(")[0].removeprefix(_ROOT)


_SHARED: Final = tuple(row for row in of_symbolic.REWRITES if not _is_last_resort(row))
_ALL: Final = (*(row for table in (*_TABLES, chance) for row in table.REWRITES), *_SHARED)
REWRITES: Final[tuple[Rewrite, ...]] = tuple(_in_code_that_keras_runs(_ALL))
UNPROVEN: Final[tuple[Rewrite, ...]] = tuple(_tried_last(_ALL))
"""The rows that are tried after the others, and are never safe."""
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
    return frozenset(map(_name, (*REWRITES, *UNPROVEN)))


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
