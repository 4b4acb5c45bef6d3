"""`self.norm(x, training)`: arguments that are not tensors must be passed by keyword."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import (
    all_by_position,
    binding_of,
    is_builtin,
    is_call_of_super,
    is_keras_3,
)
from kdoctor.analysis.dataflow.list_elements import may_be_in_list, type_in_list
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import (
    class_around,
    holds_original_argument,
    kind_of_class,
    only_base,
)
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.triggers import Trigger, may_be_of
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.arguments._positional_arguments import (
    CALL,
    FUNCTIONAL,
    KINDS,
    TRAINING,
    parameters,
    parameters_of_super,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Type

_ERROR = "ValueError: Only input tensors may be passed as positional arguments."
_TWICE = "TypeError: Functional.call() got multiple values for argument 'training'"


def _may_pass_one(quick: QuickFacts, facts: TargetFacts) -> bool:
    several = [each for each in quick.calls if each.places > 1]
    functions = quick.nodes.get(ast.FunctionDef, ()) if several else ()
    flags = {each.arg for function in functions for each in _flags(function.args)}
    flags |= {*_counters(quick)} if several else set()
    passing = [each for each in several if _passes_one(each, flags)]
    if any(each.leaf == CALL for each in passing):
        return True  # `super().__call__(x, True)`
    asked = [(each.node, each.node.func) for each in passing]
    return may_be_in_list(quick, [function for _, function in asked]) or (
        bool(asked) and may_be_of(quick, facts, asked, KINDS)
    )


def _flags(given: ast.arguments) -> Iterator[ast.arg]:
    """Yield the parameters that may hold a bool."""
    named = [*given.posonlyargs, *given.args]
    defaults = [*given.defaults]
    with_default = zip(named[len(named) - len(defaults) :], defaults, strict=True)
    for each, default in (*with_default, *zip(given.kwonlyargs, given.kw_defaults, strict=True)):
        if isinstance(default, ast.Constant) and isinstance(default.value, bool):
            yield each
    yield from (each for each in (*named, *given.kwonlyargs) if each.arg == TRAINING)


def _passes_one(called: QuickCall, flags: set[str]) -> bool:
    return any(
        isinstance(each, ast.Constant | ast.UnaryOp | ast.BinOp | ast.List | ast.Tuple)
        or (isinstance(each, ast.Name) and each.id in flags)
        for each in called.node.args[1:]
    )


def _counters(quick: QuickFacts) -> Iterator[str]:
    """Yield the names with which loops over `range` may count."""
    for each in (*quick.nodes.get(ast.For, ()), *quick.nodes.get(ast.comprehension, ())):
        if isinstance(each.target, ast.Name) and isinstance(each.iter, ast.Call):
            yield each.target.id


@rule(
    "KD315",
    severity=Severity.ERROR,
    since="3.0",
    # Second arguments that are names are everywhere: only those count that may hold a bool.
    look_for=files(Trigger(_may_pass_one)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each call that passes by position what is no tensor."""
    module, facts = file.module, file.facts
    for call in module.nodes(cst.Call):
        given = all_by_position(call)
        first = next((n for n, each in enumerate(given) if n and _is_plain(module, each)), None)
        owner = None if first is None else _called(module, call)
        if first is None or owner is None or not is_keras_3(facts, owner.qualified):
            continue
        names = (
            parameters_of_super(module, facts, owner)
            if is_call_of_super(call, CALL)
            else parameters(module, facts, owner)
        )
        if names is None or module.is_guarded(call):
            continue
        yield file.finding(
            f"only tensors may be passed to `{owner.cls}` by position: "
            f"{_TWICE if owner.cls == FUNCTIONAL else _ERROR}",
            at=given[first],
            symbol=f"{owner.cls}.__call__",
            help=f"Pass it by keyword: `{(*names[first:], TRAINING)[0]}=…`.",
            fix=_fix(file, given[first:], names[first:]),
        )


def _called(module: Module, call: cst.Call) -> Type | None:
    if is_call_of_super(call, CALL):
        return _own_class(module, call)
    return module.type_of(call.func) or type_in_list(module, call.func)


def _own_class(module: Module, node: cst.CSTNode) -> Type | None:
    """Return the class of one's own around a node, where it has one base, which is of Keras."""
    cls = class_around(module, node)
    only = None if cls is None or cls.keywords else only_base(module, cls)
    if cls is None or only is None:
        return None
    name = module.qualified(only)
    base = module.oracle.class_type(name) if name is not None else None
    return None if base is None else Type(base.kind, cls.name.value, base.qualified)


def _is_plain(module: Module, argument: cst.Arg) -> bool:
    """Say whether it is a bool, a number or a text, or a list of such."""
    value = argument.value
    if not isinstance(value, cst.Name):
        found = literal(value)
        several = found if isinstance(found, list | tuple) else [found]
        return bool(several) and all(isinstance(each, int | float | str) for each in several)
    is_bool = isinstance(literal(value), bool) or _holds_a_bool(module, value)
    return is_bool or _counts(module, value)


def _counts(module: Module, name: cst.Name) -> bool:
    """Say whether it is what a loop over Python's `range` counts with."""
    match binding_of(module, name):
        case Binding(
            kind=BindingKind.LOOP, value=cst.Call(func=cst.Name(value="range") as function)
        ):
            return is_builtin(module, function)
    return False


def _holds_a_bool(module: Module, name: cst.Name) -> bool:
    """Say whether it is a parameter that is a bool by default, or ``training`` of a ``call``."""
    for each in module.ancestors(name):
        if not isinstance(each, cst.FunctionDef):
            continue
        for parameter in (*each.params.params, *each.params.kwonly_params):
            if parameter.name.value == name.value:
                is_bool = isinstance(literal(parameter.default), bool) or (
                    name.value == TRAINING and _is_call_of_keras(module, each)
                )
                return is_bool and holds_original_argument(module, name, parameter)
    return False


def _is_call_of_keras(module: Module, function: cst.FunctionDef) -> bool:
    """Say whether it is how a layer or model is called: Keras gives it a bool when it trains."""
    owner = next(iter(each for each in module.ancestors(function) if _is_definition(each)), None)
    return (
        function.name.value in {"call", CALL}
        and isinstance(owner, cst.ClassDef)
        and kind_of_class(module, owner) in KINDS
    )


def _is_definition(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.ClassDef | cst.FunctionDef)


def _fix(file: File, given: Sequence[cst.Arg], names: Sequence[str]) -> Fix | NoFix:
    if len(given) > len(names):
        return NoFix("the name of its parameter is not known here")
    edits = []
    for each, name in zip(given, names, strict=False):
        start = file.module.outer_span(each.value).start
        edits.append(Edit(Span(start, start), (f"{name}=",)))
    return file.fix(f"Pass `{names[0]}` by keyword", *edits)
