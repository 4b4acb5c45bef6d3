"""``self.add_update(…)``: pairs and functions, which Keras 2 made updates of, and ``inputs``."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.model import Applicability, Edit, Fix, Hole, Precedence
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rewrite.source_lines import margin
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.displays import elements_of
from kdoctor.syntax.scopes import BindingKind

_TAKES = {"updates", "inputs"}
_AT_ONCE = "the update runs each time `call` does; Keras 2 ran it once per training batch"
_CALLS_IT = "the argument must perform the update itself, like `variable.assign(value)`"


def update_fix(module: Module, use: MemberUse) -> Fix | None:
    """Return the fix of ``add_update`` with pairs, functions, a list or ``inputs``, else None.

    A pair or a function as a statement would do nothing: ``(x, new)`` is ``x.assign(new)``.
    """
    call = use.called
    if use.member != "add_update" or call is None or not _is_a_line(module, call):
        return None
    updates, inputs = argument(call, "updates", 0), argument(call, "inputs", 1)
    known = all(each.keyword is None or each.keyword.value in _TAKES for each in call.args)
    passed = [each for each in (updates, inputs) if each is not None]
    if updates is None or len(passed) != len(call.args) or not known or _says_more(module, call):
        return None
    if inputs is not None and not isinstance(inputs.value, cst.Name | cst.Attribute | cst.List):
        return None
    items = _items(updates.value)
    is_list = isinstance(updates.value, cst.List)
    if items is None or not (inputs or is_list or _has_no_statement(module, items)):
        return None
    start = module.span(call).start
    indent = margin(module.text, start)
    parts: list[str | Hole] = []
    for each in items:
        parts += [f"\n{indent}"] if parts else []
        parts += _statement(module, each)
    certain = all(_is_no_statement(module, each) for each in items)
    return Fix(
        "Run the update here",
        (Edit(module.span(call), tuple(parts)),),
        Applicability.UNSAFE,
        unsafe_because=_AT_ONCE if certain else _CALLS_IT,
    )


def _is_a_line(module: Module, call: cst.Call) -> bool:
    expression = module.parent(call)
    line = None if expression is None else module.parent(expression)
    start = module.span(call).start
    before = margin(module.text, start)
    return (
        isinstance(expression, cst.Expr)
        and isinstance(line, cst.SimpleStatementLine)
        and len(line.body) == 1
        and not before.strip()
    )


def _says_more(module: Module, call: cst.Call) -> bool:
    return "#" in module.source(call)


def _items(updates: cst.BaseExpression) -> list[cst.BaseExpression] | None:
    if not isinstance(updates, cst.List):
        return [updates]
    return elements_of(updates) or None


def _has_no_statement(module: Module, items: list[cst.BaseExpression]) -> bool:
    return any(_is_no_statement(module, each) for each in items)


def _is_no_statement(module: Module, item: cst.BaseExpression) -> bool:
    return _pair(item) is not None or _body(item) is not None or _is_function(module, item)


def _is_function(module: Module, item: cst.BaseExpression) -> bool:
    """Say whether a name certainly stands for a function of the file."""
    bindings = module.bindings_at(item) if isinstance(item, cst.Name) else ()
    return bool(bindings) and all(
        each.kind is BindingKind.FUNCTION or isinstance(each.value, cst.Lambda) for each in bindings
    )


def _pair(item: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    match item:
        case cst.Tuple(elements=[cst.Element(value=variable), cst.Element(value=value)]):
            return variable, value
    return None


def _body(item: cst.BaseExpression) -> cst.BaseExpression | None:
    if isinstance(item, cst.Lambda) and not item.params.children:
        return item.body
    return None


def _statement(module: Module, item: cst.BaseExpression) -> list[str | Hole]:
    pair, body = _pair(item), _body(item)
    if _is_function(module, item):
        return [_hole(module, item, Precedence.PRIMARY), "()"]
    if pair is None:
        return [_hole(module, item if body is None else body, Precedence.ANY)]
    variable, value = pair
    return [
        _hole(module, variable, Precedence.PRIMARY),
        ".assign(",
        _hole(module, value, Precedence.LAMBDA),
        ")",
    ]


def _hole(module: Module, node: cst.BaseExpression, wanted: Precedence) -> Hole:
    return Hole(module.outer_span(node), wanted, precedence_of(node))
