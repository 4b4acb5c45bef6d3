"""`DenseNet121(…).get_layer("conv1/relu")`: layer names no longer contain slashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3, value_of
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, called
from kdoctor.analysis.queries.conditions import text, word
from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
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


def _may_be_old(text: str) -> bool:
    return any(each.fullmatch(text) is not None for each in (_OF_DENSENET, _OF_MOBILENET))


@rule(
    "KD234",
    severity=Severity.ERROR,
    since="3.0",
    look_for=called("get_layer")
    .even(hidden=True)
    .passing("name", place=0)
    .beside(word(*_DENSENETS, *_MOBILENETS), text(_may_be_old)),
)
def check(call: Call) -> Iterator[Finding]:
    """Report each such name."""
    given, function = call.argument("name", 0), call.node.func
    if given is None or not isinstance(function, cst.Attribute):
        return
    texts = [*_texts(call.module, given.value)]
    if not any(_may_be_old(str(literal(each))) for each in texts):
        return
    made = _application(call.module, call.facts, function.value)
    if made is None:
        return
    for name in texts:
        new = _new_name(made, str(literal(name)))
        if new is not None:
            yield _finding(call, name, new)


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


def _finding(call: Call, name: cst.SimpleString, new: str) -> Finding:
    is_looped_over = isinstance(call.module.parent(name), cst.Element)
    return call.finding(
        f"this layer is now named `{new}`: ValueError: No such layer: {literal(name)}.",
        at=name,
        symbol="Functional.get_layer",
        fix=call.fix(
            f"Write `{new}`",
            Edit(call.module.span(name), (f"{name.prefix}{name.quote}{new}{name.quote}",)),
            unsafe_because="the list may have other uses" if is_looped_over else "",
        ),
    )
