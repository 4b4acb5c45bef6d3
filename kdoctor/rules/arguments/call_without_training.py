"""`call(self, x, training)` without a default: Keras 3 no longer fills in `training`.

## What it does
Reports `training` without a default in the `call` of a user-defined layer or model, if this file
calls such a layer without it, or puts it into a `Sequential`.

## Why it breaks
Keras 2 passed `training` to every `call` that has it: the value given by the caller, or the mode of
`fit` or `predict`, or else None. Keras 3 does this too, but binds the arguments first: `TypeError:
missing a required argument: 'training'`. A `Sequential` refuses such a layer: `ValueError: Layers
added to a Sequential model can only have a single required positional argument, the input tensor.`

## What to write instead
Give it a default; Keras then fills in the value as before, on Keras 2 and 3:

    def call(self, x, training=None):

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: eagerly, on symbolic tensors, in other layers, in `fit`.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.models.user_classes import class_of
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_TRAINING = "training"
_FILLED_IN = frozenset({_TRAINING, "mask"})
_MISSING = "TypeError: missing a required argument: 'training'"
_REFUSED = (
    "ValueError: Layers added to a Sequential model can only have a single required positional "
    "argument, the input tensor."
)


def _requires_training(call: FormalSignature) -> bool:
    training = call.parameter(_TRAINING)
    return training is not None and not training.has_default and not call.is_decorated


@rule(
    "KD319",
    severity=Severity.ERROR,
    since="3.0",
    look_for=methods("call", of=Kind.LAYER, where=_requires_training, guarded=True)
    | methods("call", of=Kind.MODEL, where=_requires_training, guarded=True),
)
def check(method: Method) -> Finding | None:
    """Report each such parameter, once."""
    parameter = _training_of(method.node)
    if parameter is None or "__call__" in method.owner.methods:
        return None
    module = method.module
    for call in module.nodes(cst.Call):
        used, error = _used(module, call)
        made = module.type_of(used)
        if made is None or class_of(module, made) is not method.owner.node:
            continue
        if module.is_guarded(call) or not is_keras_3(method.facts, made.qualified):
            continue
        if used is not call.func or not _passes(call, method.node):
            return _finding(method, parameter, module.source(call), error)
    return None


def _training_of(call: cst.FunctionDef) -> cst.Param | None:
    given = (*call.params.params[2:], *call.params.kwonly_params)
    return next((each for each in given if each.name.value == _TRAINING), None)


def _used(module: Module, call: cst.Call) -> tuple[cst.BaseExpression, str]:
    """Return the layer that a call uses, by calling it or by putting it into a ``Sequential``."""
    around = module.parent(call)
    if isinstance(around, cst.Element):
        around = module.parent(module.parent(around) or around)
    holder = module.parent(around) if isinstance(around, cst.Arg) else None
    if isinstance(holder, cst.Call) and _makes_or_adds(module, holder):
        return call, _REFUSED
    return call.func, _MISSING


def _makes_or_adds(module: Module, call: cst.Call) -> bool:
    """Say whether a call makes a ``Sequential``, or adds to one."""
    if (module.qualified(call.func) or "").endswith(".Sequential"):
        return True
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value="add")):
            made = module.type_of(owner)
            return made is not None and made.kind is Kind.MODEL and made.cls == "Sequential"
    return False


def _passes(call: cst.Call, method: cst.FunctionDef) -> bool:
    """Say whether a call may pass ``training``."""
    if any(each.star or (each.keyword and each.keyword.value == _TRAINING) for each in call.args):
        return True
    by_position = [each for each in call.args if each.keyword is None]
    names = [each.name.value for each in method.params.params[1:]]
    return _TRAINING in names[: len(by_position)]


def _finding(method: Method, parameter: cst.Param, used: str, error: str) -> Finding:
    if parameter in method.node.params.kwonly_params:
        error = _MISSING  # a `Sequential` asks for parameters by position alone
    return method.finding(
        f"`{_short(used)}` omits `training`, and Keras 3 does not fill it in: {error}",
        at=parameter.name,
        help="Write `training=None`: Keras then fills it in.",
        fix=_with_default(method, parameter),
    )


def _short(code: str) -> str:
    first, *more = code.split("\n")
    return f"{first.strip()} …" if more else first


def _with_default(method: Method, parameter: cst.Param) -> Fix | NoFix:
    named = method.node.params.params
    behind: Sequence[cst.Param] = ()
    if parameter in named:
        behind = [each for each in named[named.index(parameter) + 1 :] if each.default is None]
    if any(each.name.value not in _FILLED_IN for each in behind):
        return NoFix("a later parameter has no default, and Keras does not fill it in")
    edits = []
    for each in (parameter, *behind):
        last = each.annotation.annotation if each.annotation else each.name
        end = method.module.outer_span(last).end
        text = " = None" if each.annotation else "=None"
        edits.append(Edit(Span(end, end), (text,)))
    return method.fix("Give `training` a default of None", *edits)


_HEAD = "import keras\nimport numpy as np\n\nx = np.ones((4, 2), 'float32')\n\n\n"
_BLOCK = _HEAD + (
    "class Block(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "        self.drop = keras.layers.Dropout(0.5)\n\n"
    "    def call(self, inputs, {}):  # on or off\n"
    "        return self.drop(inputs, training=training)\n\n\n"
)
_CALLED = _BLOCK + (
    "block = Block()\ny = block(x)\ninputs = keras.Input((2,))\n"
    "model = keras.Model(inputs, block(inputs))\n"
    "trained = model(x, training=True)\nshown = model.predict(x, verbose=0)\n"
)
_INSIDE = _HEAD + (
    "class Noisy(keras.layers.Layer):\n    def call(self, inputs, {0}):\n"
    "        return inputs * 2 if training else inputs\n\n\n"
    "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
    "        self.noisy = Noisy()\n        self.dense = keras.layers.Dense(1, use_bias=False)\n\n"
    "    def call(self, inputs):\n        return self.dense(self.noisy(inputs))\n\n\n"
    "net = Net()\nnet.compile('sgd', 'mse')\nnet.fit(x, np.ones((4, 1)), verbose=0)\n"
    "trained = net(x, training=True) / net(x)\n"
)
_SEQUENTIAL = _BLOCK + "model = keras.Sequential([keras.Input((2,)), Block()])\ny = model(x)\n"
_ADDED = _BLOCK + "model = keras.Sequential()\nmodel.add(Block())\ny = model(x)\n"
_MASKED = _HEAD + (
    "class Both(keras.layers.Layer):\n    def call(self, inputs, training{0}, mask{0}):\n"
    "        return inputs if mask is None else inputs * mask\n\n\n"
    "y = Both()(x, mask=x)\n"
)
_KEYWORD = _HEAD + (
    "class Kept(keras.layers.Layer):\n    def call(self, inputs, *, training: bool{}):\n"
    "        return inputs\n\n\ny = Kept()(x)\n"
)
_SCALED = _HEAD + (
    "class Scaled(keras.layers.Layer):\n    def call(self, inputs, training, scale):\n"
    "        return inputs * scale\n\n\ny = Scaled()(x, scale=x)\n"
)

VALID = [
    _CALLED.format("training=None"),
    _CALLED.format("*training"),
    # It is passed.
    _BLOCK.format("training") + "y = Block()(x, training=False)",
    _BLOCK.format("training") + "def run(block: Block, *given):\n    return block(*given)",
    _BLOCK.format("training") + "options = {'training': True}\ny = Block()(x, **options)",
    _BLOCK.format("inputs_of_it, training").replace("self, inputs, ", "self, ")
    + "y = Block()(x, True)",
    # Models are called with it by `fit` and `predict`.
    (
        _HEAD + "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.dense = keras.layers.Dense(1)\n\n    def call(self, x, training):\n"
        "        return self.dense(x)\n\n\nnet = Net()\nnet.compile('sgd', 'mse')\n"
        "net.fit(x, np.ones((4, 1)))\nnet.predict(x)\n"
    ),
    # A class of anything else, and of one's own way to be called.
    _CALLED.format("training").replace("keras.layers.Layer", "object"),
    _CALLED.format("training").replace(
        "    def call", "    def __call__(self, x):\n        return x\n\n    def call"
    ),
    _CALLED.format("training").replace("    def call", "    @wrapped\n    def call"),
    "import tf_keras as " + _CALLED.format("training").removeprefix("import "),
]
INVALID = [
    Example(
        before=_CALLED.format("training"),
        after=_CALLED.format("training=None"),
        raises=_MISSING,
        on_keras_2=True,
        same="[np.array(y).tolist(), shown.tolist(), sorted(set(np.array(trained).ravel()) "
        "| {0.0, 2.0})]",
    ),
    # In the `call` of another, which trains.
    Example(
        before=_INSIDE.format("training"),
        after=_INSIDE.format("training=None"),
        raises="TypeError",
        on_keras_2=True,
        same="np.array(trained).round(4).tolist()",
    ),
    Example(
        before=_SEQUENTIAL.format("training"),
        after=_SEQUENTIAL.format("training=None"),
        raises=_REFUSED,
        on_keras_2=True,
        same="np.array(y).tolist()",
    ),
    Example(
        before=_ADDED.format("training"),
        after=_ADDED.format("training=None"),
        raises=_REFUSED,
        on_keras_2=True,
        same="np.array(y).tolist()",
    ),
    Example(
        before=_MASKED.format(""),
        after=_MASKED.format("=None"),
        raises=_MISSING,
        on_keras_2=True,
        same="np.array(y).tolist()",
    ),
    Example(
        before=_KEYWORD.format(""),
        after=_KEYWORD.format(" = None"),
        raises=_MISSING,
        on_keras_2=True,
        same="np.array(y).tolist()",
    ),
    Example(
        before=_KEYWORD.format("").replace("Kept()(x)", "keras.Sequential([Kept()])(x)"),
        after=_KEYWORD.format(" = None").replace("Kept()(x)", "keras.Sequential([Kept()])(x)"),
        raises=_MISSING,
        on_keras_2=True,
        same="np.array(y).tolist()",
    ),
    Example(
        before=_SCALED,
        raises=_MISSING,
    ),
]
