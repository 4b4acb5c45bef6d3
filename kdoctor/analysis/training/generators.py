"""Generator functions that feed batches to a model."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import passed, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.models.user_classes import class_around
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.ast_walk import inner_nodes, leaf_of
from kdoctor.syntax.libcst_walk import own_nodes
from kdoctor.syntax.literals import literal
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.syntax.symbol_table import SymbolTable
from kdoctor.value_types import Kind

FED = {
    "fit": ("x", "validation_data"),
    "evaluate": ("x",),
    "predict": ("x",),
    "fit_generator": ("generator", "validation_data"),
    "evaluate_generator": ("generator",),
    "predict_generator": ("generator",),
}
FITS = ("fit", "fit_generator")
PREDICTS = ("predict", "predict_generator")


def generators_of(module: Module) -> Iterator[tuple[MemberUse, cst.BaseExpression]]:
    """Yield each training call that is fed by data, and that data."""
    for use in module.members_named(*FED):
        if use.owner.kind is not Kind.MODEL or use.called is None:
            continue
        if use.owner_defines or module.is_guarded(use.called):
            continue
        for index, name in enumerate(FED[use.member]):
            given = passed(use.called, name, 0 if index == 0 else None)
            if given is not None:
                yield use, given


def generator_calls_fed(module: Module) -> Iterator[tuple[MemberUse, cst.Call, cst.FunctionDef]]:
    """Yield each training call, its data, and the function that creates it."""
    for use, given in generators_of(module):
        value = value_of(module, given)
        function = function_called(module, value) if isinstance(value, cst.Call) else None
        if isinstance(value, cst.Call) and function is not None:
            yield use, value, function


class GeneratorFeed(Struct, frozen=True):
    """A training call fed by a generator function of the file."""

    use: MemberUse
    call: cst.Call
    given: cst.BaseExpression
    made: cst.Call
    function: cst.FunctionDef


def generator_feeds(module: Module, *, held_out: bool = False) -> Iterator[GeneratorFeed]:
    """Yield each training that a generator function feeds; ``held_out``: that one validates."""
    told: set[cst.Call] = set()  # one generator may be given for both
    for use, made, function in generator_calls_fed(module):
        if use.member not in FITS or use.called is None or use.called in told:
            continue
        given = passed(use.called, FED[use.member][held_out], None if held_out else 0)
        if given is None or value_of(module, given) is not made:
            continue
        if any(isinstance(each, cst.Yield) for each in own_nodes(function.body)):
            told.add(use.called)
            yield GeneratorFeed(use, use.called, given, made, function)


def has_several_epochs(module: Module, call: cst.Call, member: str) -> bool:
    """Say whether a call of `fit`, or `fit_generator`, asks for more than one epoch."""
    given = passed(call, "epochs", 2 if member == "fit_generator" else 3)
    given = given or passed(call, "nb_epoch")
    return literal(value_of(module, given), absent=1) != 1


def may_feed(quick: QuickFacts, table: SymbolTable, made: Collection[ast.AST]) -> bool:
    """Say whether what one of these calls makes may reach a model, judged by names.

    Of whatever a name, an attribute or a function of such a name holds, takes or gives in the file.
    """
    waiting: list[ast.AST] = [*_may_feed_values(quick, FED)]
    seen: set[ast.AST | str] = set()
    for node in waiting:  # it grows meanwhile
        if node in made:
            return True
        if node not in seen:
            seen.add(node)
            waiting += _behind(quick, table, node, seen)
    return False


def _behind(
    quick: QuickFacts, table: SymbolTable, node: ast.AST, seen: set[ast.AST | str]
) -> Iterable[ast.AST]:
    """Return what an expression may stand for, of names but once."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            if name in seen:
                return ()
            seen.add(name)
            return (*_bound(table, name), *_passed(quick, table, name))
        case ast.Call():
            return _returned(table, leaf_of(node.func))
        case ast.Subscript():
            return (node.value,)
        case ast.Tuple() | ast.List():
            return node.elts
    return ()


def _bound(table: SymbolTable, name: str) -> Iterator[ast.expr]:
    """Yield what is assigned to a name or an attribute, or looped over by it; the whole of a part.

    A part of what a function of somebody else gives comes from nowhere.
    """
    for bound in (*table.by_name.get(name, ()), *table.stores.get(name, ())):
        value = bound.value
        if value is None or bound.kind not in {BindingKind.ASSIGN, BindingKind.LOOP}:
            continue
        if bound.kind is BindingKind.LOOP and not isinstance(value, ast.Tuple | ast.List):
            continue
        if bound.path and isinstance(value, ast.Call) and not _is_own(table, leaf_of(value.func)):
            continue
        yield value


