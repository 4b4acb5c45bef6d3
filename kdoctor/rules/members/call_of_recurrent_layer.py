"""`call(self, inputs)` in a subclass of `LSTM`, `GRU` or `RNN`: Keras 3 expects `sequences`.

## What it does
Reports `call(self, inputs, …)` in a subclass of a recurrent layer (also of `Bidirectional` and the
`ConvLSTM`s) that inherits `build` or `compute_output_shape`, and a `call` without `initial_state`.

## Why it breaks
Keras 3 passes input shapes to `build` by the parameter names of `call`, and the `build` of a
recurrent layer expects `sequences` and `initial_state`: `ValueError: For a `build()` method with
more than one argument, all arguments should have a `_shape` suffix and match an argument from
`call()`.` If the subclass defines `build`, `compute_output_shape` fails the same way when a model
is built.

## What to write instead
`call(self, sequences, initial_state=None, mask=None, training=None)`, the Keras 3 signature. On
Keras 2 the name of the first parameter does not matter.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with subclasses of each recurrent layer.
"""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super, is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Subclass, subclasses
from kdoctor.keras_api import split_root
from kdoctor.model import Confidence, Edit, Finding, NoFix, Severity, Span
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

RECURRENT = frozenset({
    "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN",
})  # fmt: skip
"""The layers whose ``build`` asks for the shape of ``sequences``."""
_NEW, _STATE = "sequences", "initial_state"
_ERROR = (
    "ValueError: For a `{}()` method with more than one argument, all arguments should have a "
    "`_shape` suffix and match an argument from `call()`."
)
_OF_THE_CLASS = "ValueError: Exception encountered when calling {}.call()."
_BUILD, _SHAPE, _SPEC = "build", "compute_output_shape", "compute_output_spec"


def _is_recurrent(facts: TargetFacts, base: str) -> bool:
    split = split_root(base)
    parent, _, leaf = split[1].rpartition(".") if split else ("", "", "")
    return parent == "layers" and leaf in RECURRENT and is_keras_3(facts, base)


@rule(
    "KD226",
    severity=Severity.ERROR,
    since="3.0",
    look_for=subclasses(_is_recurrent, defining="call"),
)
def check(cls: Subclass) -> Finding | None:
    """Report each such parameter."""
    call, asking = cls.methods["call"], _asking(cls.methods)
    if asking is None or len(call.params.params) < 2:
        return None
    if call.params.params[1].name.value == _NEW and _takes(call, _STATE):
        return None
    return _finding(cls, call, asking)


def _asking(methods: Mapping[str, cst.FunctionDef]) -> str | None:
    """Return which method of the recurrent layer asks for the shape of ``sequences``."""
    build = methods.get(_BUILD)
    if build is None:
        return _BUILD
    # With several, the names of its own parameters count, too.
    is_plain = len(build.params.params) == 2 and not {_SHAPE, _SPEC} & set(methods)
    return _SHAPE if is_plain else None


def _takes(call: cst.FunctionDef, name: str) -> bool:
    named = (*call.params.params, *call.params.kwonly_params)
    return any(each.name.value == name for each in named)


def _finding(cls: Subclass, call: cst.FunctionDef, asking: str) -> Finding:
    parameter = call.params.params[1]
    edits = _edits(cls.module, call, parameter)
    old = parameter.name.value
    said = _ERROR.format(asking)
    if asking == _SHAPE:  # what Keras says of the layer comes first
        said = f"{_OF_THE_CLASS.format(cls.symbol)} {said.removeprefix('ValueError: ')}"
    wanted, has = (_NEW, f"has `{old}`") if old != _NEW else (_STATE, "has none")
    return cls.finding(
        f"`{asking}` of `{cls.base.rpartition('.')[2]}` looks for `{wanted}` among the parameters "
        f"of `call`, which {has}: {said}",
        at=parameter.name,
        symbol=f"{cls.base}.call({old})",
        confidence=Confidence.CERTAIN,
        help=f"Rename the first parameter to `{_NEW}`, and add `{_STATE}=None`.",
        fix=cls.fix(
            f"Rename the parameter to `{_NEW}`" if old != _NEW else f"Accept `{_STATE}`", *edits
        )
        if edits
        else NoFix(
            "the method needs a manual change: it uses the name for something else, or takes "
            "arbitrary arguments"
        ),
    )


