"""A generator or `Sequence` that yields lists: Keras 3 requires tuples."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from itertools import chain

import libcst as cst

from kdoctor.analysis.calls import has_builtin, replace_expression, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_around
from kdoctor.analysis.training.generators import (
    FED,
    PREDICTS,
    generator_calls_fed,
    may_feed_functions,
)
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.keras_api import split_root
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Severity, Span
from kdoctor.rules.behaviour._list_expressions import Lists
from kdoctor.rules.behaviour._may_be_lists import may_be_a_list
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import inner_nodes
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.quick_facts import QuickFacts

_SEQUENCES = ("utils.Sequence", "utils.PyDataset", "utils.data_utils.Sequence")
_LISTS = (cst.Attribute, cst.BinaryOperation, cst.Call, cst.ListComp, cst.Name)
_NO_TUPLE = (
    "ValueError: When passing a Python generator to a Keras model, the generator must return a "
    "tuple, either (input,) or (inputs, targets) or (inputs, targets, sample_weights)."
)
_NO_SPEC = (
    "TypeError: `output_signature` must contain objects that are subclass of `tf.TypeSpec` but "
    "found <class 'list'> which is not."
)

_TAKES = frozenset({
    "chain", "enumerate", "islice", "iter", "list", "map", "next", "reversed", "tuple", "zip",
})  # fmt: skip
_TAKES_OF = frozenset({"__getitem__", "__next__", "send"})
_TAKEN_BY_HAND = (
    "the file reads batches from it: a tuple cannot be modified, and a list of one becomes the "
    "bare item"
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each batch that holds, or is, a list."""
    lists = Lists(module)
    for function in _generators(module):
        by_hand = _are_taken_by_hand(module, function.name.value)
        for node in own_nodes(function.body):
            if isinstance(node, cst.Yield) and isinstance(node.value, cst.BaseExpression):
                yield from _batch(
                    module, facts, lists, node.value, in_a_list=_NO_TUPLE, by_hand=by_hand
                )
    for function in _getters(module):
        around = class_around(module, function)
        by_hand = around is None or _are_taken_by_hand(module, around.name.value)
        for node in own_nodes(function.body):
            if isinstance(node, cst.Return) and node.value is not None:
                yield from _batch(module, facts, lists, node.value, in_a_list=None, by_hand=by_hand)


