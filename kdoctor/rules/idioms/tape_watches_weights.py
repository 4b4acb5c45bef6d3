"""`tape.watch(model.trainable_variables)`: a tape only accepts TensorFlow tensors and variables."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, literal, value_of
from kdoctor.analysis.dataflow.statements import free_name, remove_statement
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, member, word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_TAPE: Final = "GradientTape"
_TAPES: Final = ways_also_by_1(f"tensorflow.{_TAPE}")
_TRAINABLE: Final = frozenset({"trainable_variables", "trainable_weights"})
_ALL: Final = frozenset({
    *("non_trainable_variables", "non_trainable_weights", "variables", "weights"),
    *_TRAINABLE,
})  # fmt: skip
_SAYS = "ValueError: Passed in object <Variable"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    lists = {
        id(use.node): use
        for use in module.members
        if use.member in _ALL
        and use.owner.kind in (Kind.MODEL, Kind.LAYER)
        and not use.owner_defines
    }
    for call in module.nodes(cst.Call):
        match call:
            case cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="watch")),
                args=[cst.Arg(star="", value=given)],
            ):
                tape = _tape(module, owner)
            case _:
                continue
        if tape is None or module.is_guarded(call):
            continue
        use = lists.get(id(value_of(module, given)))
        if use is None and not _is_weight(module, given):
            continue
        shown = module.source(given)
        yield rule.finding(
            module.place(given),
            f"a tape does not accept Keras weights: {_SAYS} …> of type 'Variable', not tf.Tensor",
            symbol=f"{_TAPE}.watch",
            confidence=use.confidence if use else Confidence.LIKELY,
            help="Trainable weights are watched automatically; otherwise watch the values of "
            f"`{shown}`.",
            fix=_fix(module, facts, call, given, tape, use.member if use else None),
        )


def _tape(module: Module, node: cst.BaseExpression) -> cst.Call | None:
    """Return the call that made a tape, of a name that holds nothing else."""
    bound = module.bindings_at(node) if isinstance(node, cst.Name) else ()
    if len(bound) != 1 or bound[0].path:
        return None
    if bound[0].kind not in (BindingKind.WITH, BindingKind.ASSIGN):
        return None
    made = bound[0].value
    return made if isinstance(made, cst.Call) and module.qualified(made.func) in _TAPES else None


def _is_weight(module: Module, node: cst.BaseExpression) -> bool:
    found = module.type_of(node)
    return found is not None and found.kind is Kind.VARIABLE and not found.is_tf_variable


def _fix(  # noqa: PLR0913, PLR0917 - the call, what it gets, and how
    module: Module,
    facts: TargetFacts,
    call: cst.Call,
    given: cst.BaseExpression,
    tape: cst.Call,
    of: str | None,
) -> Fix:
    """Return the fix: no call, where the tape watches them by itself; else what they hold."""
    proven = facts.applicability(*(each for each in rule.invalid if each.after))
    if of in _TRAINABLE and _watches_all(tape) and isinstance(module.parent(call), cst.Expr):
        return Fix("Remove it", (remove_statement(module, call),), proven)
    hole = Hole(module.outer_span(given))
    if of is None:
        parts: tuple[str | Hole, ...] = (hole, ".value")
    else:
        weight = free_name(module, call, "weight")
        parts = (f"[{weight}.value for {weight} in ", hole, "]")
    return Fix("Watch their values", (Edit(module.outer_span(given), parts),), proven)


def _watches_all(tape: cst.Call) -> bool:
    """Say whether a tape watches what is trainable when it is read, as it does unless told."""
    told = argument(tape, "watch_accessed_variables", 1)
    return not is_hidden(tape) and (told is None or literal(told.value) is True)


def _may_watch(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        len(each.node.args) == 1 and isinstance(each.node.func, ast.Attribute)
        for each in quick.calls_of("watch")
    )


rule = Rule(
    code="KD522",
    name="tape-watches-weights",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=word(_TAPE) & member("watch") & Trigger(_may_watch),
    since="3.0",
)
