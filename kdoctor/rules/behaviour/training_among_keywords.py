"""A layer reads `training` from `**kwargs`, but Keras 3 never passes it there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import holds_original_argument, kind_of_class
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import evaluated
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_TRAINING = "training"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each place that looks for it."""
    if not (facts.runs_keras_3("keras") or facts.runs_keras_3("tf.keras")):
        return
    for node in module.nodes(cst.ClassDef):
        call = next(filter(_is_call, node.body.body), None)
        if not isinstance(call, cst.FunctionDef) or kind_of_class(module, node) is not Kind.LAYER:
            continue
        others = call.params.star_kwarg
        if others is None:
            continue
        reads = [*_reads(module, call, others)]
        fix = _fix(module, facts, call, others, reads)
        for each in reads:
            if not module.is_guarded(each):
                yield rule.finding(
                    module.place(each),
                    f"Keras 3 never passes `training` in `**kwargs`: `{node.name.value}` behaves "
                    "as in inference even in `fit`",
                    symbol="Layer.call(training)",
                    confidence=Confidence.LIKELY,
                    help="Add a parameter `training=None` to `call`, and read that.",
                    fix=fix or NoFix(f"`{others.name.value}` is used for more than `training`"),
                )


def _is_call(node: cst.CSTNode) -> bool:
    """Say whether it is a ``call`` with ``**kwargs`` that has no parameter ``training``."""
    if not isinstance(node, cst.FunctionDef) or node.name.value != "call" or node.decorators:
        return False
    parameters = node.params
    named = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    return parameters.star_kwarg is not None and _TRAINING not in {e.name.value for e in named}


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
        if evaluated(key) == _TRAINING and holds_original_argument(module, owner, others):
            yield each


def _fix(
    module: Module,
    facts: TargetFacts,
    call: cst.FunctionDef,
    others: cst.Param,
    reads: list[cst.Call | cst.Subscript],
) -> Fix | None:
    """Return the fix of all reads at once, where nothing else is done with the keywords."""
    names = [each.value for each in descendants(call.body) if isinstance(each, cst.Name)]
    if names.count(others.name.value) != len(reads) or _TRAINING in names:
        return None
    if any(isinstance(each, cst.Call) and not _has_no_default(each) for each in reads):
        return None
    stars = module.text.rfind("**", 0, module.span(others.name).start)
    edits = [Edit(module.span(each), (_TRAINING,)) for each in reads]
    return Fix(
        "Add a `training` parameter to `call`",
        (Edit(Span(stars, stars), (f"{_TRAINING}=None, ",)), *edits),
        facts.applicability(*(each for each in rule.invalid if each.after)),
    )


def _has_no_default(read: cst.Call) -> bool:
    match read.args:
        case [_]:
            return read.func.attr.value == "get" if isinstance(read.func, cst.Attribute) else False
        case [_, cst.Arg(value=cst.Name(value="None"))]:
            return True
    return False


def _may_look(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(each, ast.Constant) and each.value == _TRAINING
        for node in quick.nodes.get(ast.FunctionDef, ())
        if node.name == "call" and node.args.kwarg is not None
        for statement in node.body
        for each in ast.walk(statement)
    )


rule = Rule(
    code="KD436",
    name="training-among-keywords",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(_TRAINING) & Trigger(_may_look),
    since="3.0",
)
