"""Operations of TensorFlow that Keras 2 recorded, as the operations that Keras 3 records.

``x * 2 + 1`` on the output of a layer is a `TFOpLambda` in Keras 2, which calls TensorFlow by its
name. Keras 3 records its own `keras.ops`: for those below, with the arguments of ``tf``.
``tests/models/convert/test_operations.py`` runs each on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

Call = tuple[Any, dict[str, Any]]  # the first argument, and the others by the names of TensorFlow


class Operation(Struct, frozen=True):
    """An operation of Keras 3. ``nodes``: positional arguments and keywords of each call."""

    name: str  # in `keras.ops`
    module: str
    class_name: str
    config: dict[str, Any]
    nodes: tuple[tuple[list[Any], dict[str, Any]], ...]


class _Row(Struct, frozen=True):
    """How a function of TensorFlow is called in Keras.

    ``arguments`` are the names in TensorFlow of what is passed in a call, in order; ``settings``
    the names in TensorFlow of what makes the operation, and theirs in Keras. Any other argument
    has to have the value in ``ignored``, or be None.
    """

    name: str
    class_name: str
    arguments: tuple[str, ...]
    settings: dict[str, str] = {}
    ignored: dict[str, Any] = {}
    module: str = "keras.src.ops.numpy"


_NN: Final = "keras.src.ops.nn"
_BINARY: Final = ("x", "y")
_UNARY: Final = ("x",)
_AXES: Final = {"axis": "axis", "keepdims": "keepdims"}
_TABLE: Final[dict[str, _Row]] = {
    **{
        name: _Row(function, cls, _BINARY)
        for names, function, cls in (
            (("__operators__.add", "math.add"), "add", "Add"),
            (("math.subtract",), "subtract", "Subtract"),
            (("math.multiply",), "multiply", "Multiply"),
            (("math.truediv", "math.divide"), "true_divide", "TrueDivide"),
            (("math.pow",), "power", "Power"),
            (("math.maximum",), "maximum", "Maximum"),
            (("math.minimum",), "minimum", "Minimum"),
            (("math.floordiv", "compat.v1.floor_div"), "floor_divide", "FloorDivide"),
            (("math.greater",), "greater", "Greater"),
            (("math.greater_equal",), "greater_equal", "GreaterEqual"),
            (("math.less",), "less", "Less"),
            (("math.less_equal",), "less_equal", "LessEqual"),
            (("math.equal",), "equal", "Equal"),
            (("math.not_equal",), "not_equal", "NotEqual"),
        )
        for name in names
    },
    **{
        f"math.{name}": _Row(function, cls, _UNARY)
        for name, function, cls in (
            ("negative", "negative", "Negative"),
            ("abs", "absolute", "Absolute"),
            ("exp", "exp", "Exp"),
            ("log", "log", "Log"),
            ("log1p", "log1p", "Log1p"),
            ("sqrt", "sqrt", "Sqrt"),
            ("square", "square", "Square"),
            ("sin", "sin", "Sin"),
            ("cos", "cos", "Cos"),
            ("tanh", "tanh", "Tanh"),
            ("sign", "sign", "Sign"),
            ("floor", "floor", "Floor"),
            ("ceil", "ceil", "Ceil"),
        )
    },
    "math.sigmoid": _Row("sigmoid", "Sigmoid", _UNARY, module=_NN),
    "nn.relu": _Row("relu", "Relu", ("features",), module=_NN),
    "nn.relu6": _Row("relu6", "Relu6", ("features",), module=_NN),
    "nn.elu": _Row("elu", "Elu", ("features",), module=_NN),
    "math.softplus": _Row("softplus", "Softplus", ("features",), module=_NN),
    "nn.softmax": _Row("softmax", "Softmax", ("logits",), {"axis": "axis"}, module=_NN),
    "math.reduce_mean": _Row("mean", "Mean", ("input_tensor",), _AXES),
    "math.reduce_sum": _Row("sum", "Sum", ("input_tensor",), _AXES),
    "math.reduce_max": _Row("max", "Max", ("input_tensor",), _AXES),
    "math.reduce_min": _Row("min", "Min", ("input_tensor",), _AXES),
    "math.reduce_prod": _Row("prod", "Prod", ("input_tensor",), _AXES),
    "expand_dims": _Row("expand_dims", "ExpandDims", ("input",), {"axis": "axis"}),
    "squeeze": _Row("squeeze", "Squeeze", ("input",), {"axis": "axis"}),
    "compat.v1.squeeze": _Row("squeeze", "Squeeze", ("input",), {"axis": "axis"}),
    "transpose": _Row("transpose", "Transpose", ("a",), {"perm": "axes"}, {"conjugate": False}),
    "compat.v1.transpose": _Row(
        "transpose", "Transpose", ("a",), {"perm": "axes"}, {"conjugate": False}
    ),
    "reshape": _Row("reshape", "Reshape", ("tensor",), {"shape": "newshape"}),
    "concat": _Row("concatenate", "Concatenate", ("values",), {"axis": "axis"}),
    "stack": _Row("stack", "Stack", ("values",), {"axis": "axis"}),
    "linalg.matmul": _Row(
        "matmul",
        "Matmul",
        ("a", "b"),
        ignored={
            **dict.fromkeys(("transpose_a", "transpose_b", "adjoint_a", "adjoint_b"), False),
            **dict.fromkeys(("a_is_sparse", "b_is_sparse", "grad_a", "grad_b"), False),
        },
    ),
    "tile": _Row("tile", "Tile", ("input",), {"multiples": "repeats"}),
    "clip_by_value": _Row(
        "clip", "Clip", ("t",), {"clip_value_min": "x_min", "clip_value_max": "x_max"}
    ),
    "cast": _Row("cast", "Cast", ("x",), {"dtype": "dtype"}, module="keras.src.ops.core"),
}
_OTHERS: Final = {"GetItem": "item", "Take": "take"}  # operations of no function of TensorFlow
_GET_ITEM: Final = "__operators__.getitem"


def ops_layer_of(function: str) -> str | None:
    """Return the operation of Keras that does what a recorded function of TensorFlow does.

    ``math.multiply`` → ``keras.ops.multiply``. What it is called with may still stand in the way.
    """
    if function == _GET_ITEM:
        return "keras.ops.get_item"
    row = _TABLE.get(function)
    return f"keras.ops.{row.name}" if row is not None else None


def function_of(class_name: str) -> str:
    """Return the name in `keras.ops` of the function that records an operation of a class."""
    if class_name in _OTHERS:
        return _OTHERS[class_name]
    return next(row.name for row in _TABLE.values() if row.class_name == class_name)


def converted_operation(function: str, calls: Sequence[Call]) -> Operation | None:
    """Return the operation that does what these calls of a function of TensorFlow do.

    None where there is none, or where it is called with what Keras does not take, or takes in
    some other way in each call.
    """
    if function == _GET_ITEM:
        return _get_item(calls)
    row = _TABLE.get(function)
    if row is None:
        return None
    made = [_call(row, first, kwargs) for first, kwargs in calls]
    if not made or any(each is None or each[1] != made[0][1] for each in made if made[0]):
        return None
    found = [each for each in made if each is not None]
    if len(found) != len(made):
        return None
    nodes = tuple((arguments, dict[str, Any]()) for arguments, _ in found)
    return Operation(row.name, row.module, row.class_name, found[0][1], nodes)


def _call(row: _Row, first: Any, kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]] | None:
    """Return what is passed in a call, and what makes the operation."""
    given = {row.arguments[0]: first, **kwargs}
    arguments = [given.pop(name) for name in row.arguments if name in given]
    if len(arguments) != len(row.arguments):
        return None
    settings = {row.settings[name]: given.pop(name) for name in list(given) if name in row.settings}
    given.pop("name", None)  # of the operation in the graph of TensorFlow
    if any(row.ignored.get(name, None) != value for name, value in given.items()):
        return None
    if any(_holds_tensor(each) for each in settings.values()):
        return None
    if row.class_name == "Squeeze" and isinstance(settings.get("axis"), list):
        settings["axis"] = tuple(settings["axis"])
    return arguments, settings


def _get_item(calls: Sequence[Call]) -> Operation | None:
    nodes = []
    for first, kwargs in calls:
        key = kwargs.get("slice_spec")
        if key is None or _holds_tensor(key) or set(kwargs) - {"slice_spec", "name"}:
            return None
        nodes.append(([first, _key(key)], dict[str, Any]()))
    return Operation("get_item", "keras.src.ops.numpy", "GetItem", {}, tuple(nodes))


def _key(value: Any) -> Any:
    """Return what stands in the brackets as Keras 3 writes it."""
    if isinstance(value, list):
        return [_key(each) for each in value]
    if isinstance(value, dict):
        if value.get("class_name") == "__ellipsis__":
            return {"class_name": "__ellipsis__", "config": {}}
        if value.keys() == {"start", "stop", "step"}:
            return {"class_name": "__slice__", "config": dict(value)}
    return value


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, dict):
        is_one = value.get("class_name") == "__keras_tensor__"
        return is_one or any(_holds_tensor(each) for each in value.values())
    return isinstance(value, list) and any(_holds_tensor(each) for each in value)
