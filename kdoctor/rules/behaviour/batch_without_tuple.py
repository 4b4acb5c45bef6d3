"""A generator yields bare arrays to `predict`: Keras 3 requires tuples."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import replace_expression
from kdoctor.analysis.dataflow.uses import names_with_spelling, reads_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.generators import PREDICTS, generator_calls_fed, may_feed_functions
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Applicability, Confidence, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import inner_nodes
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.quick_facts import QuickFacts

_ARRAYS: Final = frozenset(
    {
        *("arange", "array", "asarray", "ascontiguousarray", "clip", "concatenate", "empty"),
        *("expand_dims", "full", "hstack", "linspace", "load", "moveaxis", "ones", "ones_like"),
        *("pad", "random.normal", "random.rand", "random.randint", "random.randn"),
        *("random.random", "random.uniform", "repeat", "reshape", "rollaxis", "squeeze", "stack"),
        *("swapaxes", "tile", "transpose", "vstack", "zeros", "zeros_like"),
    }
)
# No tuple takes part in these.
_OF_NUMBERS: Final = (cst.Divide, cst.FloorDivide, cst.Power, cst.Subtract)
_MAX_DEPTH: Final = 4  # names and operations within each other


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each array that is yielded to `predict` by itself."""
    for function, calls in _only_for_predict(module).items():
        given = [each.value for each in own_nodes(function.body) if isinstance(each, cst.Yield)]
        batches = [each for each in given if isinstance(each, cst.BaseExpression)]
        # One that gives tuples as well may be told when to, or asks for the version.
        if len(batches) < len(given) or not all(_is_no_tuple(module, each) for each in batches):
            continue
        is_sure = _is_for_nothing_else(module, function, calls)
        for batch in batches:
            yield _finding(module, facts, batch, is_sure=is_sure)


def _is_for_nothing_else(module: Module, function: cst.FunctionDef, calls: list[cst.Call]) -> bool:
    """Say whether all that a generator function makes goes to `predict`, by whatever name."""
    called = {each.func for each in calls}
    for name in names_with_spelling(module, function.name.value):
        if name is not function.name and not {name, module.parent(name)} & called:
            return False
    for call in calls:
        target = module.parent(call)
        kept = target.targets[0].target if isinstance(target, cst.Assign) else None
        if isinstance(kept, cst.Name) and len(list(reads_of(module, kept))) > 1:
            return False
        if not isinstance(kept, cst.Name) and not isinstance(target, cst.Arg):
            return False
    return True


def _finding(
    module: Module, facts: TargetFacts, batch: cst.BaseExpression, *, is_sure: bool
) -> Finding:
    return rule.finding(
        module.place(batch),
        "a batch must be a tuple: ValueError: When passing a Python generator to a Keras model, "
        "the generator must return a tuple, either (input,) or (inputs, targets) or (inputs, "
        "targets, sample_weights).",
        symbol="keras.Model.predict",
        confidence=Confidence.LIKELY,
        help="Write `yield (x,)`.",
        fix=Fix(
            "Yield a tuple",
            (replace_expression(module, batch, f"({module.source(batch)},)"),),
            facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))
            if is_sure
            else Applicability.UNSAFE,
            unsafe_because="" if is_sure else "other consumers of the generator get a tuple too",
        ),
    )


def _only_for_predict(module: Module) -> dict[cst.FunctionDef, list[cst.Call]]:
    """Return the generator functions that are fed to `predict` only, and the calls of them."""
    generators_of: dict[cst.FunctionDef, list[cst.Call]] = {}
    other: set[cst.FunctionDef] = set()
    for use, call, function in generator_calls_fed(module):
        generators_of.setdefault(function, []).append(call)
        if use.member not in PREDICTS:
            other.add(function)
    return {each: calls for each, calls in generators_of.items() if each not in other}


def _is_no_tuple(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Say whether a value is surely an array, a number, or a dict."""
    if depth > _MAX_DEPTH:
        return False
    if isinstance(node, cst.Dict | cst.DictComp):
        return True
    if isinstance(node, cst.Call):
        name = module.qualified(node.func) or ""
        return name.startswith("numpy.") and name.removeprefix("numpy.") in _ARRAYS
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, _OF_NUMBERS) or any(
            _is_no_tuple(module, each, depth + 1) for each in (node.left, node.right)
        )
    if not isinstance(node, cst.Name):
        return False
    bindings = module.bindings_at(node)
    return bool(bindings) and all(
        each.value is not None
        and not each.path
        and isinstance(module.parent(each.node), cst.AssignTarget | cst.AnnAssign)
        and _is_no_tuple(module, each.value, depth + 1)
        for each in bindings
    )


def _may_have_one(quick: QuickFacts, _: TargetFacts) -> bool:
    generators_of = may_feed_functions(quick, PREDICTS)
    return any(
        function.name in generators_of
        and any(
            isinstance(each, ast.Yield)
            and isinstance(each.value, ast.BinOp | ast.Call | ast.Dict | ast.DictComp | ast.Name)
            for each in inner_nodes(function)
        )
        for function in quick.nodes.get(ast.FunctionDef, ())
    )


rule = Rule(
    code="KD455",
    name="batch-without-tuple",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*PREDICTS) & Trigger(_may_have_one),
    since="3.0",
)
