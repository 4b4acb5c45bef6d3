"""`model.optimizer is None`: before `compile` a Keras 3 model has no such attribute.

## What it does
Reports code that checks whether a model has an optimizer: `if model.optimizer is None:`,
`if not model.optimizer:`. Nothing is reported if the model is compiled earlier, nor for `self` in
methods of models and callbacks, which run during training.

## Why it breaks
On Keras 2 it was None until `compile`. On Keras 3 `compile` creates the attribute; before it, the
check itself raises: `AttributeError: 'Sequential' object has no attribute 'optimizer'`.

## What to write instead
`getattr(model, "optimizer", None)`, which works on both.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with a `Sequential`, a functional model and a class.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Edit, Finding, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.fallback_helpers import handles_only_attribute_error
from kdoctor.value_types import Kind


@rule(
    "KD235",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reads("optimizer", on=Kind.MODEL, tested=True),
)
def check(read: Read) -> Finding | None:
    """Report each such question."""
    module, node = read.module, read.node
    if not isinstance(node.value, cst.Name) or _is_caught(module, node):
        return None
    if _is_trained_meanwhile(module, node):
        return None
    return None if _is_compiled_above(read, node.value.value) else _finding(read)


def _is_trained_meanwhile(module: Module, node: cst.Attribute) -> bool:
    """Say whether it is of the object that a method is called on."""
    points_to = points_to_of(module)
    function = points_to.function_around(node)
    if function is None or points_to.class_around(function) is None:
        return False
    return member_of_self(node, function) is not None


def _is_caught(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a handler around it waits for attributes that are lacking."""
    return any(
        isinstance(each, cst.Try) and any(map(handles_only_attribute_error, each.handlers))
        for each in module.ancestors(node)
    )


def _is_compiled_above(read: Read, name: str) -> bool:
    """Say whether a model of that name is, or may be, compiled above it in the same function."""
    module = read.module
    place, around = module.span(read.node).start, points_to_of(module).function_around
    return any(
        each.member == "compile"
        and isinstance(each.node.value, cst.Name)
        and each.node.value.value == name
        and module.span(each.node).start < place
        and around(each.node) is around(read.node)
        for each in module.members
    )


def _finding(read: Read) -> Finding:
    module = read.module
    model = Hole(module.span(read.node.value))
    edit = Edit(module.outer_span(read.node), ("getattr(", model, ', "optimizer", None)'))
    cls = read.owner.cls or "Functional"  # as models of inputs and outputs are
    return read.finding(
        "before `compile` a model has no optimizer, not even None: AttributeError: "
        f"'{cls}' object has no attribute 'optimizer'",
        symbol="Model.optimizer",
        help='Write `getattr(model, "optimizer", None)`.',
        fix=read.fix("Read the optimizer with `getattr`", edit)
        if has_builtin(module, read.node, "getattr")
        else NoFix(hidden_builtin("getattr")),
    )


_FUNCTIONAL = (
    "import keras\n\nx = keras.Input((2,))\nmodel = keras.Model(x, keras.layers.Dense(1)(x))\n"
)
_SEQUENTIAL = "from tensorflow import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
_TRAINS = (
    "import keras\n\n\ndef train(model, x, y):\n    {}:\n        model.compile('sgd', 'mse')\n"
    "    model.fit(x, y, verbose=0)\n    return model\n\n\n"
    "model = train(keras.Sequential([keras.layers.Dense(1)]), data, data)\n"
)
_DATA = "import numpy as np\n\ndata = np.ones((2, 1))\n"

VALID = [
    _FUNCTIONAL + "model.compile('sgd', 'mse')\nassert model.optimizer is not None",
    _FUNCTIONAL + "is_compiled = getattr(model, 'optimizer', None) is not None",
    _FUNCTIONAL + "if hasattr(model, 'optimizer') and model.optimizer is not None:\n    pass",
    _FUNCTIONAL + "try:\n    ready = model.optimizer is not None\nexcept AttributeError:\n"
    "    ready = False",
    # It is read, and nobody asks whether it is there.
    _FUNCTIONAL + "rate = model.optimizer.learning_rate",
    # While it is trained, it has one.
    (
        "import keras\n\n\nclass Mine(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        if self.model.optimizer is not None:\n            print(epoch)"
    ),
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def train_step(self, data):\n"
        "        assert self.optimizer is not None"
    ),
    # A class of one's own that has it.
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    optimizer = None\n\n\n"
        "assert not Mine().optimizer"
    ),
    "def train(model):\n    if model.optimizer is None:\n        model.prepare()",
    (_FUNCTIONAL + "if model.optimizer is None:\n    pass").replace("keras", "tf_keras"),
]
INVALID = [
    Example(
        before=_TRAINS.format("if model.optimizer is None"),
        after=_TRAINS.format('if getattr(model, "optimizer", None) is None'),
        prelude=_DATA,
        raises="AttributeError: 'Sequential' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="type(model.optimizer).__name__",
    ),
    Example(
        before=_TRAINS.format("if not (model.optimizer)"),
        after=_TRAINS.format('if not getattr(model, "optimizer", None)'),
        prelude=_DATA,
        raises="AttributeError: 'Sequential' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="type(model.optimizer).__name__",
    ),
    Example(
        before=_SEQUENTIAL + "ready = model.optimizer != None\n",
        after=_SEQUENTIAL + 'ready = getattr(model, "optimizer", None) != None\n',
        raises="AttributeError: 'Sequential' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="ready",
    ),
    Example(
        before=_FUNCTIONAL + "how = 'trained' if x is None or model.optimizer else 'new'\n",
        after=_FUNCTIONAL
        + "how = 'trained' if x is None or getattr(model, \"optimizer\", None) else 'new'\n",
        raises="AttributeError: 'Functional' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="how",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.Model):\n    pass\n\n\n"
        "model = Mine()\nassert model.optimizer is None\n",
        after="import keras\n\n\nclass Mine(keras.Model):\n    pass\n\n\n"
        'model = Mine()\nassert getattr(model, "optimizer", None) is None\n',
        raises="AttributeError: 'Mine' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="1",
    ),
]
