"""A layer made from `LSTM`, `GRU` or `RNN` calls its input `inputs`, as Keras 2 did.

## What it does
Reports `call(self, inputs, …)` of a subclass of a recurrent layer (also of `Bidirectional` and the
`ConvLSTM`s) without a `build` of its own.

## Why it breaks
Keras 3 passes the shapes of the inputs to `build` by the names of the parameters of `call`, and the
`build` of a recurrent layer asks for `sequences`: `ValueError: For a `build()` method with more
than one argument, all arguments should have a `_shape` suffix and match an argument from `call()`.`

## What to write instead
`call(self, sequences, initial_state=None, mask=None, training=None)`, the signature of Keras 3. On
Keras 2 the name of the first parameter makes no difference.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with subclasses of each recurrent layer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Edit, Finding, Fix, Severity
from kdoctor.rules.calls import is_keras_3
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import classes, word
from kdoctor.syntax import Module
from kdoctor.syntax.walk import descendants

RECURRENT = frozenset({
    "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN",
})  # fmt: skip
"""The layers whose ``build`` asks for the shape of ``sequences``."""
_NEW = "sequences"
_ERROR = (
    "ValueError: For a `build()` method with more than one argument, all arguments should have a "
    "`_shape` suffix and match an argument from `call()`."
)


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each such parameter."""
    for node in module.nodes(cst.ClassDef):
        if len(node.bases) != 1:
            continue
        base = module.qualified(node.bases[0].value)
        split = split_root(base) if base and is_keras_3(facts, base) else None
        parent, _, leaf = split[1].rpartition(".") if split else ("", "", "")
        if base is None or parent != "layers" or leaf not in RECURRENT or module.is_guarded(node):
            continue
        methods = {e.name.value: e for e in node.body.body if isinstance(e, cst.FunctionDef)}
        call = methods.get("call")
        if call is None or "build" in methods or len(call.params.params) < 2:
            continue
        parameter = call.params.params[1]
        if parameter.name.value != _NEW:
            yield _finding(module, facts, call, parameter, base)


def _finding(
    module: Module, facts: Facts, call: cst.FunctionDef, parameter: cst.Param, base: str
) -> Finding:
    edits = _renamed(module, call, parameter)
    old = parameter.name.value
    return rule.finding(
        module.place(parameter.name),
        f"`build` of `{base.rpartition('.')[2]}` looks for `{_NEW}` among the parameters of "
        f"`call`, which has `{old}`: {_ERROR}",
        symbol=f"{base}.call({old})",
        confidence=Confidence.CERTAIN,
        help=f"Call the first parameter `{_NEW}`.",
        fix=Fix(
            f"Call the parameter `{_NEW}`",
            edits,
            facts.applicability(*(each for each in INVALID if each.after)),
        )
        if edits
        else None,
        no_fix_because=None if edits else f"`{_NEW}` means something else in this method",
    )


def _renamed(
    module: Module, call: cst.FunctionDef, parameter: cst.Param
) -> tuple[Edit, ...] | None:
    old = parameter.name.value
    nodes: list[cst.CSTNode] = [parameter.name]
    for each in descendants(call.body):
        match each:
            case cst.Name(value=name) if name == _NEW:
                return None
            case cst.FunctionDef() | cst.Lambda() if _binds(each, old):
                return None
            case cst.Arg(keyword=cst.Name() as keyword) if keyword.value == old:
                if not _is_super_call(module.parent(each)):
                    continue
                nodes.append(keyword)
            case cst.Name(value=name) if name == old and _is_variable(module, each):
                nodes.append(each)
    return tuple(Edit(module.span(node), (_NEW,)) for node in nodes)


def _binds(function: cst.FunctionDef | cst.Lambda, name: str) -> bool:
    return any(each.name.value == name for each in descendants(function.params)
               if isinstance(each, cst.Param))  # fmt: skip


def _is_super_call(node: cst.CSTNode | None) -> bool:
    match node:
        case cst.Call(
            func=cst.Attribute(
                attr=cst.Name(value="call"), value=cst.Call(func=cst.Name(value="super"))
            )
        ):
            return True
    return False


def _is_variable(module: Module, name: cst.Name) -> bool:
    parent = module.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.value is name
    return not (isinstance(parent, cst.Arg) and parent.keyword is name)


def _may_be_recurrent(_: Facts, __: ast.ClassDef, bases: frozenset[str]) -> bool:
    return any(each.rpartition(".")[2] in RECURRENT for each in bases)


rule = Rule(
    code="KD226",
    name="call-of-recurrent-layer",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=word("call") & classes(_may_be_recurrent),
    since="3.0",
)

_CLASS = "import keras\n\n\nclass Mine(keras.layers.LSTM):\n"
_USE = "\n\ny = Mine(3)(keras.Input((5, 2)))\n"

_CALL = "    def call(self, inputs):\n        return inputs\n"

VALID = [
    _CLASS + "    def call(self, sequences, initial_state=None, mask=None, training=None):\n"
    "        return super().call(sequences)\n",
    # It has a `build` of its own.
    _CLASS + "    def build(self, input_shape):\n        self.built = True\n\n" + _CALL,
    "import keras\n\n\nclass Mine(keras.layers.Dense):\n" + _CALL,
    "import keras\nfrom mine import LSTM\n\n\nclass Mine(LSTM):\n" + _CALL,
    "from tf_keras.layers import LSTM\n\n\nclass Mine(LSTM):\n" + _CALL,
]  # fmt: skip
INVALID = [
    Example(
        before=_CLASS
        + "    def call(self, inputs, mask=None, training=None, initial_state=None):\n"
        "        outputs = super().call(\n            inputs, mask=mask, training=training,\n"
        "            initial_state=initial_state,\n        )\n"
        "        return outputs + self.scale(inputs)\n\n"
        "    def scale(self, inputs):\n        return inputs[0, 0, 0]\n" + _USE,
        after=_CLASS
        + "    def call(self, sequences, mask=None, training=None, initial_state=None):\n"
        "        outputs = super().call(\n            sequences, mask=mask, training=training,\n"
        "            initial_state=initial_state,\n        )\n"
        "        return outputs + self.scale(sequences)\n\n"
        "    def scale(self, inputs):\n        return inputs[0, 0, 0]\n" + _USE,
        raises="ValueError: For a `build()` method with more than one argument, all arguments "
        "should have a `_shape` suffix and match an argument from `call()`.",
        check="assert tuple(y.shape) == (None, 3)",
        on_keras_2=True,
    ),
    Example(
        before="from tensorflow.keras import Input, layers\n\n\nclass Mine(layers.GRU):\n"
        "    def call(self, x, mask=None, training=None, initial_state=None):\n"
        "        return super(Mine, self).call(x * 2, mask=mask)\n\n\n"
        "y = Mine(3)(Input((5, 2)))\n",
        after="from tensorflow.keras import Input, layers\n\n\nclass Mine(layers.GRU):\n"
        "    def call(self, sequences, mask=None, training=None, initial_state=None):\n"
        "        return super(Mine, self).call(sequences * 2, mask=mask)\n\n\n"
        "y = Mine(3)(Input((5, 2)))\n",
        raises="ValueError: For a `build()` method with more than one argument, all arguments "
        "should have a `_shape` suffix and match an argument from `call()`.",
        check="assert tuple(y.shape) == (None, 3)",
        on_keras_2=True,
    ),
]  # fmt: skip
