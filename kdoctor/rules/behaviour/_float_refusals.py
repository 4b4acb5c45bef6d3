"""Functions that reject floats where they need integers or booleans, and those that pass them on.

``tests/rules/test_loss_gets_floats_refusals.py`` runs each of them with both.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Presence, split_root
from kdoctor.keras_api.tensorflow_aliases import by_the_short_way


class Wanted(Struct, frozen=True):
    """A parameter that refuses floats, and its place among those of the function.

    ``error`` is what TensorFlow says, or its beginning. ``beside`` is another parameter, with its
    place, without which floats are welcome.
    """

    parameter: str
    place: int
    error: str
    dtype: str = "int32"
    beside: tuple[str, int] | None = None


def _number(parameter: str, place: int, told_as: str = "") -> tuple[Wanted, ...]:
    """Return what wants whole numbers; an operation may call its parameter otherwise."""
    error = f"TypeError: Value passed to parameter '{told_as or parameter}' has DataType float32"
    return (Wanted(parameter, place, error),)


def _truth(operation: str, *parameters: str) -> tuple[Wanted, ...]:
    """Return what wants truth values, the first parameters."""
    return tuple(
        Wanted(
            each,
            place,
            f"TypeError: Input '{told_as}' of '{operation}' Op has type float32",
            "bool",
        )
        for place, each in enumerate(parameters)
        for told_as in (each.partition("_")[0],)
    )


def _where(operation: str) -> tuple[Wanted, ...]:
    return tuple(replace(each, beside=("x", 1)) for each in _truth(operation, "condition"))


_OF_SEGMENTS: Final = (
    *(f"segment_{each}" for each in ("max", "mean", "min", "prod", "sum")),
    *(f"unsorted_segment_{each}" for each in ("max", "mean", "min", "prod", "sqrt_n", "sum")),
)
_OF_TRUTH: Final = {
    "logical_and": _truth("LogicalAnd", "x", "y"),
    "logical_not": _truth("LogicalNot", "x"),
    "logical_or": _truth("LogicalOr", "x", "y"),
    "reduce_all": _truth("All", "input_tensor"),
    "reduce_any": _truth("Any", "input_tensor"),
}
_OF_BOTH: Final = {
    "one_hot": _number("indices", 0),
    "gather": _number("indices", 1),
    "gather_nd": _number("indices", 1),
    "nn.embedding_lookup": _number("ids", 1, "indices"),
    "nn.sparse_softmax_cross_entropy_with_logits": _number("labels", 0),
    **_OF_TRUTH,
    **{f"math.{name}": wanted for name, wanted in _OF_TRUTH.items()},
    **{f"math.{name}": _number("segment_ids", 1) for name in _OF_SEGMENTS},
    **{
        f"tensor_scatter_nd_{each}": _number("indices", 1)
        for each in ("add", "max", "min", "sub", "update")
    },
}
_OF_2: Final = {
    **_OF_BOTH,
    "math.in_top_k": _number("targets", 0),
    "nn.ctc_loss": _number("labels", 0, "indices"),
    "nn.in_top_k": _number("targets", 0),
    "where": _where("SelectV2"),
}
_OF_1: Final = {
    **_OF_BOTH,
    "losses.sparse_softmax_cross_entropy": _number("labels", 0),
    "math.in_top_k": _number("targets", 1),
    "nn.in_top_k": _number("targets", 1),
    "where": _where("Select"),
    "where_v2": _where("SelectV2"),
    **{name: _number("segment_ids", 1) for name in _OF_SEGMENTS},
}
OF_TENSORFLOW: Final = {
    **{f"tensorflow.{name}": wanted for name, wanted in _OF_2.items()},
    **{f"tensorflow.compat.v1.{name}": wanted for name, wanted in _OF_1.items()},
}
"""By dotted names."""
OF_KERAS: Final = {
    "ops.in_top_k": _number("targets", 0),
    "ops.segment_max": _number("segment_ids", 1),
    "ops.segment_sum": _number("segment_ids", 1),
    "ops.take": _number("indices", 1),
    # Where they are gone: what is to be written instead refuses floats, too.
    "backend.gather": _number("indices", 1),
    "backend.in_top_k": _number("targets", 1),
}
"""By dotted names below a root of Keras, run with TensorFlow."""
WHILE_THERE: Final = {"backend.one_hot": _number("indices", 0)}
"""Such for which ``keras.ops`` has what takes floats: they matter only where they are still there.
"""

_KEEP: Final = (
    *("abs", "boolean_mask", "broadcast_to", "clip_by_value", "expand_dims", "identity"),
    *("maximum", "minimum", "reshape", "round", "squeeze", "stop_gradient", "tile", "transpose"),
)
KEEP_FLOATS: Final = frozenset({
    *(f"{way}.{name}" for way in ("tensorflow", "tensorflow.compat.v1") for name in _KEEP),
    *(f"tensorflow.math.{name}" for name in ("abs", "maximum", "minimum", "round")),
    *(f"backend.{name}" for name in ("expand_dims", "flatten", "reshape", "squeeze")),
    *(f"ops.{name}" for name in ("expand_dims", "ravel", "reshape", "squeeze")),
})  # fmt: skip
"""Functions that give floats where their first argument is of floats: by dotted names, those of
Keras below its root."""


def wanted_by(name: str, facts: TargetFacts) -> tuple[Wanted, ...]:
    """Return the parameters of a function that refuse floats, by its dotted name."""
    root, rest = split_root(name) or ("", "")
    if not root:
        return OF_TENSORFLOW.get(by_the_short_way(name), ())
    if not facts.runs_keras_3(root):
        return ()
    if rest in WHILE_THERE and facts.lookup(name).presence is Presence.EXISTS:
        return WHILE_THERE[rest]
    return OF_KERAS.get(rest, ())


def keeps_floats(name: str) -> bool:
    """Say whether a function gives floats where its first argument is of floats."""
    split = split_root(name)
    return (by_the_short_way(name) if split is None else split[1]) in KEEP_FLOATS
