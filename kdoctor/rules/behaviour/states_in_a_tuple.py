"""A recurrent layer with `return_state=True` returns a tuple, no longer a list."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, has_builtin, is_keras_3, literal, value_of
from kdoctor.analysis.dataflow.uses import names_with_spelling
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import keyword
from kdoctor.memoize import once
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_STATES = "return_state"
_ASK = ("isinstance", "type")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such sum."""
    for node in module.nodes(cst.BinaryOperation):
        if not isinstance(node.operator, cst.Add) or module.is_guarded(node):
            continue
        for states, other in ((node.right, node.left), (node.left, node.right)):
            is_list = isinstance(value_of(module, other), cst.List | cst.ListComp)
            if is_list and _are_states(module, facts, states):
                yield _finding(module, facts, states, is_first=states is node.left)


def _are_states(module: Module, facts: TargetFacts, node: cst.BaseExpression) -> bool:
    """Say whether it is a slice of what a recurrent layer gives together with its states."""
    part = _bound(module, node)
    if not isinstance(part, cst.Subscript) or len(part.slice) != 1:
        return False
    if not isinstance(part.slice[0].slice, cst.Slice):
        return False
    if any(_is_asked_about(module, each) for each in (node, part.value)):
        return False
    called = _bound(module, part.value)
    layer = value_of(module, called.func) if isinstance(called, cst.Call) else None
    made = module.type_of(layer) if isinstance(layer, cst.Call) else None
    if made is None or made.kind is not Kind.LAYER or made.qualified is None:
        return False
    assert isinstance(layer, cst.Call)
    given = argument(layer, _STATES)
    taken = facts.signature(made.qualified)
    return (
        made.is_of_imported_class
        and is_keras_3(facts, made.qualified)
        and taken is not None
        and taken.parameter(_STATES) is not None
        and given is not None
        and literal(given.value) is True
    )


def _bound(module: Module, node: cst.BaseExpression) -> cst.BaseExpression:
    """Return what a name was bound to, also as a part of `a, b = x, y`; else the node itself."""
    value = value_of(module, node)
    if value is not node or not isinstance(node, cst.Name):
        return value
    bindings = module.bindings_at(node)
    if len(bindings) != 1 or len(bindings[0].path) != 1:
        return node
    parts, place = bindings[0].value, bindings[0].path[0]
    if not isinstance(parts, cst.Tuple) or place is None:
        return node
    if any(isinstance(each, cst.StarredElement) for each in parts.elements):
        return node
    return parts.elements[place].value if place < len(parts.elements) else node


def _is_asked_about(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether the file asks of which type a name is: then it may well do without a list."""
    return isinstance(node, cst.Name) and node.value in _asked_about(module)


@once
def _asked_about(module: Module) -> frozenset[str]:
    called = (module.parent(each) for name in _ASK for each in names_with_spelling(module, name))
    return frozenset(
        each.args[0].value.value
        for each in called
        if isinstance(each, cst.Call) and each.args and isinstance(each.args[0].value, cst.Name)
    )


def _finding(
    module: Module, facts: TargetFacts, states: cst.BaseExpression, *, is_first: bool
) -> Finding:
    span = module.outer_span(states)
    is_hidden = not has_builtin(module, states, "list")
    whole, part = ("tuple", "list") if is_first else ("list", "tuple")
    return rule.finding(
        module.place(states),
        "a recurrent layer returns its states in a tuple: TypeError: can only concatenate "
        f'{whole} (not "{part}") to {whole}',
        symbol="keras.layers.RNN.__call__",
        confidence=Confidence.LIKELY,
        help="Convert them to a list: `list(…)`.",
        fix=NoFix("`list` is shadowed here")
        if is_hidden
        else Fix(
            "Convert the states to a list",
            (Edit(span, ("list(", Hole(span), ")")),),
            facts.applicability(*(each for each in rule.invalid if each.after)),
        ),
    )


rule = Rule(
    code="KD454",
    name="states-in-a-tuple",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword(_STATES),
    since="3.0",
)
