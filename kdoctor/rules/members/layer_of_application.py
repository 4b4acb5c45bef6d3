"""`DenseNet121(…).get_layer("conv1/relu")`: layer names no longer contain slashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_keras_3, literal, value_of
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, attribute, word
from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind

_DENSENETS: Final = ("DenseNet121", "DenseNet169", "DenseNet201")
_MOBILENETS: Final = ("MobileNetV3Small", "MobileNetV3Large")
_OF_DENSENET: Final = pattern(r"conv1/(conv|bn|relu)")
_OF_MOBILENET: Final = pattern(
    r"Conv(_[12])?|Conv(_1)?/BatchNorm|Logits|Predictions"
    r"|expanded_conv(_\d+)?(/(depthwise|expand|project|squeeze_excite|pad|Add|AvgPool|BatchNorm"
    r"|Conv(_1)?|Mul|Relu))+"
)
_PARTS: Final = {
    "Add": "add", "AvgPool": "avg_pool", "BatchNorm": "bn", "Conv": "conv", "Conv_1": "conv_1",
    "Conv_2": "conv_2", "Logits": "logits", "Mul": "mul", "Predictions": "predictions",
    "Relu": "relu",
}  # fmt: skip


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such name."""
    for node in module.attributes:
        call = module.parent(node)
        if node.attr.value != "get_layer" or not isinstance(call, cst.Call):
            continue
        given = argument(call, "name", 0) if call.func is node else None
        texts = [] if given is None else [*_texts(module, given.value)]
        if not any(_may_be_old(str(literal(each))) for each in texts):
            continue
        made = _application(module, facts, node.value)
        if made is None or module.is_guarded(call):
            continue
        for text in texts:
            new = _new_name(made, str(literal(text)))
            if new is not None:
                yield _finding(module, facts, text, new)


def _texts(module: Module, node: cst.BaseExpression) -> Iterator[cst.SimpleString]:
    """Yield the texts that an expression stands for: one, or those that a loop goes through."""
    if isinstance(node, cst.SimpleString):
        yield node
    bound = module.bindings_at(node) if isinstance(node, cst.Name) else ()
    for each in bound if len(bound) == 1 else ():
        if each.kind is not BindingKind.LOOP or each.path or each.value is None:
            continue
        looped = value_of(module, each.value)
        for element in looped.elements if isinstance(looped, cst.List | cst.Tuple) else ():
            if isinstance(element.value, cst.SimpleString):
                yield element.value


def _application(module: Module, facts: TargetFacts, owner: cst.BaseExpression) -> str | None:
    """Return the name in `keras.applications` by which an object surely is made."""
    by_call = points_to_by_call_of(module)
    made = [by_call.made(owner, frame) for frame in by_call.runs(owner)]
    names = {"" if each is None else module.qualified(each.call.func) or "" for each in made}
    name = names.pop() if len(names) == 1 else ""
    split = split_root(name)
    if split is None or not split[1].startswith("applications.") or not is_keras_3(facts, name):
        return None
    return name.rpartition(".")[2]


def _new_name(made: str, old: str) -> str | None:
    """Return what a layer is called now, None where it is called as before."""
    if made in _DENSENETS and _OF_DENSENET.fullmatch(old):
        return old.replace("/", "_")
    if made in _MOBILENETS and _OF_MOBILENET.fullmatch(old):
        return "_".join(_PARTS.get(each, each) for each in old.split("/"))
    return None


def _may_be_old(text: str) -> bool:
    return any(each.fullmatch(text) is not None for each in (_OF_DENSENET, _OF_MOBILENET))


def _finding(module: Module, facts: TargetFacts, text: cst.SimpleString, new: str) -> Finding:
    edit = Edit(module.span(text), (f"{text.prefix}{text.quote}{new}{text.quote}",))
    is_looped_over = isinstance(module.parent(text), cst.Element)
    return rule.finding(
        module.place(text),
        f"this layer is now named `{new}`: ValueError: No such layer: {literal(text)}.",
        symbol="Functional.get_layer",
        confidence=Confidence.LIKELY,
        fix=Fix(
            f"Write `{new}`",
            (edit,),
            Applicability.UNSAFE
            if is_looped_over
            else facts.applicability(*(each for each in rule.invalid if not each.unsafe)),
            unsafe_because="the list may have other uses" if is_looped_over else "",
        ),
    )


def _writes_one(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(map(_may_be_old, quick.strings))


rule = Rule(
    code="KD234",
    name="layer-of-application",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute("get_layer") & word(*_DENSENETS, *_MOBILENETS) & Trigger(_writes_one),
    since="3.0",
)
