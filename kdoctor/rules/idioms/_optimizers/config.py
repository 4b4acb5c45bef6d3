"""Rewrite ``get_config``: attributes instead of variables, without the base class's entries."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.calls import call_of_super
from kdoctor.analysis.models.user_classes import member_of_self, receiver
from kdoctor.model import Span
from kdoctor.rules.idioms._optimizers.names import Names
from kdoctor.rules.idioms._optimizers.plan import Plan
from kdoctor.rules.idioms._optimizers.protocols import (
    backend_call,
    call_of_self,
    statements,
    text_of,
)
from kdoctor.syntax.libcst_walk import descendants

_RATES = ("lr", "learning_rate", "_learning_rate")
# Ways to say that the keys of this class win over those of its base.
_BASE_FIRST = (
    r"\*\*\s*(base_config|super\(.*?\)\.get_config\(\)),\s*\*\*",
    r"list\(base_config\.items\(\)\)\s*\+\s*list\(config\.items\(\)\)",
    r"(config|base_config)\s*=\s*super\(.*?\)\.get_config\(\)",
)


def rewrite_config(plan: Plan, function: cst.FunctionDef, names: Names) -> None:
    """Plan the new ``get_config``."""
    _check_order(plan, function, names)
    if names.is_of_2_11 and not any(
        (above := call_of_super(each)) and above[0] == "get_config"
        for each in descendants(function.body)
    ):
        plan.stop(function.name, "it does not start from that of the base class")
    for node in list(descendants(function)):
        if isinstance(node, cst.Dict):
            _leave_the_rate(plan, function, node)
        elif isinstance(node, cst.Call) and names.is_of_2_11:
            _leave_the_rate_of_call(plan, function, node)
    for statement in statements(function.body):
        if _sets_the_rate(plan, function, statement):
            plan.remove(statement)
    for node in descendants(function):
        if node in plan.settled:
            continue
        read = _hyperparameter(plan, function, node)
        if read == "_learning_rate":
            plan.stop(node, "the base class of Keras 3 tells its learning rate itself")
        elif read is not None:
            plan.replace(node, f"{receiver(function)}.{names.attribute(read)}")


def _check_order(plan: Plan, function: cst.FunctionDef, names: Names) -> None:
    """Stop where the base's `weight_decay` might win over the class's own."""
    keys = {text_of(each) for each in descendants(function) if isinstance(each, cst.SimpleString)}
    clashing = [each for each in keys if each and names.attribute(each) != each]
    text = " ".join(plan.module.source(function.body).split())
    if set(clashing) - set(_RATES) and not any(re.search(way, text) for way in _BASE_FIRST):
        plan.stop(function.name, f"whether its `{clashing[0]}` or that of the base wins")


def _hyperparameter(plan: Plan, function: cst.FunctionDef, node: cst.CSTNode) -> str | None:
    """Return ``x`` of ``self._serialize_hyperparameter("x")`` and of ``K.get_value(self.x)``."""
    called = call_of_self(node, function)
    if called is not None and called[0] == "_serialize_hyperparameter" and called[1].args:
        value = called[1].args[0].value
        return text_of(value) or member_of_self(value, function)
    call = backend_call(plan.module, node, "get_value", "eval")
    if call is not None and call.args:
        return member_of_self(call.args[0].value, function)
    return None


def _reads_the_rate(plan: Plan, function: cst.FunctionDef, node: cst.BaseExpression) -> bool:
    return any(
        _hyperparameter(plan, function, each) in _RATES or member_of_self(each, function) in _RATES
        for each in descendants(node)
    )


def _leave_the_rate(plan: Plan, function: cst.FunctionDef, display: cst.Dict) -> None:
    """Take the learning rate out of a display: the base class tells it, whatever it is."""
    elements = display.elements
    gone = [
        isinstance(each, cst.DictElement)
        and text_of(each.key) in _RATES
        and _reads_the_rate(plan, function, each.value)
        for each in elements
    ]
    for span in _gaps(plan, elements, gone):
        if "#" in plan.module.text[span.start : span.end]:
            plan.stop(display, "there is a comment next to the learning rate")
        plan.write(span, "")
    for each, is_gone in zip(elements, gone, strict=True):
        if is_gone:
            plan.settled.update(descendants(each))


def _leave_the_rate_of_call(plan: Plan, function: cst.FunctionDef, call: cst.Call) -> None:
    """Take it out of ``config.update(learning_rate=…)``."""
    gone = [
        each.keyword is not None
        and each.keyword.value in _RATES
        and _reads_the_rate(plan, function, each.value)
        for each in call.args
    ]
    for span in _gaps(plan, call.args, gone):
        if "#" in plan.module.text[span.start : span.end]:
            plan.stop(call, "there is a comment next to the learning rate")
        plan.write(span, "")
    for each, is_gone in zip(call.args, gone, strict=True):
        if is_gone:
            plan.settled.update(descendants(each))


def _gaps(
    plan: Plan, elements: Sequence[cst.BaseDictElement | cst.Arg], gone: Sequence[bool]
) -> list[Span]:
    """Return what to cut for the elements to go, with their commas."""
    spans = [plan.module.span(each) for each in elements]
    kept = [index for index, is_gone in enumerate(gone) if not is_gone]
    last = kept[-1] if kept else -1
    cuts = [
        Span(spans[index].start, spans[index + 1].start) for index in range(last) if gone[index]
    ]
    if last < len(spans) - 1:
        start = spans[last].end if kept else spans[0].start
        cuts.append(Span(start, spans[-1].end))
    return cuts


def _sets_the_rate(plan: Plan, function: cst.FunctionDef, statement: cst.CSTNode) -> bool:
    """Say whether a statement is ``config["learning_rate"] = …``."""
    match statement:
        case cst.Assign(
            targets=[
                cst.AssignTarget(
                    target=cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))])
                )
            ],
            value=value,
        ):
            return text_of(key) in _RATES and _reads_the_rate(plan, function, value)
    return False