def _may_have_one(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether something like such a batch is yielded, or returned to Keras."""
    yields, returns = quick.nodes.get(ast.Yield, ()), quick.nodes.get(ast.Return, ())
    if any(_may_be_wrong(quick, each.value) for each in yields):
        generators_of = may_feed_functions(quick, FED)
        for function in quick.nodes.get(ast.FunctionDef, ()):
            if function.name in generators_of and _gives_one(quick, function, ast.Yield):
                return True
    return (
        "__getitem__" in quick.written
        and any(_may_be_wrong(quick, each.value) for each in returns)
        and any(
            _gives_one(quick, statement, ast.Return)
            for node in quick.nodes.get(ast.ClassDef, ())
            if any(map(_is_a_sequence, chain.from_iterable(map(quick.meant_by, node.bases))))
            for statement in node.body
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
            and statement.name == "__getitem__"
        )
    )


def _gives_one(
    quick: QuickFacts,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    way: type[ast.Yield | ast.Return],
) -> bool:
    return any(
        isinstance(each, way) and _may_be_wrong(quick, each.value) for each in inner_nodes(function)
    )


def _may_be_wrong(quick: QuickFacts, batch: ast.expr | None) -> bool:
    if not isinstance(batch, ast.Tuple | ast.List) or not 1 < len(batch.elts) < 4:
        return False
    return isinstance(batch, ast.List) or any(map(partial(may_be_a_list, quick), batch.elts))


def _batch(  # noqa: PLR0913 - the last two by keyword
    module: Module,
    facts: TargetFacts,
    known: Lists,
    batch: cst.BaseExpression,
    *,
    in_a_list: str | None,
    by_hand: bool,
) -> Iterator[Finding]:
    if not isinstance(batch, cst.Tuple | cst.List) or not 1 < len(batch.elements) < 4:
        return
    lists = [each.value for each in batch.elements if _is_list(each.value)]
    named = [each.value for each in batch.elements if _holds_a_list(module, known, each.value)]
    wrong = isinstance(batch, cst.List) and in_a_list is not None
    if not lists and not named and not wrong:
        return
    error = in_a_list if wrong else None
    changed = [batch, *lists] if wrong else lists
    doubt = _TAKEN_BY_HAND if by_hand else ""
    if not all(_holds_a_list(module, known.several, each) for each in named):
        doubt = (
            "the list may hold a single array, and a `Sequential` needs that one without a "
            "container"
        )
    yield rule.finding(
        module.place(batch),
        f"a batch must be a tuple, and so must its parts: {error or _NO_SPEC}",
        symbol="keras.Model.fit",
        confidence=Confidence.LIKELY,
        help="Use tuples instead of lists: `(a, b), y`.",
        fix=Fix(
            "Use tuples instead of lists",
            (
                *(edit for each in changed for edit in _as_tuple(module, each)),
                *(
                    replace_expression(module, each, f"tuple({module.source(each)})")
                    for each in named
                ),
            ),
            Applicability.UNSAFE
            if doubt
            else facts.applicability(
                *(each for each in rule.invalid if each.after and not each.unsafe)
            ),
            unsafe_because=doubt,
        ),
    )


def _are_taken_by_hand(module: Module, maker: str) -> bool:
    """Say whether the file itself takes batches of what a function or class of that name makes."""

    def is_made(node: cst.BaseExpression) -> bool:
        value = value_of(module, node)
        return isinstance(value, cst.Call) and _leaf(value.func) == maker

    for call in module.nodes(cst.Call):
        taken = [each.value for each in call.args] if _leaf(call.func) in _TAKES else []
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _TAKES_OF:
            taken = [call.func.value]
        if any(map(is_made, taken)):
            return True
    return (
        any(is_made(each.iter) for each in module.nodes(cst.For))
        or any(is_made(each.iter) for each in module.nodes(cst.CompFor))
        or any(is_made(each.value) for each in module.nodes(cst.Subscript))
    )


def _leaf(node: cst.BaseExpression) -> str:
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return ""


def _is_list(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.List)
        and bool(node.elements)
        and not any(isinstance(each, cst.StarredElement) for each in node.elements)
        # A list of numbers is one array.
        and not any(isinstance(each.value, cst.BaseNumber) for each in node.elements)
    )


def _holds_a_list(module: Module, known: Lists, node: cst.BaseExpression) -> bool:
    """Say whether a variable surely has a list of several arrays, or a call gives one."""
    if not has_builtin(module, node, "tuple"):
        return False
    value = value_of(module, node)
    if isinstance(node, cst.Name) and isinstance(value, cst.List) and value.elements:
        is_one = _is_list(value) and len(value.elements) > 1
        return is_one and not known.may_shrink(node.value)
    return isinstance(node, _LISTS) and known.is_one(node)


def _as_tuple(module: Module, node: cst.BaseExpression) -> Iterator[Edit]:
    """Write a tuple for a list; what stands alone in a list is the batch itself."""
    assert isinstance(node, cst.List)
    span, last = module.span(node), node.elements[-1]
    alone = len(node.elements) == 1
    start, end = ("", "") if alone else ("(", ")")
    behind = module.outer_span(last.value).end if alone else span.end - 1
    yield Edit(Span(span.start, span.start + 1), (start,))
    yield Edit(Span(behind, span.end), (end,))


def _generators(module: Module) -> Iterator[cst.FunctionDef]:
    """Yield the generator functions of this module whose batches go to a model."""
    first: dict[cst.FunctionDef, str] = {}
    for use, call, function in generator_calls_fed(module):
        del call
        first.setdefault(function, use.member)
    yield from (each for each, member in first.items() if member not in PREDICTS)


def _getters(module: Module) -> Iterator[cst.FunctionDef]:
    """Yield ``__getitem__`` of the subclasses of ``Sequence``."""
    if "__getitem__" not in module.text:
        return
    for node in module.nodes(cst.ClassDef):
        if not any(_is_a_sequence(module.qualified(base.value)) for base in node.bases):
            continue
        for statement in node.body.body:
            if isinstance(statement, cst.FunctionDef) and statement.name.value == "__getitem__":
                yield statement


def _is_a_sequence(name: str | None) -> bool:
    split = split_root(name) if name else None
    return split is not None and split[1] in _SEQUENCES


rule = Rule(
    code="KD409",
    name="batches-in-lists",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*FED, "Sequence", "PyDataset") & Trigger(_may_have_one),
    since="3.0",
    only_alone=True,
)
