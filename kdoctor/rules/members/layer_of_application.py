"""`DenseNet121(…).get_layer("conv1/relu")`: layer names no longer contain slashes.

## What it does
Reports `get_layer` of a DenseNet or MobileNetV3 from `keras.applications` with a layer name from
Keras 2.

## Why it breaks
Keras 3 rejects slashes in names, so the layers of these models were renamed: `ValueError: No such
layer: conv1/relu.`

## What to write instead
The new name: `conv1_relu`; in a MobileNetV3, `expanded_conv_1_project_bn` for
`expanded_conv_1/project/BatchNorm`, `conv_1` for `Conv_1`.

## How we know
The layers of 16 models of `keras.applications` were compared on Keras 3.15.1 and tf_keras 2.21:
these are the ones whose layers have other names. (ConvNeXt and MobileNetV3 also have fewer layers:
sums and products of tensors are no longer layers.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_keras_3, value_of
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import attribute, text, word
from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import Example, rule
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
    look_for=files(attribute("get_layer"), word(*_DENSENETS, *_MOBILENETS), text(_may_be_old)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such name."""
    module = file.module
    for node in module.attributes:
        call = module.parent(node)
        if node.attr.value != "get_layer" or not isinstance(call, cst.Call):
            continue
        given = argument(call, "name", 0) if call.func is node else None
        texts = [] if given is None else [*_texts(module, given.value)]
        if not any(_may_be_old(str(literal(each))) for each in texts):
            continue
        made = _application(module, file.facts, node.value)
        if made is None or module.is_guarded(call):
            continue
        for name in texts:
            new = _new_name(made, str(literal(name)))
            if new is not None:
                yield _finding(file, name, new)


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


def _finding(file: File, name: cst.SimpleString, new: str) -> Finding:
    is_looped_over = isinstance(file.module.parent(name), cst.Element)
    return file.finding(
        f"this layer is now named `{new}`: ValueError: No such layer: {literal(name)}.",
        at=name,
        symbol="Functional.get_layer",
        fix=file.fix(
            f"Write `{new}`",
            Edit(file.module.span(name), (f"{name.prefix}{name.quote}{new}{name.quote}",)),
            unsafe_because="the list may have other uses" if is_looped_over else "",
        ),
    )


_DENSENET = (
    "from keras.applications import DenseNet121\n\n"
    "base = DenseNet121(weights=None, include_top=False, input_shape=(64, 64, 3))\n"
)
_MOBILENET = "import keras\n\nbase = keras.applications.{}(weights=None, input_shape=(64, 64, 3))\n"
_READ = "skip = base.get_layer('{}').output\n"
_LOOP = "names = ['{}', 'pool2_relu']\nskips = [base.get_layer(each).output for each in names]\n"

VALID = [
    _DENSENET + _READ.format("conv1_relu"),
    _DENSENET + _READ.format("conv2_block1_0_relu"),
    # A name that the other has; another model; a model with a layer of that name, of Keras 2.
    _DENSENET + _READ.format("Conv"),
    _MOBILENET.format("MobileNetV3Small") + _READ.format("conv1/relu"),
    _MOBILENET.format("MobileNetV2") + _READ.format("Conv"),
    _DENSENET + "def first(model):\n    return model.get_layer('conv1/relu')\n",
    _DENSENET
    + "import keras\n\nbase = keras.models.load_model('mine.h5')\n"
    + _READ.format("conv1/relu"),
    (_DENSENET + _READ.format("conv1/relu")).replace("from keras", "from tf_keras"),
    # Not a name of a layer.
    _DENSENET + "path = 'conv1/relu'\nfirst = base.get_layer(index=0)\n",
]


def _example(text: str, old: str, new: str, read: str = _READ, *, unsafe: bool = False) -> Example:
    return Example(
        before=text + read.format(old),
        after=text + read.format(new),
        raises=f"ValueError: No such layer: {old}.",
        on_keras_2=True,
        same="tuple(skip.shape)" if read == _READ else "len(skips)",
        unsafe=unsafe,
    )


INVALID = [
    _example(_DENSENET, "conv1/relu", "conv1_relu"),
    _example(_MOBILENET.format("DenseNet169"), "conv1/conv", "conv1_conv"),
    _example(_MOBILENET.format("MobileNetV3Small"), "Conv_1", "conv_1"),
    _example(
        _MOBILENET.format("MobileNetV3Large"),
        "expanded_conv_4/squeeze_excite/AvgPool",
        "expanded_conv_4_squeeze_excite_avg_pool",
    ),
    # Made by a function; in a list that a loop goes through.
    _example(
        _DENSENET.replace("base = DenseNet121(", "\ndef built():\n    return DenseNet121(")
        + "\n\nbase = built()\n",
        "conv1/bn",
        "conv1_bn",
    ),
    _example(_DENSENET, "conv1/relu", "conv1_relu", _LOOP, unsafe=True),
]
