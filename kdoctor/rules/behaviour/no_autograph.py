"""`if tf.reduce_any(x > 0):` in a layer, loss or metric: Keras 3 does not run AutoGraph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.tensorflow_calls import GIVE_TENSORS, returns_tensor
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Context

_NO_BOOL = (
    "OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed"
)
_NO_LOOP = "OperatorNotAllowedInGraphError: Iterating over a symbolic `tf.Tensor` is not allowed"
_NO_RANGE = "TypeError: 'SymbolicTensor' object cannot be interpreted as an integer"
NUMBERS: Final = (
    *("abs", "all", "any", "argmax", "argmin", "cast", "equal", "greater", "greater_equal"),
    *("less", "less_equal", "max", "mean", "min", "not_equal", "prod", "sum"),
)
"""What gives a tensor without a value, under the same name in ``keras.backend`` of Keras 2 and in
``keras.ops``."""
_OF_KERAS = frozenset(f"{home}.{each}" for home in ("backend", "ops") for each in NUMBERS)
_LEAVES = frozenset(each.rpartition(".")[2] for each in (*GIVE_TENSORS, *_OF_KERAS))
_NEVER = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
_INSIDE = (Context.CALL, Context.LOSS_OR_METRIC)
_EAGER = frozenset({
    *("dynamic", "enable_eager_execution", "experimental_run_functions_eagerly", "run_eagerly"),
    "run_functions_eagerly",
})  # fmt: skip
_TRAINS = frozenset({"compile", "evaluate", "fit", "fit_generator", "function", "predict"})
_MAX_DEPTH = 6


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such condition and loop."""
    if _is_eager(module):
        return
    compiled = _compiled(module)
    for place, error in _asked(module, facts):
        if module.context_of(place) not in _INSIDE or module.is_guarded(place):
            continue
        if _is_run_by_keras(module, place, compiled):
            yield _finding(module, place, error)


def _is_eager(module: Module) -> bool:
    """Say whether nothing here needs to be a graph: by a switch, or by loops of the file's own."""
    words = module.words
    return not words.isdisjoint(_EAGER) or ("GradientTape" in words and words.isdisjoint(_TRAINS))


def _asked(module: Module, facts: TargetFacts) -> Iterator[tuple[cst.BaseExpression, str]]:
    """Yield the tensors that a statement or expression needs the value of, and the error."""
    for test in (
        *(each.test for each in module.nodes(cst.If)),
        *(each.test for each in module.nodes(cst.While)),
        *(each.test for each in module.nodes(cst.IfExp)),
    ):
        if _is_tensor(module, facts, test):
            yield test, _NO_BOOL
    for loop in module.nodes(cst.For):
        counted = _counted(module, loop.iter)
        if counted is not None and _is_tensor(module, facts, counted):
            yield loop.iter, _NO_RANGE
        elif _is_tensor(module, facts, loop.iter):
            yield loop.iter, _NO_LOOP


def _counted(module: Module, iterable: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return ``n`` of ``range(n)``."""
    match iterable:
        case cst.Call(func=cst.Name(value="range") as function, args=[cst.Arg(star="", value=n)]):
            return n if is_builtin(module, function) else None
    return None


def _is_tensor(
    module: Module, facts: TargetFacts, node: cst.BaseExpression, depth: int = 0
) -> bool:
    """Say whether an expression surely is a tensor, or the truth of one is asked for in it."""
    if depth > _MAX_DEPTH:
        return False
    node = value_of(module, node)
    match node:
        case cst.Call():
            return _gives_a_tensor(module.qualified(node.func), facts)
        case cst.Comparison(left=left, comparisons=parts):
            if any(isinstance(each.operator, _NEVER) for each in parts):
                return False
            inner = [left, *(each.comparator for each in parts)]
        case (
            cst.BinaryOperation(left=left, right=right)
            | cst.BooleanOperation(left=left, right=right)
        ):
            inner = [left, right]
        case cst.UnaryOperation(expression=operand):
            inner = [operand]
        case cst.Subscript(value=value):
            inner = [value]
        case _:
            return False
    return any(_is_tensor(module, facts, each, depth + 1) for each in inner)


def _gives_a_tensor(name: str | None, facts: TargetFacts) -> bool:
    split = split_root(name) if name else None
    if split is None:
        return name is not None and returns_tensor(name)
    return split[1] in _OF_KERAS and facts.runs_keras_3(split[0])


def _is_run_by_keras(module: Module, place: cst.CSTNode, compiled: frozenset[str]) -> bool:
    """Say whether Keras calls the function around a place, and AutoGraph has not seen it."""
    outer: cst.FunctionDef | cst.ClassDef | None = None
    for each in module.ancestors(place):
        if isinstance(each, cst.If) and "executing_eagerly" in module.source(each.test):
            return False
        if isinstance(each, cst.FunctionDef) and each.decorators:
            return False
        if isinstance(each, cst.FunctionDef | cst.ClassDef):
            outer = each
            if isinstance(each, cst.ClassDef):
                break
    if isinstance(outer, cst.ClassDef) and module.context_of(place) is Context.CALL:
        return True
    # A loss and a metric may be called with values, too.
    return outer is not None and outer.name.value in compiled


def _compiled(module: Module) -> frozenset[str]:
    """Return the names in what ``compile`` is called with."""
    return frozenset(
        each.value
        for call in module.nodes(cst.Call)
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == "compile"
        for argument in call.args
        for each in (argument.value, *descendants(argument.value))
        if isinstance(each, cst.Name)
    )


def _finding(module: Module, place: cst.BaseExpression, error: str) -> Finding:
    return rule.finding(
        module.place(place),
        f"Keras 3 does not apply AutoGraph to Python control flow: {error}",
        symbol="autograph",
        confidence=Confidence.LIKELY,
        help="Use `keras.ops.where(condition, a, b)`; `@tf.function` on the function brings "
        "AutoGraph back."
        if error is _NO_BOOL
        else "`@tf.function` on the function brings AutoGraph back.",
        fix=NoFix("you have to decide whether values or code paths are chosen"),
    )


def _may_ask(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether a condition or loop may be about a tensor."""
    tensors: set[ast.AST] = {
        each.node
        for name, calls in quick.calls_by_meaning.items()
        if name.rpartition(".")[2] in _LEAVES and _gives_a_tensor(name, facts)
        for each in calls
    }
    return bool(tensors) and any(each in tensors for each in quick.reached(_tests(quick)))


def _tests(quick: QuickFacts) -> Iterator[ast.expr]:
    for kind in (ast.If, ast.While, ast.IfExp):
        yield from (each.test for each in quick.nodes.get(kind, ()))
    yield from (each.iter for each in quick.nodes.get(ast.For, ()))


rule = Rule(
    code="KD442",
    name="no-autograph",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word("call", "update_state", "compile") & Trigger(_may_ask),
    since="3.0",
)
