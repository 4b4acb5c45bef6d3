"""``Sequential.output``, ``Sequential.input``: only ``outputs`` and ``inputs`` always exist."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.queries import Read, reads
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.model import Edit, Finding, Fix, NoFix, Precedence, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding
from kdoctor.value_types import Kind

_ASK_FOR_A_LIST = frozenset({"isinstance", "len", "zip", "enumerate", "list", "tuple", "type"})


@rule(
    "KD218", severity=Severity.ERROR, since="3.0", look_for=reads("output", "input", on=Kind.MODEL)
)
def check(read: Read) -> Finding | None:
    """Report each read on a model that is, or may be, a `Sequential` never called."""
    told = _is_told_by_calls(read) or read.module.is_from_another_file(read.node.value)
    if read.owner.cls == "Sequential" and not told and not _is_called(read):
        return _of_a_sequential(read)
    if _is_made_a_tensor(read):
        return None
    if told and _is_sequential(read):
        return _of_any_model(read, Severity.CHANGE)
    if not told and _is_any_parameter(read) and _is_used_as_one(read):
        return _of_any_model(read, Severity.LEGACY)
    return None


def _is_told_by_calls(read: Read) -> bool:
    """Say whether it is a parameter for which each call passes such a model."""
    parameter = _parameter(read.module, read.node.value)
    return parameter is not None and read.module.is_inferred_from_calls(parameter)


def _is_any_parameter(read: Read) -> bool:
    """Say whether it is a parameter of which no more is known than that it is a model."""
    return (
        _parameter(read.module, read.node.value) is not None
        and read.owner.cls in {None, "Functional"}
        and is_keras_3(read.facts, read.owner.qualified)
    )


def _is_used_as_one(read: Read) -> bool:
    """Say whether no list is meant: something is read of it, or it is one of several."""
    return isinstance(read.module.parent(read.node), cst.Attribute | cst.Element)


def _is_sequential(read: Read) -> bool:
    """Say whether it is a `Sequential` of Keras 3: any other model may be a functional one."""
    return read.owner.cls == "Sequential" and is_keras_3(read.facts, read.owner.qualified)


def _parameter(module: Module, model: cst.BaseExpression) -> Binding | None:
    """Return the parameter that it is, or that a class keeps: ``self.model = model``."""
    if isinstance(model, cst.Attribute):
        kept = points_to_of(module).stored(model)
        match kept:
            case (cst.Tuple() as several, (int() as place,)) if place < len(several.elements):
                model = several.elements[place].value  # self.model, self.size = model, size
            case (value, ()):
                model = value
            case _:
                return None
    bound = module.bindings_at(model) if isinstance(model, cst.Name) else ()
    is_given = len(bound) == 1 and isinstance(bound[0].node, cst.Param)
    return bound[0] if is_given else None


def _is_made_a_tensor(read: Read) -> bool:
    """Say whether the function, or the class that keeps it, calls it on a symbolic tensor."""
    module, scope = read.module, read.module.scope_of(read.node)
    is_kept = isinstance(read.node.value, cst.Attribute)
    inside = (each for each in module.nodes(cst.Call) if is_kept or module.scope_of(each) is scope)
    return _is_among(read, (each.func for each in inside if is_symbolic(module, each)))


def _is_called(read: Read) -> bool:
    """Say whether the model is called, or handed to who may call it."""
    called = (call.func for call in read.module.nodes(cst.Call))
    given = (argument.value for argument in read.module.nodes(cst.Arg))
    return _is_among(read, (*called, *given))


def _is_among(read: Read, expressions: Iterable[cst.BaseExpression]) -> bool:
    """Say whether one of these is the model that is read, by its own name or another."""
    module, model = read.module, read.node.value
    points_to = points_to_of(module)
    return any(
        points_to.is_same(each, model)
        for each in expressions
        if isinstance(each, cst.Name | cst.Attribute)
        and (module.source(each) == module.source(model) or _is_model(module, each))
    )


def _is_model(module: Module, node: cst.BaseExpression) -> bool:
    found = module.type_of(node)
    return found is not None and found.kind is Kind.MODEL


def _of_a_sequential(read: Read) -> Finding:
    return read.finding(
        f"a `Sequential` has no `{read.member}` before it is called like a layer: AttributeError: "
        f"The layer sequential has never been called and thus has no defined {read.member}.",
        symbol=f"Sequential.{read.member}",
        help=f"`{read.member}s[0]` exists as soon as the model is built.",
        fix=_the_first(read),
    )


def _the_first(read: Read, unsafe_because: str = "") -> Fix | NoFix:
    new = f"{read.member}s[0]"
    edit = Edit(read.module.span(read.node.attr), (new,), Precedence.PRIMARY)
    return read.fix(f"Read `.{new}` instead", edit, unsafe_because=unsafe_because)


def _of_any_model(read: Read, severity: Severity) -> Finding:
    member = read.member
    return read.finding(
        f"a `Sequential` has no `{member}` before it is called like a layer; other models do",
        symbol=f"Model.{member}",
        severity=severity,
        help=f"Every built model has `{member}s`, a list of tensors: for a single one write "
        f"`{member}s[0]`.",
        fix=NoFix(f"the model may have several {member}s")
        if _may_be_several(read.module, read.node)
        else _the_first(read, f"for a model with several {member}s it is the first, not a list"),
    )


def _may_be_several(module: Module, read: cst.BaseExpression) -> bool:
    """Say whether the code is ready for a list of them."""
    match module.parent(read):
        case cst.Arg() as given:
            call = module.parent(given)
            return isinstance(call, cst.Call) and module.source(call.func) in _ASK_FOR_A_LIST
        case cst.For() | cst.CompFor():
            return True
    return False
