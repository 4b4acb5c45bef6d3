"""Code that uses the value, the length or the elements of a symbolic tensor."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import has_builtin
from kdoctor.analysis.queries import Call, builtins, imported
from kdoctor.analysis.queries.sorts import of_kind
from kdoctor.analysis.queries.tested import Iterated, Tested, decisions, given_first, loops
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC
from kdoctor.memoize import once
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_NO_BOOL = "TypeError: A symbolic KerasTensor cannot be used as a boolean."
_NO_LOOP = "NotImplementedError: Iterating over a symbolic KerasTensor is not supported."
_NO_ARRAY = (
    "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. "
    "It doesn't have any actual numerical value. You cannot convert it to "
)
_BUILTINS = {
    "bool": _NO_BOOL,
    "len": "TypeError: object of type 'KerasTensor' has no len()",
    "float": f"{_NO_ARRAY}a float.",
    "int": f"{_NO_ARRAY}an int.",
    "list": _NO_LOOP,
    "enumerate": _NO_LOOP,
}
# NumPy's functions that look at values; `np.shape(x)` and the like ask the tensor itself.
_OF_NUMPY = frozenset({
    "abs", "absolute", "add", "all", "any", "argmax", "argmin", "argsort", "array", "asarray",
    "ceil", "clip", "concatenate", "cos", "cumsum", "dot", "exp", "expand_dims", "floor", "isnan",
    "log", "matmul", "max", "maximum", "mean", "median", "min", "minimum", "multiply", "prod",
    "round", "sign", "sin", "sort", "sqrt", "square", "stack", "std", "subtract", "sum", "tanh",
    "where", "var",
})  # fmt: skip
_NUMPY_NAMES = frozenset(f"numpy.{name}" for name in _OF_NUMPY)
_QUESTIONS = ("isinstance", "hasattr", "callable", "type")
_HELP = {
    _NO_BOOL: "Use `keras.ops.where(condition, a, b)`, or move the branch into the `call` of a "
    "custom layer.",
    _NO_LOOP: "Use `keras.ops.unstack(x, axis=...)` for an axis of known size.",
    _BUILTINS["len"]: "Use `x.shape[0]`, which is None for a batch of unknown size.",
}
_ARRAY_HELP = "Use the function of `keras.ops` instead of NumPy's; values only exist in `call`."


# A model may give a list of tensors: then the class is not known.
_ONE: Final = of_kind(Kind.TENSOR, where=lambda each: each.cls is not None)


@rule(
    "KD504",
    severity=Severity.ERROR,
    since="3.0",
    look_for=(
        decisions(of=_ONE)
        | loops(of=_ONE)
        | given_first(builtins(*_BUILTINS).even(hidden=True), _ONE)
        | given_first(imported(*_NUMPY_NAMES).even(hidden=True), _ONE)
    ).beside(SYMBOLIC),
)
def check(found: Tested | Iterated | Call) -> Finding | None:
    """Report each such use."""
    module, place = found.module, found.node
    error = _NO_BOOL if isinstance(found, Tested) else _NO_LOOP
    if isinstance(found, Call):
        error = _error(found)
    if not error or module.context_of(place) in RUN_WITH_VALUES:
        return None
    if _is_in_a_layer(module, place) or _is_asked_what_it_is(module, place):
        return None
    return found.finding(
        f"a symbolic tensor has no value while the model is built: {error}",
        symbol="KerasTensor",
        confidence=Confidence.LIKELY,
        help=_HELP.get(error, _ARRAY_HELP),
        fix=NoFix("code that depends on values has to be restructured"),
    )


def _error(call: Call) -> str:
    """Return what a function raises that looks at the value of its argument, "" if it does not."""
    if call.reference is not None:
        return f"{_NO_ARRAY}a NumPy array."
    name = _name_of_builtin(call.node)
    return _BUILTINS[name] if has_builtin(call.module, call.node.func, name) else ""


def _name_of_builtin(call: cst.Call) -> str:
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    return name if name in _BUILTINS else ""


def _is_in_a_layer(module: Module, node: cst.CSTNode) -> bool:
    """Say whether the code is handed to a layer, as the function of a ``Lambda``."""
    return any(isinstance(each, cst.Lambda) for each in module.ancestors(node))


def _is_asked_what_it_is(module: Module, place: cst.BaseExpression) -> bool:
    """Say whether the code around looks at the type of what is used here: it may be a list."""
    names = {each.value for each in (place, *descendants(place)) if isinstance(each, cst.Name)}
    around = next(
        (each for each in module.ancestors(place) if isinstance(each, cst.FunctionDef)), module.tree
    )
    return not names.isdisjoint(_asked_what_they_are(module, around))


@once
def _asked_what_they_are(
    module: Module,  # noqa: ARG001 - the answer is kept with it
    around: cst.CSTNode,
) -> frozenset[str]:
    """Return the names whose type some code looks at."""
    return frozenset(
        each.args[0].value.value
        for each in descendants(around)
        if isinstance(each, cst.Call)
        and isinstance(each.func, cst.Name)
        and each.func.value in _QUESTIONS
        and each.args
        and isinstance(each.args[0].value, cst.Name)
    )
