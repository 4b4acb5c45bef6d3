"""A property that raises until it is set: Keras 3 reads it before it sets it, and so raises."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import has_builtin, hidden_builtin, is_builtin, replace_expression
from kdoctor.analysis.models.user_classes import (
    lineage_with_base,
    methods_in,
    receiver,
    with_bases,
)
from kdoctor.analysis.queries import Class, classes
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants, own_nodes
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_ACCEPTED: Final = "AttributeError"  # what Keras takes for "there is no such attribute"
_ASSERTION: Final = "AssertionError"
_OWN_SETATTR: Final = "__setattr__"

_OF_LAYERS: Final = classes(Kind.LAYER) | classes(Kind.MODEL)


class _Property(Struct, frozen=True):
    """A property with a setter, of a class; ``kept`` are the attributes that the setter assigns."""

    node: cst.ClassDef
    getter: cst.FunctionDef
    setter: cst.FunctionDef
    kept: frozenset[str]
    has_own_base: bool  # which may assign more


class _Raised(Struct, frozen=True):
    """What a getter raises: the statement, and the name and the text of the error."""

    node: cst.Raise | cst.Assert
    error: str
    text: str


@rule(
    "KD240",
    severity=Severity.ERROR,
    since="3.0",
    look_for=_OF_LAYERS.beside(attribute("setter")),
)
def check(owner: Class) -> Iterator[Finding]:
    """Report each property that raises as long as it is not set."""
    classes = with_bases(owner.module, owner.node)
    if any(_OWN_SETATTR in methods_in(each) for each in classes):
        return
    line, base = lineage_with_base(owner.module, owner.node)
    has_own_base = base is None or len(line) > 1
    for each in _properties(owner.node, has_own_base=has_own_base):
        raised = next(_raised(owner.module, each), None)
        if raised is not None:
            yield _finding(owner, each, raised)


def _properties(node: cst.ClassDef, *, has_own_base: bool) -> Iterator[_Property]:
    getters: dict[str, cst.FunctionDef] = {}
    for each in node.body.body:
        if not isinstance(each, cst.FunctionDef) or len(each.decorators) != 1:
            continue
        match each.decorators[0].decorator:
            case cst.Name(value="property"):
                getters[each.name.value] = each
            case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="setter")):
                if name == each.name.value and name in getters:
                    kept = frozenset(_assigned(each))
                    yield _Property(node, getters[name], each, kept, has_own_base)


def _assigned(method: cst.FunctionDef) -> Iterator[str]:
    """Yield the attributes of ``self`` that a method assigns."""
    for target, _ in _assignments(method):
        yield target.attr.value


def _assignments(
    method: cst.FunctionDef,
) -> Iterator[tuple[cst.Attribute, cst.BaseExpression | None]]:
    own = receiver(method)
    for each in own_nodes(method.body):
        match each:
            case cst.Assign():
                targets = [one.target for one in each.targets]
            case cst.AnnAssign(value=cst.BaseExpression()):
                targets = [each.target]
            case _:
                continue
        for target in targets:
            if isinstance(target, cst.Attribute) and _is_name(target.value, own):
                yield target, each.value


def _assigned_otherwise(method: cst.FunctionDef) -> Iterator[str | None]:
    """Yield the attributes that a method may assign in other ways, None where any may be meant."""
    for each in descendants(method.body):
        match each:
            case cst.AssignTarget(target=cst.Tuple() | cst.List() as target):
                yield from _attributes_in(target)
            case cst.AugAssign(target=target) | cst.For(target=target) | cst.CompFor(target=target):
                yield from _attributes_in(target)
            case cst.AsName(name=target):
                yield from _attributes_in(target)
            case cst.Call(
                func=cst.Name(value="setattr") | cst.Attribute(attr=cst.Name(value="__setattr__"))
            ):
                name = literal(each.args[-2].value) if len(each.args) > 1 else None
                yield name if isinstance(name, str) else None
            case (
                cst.Call(func=cst.Name(value="vars"))
                | cst.Attribute(attr=cst.Name(value="__dict__"))
            ):
                yield None


def _attributes_in(target: cst.CSTNode) -> Iterator[str]:
    return (each.attr.value for each in descendants(target) if isinstance(each, cst.Attribute))


def _is_name(node: cst.CSTNode, name: str | None) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _raised(module: Module, each: _Property) -> Iterator[_Raised]:
    """Yield what the getter raises as long as the setter has not run."""
    has_asked = False  # whether it is set: what follows runs where it is not
    for statement in _statements(each.getter.body):
        match statement:
            case cst.If(test=test) if _is_unset(each, test):
                yield from _raises_in(module, statement.body)
                return
            case cst.If(test=test) if _is_set(each, test):
                has_asked = True
                if isinstance(statement.orelse, cst.Else):
                    yield from _raises_in(module, statement.orelse.body)
                    return
            case cst.Assert(test=test) if _is_set(each, test):
                yield _Raised(statement, _ASSERTION, "…")
                return
            case cst.Raise() if has_asked and (told := _told(module, statement)) is not None:
                yield told
                return
            case cst.Try(handlers=[cst.ExceptHandler(type=cst.Name(value=name)) as handler]):
                if name == _ACCEPTED and not _is_ever_assigned(each):
                    yield from _raises_in(module, handler.body)
                return
            case _ if _may_end(statement):
                return


def _statements(body: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    """Yield the statements of a block, also of one that stands on the line of its `if`."""
    for each in body.body:
        yield from each.body if isinstance(each, cst.SimpleStatementLine) else (each,)


def _may_end(statement: cst.CSTNode) -> bool:
    ends = (cst.Return, cst.Raise)
    return isinstance(statement, ends) or any(isinstance(e, ends) for e in own_nodes(statement))


def _raises_in(module: Module, body: cst.BaseSuite) -> Iterator[_Raised]:
    """Yield what a block raises, where that is all that it may do."""
    *others, last = _statements(body)
    if isinstance(last, cst.Raise) and not any(map(_may_end, others)):
        raised = _told(module, last)
        if raised is not None:
            yield raised


def _told(module: Module, statement: cst.Raise) -> _Raised | None:
    raised = statement.exc
    function = raised.func if isinstance(raised, cst.Call) else raised
    if not isinstance(function, cst.Name) or not is_builtin(module, function):
        return None
    error = getattr(builtins, function.value, None)
    if not (isinstance(error, type) and issubclass(error, Exception)):
        return None
    if issubclass(error, AttributeError):
        return None
    text = literal(raised.args[0].value) if isinstance(raised, cst.Call) and raised.args else None
    shown = text if isinstance(text, str) and "\n" not in text else "…"
    return _Raised(statement, function.value, shown)


def _is_unset(each: _Property, test: cst.BaseExpression) -> bool:
    """Say whether a condition holds of a property that nobody has set: ``self._x is None``."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _is_set(each, inner)
        case cst.Comparison(
            comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.Equal(), comparator=none)]
        ):
            return literal(none) is None and _is_kept(each, test.left)
    return False


