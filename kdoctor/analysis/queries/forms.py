"""Forms: what an expression is, as one Python value for both trees.

A query's ``where=`` is asked of ``ast`` by the gate and of libcst by the rule; a form is what both
give it. Constants are themselves, displays are lists, tuples and ``DictForm`` of forms, anything
else is an ``Expression`` of the class that ``ast`` has for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.ast_walk import ast_dotted_name, leaf_of
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.syntax.quick_facts import QuickFacts

_DEPTH: Final = 3  # displays inside displays; deeper ones are of no interest to any question
_CLASSES: Final[dict[type[cst.CSTNode], str]] = {
    cst.Call: "Call",
    cst.Name: "Name",
    cst.Attribute: "Attribute",
    cst.Subscript: "Subscript",
    cst.Lambda: "Lambda",
    cst.BinaryOperation: "BinOp",
    cst.UnaryOperation: "UnaryOp",
    cst.BooleanOperation: "BoolOp",
    cst.Comparison: "Compare",
    cst.IfExp: "IfExp",
    cst.ListComp: "ListComp",
    cst.SetComp: "SetComp",
    cst.DictComp: "DictComp",
    cst.GeneratorExp: "GeneratorExp",
    cst.FormattedString: "JoinedStr",
    cst.Set: "Set",
    cst.StarredElement: "Starred",
}


_CONSTANTS: Final = (cst.BaseNumber, cst.BaseString, cst.Name, cst.UnaryOperation)
_OPERATORS: Final[dict[type[ast.operator | cst.BaseBinaryOp], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
}


_NAMED: Final = frozenset({"Name", "Attribute", "Call"})


class Expression(Struct, frozen=True):
    """An expression that is no constant and no display.

    ``kind`` is the name of its class in ``ast`` (``Call``, ``BinOp``, …), "" where it has none.
    ``name`` is the dotted name as written: of a name, an attribute, or what is called. Of an
    operation it is ``+``, ``-``, ``*``, ``/`` or ``//``, "" for others; of an element by its
    number it is the last name of what has it, ``shape`` of ``x.shape[0]``. ``meant`` are the dotted
    names of what is imported that it may mean, where a query asks of an argument.
    """

    kind: str
    name: str = ""
    meant: frozenset[str] = frozenset()


class DictForm(Struct, frozen=True):
    """A dict display. The key of ``**other`` is ``Expression("Starred")``."""

    items: tuple[tuple[object, object], ...]


_STARRED: Final = Expression("Starred")


def form_of(node: ast.expr | cst.BaseExpression, depth: int = _DEPTH) -> object:
    """Return the form of an expression of either tree."""
    if isinstance(node, ast.AST):
        return _ast_form(node, depth)
    return _libcst_form(node, depth)


def form_in(module: Module, node: cst.BaseExpression) -> object:
    """Return the form of an expression, with what its name means."""
    form = form_of(node)
    if not isinstance(form, Expression) or form.kind not in _NAMED:
        return form
    meant = module.qualified(node.func if isinstance(node, cst.Call) else node)
    return Expression(form.kind, form.name, frozenset(filter(None, [meant])))


def may_form_in(quick: QuickFacts, node: ast.expr) -> object:
    """Return the form of an expression, with all that its name may mean."""
    if isinstance(node, ast.Constant):  # as many are
        return node.value
    form = form_of(node)
    if not isinstance(form, Expression) or form.kind not in _NAMED:
        return form
    meant = quick.meant_by(node.func if isinstance(node, ast.Call) else node)
    return Expression(form.kind, form.name, meant)


def _ast_form(node: ast.expr, depth: int) -> object:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return Expression("Name", name)
        case ast.Attribute():
            return Expression("Attribute", ast_dotted_name(node) or "")
        case ast.Call(func=function):
            return Expression("Call", ast_dotted_name(function) or "")
        case ast.UnaryOp(operand=ast.Constant()):
            number = literal(node)
            return Expression("UnaryOp") if number is UNKNOWN else number
        case ast.List(elts=elements) if depth:
            return [_ast_form(each, depth - 1) for each in elements]
        case ast.Tuple(elts=elements) if depth:
            return tuple(_ast_form(each, depth - 1) for each in elements)
        case ast.Dict(keys=keys, values=values) if depth:
            return DictForm(
                tuple(
                    (_STARRED if key is None else _ast_form(key, depth - 1),
                     _ast_form(value, depth - 1))
                    for key, value in zip(keys, values, strict=True)
                )
            )  # fmt: skip
        case ast.BinOp(op=operator):
            return Expression("BinOp", _OPERATORS.get(type(operator), ""))
        case ast.Subscript(value=owner, slice=ast.Constant(value=int())):
            return Expression("Subscript", leaf_of(owner))
    return Expression(type(node).__name__)


def _libcst_form(node: cst.BaseExpression, depth: int) -> object:
    constant = literal(node) if isinstance(node, _CONSTANTS) else UNKNOWN
    if constant is not UNKNOWN:
        return constant
    match node:
        case cst.List(elements=elements) if depth:
            return [_element_form(each, depth - 1) for each in elements]
        case cst.Tuple(elements=elements) if depth:
            return tuple(_element_form(each, depth - 1) for each in elements)
        case cst.Dict(elements=entries) if depth:
            return DictForm(
                tuple(
                    (_libcst_form(each.key, depth - 1), _libcst_form(each.value, depth - 1))
                    if isinstance(each, cst.DictElement)
                    else (_STARRED, _libcst_form(each.value, depth - 1))
                    for each in entries
                )
            )
        case cst.ConcatenatedString():
            text = literal(node)
            return Expression("JoinedStr") if text is UNKNOWN else text
        case cst.Call(func=function):
            return Expression("Call", dotted_name(function) or "")
        case cst.BinaryOperation(operator=operator):
            return Expression("BinOp", _OPERATORS.get(type(operator), ""))
        case cst.Subscript(
            value=cst.Name(value=leaf) | cst.Attribute(attr=cst.Name(value=leaf)),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer()))],
        ):
            return Expression("Subscript", leaf)
        case cst.Name() | cst.Attribute():
            return Expression(type(node).__name__, dotted_name(node) or "")
    return Expression(_CLASSES.get(type(node), ""))


def _element_form(node: cst.BaseElement, depth: int) -> object:
    return _STARRED if isinstance(node, cst.StarredElement) else _libcst_form(node.value, depth)


def possible_forms(quick: QuickFacts, given: ast.expr) -> tuple[object, ...]:
    """Return the forms that what is given may have, by all values of a name.

    A name stands for itself, too, where nothing tells its one value.
    """
    if isinstance(given, ast.Constant):
        return (given.value,)
    if isinstance(given, ast.Name):
        return _forms_of_name(quick, given.id, given)
    return _forms_of(quick, given)


@once  # many queries ask for those of each argument
def _forms_of(quick: QuickFacts, given: ast.expr) -> tuple[object, ...]:
    return (may_form_in(quick, given),)


def _forms_of_name(quick: QuickFacts, name: str, node: ast.Name) -> tuple[object, ...]:
    known = _names(quick)
    if name not in known:
        values = (may_form_in(quick, each) for each in quick.values_of(node))
        known[name] = (may_form_in(quick, node), *values)
    return known[name]


@once
def _names(_: QuickFacts) -> dict[str, tuple[object, ...]]:
    return {}


class Given(Struct, frozen=True):
    """The forms of what a call passes, as written: what a name stands for is not asked."""

    by_position: tuple[object, ...]
    keywords: dict[str, object]

    def argument(self, name: str, place: int | None = None, absent: object = None) -> object:
        """Return the form of what is passed by this keyword, or at this place (from 0)."""
        if place is not None and place < len(self.by_position):
            return self.by_position[place]
        return self.keywords.get(name, absent)


def given_by(call: ast.Call | cst.Call) -> Given:
    """Return what a call of either tree passes; ``**other`` is left out."""
    if isinstance(call, ast.Call):
        named = {each.arg: form_of(each.value) for each in call.keywords if each.arg is not None}
        return Given(tuple(map(form_of, call.args)), named)
    return Given(
        tuple(
            _STARRED if each.star else form_of(each.value)
            for each in call.args
            if each.keyword is None and each.star != "**"
        ),
        {each.keyword.value: form_of(each.value) for each in call.args if each.keyword},
    )


def elements_of(form: object) -> Iterator[object]:
    """Yield what stands in displays inside displays, without their keys; else the form itself."""
    if isinstance(form, list | tuple):
        for each in form:
            yield from elements_of(each)
    elif isinstance(form, DictForm):
        for _, value in form.items:
            yield from elements_of(value)
    else:
        yield form


# -- questions about forms, for ``where=``


def is_number(form: object) -> bool:
    """Say whether it is a number; True and False count as none."""
    return isinstance(form, int | float) and not isinstance(form, bool)


def is_plain_int(form: object) -> bool:
    """Say whether it is an int without a sign; True and False count as none."""
    return type(form) is int and form >= 0


def is_text(form: object) -> bool:
    """Say whether it is a string."""
    return isinstance(form, str)


def is_none(form: object) -> bool:
    """Say whether it is None."""
    return form is None


def is_true(form: object) -> bool:
    """Say whether it is True itself."""
    return form is True


def is_false(form: object) -> bool:
    """Say whether it is False itself."""
    return form is False


def is_display(form: object) -> bool:
    """Say whether it is a list or a tuple."""
    return isinstance(form, list | tuple)


def is_computed(form: object) -> bool:
    """Say whether it is an operation or a call."""
    return isinstance(form, Expression) and form.kind in {"BinOp", "Call"}


def is_call_of(*names: str) -> Callable[[object], bool]:
    """Return the question whether it is a call of what is written so."""
    return lambda form: isinstance(form, Expression) and form.kind == "Call" and form.name in names


def is_any_call(form: object) -> bool:
    """Say whether it is a call."""
    return isinstance(form, Expression) and form.kind == "Call"


def is_lambda(form: object) -> bool:
    """Say whether it is a lambda."""
    return isinstance(form, Expression) and form.kind == "Lambda"


def is_dict_of_one(form: object) -> bool:
    """Say whether it is a dict with one entry, which is written out."""
    return isinstance(form, DictForm) and len(form.items) == 1 and form.items[0][0] != _STARRED


def is_list_of_one(form: object) -> bool:
    """Say whether it is a list with one element, which is written out."""
    return isinstance(form, list) and len(form) == 1 and form[0] != _STARRED


def is_sequence_of_several(form: object) -> bool:
    """Say whether it is a list or tuple with more than one element."""
    return isinstance(form, list | tuple) and len(form) > 1


def is_dict_of_several(form: object) -> bool:
    """Say whether it is a dict with more than one entry."""
    return isinstance(form, DictForm) and len(form.items) > 1


def is_list(form: object) -> bool:
    """Say whether it is a list, which is written out."""
    return isinstance(form, list)


def is_bool(form: object) -> bool:
    """Say whether it is True or False."""
    return isinstance(form, bool)


def is_several(form: object) -> bool:
    """Say whether it is a list, tuple or dict with more than one element."""
    return is_sequence_of_several(form) or is_dict_of_several(form)


def is_named(form: object) -> bool:
    """Say whether it is a name, or an attribute of one."""
    return isinstance(form, Expression) and form.kind in {"Attribute", "Name"} and bool(form.name)