def _edits(module: Module, call: cst.FunctionDef, parameter: cst.Param) -> tuple[Edit, ...] | None:
    renamed = () if parameter.name.value == _NEW else _renamed(module, call, parameter)
    if renamed is None or _takes(call, _STATE):
        return renamed
    if call.params.star_kwarg is not None or isinstance(call.params.star_arg, cst.Param):
        return None  # the state is among them, and may be handed on
    if any(isinstance(each, cst.Name) and each.value == _STATE for each in descendants(call.body)):
        return None
    last = call.params.params[-1]
    annotation = last.annotation.annotation if last.annotation else last.name
    end = module.outer_span(last.default or annotation).end
    text = f", {_STATE}=None"
    kept = tuple(each for each in renamed if each.span.end != end)
    if len(kept) < len(renamed):  # one edit where both are at one place
        return (*kept, Edit(module.span(parameter.name), (f"{_NEW}{text}",)))
    return (*renamed, Edit(Span(end, end), (text,)))


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
                if not is_call_of_super(module.parent(each), "call"):
                    continue
                nodes.append(keyword)
            case cst.Name(value=name) if name == old and _is_variable(module, each):
                nodes.append(each)
    return tuple(Edit(module.span(node), (_NEW,)) for node in nodes)


def _binds(function: cst.FunctionDef | cst.Lambda, name: str) -> bool:
    return any(each.name.value == name for each in descendants(function.params)
               if isinstance(each, cst.Param))  # fmt: skip


def _is_variable(module: Module, name: cst.Name) -> bool:
    parent = module.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.value is name
    return not (isinstance(parent, cst.Arg) and parent.keyword is name)


_CLASS = "import keras\n\n\nclass Mine(keras.layers.LSTM):\n"
_USE = "\n\ny = Mine(3)(keras.Input((5, 2)))\n"

_CALL = "    def call(self, inputs):\n        return inputs\n"

_BUILDS = (
    "    def build(self, input_shape):\n        self.gate = 2\n"
    "        super().build(input_shape)\n\n"
)

VALID = [
    _CLASS + "    def call(self, sequences, initial_state=None, mask=None, training=None):\n"
    "        return super().call(sequences)\n",
    # It has methods of its own.
    _CLASS + _BUILDS + "    def compute_output_shape(self, input_shape):\n"
    "        return (None, 3)\n\n" + _CALL,
    _CLASS + _BUILDS.replace("input_shape", "inputs_shape, more_shape=None") + _CALL,
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
    Example(
        before=_CLASS + _BUILDS + "    def call(self, inputs):\n"
        "        return super().call(inputs) * self.gate\n" + _USE,
        after=_CLASS + _BUILDS + "    def call(self, sequences, initial_state=None):\n"
        "        return super().call(sequences) * self.gate\n" + _USE,
        raises="ValueError: Exception encountered when calling Mine.call().",
        check="assert tuple(y.shape) == (None, 3)",
        on_keras_2=True,
    ),
    Example(
        before=_CLASS + "    def call(self, sequences, mask=None):\n"
        "        return super().call(sequences, mask=mask)\n" + _USE,
        after=_CLASS + "    def call(self, sequences, mask=None, initial_state=None):\n"
        "        return super().call(sequences, mask=mask)\n" + _USE,
        raises=_ERROR.format("build"),
        check="assert tuple(y.shape) == (None, 3)",
        on_keras_2=True,
    ),
    Example(
        before=_CLASS + "    def call(self, x, **kwargs):\n"
        "        return super().call(x, **kwargs)\n" + _USE,
        raises=_ERROR.format("build"),
    ),
]  # fmt: skip
