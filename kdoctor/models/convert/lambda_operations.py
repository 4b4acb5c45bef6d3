"""The function of a ``Lambda`` as operations of ``keras.ops``, where it is one expression of them.

Arithmetic, indexing and the functions of TensorFlow and of ``keras.backend`` that Keras 2 would
have recorded as a layer of their own: ``operations`` has what each is in Keras 3, and tests run it
on both. All else is left to be called as a function.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kdoctor.models.convert.graph import written_tensor
from kdoctor.models.convert.module_names import ModuleNames
from kdoctor.models.operations import Operation, converted_operation

_OPERATORS: Final = {
    ast.Add: "__operators__.add",
    ast.Sub: "math.subtract",
    ast.Mult: "math.multiply",
    ast.Div: "math.truediv",
    ast.Pow: "math.pow",
}
# The parameters of each, in order; `test_lambda_operations.py` asks TensorFlow.
_AXES: Final = ("input_tensor", "axis", "keepdims")
TENSORFLOW: Final[dict[str, tuple[str, ...]]] = {
    **{
        f"math.{name}": ("x", "y")
        for name in ("add", "subtract", "multiply", "divide", "pow", "maximum", "minimum")
    },
    **{
        f"math.{name}": ("x",)
        for name in ("negative", "abs", "exp", "log", "log1p", "sqrt", "square", "sin", "cos")
    },
    **{f"math.{name}": ("x",) for name in ("tanh", "sign", "floor", "sigmoid")},
    **{f"math.reduce_{name}": _AXES for name in ("mean", "sum", "max", "min", "prod")},
    "nn.relu": ("features",),
    "nn.elu": ("features",),
    "nn.softmax": ("logits", "axis"),
    "expand_dims": ("input", "axis"),
    "squeeze": ("input", "axis"),
    "transpose": ("a", "perm"),
    "reshape": ("tensor", "shape"),
    "concat": ("values", "axis"),
    "stack": ("values", "axis"),
    "linalg.matmul": ("a", "b"),
    "clip_by_value": ("t", "clip_value_min", "clip_value_max"),
}
_ALIASES: Final = {
    "matmul": "linalg.matmul",
    "sigmoid": "math.sigmoid",
    "nn.sigmoid": "math.sigmoid",
    "nn.tanh": "math.tanh",
    **{each.removeprefix("math."): each for each in TENSORFLOW if each.startswith("math.")},
}
# `keras.backend`: the function of TensorFlow, its parameters, and defaults that differ from those.
BACKEND: Final[dict[str, tuple[str, dict[str, str], dict[str, Any]]]] = {
    **{
        name: (
            f"math.reduce_{name}",
            {"x": "input_tensor", "axis": "axis", "keepdims": "keepdims"},
            {},
        )
        for name in ("mean", "sum", "max", "min", "prod")
    },
    **{
        name: (f"math.{name}", {"x": "x"}, {})
        for name in ("abs", "exp", "log", "square", "sin", "cos", "tanh", "sign", "sigmoid")
    },
    "pow": ("math.pow", {"x": "x", "a": "y"}, {}),
    "maximum": ("math.maximum", {"x": "x", "y": "y"}, {}),
    "minimum": ("math.minimum", {"x": "x", "y": "y"}, {}),
    "expand_dims": ("expand_dims", {"x": "input", "axis": "axis"}, {"axis": -1}),
    "squeeze": ("squeeze", {"x": "input", "axis": "axis"}, {}),
    "softmax": ("nn.softmax", {"x": "logits", "axis": "axis"}, {"axis": -1}),
    "concatenate": ("concat", {"tensors": "values", "axis": "axis"}, {"axis": -1}),
    "stack": ("stack", {"x": "values", "axis": "axis"}, {"axis": 0}),
    "permute_dimensions": ("transpose", {"x": "a", "pattern": "perm"}, {}),
    "reshape": ("reshape", {"x": "tensor", "shape": "shape"}, {}),
    "clip": (
        "clip_by_value",
        {"x": "t", "min_value": "clip_value_min", "max_value": "clip_value_max"},
        {},
    ),
}
_ROOTS: Final = ("tensorflow.keras.backend.", "tf_keras.backend.", "keras.backend.")
Object = dict[str, Any]


class NotSimple(Exception):
    """What in a function is no operation that is known."""


class Operations:
    """The operations of one function, each with what it is called on in each call of the layer."""

    def __init__(self, name: str, names: ModuleNames) -> None:
        self._name, self._names = name, names
        self._made: list[Operation] = []
        self._nodes: list[list[list[Any]]] = []

    def add(
        self,
        function: ast.Lambda | ast.FunctionDef,
        given: Any,
        arguments: Mapping[str, Any],
        closure: Mapping[str, Any],
    ) -> None:
        """Add a call of the layer on what Keras passed to it.

        ``closure`` are the values of variables of functions around it.

        Raises:
            NotSimple: something in the function is no operation that is known.
        """
        call = _Call(self, function, given, (arguments, closure))
        result = call.value(call.body)
        if not self._made or result != self.tensor(len(self._made) - 1, len(self._nodes[0]) - 1):
            raise NotSimple("it returns no single operation")
        if len({len(each) for each in self._nodes}) != 1:
            raise NotSimple("its calls differ")

    def layers(self) -> list[Object]:
        """Return the operations as layers of a functional model, the last one of that name."""
        return [
            {
                "module": each.module,
                "class_name": each.class_name,
                "config": {"name": self._name_of(number), **each.config},
                "registered_name": each.class_name,
                "name": self._name_of(number),
                "inbound_nodes": [{"args": args, "kwargs": {}} for args in self._nodes[number]],
            }
            for number, each in enumerate(self._made)
        ]

    def written(self) -> str:
        """Return their names, for a message."""
        return ", ".join(dict.fromkeys(f"`{each.name}`" for each in self._made))

    def tensor(self, number: int, call: int) -> Object:
        """Return the tensor that an operation makes in a call."""
        return written_tensor((self._placeholder(number), call, 0))

    def put(self, number: int, function: str, first: Any, given: Mapping[str, Any]) -> Object:
        """Note an operation, the next in its call; return its tensor.

        Raises:
            NotSimple: Keras has none that does this.
        """
        made = converted_operation(function, [(first, dict(given))])
        if made is None:
            raise NotSimple(f"`{function}` with these arguments is no operation of Keras")
        if number == len(self._made):
            self._made.append(made)
            self._nodes.append([])
        elif (made.class_name, made.config) != (
            self._made[number].class_name,
            self._made[number].config,
        ):
            raise NotSimple("its calls differ")
        self._nodes[number].append(made.nodes[0][0])
        return self.tensor(number, len(self._nodes[number]) - 1)

    @property
    def names(self) -> ModuleNames:
        """What the names of the module are."""
        return self._names

    def _placeholder(self, number: int) -> str:
        return f"{self._name}_step_{number + 1}"

    def _name_of(self, number: int) -> str:
        return self._name if number == len(self._made) - 1 else self._placeholder(number)


class _Call:
    """One call of a function: what its names are, and which operations it comes to."""

    def __init__(
        self,
        made: Operations,
        function: ast.Lambda | ast.FunctionDef,
        given: Any,
        around: tuple[Mapping[str, Any], Mapping[str, Any]],
    ) -> None:
        self._made, self._count = made, 0
        arguments, closure = around
        self.body = _body(function)
        self._local = {**closure, **self._bound(function.args, given, arguments)}

    def _bound(
        self, parameters: ast.arguments, given: Any, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        if parameters.vararg or parameters.kwarg or parameters.kwonlyargs:
            raise NotSimple("it takes any arguments")
        names = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
        if not names:
            raise NotSimple("it takes no argument")
        defaults = parameters.defaults
        bound = {
            name: _literal(value)
            for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True)
        }
        if set(arguments) - set(names):
            raise NotSimple("it does not take its `arguments`")
        bound |= {**arguments, names[0]: given}
        if set(names) - set(bound):
            raise NotSimple("it is called without some argument")
        return bound

    def value(self, node: ast.expr) -> Any:
        """Return a constant, a tensor or a list of these."""
        match node:
            case ast.Constant(bool() | int() | float() | None as constant):
                return constant
            case ast.Name(name) if name in self._local:
                return self._local[name]
            case ast.Name() | ast.Attribute():
                return self._made.names.constant(node, NotSimple)
            case ast.Tuple(values) | ast.List(values):
                return [self.value(each) for each in values]
            case ast.UnaryOp(ast.USub(), operand):
                value = self.value(operand)
                return self._operation("math.negative", value) if _is_tensor(value) else -value
            case ast.BinOp(left, operator, right):
                return self._binary(self.value(left), operator, self.value(right))
            case ast.Subscript(value, key):
                return self._item(self.value(value), key)
            case ast.Call(function, args, keywords):
                return self._call(function, args, keywords)
        raise NotSimple(f"`{ast.unparse(node)[:60]}` is no operation")

    def _binary(self, left: Any, operator: ast.operator, right: Any) -> Any:
        name = _OPERATORS.get(type(operator))
        if name is None:
            raise NotSimple(f"`{type(operator).__name__}` is no operation that is known")
        if _is_number(left) and _is_number(right):
            return _computed(left, operator, right)
        for each in (left, right):
            if not _is_number(each) and not _is_tensor(each):
                raise NotSimple("it computes with what is no tensor")
        return self._operation(name, left, {"y": right})

    def _item(self, value: Any, key: ast.expr) -> Any:
        if isinstance(value, list):
            index = self.value(key)
            if not isinstance(index, int) or not -len(value) <= index < len(value):
                raise NotSimple("it takes something out of a list that is not there")
            return value[index]
        if not _is_tensor(value):
            raise NotSimple("it takes something out of what is no tensor")
        parts = key.elts if isinstance(key, ast.Tuple) else [key]
        spec = [self._index(each) for each in parts]
        return self._operation("__operators__.getitem", value, {"slice_spec": spec})

    def _index(self, node: ast.expr) -> Any:
        match node:
            case ast.Slice(lower, upper, step):
                parts = {"start": lower, "stop": upper, "step": step}
                return {
                    key: None if each is None else self._whole(each) for key, each in parts.items()
                }
            case ast.Constant(value) if value is Ellipsis:
                return {"class_name": "__ellipsis__"}
            case ast.Constant(None):
                return None
            case ast.Attribute(attr="newaxis"):
                return None
        return self._whole(node)

    def _whole(self, node: ast.expr) -> int:
        value = self.value(node)
        if not isinstance(value, int) or isinstance(value, bool):
            raise NotSimple("it indexes by what is no number")
        return value

    def _call(
        self, function: ast.expr, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> Any:
        name = self._made.names.dotted(function)
        if name is None or any(isinstance(each, ast.Starred) for each in args):
            raise NotSimple(f"`{ast.unparse(function)[:60]}` is no operation that is known")
        found, parameters, defaults = _function(name)
        if len(args) > len(parameters) or any(each.arg not in parameters for each in keywords):
            raise NotSimple(f"`{name}` is called with arguments that are not known")
        given = dict(defaults)
        for parameter, node in zip(parameters, args, strict=False):
            given[parameters[parameter]] = self.value(node)
        for each in keywords:
            assert each.arg is not None
            given[parameters[each.arg]] = self.value(each.value)
        first = next(iter(parameters.values()))
        if first not in given or not _holds_tensor(list(given.values())):
            raise NotSimple(f"`{name}` is called on no tensor")
        value = given.pop(first)
        return self._operation(found, value, given)

    def _operation(self, function: str, first: Any, given: Mapping[str, Any] = {}) -> Object:
        made = self._made.put(self._count, function, first, given)
        self._count += 1
        return made


def _function(name: str) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Return the recorded name of a function, its parameters by their names, and defaults."""
    for root in _ROOTS:
        known = BACKEND.get(name.removeprefix(root)) if name.startswith(root) else None
        if known is not None:
            return known
    leaf = name.removeprefix("tensorflow.")
    leaf = _ALIASES.get(leaf, leaf)
    if not name.startswith("tensorflow.") or leaf not in TENSORFLOW:
        raise NotSimple(f"`{name}` is no operation that is known")
    return leaf, {each: each for each in TENSORFLOW[leaf]}, {}


def _body(function: ast.Lambda | ast.FunctionDef) -> ast.expr:
    if isinstance(function, ast.Lambda):
        return function.body
    statements = [each for each in function.body if not _is_docstring(each)]
    match statements:
        case [ast.Return(ast.expr() as value)] if not function.decorator_list:
            return value
    raise NotSimple("it is more than one expression")


def _is_docstring(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(ast.Constant(str())):
            return True
        case _:
            return False


def _literal(node: ast.expr) -> Any:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise NotSimple("one of its defaults is computed") from error
    return list(value) if isinstance(value, tuple) else value


def _computed(left: Any, operator: ast.operator, right: Any) -> Any:
    try:
        match operator:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
    except (ArithmeticError, ValueError) as error:
        raise NotSimple("it computes what is no number") from error
    raise NotSimple("it computes with constants")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, dict) and value.get("class_name") == "__keras_tensor__"


def _holds_tensor(value: Any) -> bool:
    return _is_tensor(value) or (isinstance(value, list) and any(map(_holds_tensor, value)))
