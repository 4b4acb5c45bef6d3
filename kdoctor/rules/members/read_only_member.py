"""Assignments to read-only members: ``self.model = …`` in a callback, ``model.outputs = …``.

## What it does
Reports assignments to members of models, layers, metrics, optimizers and callbacks that are
properties without a setter; and custom classes that define a property without a setter where Keras
3 assigns: `name` and `activity_regularizer` of layers and models.

## Why it breaks
`AttributeError: property 'model' of 'Mine' object has no setter`. `Callback.model` was a plain
attribute up to Keras 2, and so was the `kernel` of `Dense` and of the convolutions, which their
subclasses assign in `build`; Keras 3 uses `path` for the position of a layer in its model.
`model.outputs`, `layer.trainable_weights` and the rest are computed from the parts of the object.

## What to write instead
Another name for your own attribute (`self.my_model = …`); `callback.set_model(model)` for a
callback's model; a new model for other outputs, `keras.Model(model.inputs, outputs)`; for weights,
`self.add_weight(…)`, and `layer.trainable = False` to freeze them (the fix removes an assignment
that lists, in order, all weights that the layer creates). A layer that creates its own `kernel` can
set `kernel = None` in its class, which hides the property.

## How we know
Each of them was tried on Keras 3.15.1, and a test repeats it. The release in which `kernel`,
`embeddings` and `path` became properties is checked against the data of the releases.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final

import libcst as cst

from kdoctor.analysis.models.user_classes import is_in_old_optimizer, owns_its_weights
from kdoctor.analysis.queries import Method, Store, stores
from kdoctor.keras_api import Presence
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.members._callback_model import by_set_model
from kdoctor.rules.members._error_owner import class_of, symbol
from kdoctor.rules.members._own_weights import left_away
from kdoctor.rules.members._property_conflicts import PROPERTIES, is_bare_property
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_WEIGHTS = (
    *("weights", "trainable_weights", "non_trainable_weights"),
    *("variables", "trainable_variables", "non_trainable_variables"),
)
_NEW = ("input_dtype", "metrics_variables", "path", "quantization_mode")  # of Keras 3
_OF_BOTH = (*_WEIGHTS, *_NEW, "losses", "metrics", "dtype")
READ_ONLY = {
    Kind.CALLBACK: frozenset({"model"}),
    Kind.LAYER: frozenset({*_OF_BOTH, "output", "input"}),
    Kind.MODEL: frozenset({*_OF_BOTH, "metrics_names", "layers"}),
    Kind.OPTIMIZER: frozenset({"iterations"}),
}
# Of some layers, and of what is made from them.
OF_LAYERS: Final = {
    **dict.fromkeys(("Conv1D", "Conv2D", "Conv3D", "Dense", "EinsumDense"), "kernel"),
    "Embedding": "embeddings",
}
# Of models that are built by calls, which a class of the user's own need not be.
OF_FUNCTIONAL = frozenset({"inputs", "outputs", "input", "output"})
_HELP = {
    "model": "Keras sets it: `callback.set_model(model)`. Use another name for your own.",
    "outputs": "Build a new model: `keras.Model(model.inputs, outputs)`.",
    "output": "Build a new model: `keras.Model(model.inputs, output)`.",
    "layers": "Build a new model from these layers: `keras.Sequential(layers)`.",
    "path": "In Keras 3 it is the position of a layer in its model. Use another name for your own.",
    **{
        name: f"It reads `_{name}`: assign that, or derive the layer from `keras.layers.Layer`."
        for name in OF_LAYERS.values()
    },
}
_BINDS = frozenset({BindingKind.ASSIGN, BindingKind.AUGMENT, BindingKind.LOOP, BindingKind.WITH})
_PRIVATE = (
    "`_{0}` is a private name of the Keras layer, which any release may remove, and `{0}` can be "
    "read only after the layer is built"
)


_ASKED: Final = READ_ONLY | {
    Kind.LAYER: READ_ONLY[Kind.LAYER] | {*OF_LAYERS.values()},
    Kind.MODEL: READ_ONLY[Kind.MODEL] | OF_FUNCTIONAL,
}


@rule(
    "KD214",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reduce(
        or_, (stores(*names, on=kind, overridden=True) for kind, names in _ASKED.items())
    )
    | PROPERTIES,
)
def check(found: Store | Method) -> Finding | None:
    """Report each assignment that the user's own class does not make possible."""
    if isinstance(found, Method):
        return _without_setter(found) if is_bare_property(found) else None
    store = found.store
    if store.how not in _BINDS or store.value is None or store.owner_overrides:
        return None
    if store.owner.kind is Kind.OPTIMIZER and is_in_old_optimizer(found.module, store.node):
        return None  # KD511 and KD512 tell of the class as a whole
    return _finding(found) if _is_read_only(found) else None


