"""Queries for symbolic tensors whose value losses and metrics use, from an enclosing scope."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

import libcst as cst

from kdoctor import keras_api
from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.dataflow.captures import function_around, is_outside
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.matches import Match
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.analysis.triggers import Said, Trigger, may_hold
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import chain_of, nodes_in, parameters_of
from kdoctor.syntax.libcst_walk import children, own_nodes
from kdoctor.syntax.node_predicates import first_name
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.type_sets import kinds_in
from kdoctor.value_types import Context, Kind, Type

Function = cst.FunctionDef | cst.Lambda
_WORKING: Final = frozenset({ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.Return})
_OWNERS: Final = (Type(Kind.LOSS), Type(Kind.METRIC))


class Captured(Match):
    """A symbolic tensor that ``function`` reads, to give it to what is called ``symbol``."""

    node: cst.BaseExpression
    function: Function


def captured(where: Callable[[str], bool], *, operation: str) -> Query[Captured]:
    """Symbolic tensors that losses and metrics read from outside, in no order.

    In calls of names of Keras 3 of which ``where`` holds; and by operators, which have the symbol
    ``operation``. The gate asks of operators only in what looks like a loss: by its parameters or
    its name, or as ``compile`` gets it.
    """
    said = Said(where)

    def find(module: Module, facts: TargetFacts) -> Iterator[Captured]:
        for function, tensor, symbol, confidence in _read(
            module, lambda name: where(name) and is_keras_3(facts, name)
        ):
            found = Captured(
                module, facts, tensor, symbol=symbol or operation, confidence=confidence
            )
            found.function = function
            yield found

    def holds(quick: QuickFacts, facts: TargetFacts) -> bool:
        calls = {
            called.node
            for name in said.among(quick.calls_by_meaning.keys())
            for called in quick.calls_by_meaning[name]
        }
        asked = [*_read_from_outside(quick, facts, calls)]
        return bool(asked) and may_hold(
            quick,
            facts,
            lambda possible: any(
                Kind.TENSOR
                in kinds_in(possible.types_of(each, possible.symbol_table.spaces[scope]))
                for scope, each in asked
            ),
        )

    return Query(find, Trigger(holds))


def _read(
    module: Module, where: Callable[[str], bool]
) -> Iterator[tuple[Function, cst.BaseExpression, str, Confidence]]:
    """Yield what losses and metrics read: the function, the tensor, what it is given to."""
    for reference in module.references:
        call = reference.call
        if call is None or not where(reference.name):
            continue
        around = function_around(module, call)
        if around is None or not _is_loss(module, call):
            continue
        for argument in call.args:
            for tensor in _outer_tensors(module, around, argument.value):
                yield around, tensor, reference.name, reference.confidence
    functions: list[Function] = [*module.nodes(cst.FunctionDef), *module.nodes(cst.Lambda)]
    for function in functions:
        if not _is_loss(module, function.body):
            continue
        for value in _worked_out(function):
            if is_symbolic(module, value):
                for tensor in _outer_tensors(module, function, value):
                    yield function, tensor, "", Confidence.LIKELY


def _is_loss(module: Module, node: cst.CSTNode) -> bool:
    return module.context_of(node) is Context.LOSS_OR_METRIC


def _worked_out(function: Function) -> Iterator[cst.BaseExpression]:
    """Yield what a function gives, and what it works out by operators, which take values, too."""
    if isinstance(function, cst.Lambda):
        yield function.body
    for node in (function.body, *own_nodes(function.body)):
        match node:
            case cst.BinaryOperation() | cst.UnaryOperation():
                yield node
            case cst.AugAssign(value=value):
                yield value
            case cst.Return(value=cst.BaseExpression() as value):
                yield value


def _outer_tensors(
    module: Module, function: Function, node: cst.CSTNode
) -> Iterator[cst.BaseExpression]:
    """Yield the symbolic tensors from outside whose values an expression needs.

    Not those of which only a shape is asked, or whether they are there; nor what functions of
    TensorFlow are given, which raise by themselves: KD503 tells of them.
    """
    if isinstance(node, cst.Name | cst.Attribute):
        root = first_name(node)
        if root is not None and is_symbolic(module, node):
            bindings = module.bindings_at(root)
            if bindings and all(is_outside(each, function) for each in bindings):
                yield node
        return
    if isinstance(node, cst.Call | cst.Comparison) and not is_symbolic(module, node):
        return
    called = module.qualified(node.func) if isinstance(node, cst.Call) else None
    if called is not None and split_root(called) is None:
        return
    parts = [node.body, node.orelse] if isinstance(node, cst.IfExp) else children(node)
    for part in parts:
        yield from _outer_tensors(module, function, part)


def _read_from_outside(
    quick: QuickFacts, facts: TargetFacts, calls: set[ast.Call]
) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yield what functions give to these calls that they surely bind not, and losses work with."""
    handed_over = _handed_over(quick)
    oracle = keras_api.oracle(facts.target)
    for scope, nodes in quick.scopes.items():
        for function in _functions(quick, scope, nodes):
            is_handed_over = not handed_over.isdisjoint((function, getattr(function, "name", "")))
            is_loss = is_handed_over or _looks_like_a_loss(function, oracle)
            if not (is_loss or calls):
                continue
            inside = nodes_in(function.body) if isinstance(function, ast.Lambda) else nodes
            given: set[Any] = calls.intersection(inside) if calls else set()
            if is_loss:
                given.update(each for each in inside if _works_out(each))
                if isinstance(function, ast.Lambda):
                    given.add(function.body)
            yield from ((scope, each) for each in _free(function, inside, given, quick))


def _functions(
    quick: QuickFacts, scope: ast.AST, nodes: list[Any]
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    """Yield the functions of which nodes stand in a scope."""
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        yield scope
    if ast.Lambda in quick.nodes:  # most files have none
        yield from (each for each in nodes if isinstance(each, ast.Lambda))


def _handed_over(quick: QuickFacts) -> set[ast.Lambda | str]:
    """Return the names of what `compile` is called with, and the functions without a name."""
    found: set[ast.Lambda | str] = set()
    for called in quick.calls_by_leaf.get("compile", ()):
        for each in (each for value in called.values for each in nodes_in(value)):
            if isinstance(each, ast.Name):
                found.add(each.id)
            for value in quick.values_of(each) if isinstance(each, ast.expr) else ():
                if isinstance(value, ast.Lambda):
                    found.add(value)
    return found


def _looks_like_a_loss(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, oracle: TypeOracle
) -> bool:
    contexts = [oracle.function_context([each.arg for each in parameters_of(function.args)])]
    if not isinstance(function, ast.Lambda):
        contexts += (oracle.method_context(each, function.name) for each in _OWNERS)
    return Context.LOSS_OR_METRIC in contexts


def _works_out(node: ast.AST) -> bool:
    return node.__class__ in _WORKING


def _free(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    inside: list[Any],
    given: Collection[Any],
    quick: QuickFacts,
) -> Iterator[ast.expr]:
    """Yield the names in what is given, and their attributes, that a function surely binds not."""
    if not given:
        return
    own = {each.arg for each in parameters_of(function.args)}
    for node in inside:
        if node.__class__ is ast.Assign:
            own.update(each.id for each in node.targets if isinstance(each, ast.Name))
    for node in given:
        parts = (*node.args, *node.keywords) if isinstance(node, ast.Call) else (node,)
        for each in (each for part in parts for each in nodes_in(part)):
            if isinstance(each, ast.Name | ast.Attribute):
                root = next(iter(chain_of(each)), None)
                if root in quick.bound and root not in own:
                    yield each
