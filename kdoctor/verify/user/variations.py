"""Further arguments to run a definition with: other values of the parameters that a fix touches.

A call of the project, or the default, hides what becomes of any other value: a fix that ignores a
parameter, or leaves it out of ``get_config()``, gives the same with that one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import Any

from kdoctor.verify.user.call_sites import methods_in

_MAX_VARIATIONS = 4
# Given by Keras, not by who makes or calls a definition; or without a second value that works.
_OF_KERAS = frozenset(
    {"training", "mask", "sample_weight", "logs", "name", "dtype", "data_format", "weights"}
)
_WAITS = re.compile(r"patience|period|interval|freq|warm|every|wait|start|cooldown|begin")
_OTHER_TEXT = {
    "same": "valid",
    "valid": "same",
    "zeros": "ones",
    "ones": "zeros",
    "min": "max",
    "max": "min",
    "mean": "sum",
    "sum": "mean",
    "val_loss": "loss",
    "loss": "val_loss",
    "relu": "tanh",
    "tanh": "relu",
    "sigmoid": "tanh",
    "softmax": "sigmoid",
    "linear": "tanh",
    "glorot_uniform": "ones",
    "he_normal": "ones",
    "uniform": "ones",
    "normal": "ones",
    "adam": "sgd",
    "sgd": "adam",
    "mse": "mae",
    "categorical_crossentropy": "mse",
}
_OF_NONE = {"activation": "'tanh'", "regularizer": "'l2'", "initializer": "'ones'", "axis": "1"}
_OF_NONE |= {"constraint": "'non_neg'", "scale": "0.4", "alpha": "0.4", "gamma": "1.5"}


def variations(node: ast.stmt, changed: Collection[str]) -> list[dict[str, str]]:
    """Return values to vary, by parameter, each variation for one run.

    ``changed`` are the lines of the definition, before and after the fix, that the fix changes.
    """
    called = _called(node)
    if called is None:
        return []
    text = "\n".join(changed)
    found = []
    for name, default in _optional(called):
        names = {name, *_derived(called, name)}
        touched = any(re.search(rf"\b{re.escape(each)}\b", text) for each in names)
        if touched and name not in _OF_KERAS:
            found += [{name: value} for value in _others(name, default, node)]
    return found[:_MAX_VARIATIONS]


def varied(calls: list[dict[str, Any]], values: dict[str, str]) -> list[dict[str, Any]]:
    """Return calls, and that some arguments are to be given with all of them."""
    return [*calls, {"args": [], "kwargs": values, "open": True, "varied": True}]


def without_optional(node: ast.stmt, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return calls of a definition without the arguments whose parameters have defaults."""
    called = _called(node)
    pairs = [] if called is None else list(_parameters(called))
    if isinstance(node, ast.ClassDef):
        pairs = pairs[1:]  # the object itself
    required = [name for name, default in pairs if default is None]
    return [
        {
            **call,
            "args": call["args"][: len(required)],
            "kwargs": {name: value for name, value in call["kwargs"].items() if name in required},
        }
        for call in calls
    ]


def _called(node: ast.stmt) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
    """Return the function that a definition is called by: itself, or the constructor."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node
        case ast.Assign(value=ast.Lambda() as function):
            return function
    return {each.name: each for each in methods_in(node)}.get("__init__")


def _optional(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> Iterator[tuple[str, Any]]:
    """Yield the parameters whose defaults are literals, with the defaults."""
    for name, default in _parameters(function):
        if default is not None:
            try:
                yield name, ast.literal_eval(default)
            except (ValueError, TypeError, SyntaxError):
                continue


def _parameters(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the named parameters in their order, each with its default."""
    given = function.args
    named = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(named) - len(given.defaults)), *given.defaults]
    pairs = [
        *zip(named, defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    for parameter, default in pairs:
        yield parameter.arg, default


def _derived(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str
) -> Iterator[str]:
    """Yield the names and attributes that are assigned from a parameter."""
    for each in ast.walk(function):
        if isinstance(each, ast.Assign) and any(
            isinstance(part, ast.Name) and part.id == name for part in ast.walk(each.value)
        ):
            for target in each.targets:
                if isinstance(target, ast.Attribute):
                    yield target.attr
                elif isinstance(target, ast.Name) and isinstance(each.value, ast.Name):
                    yield target.id


def _others(name: str, default: Any, node: ast.stmt) -> Iterator[str]:
    """Yield other values for a parameter, as source."""
    match default:
        case bool():
            yield repr(not default)
        case int():
            yield repr(_other_whole(name, default))
        case float():
            yield repr(_other_number(default))
        case str():
            known = {default, *_compared_with(name, node)} - {default}
            known = known or {_OTHER_TEXT[default]} if default in _OTHER_TEXT else known
            yield from map(repr, sorted(known))
        case None:
            known = {value for word, value in _OF_NONE.items() if name.endswith(word)}
            yield from known or map(repr, sorted(_compared_with(name, node)))


def _other_whole(name: str, number: int) -> int:
    """Return another axis or count. What waits for some epochs is to act after one."""
    if "axis" in name:
        return 1 if number < 0 else -1
    return 1 if number > 1 and _WAITS.search(name) else number + 1


def _other_number(number: float) -> float:
    """Return another number in the same range: shares stay between 0 and 1."""
    return round(0.6 * number + 0.1, 6) if 0 <= number < 1 else round(1.25 * number, 6)


def _compared_with(name: str, node: ast.stmt) -> Iterator[str]:
    """Yield the texts that a parameter, or the attribute of its name, is compared with."""
    for each in ast.walk(node):
        match each:
            case ast.Compare(
                left=ast.Name(id=left) | ast.Attribute(attr=left), comparators=[right]
            ):
                if left == name:
                    yield from (
                        part.value
                        for part in ast.walk(right)
                        if isinstance(part, ast.Constant) and isinstance(part.value, str)
                    )