def _without_setter(method: Method) -> Finding:
    name, cls = method.name, method.owner.symbol
    return method.finding(
        f"Keras assigns `{name}` when the object is created: AttributeError: property '{name}' of "
        f"'{cls}' object has no setter",
        at=method.node.name,
        help="Pass it to `super().__init__(name=…)`, or rename your property."
        if name == "name"
        else "Rename your property, or add a setter.",
        fix=NoFix("kdoctor does not know which files read it"),
    )


def _is_read_only(store: Store) -> bool:
    owner, member, facts = store.owner, store.member, store.facts
    if member in READ_ONLY.get(owner.kind, ()):
        return member not in _NEW or facts.member(owner, member) is Presence.EXISTS
    if owner.kind is Kind.MODEL:
        return owner.cls == "Functional"
    made = store.module.oracle.class_type(owner.qualified) if owner.qualified else None
    if made is None or made.kind is not Kind.LAYER:
        return False
    return OF_LAYERS.get(made.cls or "") == member and owns_its_weights(facts, made)


def _finding(found: Store) -> Finding:
    module, store, rating = found.module, found.store, check.applicability()
    cls = class_of(store.owner)
    named = f"'{cls}' object" if cls else "object"
    error = (
        f"`{'Sequential' if cls == 'Sequential' else 'Model'}.layers` attribute is reserved and "
        "should not be used"
        if store.member == "layers"
        else f"property '{store.member}' of {named} has no setter"
    )
    return found.finding(
        f"`{store.member}` cannot be assigned: AttributeError: {error}",
        symbol=symbol(store.owner, store.member),
        help=_HELP.get(store.member, "It is computed from the parts of the object."),
        fix=_private(found)
        or by_set_model(module, store, rating)
        or left_away(module, store, rating)
        or NoFix("kdoctor cannot tell what the assignment is meant to do"),
    )


def _private(found: Store) -> Fix | NoFix | None:
    """Return the fix for a weight that a layer makes itself: what the property reads is assigned.

    Unsafe, for that has a private name; and the property can be read once the layer is built only.
    """
    module, store = found.module, found.store
    if store.member not in OF_LAYERS.values() or not store.is_plain:
        return None
    match store.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="add_weight"))):
            pass
        case _:
            return None
    method = next(e for e in module.ancestors(store.node) if isinstance(e, cst.FunctionDef))
    reads = (
        use
        for use in module.members
        if use.member == store.member and method in module.ancestors(use.node)
    )
    if any(reads):
        return None
    edit = Edit(module.span(store.node.attr), (f"_{store.member}",))
    return found.fix(
        f"Assign the attribute that `{store.member}` reads",
        edit,
        unsafe_because=_PRIVATE.format(store.member),
    )


