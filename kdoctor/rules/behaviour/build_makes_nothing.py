"""`model.build((None, 28, 28))` of a subclassed model no longer creates weights.

## What it does
Reports calls of `build` on an instance of a `keras.Model` subclass that does not override `build`
and whose `__init__` creates layers with weights, unless the model was called before, or is trained
or called next, before anything reads its weights.

## Why it breaks
Keras 2 ran `call` with a tensor of that shape, which created the weights of all inner layers. Keras
3 marks the model as built and runs nothing. Until its first batch the model has no weights:
`summary()` and `count_params()` report 0, `load_weights` loads nothing and `set_weights([])` copies
nothing, without an error. An optimizer that is built with its variables knows none of them:
`ValueError: Unknown variable`. Loading a saved model raises
`ValueError: A total of 1 objects could not be loaded`.

## What to write instead
Call it with a symbolic tensor: `model(keras.Input((28, 28)))`, or with its batch size,
`model(keras.Input(batch_shape=(None, 28, 28)))`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, with layers, lists of layers and a `Sequential` inside; the
source of Keras 3.0.0, 3.3.3, 3.6.0 and 3.9.0 was read as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import speller_at
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.uses import names_with_spelling
from kdoctor.analysis.models.unbuilt_weights import OF_NO_MATTER, is_plain_model, makes_weights
from kdoctor.analysis.models.user_classes import class_of, methods_in
from kdoctor.analysis.models.user_models import lineage, methods_of
from kdoctor.analysis.queries import Call, calls, classes
from kdoctor.memoize import once
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.members import MemberUse
from kdoctor.value_types import Kind

_CALL: Final = "()"
_PASSED_ON: Final = "(…)"  # as an argument
_RUNS: Final = frozenset({
    *("evaluate", "fit", "predict", "predict_on_batch", "test_on_batch", "train_on_batch", _CALL),
})  # fmt: skip


@rule(
    "KD464",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=calls("build", on=Kind.MODEL)
    .even(hidden=True)
    .beside(classes(of=Kind.MODEL, guarded=True)),
)
def check(build: Call) -> Finding | None:
    """Report each such call."""
    assert build.use is not None
    line = _lineage(build, build.use)
    if not line or not makes_weights(build.module, line) or _is_run_around(build.module, build.use):
        return None
    name = line[0].name.value
    return build.finding(
        f"this creates no weights: `{name}` has none until it is called, so nothing is counted, "
        "loaded or copied before that",
        symbol=f"{name}.build",
        help="Call the model with a symbolic tensor: `model(keras.Input(batch_shape=…))`.",
        fix=_called(build, build.use.node, line),
    )


def _lineage(build: Call, use: MemberUse) -> list[cst.ClassDef]:
    """Return the class of a model and its bases in the file, up to ``keras.Model``.

    None of them where one builds for itself.
    """
    cls = class_of(build.module, use.owner)
    found = [] if cls is None else lineage(build.module, build.facts, cls)
    methods = methods_of(found)
    if "build" in methods or "call" not in methods or not is_plain_model(build.module, found[-1]):
        return []
    return found


def _is_run_around(module: Module, use: MemberUse) -> bool:
    """Say whether what is written like the object was run above, or is run before all else."""
    owner = module.source(use.node.value)
    start = module.span(use.node).start
    function = points_to_of(module).function_around(use.node)
    uses = _uses(module, owner)
    if any(place < start and name in _RUNS for place, name, _ in uses):
        return True
    after = (
        name
        for place, name, node in uses
        if place > start and points_to_of(module).function_around(node) is function
    )
    return next((name in _RUNS for name in after if name not in OF_NO_MATTER), False)


@once
def _uses(module: Module, owner: str) -> list[tuple[int, str, cst.CSTNode]]:
    """Return where what is written so is called, or a member of it is read, and which, in order."""
    return sorted(_uses_of(module, owner), key=lambda each: each[0])


def _uses_of(module: Module, owner: str) -> Iterator[tuple[int, str, cst.CSTNode]]:
    leaf = owner.rpartition(".")[2]
    for each in names_with_spelling(module, leaf):
        above = module.parent(each)
        node = above if isinstance(above, cst.Attribute) and above.attr is each else each
        around = module.parent(node)
        if module.source(node) != owner:
            continue
        if isinstance(around, cst.Attribute) and around.value is node:
            yield module.span(around).start, around.attr.value, around
        elif isinstance(around, cst.Call) and around.func is node:
            yield module.span(around).start, _CALL, around
        elif isinstance(around, cst.Arg):
            yield module.span(node).start, _PASSED_ON, around


def _called(build: Call, written: cst.Attribute, line: list[cst.ClassDef]) -> Fix | NoFix:
    """Return the fix that calls the model with a symbolic tensor of that shape."""
    module, why_not = build.module, NoFix("it is called with more than one tensor")
    shape = build.argument("input_shape", 0)
    is_known = None if shape is None else _is_one_shape(shape.value)
    if shape is None or len(build.node.args) != 1 or is_known is False or not _takes_one(line):
        return why_not
    if not isinstance(module.parent(build.node), cst.Expr):
        return why_not
    owner, value = module.span(written.value), module.outer_span(shape.value)
    if "#" in module.text[owner.end : value.start]:
        return why_not
    spelled, need = speller_at(module, written).spell("keras.Input")
    return build.fix(
        "Call it with a symbolic tensor of that shape",
        Edit(Span(owner.end, value.start), (f"({spelled}(batch_shape=",)),
        Edit(Span(value.end, value.end), (")",)),
        imports=() if need is None else (need,),
        unsafe_because=""
        if is_known
        else "if the model has several inputs, the shapes belong in a list or a dict",
    )


def _takes_one(lineage: list[cst.ClassDef]) -> bool:
    """Say whether ``call`` wants one argument, and no more."""
    call = next(found for each in lineage if (found := methods_in(each).get("call")) is not None)
    wanted = [each for each in call.params.params if each.default is None]
    more = [each for each in call.params.kwonly_params if each.default is None]
    return len(wanted) == 2 and not more and not call.params.posonly_params


def _is_one_shape(node: cst.BaseExpression) -> bool | None:
    """Say whether an expression is one shape, None where that is not known."""
    match node:
        case cst.Tuple() | cst.List():
            inner = (each.value for each in node.elements)
            return not any(isinstance(e, cst.Tuple | cst.List | cst.Dict) for e in inner)
        case cst.BinaryOperation(operator=cst.Add()):
            return True if _is_one_shape(node.left) or _is_one_shape(node.right) else None
        case cst.Dict():
            return False
    return None


_NET = (
    "import keras\n\n\nclass Net(keras.Model):\n    def __init__(self):\n"
    "        super().__init__()\n        self.inner = keras.layers.Dense(4)\n\n"
    "    def call(self, x, training=False):\n        return self.inner(x)\n\n\n"
)
_MODEL = _NET + "model = Net()\n"
_COUNT = "len(model.get_weights())"


def _example(before: str, after: str | None, *, unsafe: bool = False) -> Example:
    return Example(before=before, after=after, on_keras_2=True, same=_COUNT, unsafe=unsafe)


def _built(given: str, symbolic: str, text: str = _MODEL) -> Example:
    return _example(
        f"{text}model.build({given})\n", f"{text}model(keras.Input(batch_shape={symbolic}))\n"
    )


_OF_ITS_OWN = "    def build(self, shape):\n        self.inner.build(shape)\n\n    def call"

VALID = [
    _MODEL + "model(keras.Input((3,)))\n",
    # It builds for itself.
    _MODEL.replace("    def call", _OF_ITS_OWN) + "model.build((None, 3))\n",
    # It was called already.
    _MODEL + "model(keras.ops.ones((1, 3)))\nmodel.build((None, 3))\n",
    _MODEL + "model.compile('sgd', 'mse')\nmodel.fit(x, y)\nmodel.build((None, 3))\n",
    _MODEL.replace("(4)\n", "(4)\n        self(keras.Input((3,)))\n") + "model.build((None, 3))\n",
    # It is run next, and gets its weights so.
    _MODEL + "model.build((None, 3))\nmodel.compile('sgd', 'mse')\nmodel.fit(x, y)\n",
    _MODEL + "model.build((None, 3))\ny = model(x)\nmodel.summary()\n",
    # There are no weights to make, or it is not known.
    _MODEL.replace("Dense(4)", "Flatten()") + "model.build((None, 3))\n",
    _MODEL.replace("keras.layers.Dense(4)", "made()") + "model.build((None, 3))\n",
    # Of its inputs and outputs; a `Sequential`, which builds its layers.
    "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(4)])\nmodel.build((None, 3))\n",
    (
        "import keras\n\n\nclass Net(keras.Model):\n    def __init__(self):\n"
        "        x = keras.Input((3,))\n        self.inner = keras.layers.Dense(4)\n"
        "        super().__init__(x, self.inner(x))\n\n"
        "    def call(self, x):\n        return super().call(x)\n\n\n"
        "model = Net()\nmodel.build((None, 3))\n"
    ),
    _MODEL.replace("(keras.Model)", "(keras.Sequential)") + "model.build((None, 3))\n",
    # A layer's `build` made no weights of what is inside on Keras 2, either.
    _MODEL.replace("keras.Model", "keras.layers.Layer") + "model.build((None, 3))\n",
    # Another base, or a decorator, may build.
    _MODEL.replace("class Net", "@mine\nclass Net") + "model.build((None, 3))\n",
    _MODEL.replace("(keras.Model)", "(Mixin, keras.Model)") + "model.build((None, 3))\n",
    _MODEL.replace("import keras\n", "import tf_keras as keras\n") + "model.build((None, 3))\n",
    # The method of another object.
    _MODEL + "docker.build((None, 3))\n",
]
INVALID = [
    _built("(None, 3)", "(None, 3)"),
    _built("input_shape=[1, 3]", "[1, 3]"),
    _built("(None,) + (3,)", "(None,) + (3,)"),
    _built(
        "(None, 3)",
        "(None, 3)",
        _MODEL.replace("class Net", "@keras.saving.register_keras_serializable()\nclass Net"),
    ),
    # What comes next, asks for them, or hands it on.
    _example(
        _MODEL + "model.compile('sgd', 'mse')\nmodel.build((None, 3))\nmodel.summary()\n",
        _MODEL + "model.compile('sgd', 'mse')\nmodel(keras.Input(batch_shape=(None, 3)))\n"
        "model.summary()\n",
    ),
    _example(
        _MODEL + "model.build((None, 3))\nprint(model)\n",
        _MODEL + "model(keras.Input(batch_shape=(None, 3)))\nprint(model)\n",
    ),
    # Layers in a list; a layer of one's own; a class of one's own between.
    _built(
        "(None, 3)",
        "(None, 3)",
        _MODEL.replace("keras.layers.Dense(4)", "[keras.layers.Dense(4)]").replace(
            "self.inner(x)", "self.inner[0](x)"
        ),
    ),
    _built(
        "(None, 3)",
        "(None, 3)",
        (
            "import keras\n\n\nclass Block(keras.layers.Layer):\n    def __init__(self):\n"
            "        super().__init__()\n        self.dense = keras.layers.Dense(4)\n\n"
            "    def call(self, x):\n        return self.dense(x)\n"
        )
        + _MODEL.removeprefix("import keras\n").replace("keras.layers.Dense(4)", "Block()"),
    ),
    _built(
        "(None, 3)",
        "(None, 3)",
        _NET + "class Deeper(Net):\n    pass\n\n\nmodel = Deeper()\n",
    ),
    # Of a shape in a variable it is not known how many it has.
    _example(
        _MODEL + "shape = (None, 3)\nmodel.build(shape)\n",
        _MODEL + "shape = (None, 3)\nmodel(keras.Input(batch_shape=shape))\n",
        unsafe=True,
    ),
    # Several inputs.
    _example(
        _MODEL.replace("self.inner(x)", "self.inner(x[0])")
        + "model.build([(None, 3), (None, 2)])\n",
        None,
    ),
]
