"""`Dense(n / 2)`, `Dense(np.prod(shape))`, `fit(steps_per_epoch=n / 32)`: not Python ints."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Final

import libcst as cst
from msgspec import Struct
from packaging.version import Version

from kdoctor.analysis.calls import is_keras_3, keras_version, value_of
from kdoctor.analysis.dataflow.possible_values import values_of_name, values_passed_to
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, Instance, calls, constructs
from kdoctor.analysis.queries.followed import made_of
from kdoctor.analysis.queries.forms import Expression
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, ImportNeed, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

# The parameters that are such numbers, in their order: they are the first ones.
_SIZES: Final[dict[str, tuple[str, ...]]] = {
    "Dense": ("units",),
    **{
        f"{sort}{rank}": ("filters",)
        for rank in ("1D", "2D", "3D")
        for sort in ("Conv", "SeparableConv")
        if (sort, rank) != ("SeparableConv", "3D")
    },
    **{f"Conv{rank}Transpose": ("filters",) for rank in ("1D", "2D", "3D")},
    "Embedding": ("input_dim", "output_dim"),
    "GRU": ("units",),
    "SimpleRNN": ("units",),
    "MultiHeadAttention": ("num_heads", "key_dim"),
}
# Since when an integer of NumPy is refused, and what is said. That of attention was looked for in
# 3.11, which takes one, and in 3.15.
_POSITIVE: Final = "expected a positive integer."
_UNITS: Final = f"ValueError: Received an invalid value for `units`, {_POSITIVE}"
_STATE: Final = "ValueError: state_size must be an integer, or a list/tuple of integers"
_REFUSES_NUMPY: Final = {
    ("Dense", "units"): (Version("3.13"), _UNITS),
    **{
        ("Embedding", each): (Version("3.15"), f"ValueError: `{each}` must be a positive integer.")
        for each in _SIZES["Embedding"]
    },
    **{(each, "units"): (Version("3.0"), _STATE) for each in ("GRU", "SimpleRNN")},
    **{
        ("MultiHeadAttention", each): (
            Version("3.15"),
            f"ValueError: Received an invalid value for argument `{each}`, {_POSITIVE}",
        )
        for each in _SIZES["MultiHeadAttention"]
    },
}
# These refuse a float on Keras 2 as well.
_REFUSED_FLOATS: Final = frozenset({"Embedding", "GRU", "MultiHeadAttention", "SimpleRNN"})
_NO_SHAPE: Final = "ValueError: Cannot convert '(…)' to a shape."
# Where the number of steps stands, in methods that count them.
_STEPS: Final[dict[str, dict[str, int | None]]] = {
    "fit": {"steps_per_epoch": None, "validation_steps": None},
    "evaluate": {"steps": None},
    "predict": {"steps": None},
    "fit_generator": {"steps_per_epoch": 1, "validation_steps": None},
    "evaluate_generator": {"steps": 1},
    "predict_generator": {"steps": 1},
}
_PLACES: Final = dict.fromkeys(
    (name, place) for names in _SIZES.values() for place, name in enumerate(names)
)
_LAYERS: Final = constructs(*(Instance(Kind.LAYER, cls) for cls in _SIZES)).even(hidden=True)
_TRAININGS: Final = calls(*_STEPS, on=Kind.MODEL)
# Functions of NumPy that give one of its own numbers, and those of them that give a float.
_FLOATS: Final = frozenset({"ceil", "floor", "mean", "rint", "round", "sqrt"})
_NUMBERS: Final = frozenset({"amax", "amin", "max", "min", "prod", "sum"}) | _FLOATS
_OF_NUMPY: Final = frozenset(f"numpy.{each}" for each in _NUMBERS)
_ARITHMETIC: Final = (cst.Add, cst.Subtract, cst.Multiply)
_MAX_DEPTH: Final = 4  # names and operations within each other


class _Number(Struct, frozen=True):
    """A number that is no int: is it a float, and of NumPy?"""

    is_float: bool
    of_numpy: bool


def _is_no_int(form: object) -> bool:
    """Say whether it is a float, a division, or a number of NumPy."""
    if isinstance(form, Expression):
        return (form.kind, form.name) == ("BinOp", "/") or not _OF_NUMPY.isdisjoint(form.meant)
    return isinstance(form, float)


@rule(
    "KD307",
    severity=Severity.ERROR,
    since="3.0",
    # Sizes are everywhere, too: only those count that lead to a division, a float or NumPy.
    look_for=_LAYERS.beside(made_of(_LAYERS, *_PLACES, where=_is_no_int))
    | _TRAININGS.beside(
        reduce(
            or_,
            (
                made_of(calls(method, on=Kind.MODEL), *counts.items(), where=_is_no_int)
                for method, counts in _STEPS.items()
            ),
        )
    ),
)
def check(call: Call) -> Iterator[Finding]:
    """Report each size and each number of steps that is surely refused."""
    yield from _of_sizes(call) if call.made is not None else _of_steps(call)


def _of_sizes(layer: Call) -> Iterator[Finding]:
    for place, name in enumerate(_SIZES[layer.cls]):
        for node, value in _given(layer, name, place):
            error = _refusal(layer.facts, layer.cls, name, _number(layer.module, value))
            if error:
                fix = _rounded(layer, node, value, "int")
                what = f"`{name}` of `{layer.leaf}` must be an int: {error}"
                yield _finding(layer, node, what, f"{layer.name}({name})", fix)


def _of_steps(call: Call) -> Iterator[Finding]:
    if call.owner is None or not is_keras_3(call.facts, call.owner.qualified):
        return
    for name, place in _STEPS[call.leaf].items():
        for node, value in _given(call, name, place):
            number = _number(call.module, value)
            if number is None or not number.is_float:
                continue
            kind = "numpy.float64" if number.of_numpy else "float"
            error = f"TypeError: '{kind}' object cannot be interpreted as an integer"
            function = "int" if _is_whole(call.module, value) else "math.ceil"
            fix = _rounded(call, node, value, function)
            symbol = f"{call.cls or 'Model'}.{call.leaf}({name})"
            yield _finding(call, node, f"`{name}` must be an int: {error}", symbol, fix)


def _given(
    call: Call, name: str, place: int | None
) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    """Yield what is passed, and what the calls of the file pass where that is a parameter."""
    given = call.argument(name, place)
    if given is not None:
        yield given, given.value
        yield from ((each, each) for each in values_passed_to(call.module, given.value))


def _refusal(facts: TargetFacts, cls: str, name: str, number: _Number | None) -> str | None:
    if number is None:
        return None
    since, error = _REFUSES_NUMPY.get((cls, name), (None, ""))
    if since is not None and keras_version(facts) >= since:
        return error
    return _NO_SHAPE if number.is_float and cls not in _REFUSED_FLOATS else None


def _number(module: Module, node: cst.BaseExpression, depth: int = 0) -> _Number | None:
    """Return what kind of number an expression surely is, None if it may be an int."""
    if depth > _MAX_DEPTH:
        return None
    values = values_of_name(module, node) if isinstance(node, cst.Name) else [node]
    found = {_number_in(module, each, depth) for each in values}
    return found.pop() if len(found) == 1 else None


def _number_in(module: Module, node: cst.BaseExpression, depth: int) -> _Number | None:
    match node:
        case cst.Float():
            return _Number(is_float=True, of_numpy=False)
        case cst.BinaryOperation(operator=cst.Divide(), left=left, right=right):
            sides = [_number(module, each, depth + 1) for each in (left, right)]
            of_numpy = any(each is not None and each.of_numpy for each in sides)
            return _Number(is_float=True, of_numpy=of_numpy)
        case cst.BinaryOperation(operator=operator, left=left, right=right) if isinstance(
            operator, _ARITHMETIC
        ):
            sides = [_number(module, each, depth + 1) for each in (left, right)]
            found = [each for each in sides if each is not None]
            if found:
                return _Number(
                    is_float=any(each.is_float for each in found),
                    of_numpy=any(each.of_numpy for each in found),
                )
        case cst.Call(func=function, args=[_]):
            parent, _, leaf = (module.qualified(function) or "").rpartition(".")
            if parent == "numpy" and leaf in _NUMBERS:
                return _Number(is_float=leaf in _FLOATS, of_numpy=True)
    return None


def _is_whole(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether the number, though a float, is surely a whole one."""
    match value_of(module, node):
        case cst.Float(value=text):
            return float(text.replace("_", "")).is_integer()
        case cst.Call(func=function):
            return module.qualified(function) in {"numpy.ceil", "numpy.floor"}
    return False


def _rounded(
    call: Call, given: cst.CSTNode, value: cst.BaseExpression, function: str
) -> Fix | NoFix:
    if not isinstance(given, cst.Arg):
        return NoFix("the function that receives it may also use it elsewhere")
    proven = [each for each in check.invalid if each.after and f"{function}(" in each.after]
    imports = (ImportNeed("math", None, "math"),) if function.startswith("math.") else ()
    span = call.module.outer_span(value)
    return call.fix(
        f"Wrap it in `{function}(…)`, as Keras 2 did",
        Edit(span, (f"{function}(", Hole(span), ")")),
        imports=imports,
        proven_by=proven,
    )


def _finding(
    call: Call, given: cst.CSTNode, message: str, symbol: str, fix: Fix | NoFix
) -> Finding:
    return call.finding(
        message,
        at=given,
        symbol=symbol,
        confidence=Confidence.LIKELY,  # what a number is, is inferred
        help="Convert it where it is computed, with `int()`, `//` or `math.ceil()`.",
        fix=fix,
    )
