"""Which layer of a ``Sequential`` is plainly its first, and whether that says its input."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.dataflow.statements import StatementSlot
from kdoctor.model import Span
from kdoctor.rewrite.source_lines import margin
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_INPUTS = frozenset({"input_shape", "batch_input_shape", "input_dim"})


class LayerPlace(Struct, frozen=True):
    """What is to be written anew so that something may stand before the layer.

    The new element is put between ``before`` and ``after``, in front of the text of ``span``.
    """

    span: Span
    before: str
    after: str


def first_layer_place(module: Module, layer: cst.Call) -> LayerPlace | None:
    """Return the place of the first layer of a ``Sequential``; None for any other layer."""
    holder = module.parent(layer)
    if isinstance(holder, cst.Element):
        return _in_a_list(module, layer, holder)
    if isinstance(holder, cst.Arg):
        return _in_an_add(module, holder)
    return None


def _in_a_list(module: Module, layer: cst.Call, element: cst.Element) -> LayerPlace | None:
    display = module.parent(element)
    if not isinstance(display, cst.List) or display.elements[0] is not element:
        return None
    argument = module.parent(display)
    made = module.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(made, cst.Call) or not _makes_sequential(module, made):
        return None
    span = module.outer_span(layer)
    indent = _own_line_indent(module, span.start)
    return LayerPlace(span, "", ", " if indent is None else f",\n{indent}")


def _in_an_add(module: Module, argument: cst.Arg) -> LayerPlace | None:
    """``model.add(layer)``, the first use of a model that was made empty in the same block."""
    call = module.parent(argument)
    if not isinstance(call, cst.Call) or len(call.args) != 1:
        return None
    method = call.func
    if not isinstance(method, cst.Attribute) or method.attr.value != "add":
        return None
    statement = module.parent(call)
    line = module.parent(statement) if isinstance(statement, cst.Expr) else None
    block = module.parent(line) if isinstance(line, cst.SimpleStatementLine) else None
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    if not isinstance(block, cst.IndentedBlock | cst.Module):
        return None
    if not isinstance(method.value, cst.Name):
        return None
    if not _was_just_made_empty(module, method.value.value, block.body, line):
        return None
    span = module.span(call)
    indent = _own_line_indent(module, span.start)
    return None if indent is None else LayerPlace(span, f"{module.source(method)}(", f")\n{indent}")


def _was_just_made_empty(
    module: Module, name: str, body: Sequence[cst.CSTNode], line: cst.CSTNode
) -> bool:
    """Say whether the last thing before ``line`` that speaks of ``name`` makes it, empty."""
    before = body[: next(index for index, each in enumerate(body) if each is line)]
    for statement in reversed(before):
        speaks = any(
            isinstance(each, cst.Name) and each.value == name for each in descendants(statement)
        )
        if not speaks:
            continue
        if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
            return False
        made = statement.body[0]
        return (
            isinstance(made, cst.Assign)
            and len(made.targets) == 1
            and isinstance(made.targets[0].target, cst.Name)
            and made.targets[0].target.value == name
            and isinstance(made.value, cst.Call)
            and _makes_sequential(module, made.value)
            and all(each.keyword and each.keyword.value == "name" for each in made.value.args)
        )
    return False


def _makes_sequential(module: Module, call: cst.Call) -> bool:
    name = module.qualified(call.func)
    made = module.oracle.class_type(name) if name else None
    return made is not None and made.kind is Kind.MODEL and made.cls == "Sequential"


def _own_line_indent(module: Module, start: int) -> str | None:
    """Return the indent of what starts its line, None for what does not."""
    before = margin(module.text, start)
    return before if not before.strip() else None


# Models whose input is known


def is_built_when_added(module: Module, layer: cst.Call, line: StatementSlot) -> str | None:
    """Return the ``model`` of ``model.add(layer)``, if that builds the layer at once.

    It does where the model, made in the same block, starts with an input.
    """
    added = _added(line.statement)
    if added is None or added[1] is not layer:
        return None
    name = added[0]
    for statement in (*line.above, line.line):
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        first = _first_of(module, small, name)
        if first is not None:
            return name if _says_its_input(module, first) else None
    return None


def _added(statement: cst.CSTNode | None) -> tuple[str, cst.BaseExpression] | None:
    """Return model and layer of ``model.add(layer)``."""
    match statement:
        case cst.Expr(
            value=cst.Call(
                func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="add")),
                args=[cst.Arg(value=layer)],
            )
        ):
            return name, layer
    return None


def _first_of(
    module: Module, statement: cst.CSTNode | None, name: str
) -> cst.BaseExpression | None:
    """Return the layer that a statement makes the first of the model, if it is such a one."""
    added = _added(statement)
    if added is not None and added[0] == name:
        return added[1]
    match statement:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Name(value=target))],
            value=cst.Call(args=[cst.Arg(value=cst.List(elements=[first, *_])), *_]) as made,
        ) if target == name and _makes_sequential(module, made):
            return first.value
    return None


def _says_its_input(module: Module, layer: cst.BaseExpression) -> bool:
    if not isinstance(layer, cst.Call):
        return False
    keywords = {each.keyword.value for each in layer.args if each.keyword}
    leaf = (module.qualified(layer.func) or "").rpartition(".")[2]
    return leaf in {"Input", "InputLayer"} or bool(keywords & _INPUTS)
