"""`tape.watch(model.trainable_variables)`: a tape only accepts TensorFlow tensors and variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import binding_of, is_hidden, passed, value_of
from kdoctor.analysis.dataflow.statements import free_name, remove_statement
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import member, word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Confidence, Edit, Finding, Fix, Hole, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
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


@rule("KD522", severity=Severity.ERROR, since="3.0", look_for=files(word(_TAPE), member("watch")))
def check(file: File) -> Iterator[Finding]:
    """Report each such call."""
    module = file.module
    lists = {
        id(use.node): use
        for use in module.members_named(*_ALL)
        if use.owner.kind in (Kind.MODEL, Kind.LAYER) and not use.owner_defines
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
        yield file.finding(
            f"a tape does not accept Keras weights: {_SAYS} …> of type 'Variable', not tf.Tensor",
            at=given,
            symbol=f"{_TAPE}.watch",
            confidence=use.confidence if use else Confidence.LIKELY,
            help="Trainable weights are watched automatically; otherwise watch the values of "
            f"`{file.source(given)}`.",
            fix=_fix(module, call, given, tape, use.member if use else None),
        )


def _tape(module: Module, node: cst.BaseExpression) -> cst.Call | None:
    """Return the call that made a tape, of a name that holds nothing else."""
    bound = binding_of(module, node)
    if bound is None or bound.path:
        return None
    if bound.kind not in (BindingKind.WITH, BindingKind.ASSIGN):
        return None
    made = bound.value
    return made if isinstance(made, cst.Call) and module.qualified(made.func) in _TAPES else None


def _is_weight(module: Module, node: cst.BaseExpression) -> bool:
    found = module.type_of(node)
    return found is not None and found.kind is Kind.VARIABLE and not found.is_tf_variable


def _fix(
    module: Module,
    call: cst.Call,
    given: cst.BaseExpression,
    tape: cst.Call,
    of: str | None,
) -> Fix:
    """Return the fix: no call, where the tape watches them by itself; else what they hold."""
    if of in _TRAINABLE and _watches_all(tape) and isinstance(module.parent(call), cst.Expr):
        return check.fix("Remove it", remove_statement(module, call))
    hole = Hole(module.outer_span(given))
    if of is None:
        parts: tuple[str | Hole, ...] = (hole, ".value")
    else:
        weight = free_name(module, call, "weight")
        parts = (f"[{weight}.value for {weight} in ", hole, "]")
    return check.fix("Watch their values", Edit(module.outer_span(given), parts))


def _watches_all(tape: cst.Call) -> bool:
    """Say whether a tape watches what is trainable when it is read, as it does unless told."""
    told = literal(passed(tape, "watch_accessed_variables", 1), absent=True)
    return not is_hidden(tape) and told is True
