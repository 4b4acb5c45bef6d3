"""A layer reads `training` from `**kwargs`, but Keras 3 never passes it there."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.models.user_classes import holds_original_argument
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_TRAINING = "training"


def _takes_keywords(call: FormalSignature) -> bool:
    is_named = call.parameter(_TRAINING) is not None
    return bool(call.var_keyword) and not is_named and not call.is_decorated


@rule(
    "KD436",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods(
        "call",
        of=Kind.LAYER,
        where=_takes_keywords,
        holding=lambda form: form == _TRAINING,
    ),
)
def check(call: Method) -> Iterator[Finding]:
    """Report each place that looks for it."""
    module, others = call.module, call.node.params.star_kwarg
    assert others is not None
    if not (call.facts.runs_keras_3("keras") or call.facts.runs_keras_3("tf.keras")):
        return
    reads = [*_reads(module, call.node, others)]
    fix = _fix(call, others, reads)
    for each in reads:
        if not module.is_guarded(each):
            yield call.finding(
                f"Keras 3 never passes `training` in `**kwargs`: `{call.owner.symbol}` behaves "
                "as in inference even in `fit`",
                at=each,
                symbol="Layer.call(training)",
                help="Add a parameter `training=None` to `call`, and read that.",
                fix=fix,
            )


def _reads(
    module: Module, call: cst.FunctionDef, others: cst.Param
) -> Iterator[cst.Call | cst.Subscript]:
    for each in descendants(call.body):
        match each:
            case cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="get" | "pop")),
                args=[cst.Arg(value=cst.SimpleString() as key), *_],
            ):
                pass
            case cst.Subscript(
                value=owner,
                slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))],
            ) if not isinstance(module.parent(each), cst.AssignTarget | cst.Del):
                pass
            case _:
                continue
        if literal(key) == _TRAINING and holds_original_argument(module, owner, others):
            yield each


def _fix(call: Method, others: cst.Param, reads: list[cst.Call | cst.Subscript]) -> Fix | NoFix:
    """Return the fix of all reads at once, where nothing else is done with the keywords."""
    module, inside = call.module, descendants(call.node.body)
    names = [each.value for each in inside if isinstance(each, cst.Name)]
    is_more = names.count(others.name.value) != len(reads) or _TRAINING in names
    if is_more or any(isinstance(each, cst.Call) and not _has_no_default(each) for each in reads):
        return NoFix(f"`{others.name.value}` is used for more than `training`")
    stars = module.text.rfind("**", 0, module.span(others.name).start)
    edits = [Edit(module.span(each), (_TRAINING,)) for each in reads]
    return call.fix(
        "Add a `training` parameter to `call`",
        Edit(Span(stars, stars), (f"{_TRAINING}=None, ",)),
        *edits,
    )


def _has_no_default(read: cst.Call) -> bool:
    match read.args:
        case [_]:
            return read.func.attr.value == "get" if isinstance(read.func, cst.Attribute) else False
        case [_, cst.Arg(value=cst.Name(value="None"))]:
            return True
    return False
