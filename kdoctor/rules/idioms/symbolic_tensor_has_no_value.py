"""Code that uses the value, the length or the elements of a symbolic tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.tensors.symbolic import RUN_WITH_VALUES, SYMBOLIC
from kdoctor.analysis.triggers import Trigger, may_be_of
from kdoctor.memoize import once
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import conditions_in
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
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
_ORDERING = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
_ASKING = (ast.If, ast.While, ast.IfExp, ast.Assert)
_LOOPING = (ast.For, ast.comprehension)
_QUESTIONS = ("isinstance", "hasattr", "callable", "type")
_HELP = {
    _NO_BOOL: "Use `keras.ops.where(condition, a, b)`, or move the branch into the `call` of a "
    "custom layer.",
    _NO_LOOP: "Use `keras.ops.unstack(x, axis=...)` for an axis of known size.",
    _BUILTINS["len"]: "Use `x.shape[0]`, which is None for a batch of unknown size.",
}
_ARRAY_HELP = "Use the function of `keras.ops` instead of NumPy's; values only exist in `call`."


def _may_be_misused(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether ``_misused`` could find something, by what may be a tensor at all."""
    asking = (each for kind in _ASKING for each in quick.nodes.get(kind, ()))
    loops = (each for kind in _LOOPING for each in quick.nodes.get(kind, ()))
    calls = (
        *(called for name in _BUILTINS for called in quick.calls_of(name)),
        *(
            called
            for name in _NUMPY_NAMES.intersection(quick.calls_by_meaning)
            for called in quick.calls_by_meaning[name]
        ),
    )
    asked = chain(
        ((place, each) for place in asking for each in _may_decide(place.test)),
        ((place, place.iter) for place in loops),
        ((called.node, called.node.args[0]) for called in calls if called.places),
    )
    return may_be_of(quick, facts, asked, {Kind.TENSOR})


def _may_decide(test: ast.expr) -> Iterator[ast.expr]:
    """Yield what a condition needs the value of."""
    for each in conditions_in(test):
        match each:
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                yield from (left, *each.comparators)
            case _:
                yield each


@rule(
    "KD504",
    severity=Severity.ERROR,
    since="3.0",
    # Every file has conditions and loops: what they are asked of tells.
    look_for=files(SYMBOLIC, Trigger(_may_be_misused)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such use."""
    module = file.module
    for place, error in _misused(module):
        if module.context_of(place) in RUN_WITH_VALUES or module.is_guarded(place):
            continue
        if _is_in_a_layer(module, place) or _is_asked_what_it_is(module, place):
            continue
        yield file.finding(
            f"a symbolic tensor has no value while the model is built: {error}",
            at=place,
            symbol="KerasTensor",
            help=_HELP.get(error, _ARRAY_HELP),
            fix=NoFix("code that depends on values has to be restructured"),
        )


def _misused(module: Module) -> Iterator[tuple[cst.BaseExpression, str]]:
    """Yield the symbolic tensors that a statement or expression cannot do with, and the error."""
    for test in (
        *(each.test for each in module.nodes(cst.If)),
        *(each.test for each in module.nodes(cst.While)),
        *(each.test for each in module.nodes(cst.IfExp)),
        *(each.test for each in module.nodes(cst.Assert)),
    ):
        yield from ((each, _NO_BOOL) for each in _conditions(module, test))
    for iterable in (
        *(each.iter for each in module.nodes(cst.For)),
        *(each.iter for each in module.nodes(cst.CompFor)),
    ):
        if _is_one(module, iterable):
            yield iterable, _NO_LOOP
    for call, error in _calls_that_need_a_value(module):
        if call.args and not call.args[0].star and _is_one(module, call.args[0].value):
            yield call, error


def _is_one(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it surely is one symbolic tensor: a model may give a list of them."""
    found = module.type_of(node)
    return found is not None and found.kind is Kind.TENSOR and found.cls is not None


def _conditions(module: Module, test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    match test:
        case cst.BooleanOperation():
            yield from _conditions(module, test.left)
            yield from _conditions(module, test.right)
        case cst.UnaryOperation(operator=cst.Not()):
            yield from _conditions(module, test.expression)
        case cst.Comparison(comparisons=[one]) if isinstance(one.operator, _ORDERING):
            if _is_one(module, test.left) or _is_one(module, one.comparator):
                yield test
        case _ if _is_one(module, test):
            yield test


def _calls_that_need_a_value(module: Module) -> Iterator[tuple[cst.Call, str]]:
    """Yield the calls of functions that look at the value of their argument, and the error."""
    for call in module.nodes(cst.Call):
        name = _name_of_builtin(call)
        if name and module.scope_of(call.func).owner(name) is None:
            yield call, _BUILTINS[name]
    for reference in module.references:
        parent, _, leaf = reference.name.rpartition(".")
        made = reference.call
        if parent == "numpy" and leaf in _OF_NUMPY and made and not _name_of_builtin(made):
            yield made, f"{_NO_ARRAY}a NumPy array."


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
