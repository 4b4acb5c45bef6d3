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

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import class_of, methods_in
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_TRAINING = "training"
_FILLED_IN = frozenset({_TRAINING, "mask"})
_KINDS = frozenset({Kind.LAYER, Kind.MODEL})
_MISSING = "TypeError: missing a required argument: 'training'"
_REFUSED = (
    "ValueError: Layers added to a Sequential model can only have a single required positional "
    "argument, the input tensor."
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such parameter, once."""
    asked = dict(_asked(module))
    found: set[cst.ClassDef] = set()
    for call in module.nodes(cst.Call) if asked else ():
        used, error = _used(module, call)
        made = module.type_of(used)
        owner = class_of(module, made) if made is not None else None
        if made is None or owner is None or owner not in asked or owner in found:
            continue
        if made.kind not in _KINDS or module.is_guarded(call):
            continue
        call_method = asked[owner]
        if used is call.func and _passes(call, call_method):
            continue
        if not is_keras_3(facts, made.qualified):
            continue
        found.add(owner)
        yield _finding(module, call_method, owner.name.value, module.source(call), error)


def _asked(module: Module) -> Iterator[tuple[cst.ClassDef, cst.FunctionDef]]:
    """Yield the classes whose ``call`` asks for ``training``, with it."""
    for each in module.nodes(cst.ClassDef):
        methods = methods_in(each)
        call = methods.get("call")
        if call is None or call.decorators or "__call__" in methods:
            continue
        if _asked_for(call) is not None:
            yield each, call


def _asked_for(call: cst.FunctionDef) -> cst.Param | None:
    given = (*call.params.params[2:], *call.params.kwonly_params)
    return next((each for each in given if each.name.value == _TRAINING and not each.default), None)


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


def _finding(module: Module, method: cst.FunctionDef, name: str, used: str, error: str) -> Finding:
    parameter = _asked_for(method)
    assert parameter is not None
    without = _without_default(method, parameter)
    if parameter in method.params.kwonly_params:
        error = _MISSING  # a `Sequential` asks for parameters by position alone
    return rule.finding(
        module.place(parameter.name),
        f"`{_short(used)}` omits `training`, and Keras 3 does not fill it in: {error}",
        symbol=f"{name}.call",
        confidence=Confidence.LIKELY,
        help="Write `training=None`: Keras then fills it in.",
        fix=_fix(module, without)
        if without
        else NoFix("a later parameter has no default, and Keras does not fill it in"),
    )


def _short(code: str) -> str:
    first, *more = code.split("\n")
    return f"{first.strip()} …" if more else first


def _without_default(method: cst.FunctionDef, parameter: cst.Param) -> Sequence[cst.Param]:
    """Return the parameters that are to get a default, nothing where that cannot be."""
    named = method.params.params
    behind = [*named[named.index(parameter) + 1 :]] if parameter in named else []
    bare = [each for each in behind if each.default is None]
    if any(each.name.value not in _FILLED_IN for each in bare):
        return ()
    return (parameter, *bare)


def _fix(module: Module, bare: Sequence[cst.Param]) -> Fix:
    edits = []
    for each in bare:
        last = each.annotation.annotation if each.annotation else each.name
        end = module.outer_span(last).end
        text = " = None" if each.annotation else "=None"
        edits.append(Edit(Span(end, end), (text,)))
    return rule.fix("Give `training` a default of None", *edits)


def _may_ask(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        function.name == "call" and _is_bare(function.args)
        for function in quick.nodes.get(ast.FunctionDef, ())
    )


def _is_bare(given: ast.arguments) -> bool:
    named = [*given.posonlyargs, *given.args]
    bare = named[: len(named) - len(given.defaults)]
    bare += [
        each
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is None
    ]
    return any(each.arg == _TRAINING for each in bare)


rule = Rule(
    code="KD319",
    name="call-without-training",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=word(_TRAINING) & Trigger(_may_ask),
    since="3.0",
)

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