VALID = [
    "import keras\nmodel = keras.Sequential()\nmodel.stop_training = True\nmodel.name = 'mine'",
    "import keras\noptimizer = keras.optimizers.SGD()\noptimizer.learning_rate = 0.1",
    "import keras\nlayer = keras.layers.Dense(3)\nlayer.trainable = False\nlayer.input_spec = None",
    (
        "import keras\n\n\nclass Mine(keras.callbacks.Callback):\n    def __init__(self, model):\n"
        "        super().__init__()\n        self.other_model = model"
    ),
    (
        "import keras\n\n\nclass Mine(keras.callbacks.Callback):\n    model = None\n\n"
        "    def __init__(self, model):\n        self.model = model"
    ),
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def __init__(self):\n"
        "        super().__init__()\n        self.inputs = [1]"
    ),
    (
        "import tf_keras\n\n\nclass Mine(tf_keras.callbacks.Callback):\n"
        "    def __init__(self, model):\n        self.model = model"
    ),
    # The class says that it is a plain attribute.
    (
        "import keras\n\n\nclass Mine(keras.layers.Dense):\n    kernel = None\n\n"
        "    def build(self, shape):\n        self.kernel = self.add_weight(shape=(3,))"
    ),
    # These have no such property.
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.kernel = self.add_weight(shape=(3,))\n        self.embeddings = self.kernel"
    ),
    (
        "import keras\n\n\nclass Mine(keras.layers.DepthwiseConv2D):\n    def build(self, shape):\n"
        "        self.kernel = self.add_weight(shape=(3,))"
    ),
    (
        "import keras\n\n\nclass Mine(keras.metrics.Metric):\n    def __init__(self, path):\n"
        "        super().__init__()\n        self.path = path"
    ),
    # What the property gives already need not be assigned.
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    def __init__(self, name):\n"
        "        self.called = name\n        super().__init__(name=name)\n\n"
        "    @property\n    def name(self):\n        return self.called"
    ),
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    @property\n"
        "    def activity_regularizer(self):\n        return None"
    ),
    (
        "import keras\n\n\nclass Mine(keras.layers.Layer):\n    @property\n    def name(self):\n"
        "        return self.called\n\n    @name.setter\n    def name(self, value):\n"
        "        self.called = value"
    ),
    "import keras\n\n\nclass Mine:\n    @property\n    def name(self):\n        return self.called",
    (
        "import tf_keras\n\n\nclass Mine(tf_keras.layers.Layer):\n    @property\n"
        "    def name(self):\n        return 'mine'"
    ),
]
INVALID = [
    Example(
        before="import keras\n\n\nclass Mine(keras.callbacks.Callback):\n"
        "    def __init__(self, model):\n        super().__init__()\n"
        "        self.model = model  # before it is trained\n\n\n"
        "model = keras.Sequential()\nmine = Mine(model)",
        after="import keras\n\n\nclass Mine(keras.callbacks.Callback):\n"
        "    def __init__(self, model):\n        super().__init__()\n"
        "        self.set_model(model)  # before it is trained\n\n\n"
        "model = keras.Sequential()\nmine = Mine(model)",
        raises="AttributeError: property 'model' of 'Mine' object has no setter",
        check="assert mine.model is model",
    ),
    Example(
        before="import keras\n\n\nclass Seen(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n        self.seen = self.model\n\n\n"
        "class Mine(Seen):\n    pass\n\n\n"
        "mine = Mine()\nmine.model = keras.Sequential(\n    [keras.layers.Dense(1)],\n)\n"
        "mine.on_epoch_end(0)",
        after="import keras\n\n\nclass Seen(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n        self.seen = self.model\n\n\n"
        "class Mine(Seen):\n    pass\n\n\n"
        "mine = Mine()\nmine.set_model(keras.Sequential(\n    [keras.layers.Dense(1)],\n))\n"
        "mine.on_epoch_end(0)",
        raises="AttributeError: property 'model' of 'Mine' object has no setter",
        check="assert mine.seen is mine.model and len(mine.model.layers) == 1",
    ),
    # What it does when it is given its model, no one else may ask for.
    Example(
        before="import keras\n\n\nclass Mine(keras.callbacks.Callback):\n"
        "    def set_model(self, model):\n        super().set_model(model)\n"
        "        self.shape = model.input_shape\n\n\n"
        "mine = Mine()\nmine.model = keras.Sequential()",
        raises="AttributeError: property 'model' of 'Mine' object has no setter",
    ),
    Example(
        before="import keras\n\nx = keras.Input((4,))\nmodel = keras.Model(x, x)\n"
        "model.outputs = [model.layers[-1].output]",
        raises="AttributeError: property 'outputs' of 'Functional' object has no setter",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.w = self.add_weight(shape=(3,))\n"
        "        self.b = self.add_weight(shape=())\n"
        "        self.trainable_weights = [self.w, self.b]\n\n\nlayer = Mine()\n"
        "layer.build((3,))\n",
        after="import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.w = self.add_weight(shape=(3,))\n"
        "        self.b = self.add_weight(shape=())\n\n\nlayer = Mine()\n"
        "layer.build((3,))\n",
        raises="AttributeError: property 'trainable_weights' of 'Mine' object has no setter",
        check="first, second = layer.trainable_weights\n"
        "assert first is layer.w and second is layer.b",
    ),
    Example(
        before="import keras\n\n\nclass Turned(keras.layers.Layer):\n"
        "    def build(self, shape):\n        self.trainable_weights = []\n\n"
        "    def call(self, x):\n        return -x\n\n\nlayer = Turned()\nlayer.build((3,))\n",
        after="import keras\n\n\nclass Turned(keras.layers.Layer):\n"
        "    def build(self, shape):\n        pass\n\n"
        "    def call(self, x):\n        return -x\n\n\nlayer = Turned()\nlayer.build((3,))\n",
        raises="AttributeError: property 'trainable_weights' of 'Turned' object has no setter",
        check="assert layer.trainable_weights == []",
    ),
    # Some of the weights are not to be trained: there is no saying in which other way.
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.w = self.add_weight(shape=(3,))\n"
        "        self.b = self.add_weight(shape=())\n"
        "        self.trainable_weights = [self.w]\n\n\nMine().build((3,))",
        raises="AttributeError: property 'trainable_weights' of 'Mine' object has no setter",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential()\nmodel.layers = model.layers[:-1]",
        raises="AttributeError: `Sequential.layers` attribute is reserved and should not be used",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Dense):\n    def build(self, shape):\n"
        "        self.kernel = self.add_weight(shape=(shape[-1], self.units))\n"
        "        self.bias = None\n        self.built = True\n\n\n"
        "made = Mine(3, use_bias=False)(keras.ops.ones((2, 4)))",
        after="import keras\n\n\nclass Mine(keras.layers.Dense):\n    def build(self, shape):\n"
        "        self._kernel = self.add_weight(shape=(shape[-1], self.units))\n"
        "        self.bias = None\n        self.built = True\n\n\n"
        "made = Mine(3, use_bias=False)(keras.ops.ones((2, 4)))",
        raises="AttributeError: property 'kernel' of 'Mine' object has no setter",
        unsafe=True,
    ),
    # No weight that the layer makes: there is no saying what was meant.
    Example(
        before="import keras\n\nlayer = keras.layers.Conv2D(1, 1)\nlayer.build((1, 2, 2, 1))\n"
        "layer.kernel = layer.kernel / 2",
        raises="AttributeError: property 'kernel' of 'Conv2D' object has no setter",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.Model):\n    def __init__(self, path):\n"
        "        super().__init__()\n        self.path = path\n\n\nMine('here')",
        raises="AttributeError: property 'path' of 'Mine' object has no setter",
    ),
    # Keras 2 had a property there, and assigned something else.
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Layer):\n    @property\n"
        "    def name(self):\n        return 'mine'\n\n    def call(self, x):\n"
        "        return 2 * x\n\n\nlayer = Mine()",
        raises="AttributeError: property 'name' of 'Mine' object has no setter",
        on_keras_2=True,
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Dense):\n"
        "    def __init__(self, units):\n        super().__init__(units)\n"
        "        self.factor = 0.1\n\n    @property\n    def activity_regularizer(self):\n"
        "        return keras.regularizers.L2(self.factor)\n\n\nlayer = Mine(3)",
        raises="AttributeError: property 'activity_regularizer' of 'Mine' object has no setter",
        on_keras_2=True,
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.Model):\n    @property\n"
        "    def loss(self):\n        return self.made_of\n\n\nmodel = Mine()",
        raises="AttributeError: property 'loss' of 'Mine' object has no setter",
    ),
]