def _is_own(table: SymbolTable, called_by: str) -> bool:
    """Say whether a function or a class of the file is called so."""
    kinds = {each.kind for each in table.by_name.get(called_by, ())}
    return not kinds.isdisjoint({BindingKind.FUNCTION, BindingKind.CLASS})


def _passed(quick: QuickFacts, table: SymbolTable, parameter: str) -> Iterator[ast.expr]:
    """Yield what the calls of functions of the file pass that have such a parameter."""
    functions = {
        each.node.name
        for each in table.by_name.get(parameter, ())
        if each.kind is BindingKind.PARAMETER
        and isinstance(each.node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    if "__init__" in functions:
        functions.update(each.name for each in quick.nodes.get(ast.ClassDef, ()))
    for called_by in functions:
        for called in quick.calls_by_leaf.get(called_by, ()):
            yield from called.values


def _returned(table: SymbolTable, called_by: str) -> Iterator[ast.expr]:
    for each in table.by_name.get(called_by, ()):
        if each.kind is BindingKind.FUNCTION and each.node is not None:
            yield from table.spaces[each.node].returns


def _may_feed_values(quick: QuickFacts, methods: Iterable[str]) -> Iterator[ast.expr]:
    """Yield what `fed` could yield for these methods."""
    for method in methods:
        for called in quick.calls_by_leaf.get(method, ()):
            for index, name in enumerate(FED[method]) if called.is_attribute else ():
                given = called.argument(name, None if index else 0)
                if given is not None:
                    yield given


def may_feed_functions(quick: QuickFacts, methods: Iterable[str]) -> set[str]:
    """Return the names of functions that may feed a model, judged by names."""
    made = (value for each in _may_feed_values(quick, methods) for value in quick.values_of(each))
    calls = [each.func for each in made if isinstance(each, ast.Call)]
    return {leaf_of(each) for each in calls}


def may_feed_generators(quick: QuickFacts, methods: Iterable[str]) -> bool:
    """Say whether a generator function of the source may give batches to these methods."""
    fed_by = may_feed_functions(quick, methods)
    return any(
        function.name in fed_by
        and any(isinstance(each, ast.Yield) for each in inner_nodes(function))
        for function in quick.nodes.get(ast.FunctionDef, ())
    )


def function_called(module: Module, call: cst.Call) -> cst.FunctionDef | None:
    """Return the function of this module, or the method of one of its classes, that is called."""
    function = call.func
    if isinstance(function, cst.Name):
        bindings = module.scope_of(function).bindings_of(function.value)
    elif isinstance(function, cst.Attribute):
        cls = _class_of(module, function.value)
        scope = module.scope_of(cls.body.body[0]) if cls is not None and cls.body.body else None
        bindings = scope.bindings.get(function.attr.value, []) if scope else []
    else:
        return None
    node = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(node, cst.FunctionDef) or not all(map(_keeps_it, node.decorators)):
        return None
    return node


def _keeps_it(decorator: cst.Decorator) -> bool:
    """Say whether what is called is the function itself."""
    match decorator.decorator:
        case cst.Name(value="staticmethod" | "classmethod"):
            return True
    return False


def _class_of(module: Module, node: cst.BaseExpression) -> cst.ClassDef | None:
    """Return the class of this module that an object is of: `self`, or what is made here."""
    if isinstance(node, cst.Name) and node.value == "self":
        around = class_around(module, node)
        return None if around in _bases(module) else around  # one below may do it otherwise
    made = value_of(module, node)
    cls = class_named(module, made.func) if isinstance(made, cst.Call) else None
    return None if cls is None or cls.decorators else cls


@once
def _bases(module: Module) -> frozenset[cst.ClassDef]:
    """Return the classes of this module that others of it are derived from."""
    named = (
        class_named(module, base.value)
        for each in module.nodes(cst.ClassDef)
        for base in each.bases
    )
    return frozenset(each for each in named if each is not None)


def is_a_librarys(module: Module, use: MemberUse) -> bool:
    """Say whether another library made the model: it may accept any data.

    Those of KerasHub turn text into numbers.
    """
    made = value_of(module, use.node.value)
    name = module.qualified(made.func) if isinstance(made, cst.Call) else None
    if name is None or split_root(name) is not None:
        return False
    return not name.startswith(".") and not module.is_project_module(name.partition(".")[0])