def _is_set(each: _Property, test: cst.BaseExpression) -> bool:
    """Say whether a condition fails as long as nobody has set the property."""
    match test:
        case cst.Comparison(
            comparisons=[
                cst.ComparisonTarget(operator=cst.IsNot() | cst.NotEqual(), comparator=none)
            ]
        ):
            return literal(none) is None and _is_kept(each, test.left)
        case cst.Call(func=cst.Name(value="hasattr"), args=[owner, name]):
            return _is_only_set(each, owner.value, name.value)
    return _is_kept(each, test)


def _is_kept(each: _Property, value: cst.BaseExpression) -> bool:
    """Say whether it is the attribute that the setter assigns, which is None before."""
    match value:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            is_own = _is_name(owner, receiver(each.getter))
            return is_own and name in each.kept and _begins_with_none(each, name)
        case cst.Call(func=cst.Name(value="getattr"), args=[owner, name, default]):
            is_none = literal(default.value) is None
            return is_none and _is_only_set(each, owner.value, name.value)
    return False


def _is_only_set(each: _Property, owner: cst.BaseExpression, name: cst.BaseExpression) -> bool:
    """Say whether nothing but the setter assigns the attribute that is asked for by its name."""
    is_own = _is_name(owner, receiver(each.getter)) and literal(name) in each.kept
    return is_own and not _is_ever_assigned(each)


def _begins_with_none(each: _Property, name: str) -> bool:
    """Say whether an attribute is None in the class, or where ``__init__`` sets it, and only so."""
    init = methods_in(each.node).get("__init__")
    if init is not None:
        values = [value for target, value in _assignments(init) if target.attr.value == name]
        if values:
            is_other = not {name, None}.isdisjoint(_assigned_otherwise(init))
            return not is_other and all(literal(value) is None for value in values)
    of_class = (
        one.value
        for one in _statements(each.node.body)
        if isinstance(one, cst.Assign) and _is_name(one.targets[0].target, name)
    )
    return literal(next(of_class, None)) is None and not _is_ever_assigned(each)


def _is_ever_assigned(each: _Property) -> bool:
    """Say whether something else may assign what the setter does: another method, or a base."""
    methods = (one for one in each.node.body.body if isinstance(one, cst.FunctionDef))
    others = (one for one in methods if one is not each.setter)
    names = {name for one in others for name in (*_assigned(one), *_assigned_otherwise(one))}
    return each.has_own_base or not names.isdisjoint({*each.kept, None})


def _finding(owner: Class, each: _Property, raised: _Raised) -> Finding:
    name = each.getter.name.value
    return owner.finding(
        f"Keras 3 reads `{name}` before it sets it: {raised.error}: {raised.text}",
        at=raised.node,
        symbol=f"{owner.symbol}.{name}",
        help="Raise an AttributeError: Keras takes it for an attribute that is not there yet.",
        fix=_fix(owner, raised),
    )


def _fix(owner: Class, raised: _Raised) -> Fix | NoFix:
    if not has_builtin(owner.module, raised.node, _ACCEPTED):
        return NoFix(hidden_builtin(_ACCEPTED))
    error = raised.node.exc if isinstance(raised.node, cst.Raise) else None
    function = error.func if isinstance(error, cst.Call) else error
    if function is None:
        return NoFix("an assertion raises an AssertionError")
    return owner.fix(
        f"Raise an {_ACCEPTED}",
        replace_expression(owner.module, function, _ACCEPTED),
        unsafe_because=f"what catches the {raised.error} no longer does, and `hasattr` is false",
    )
