"""A compiled model loaded from `.h5` is trained: its optimizer does not know the weights.

## What it does
Reports the first `fit` or `train_on_batch` of the result of `load_model("x.h5")`, if nothing in
between compiles the model or may do so.

## Why it breaks
`load_model` compiles the model as it was saved, and creates the optimizer's slots. Keras 3 creates
them only for weights that the model itself owns, not for those of its layers, so for none:
`ValueError: Unknown variable: <Variable path=dense/kernel, …>`, at the first step. This happens in
all releases since 3.0, with any optimizer, whichever Keras saved the file.

## What to write instead
Call `model.compile(…)` after `load_model`, with the same arguments as before saving; the state of
the optimizer is lost. Or save to `.keras` with Keras 3: a model loaded from there continues where
it stopped.

## How we know
Run on Keras 3.0.0, 3.3.3, 3.6.0 and 3.15.1, with SGD, Adam and RMSprop, and on tf_keras 2.21.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_hidden, is_keras_3
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.rules.saving._possible_endings import LOADS_H5
from kdoctor.rules.saving._save_and_load_calls import FileUse, compiles, file_uses, is_h5
from kdoctor.syntax import Module

_TRAINS: Final = ("fit", "train_on_batch")
# What a function may do to a model that it is given, these do not.
_LEAVE_IT: Final = frozenset({"print", "type"})
_ERROR: Final = "ValueError: Unknown variable: <Variable path="


@rule(
    "KD615",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("load").beside(LOADS_H5, attribute(*_TRAINS)),
)
def check(load: FileUse) -> Finding | None:
    """Report the first training of each such model."""
    module, call = load.module, load.call
    if not is_h5(load.use) or is_hidden(call) or not compiles(load.use):
        return None
    if not is_keras_3(load.facts, module.qualified(call.func)):
        return None
    training = _first_training(module, call)
    if training is None:
        return None
    return load.finding(
        f"the optimizer loaded from the `.h5` file does not know the weights: {_ERROR}…",
        at=training,
        help="Call `compile` after the model is loaded, or save it as `.keras`.",
        fix=NoFix("the arguments of `compile` are stored in the file"),
    )


def _first_training(module: Module, load: cst.Call) -> cst.Attribute | None:
    """Return where what is loaded is trained, as it came: in the same code, and by its one name."""
    match module.parent(load):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            around = points_to_of(module).function_around
            reads = sorted(reads_of(module, target), key=lambda each: module.span(each).start)
        case _:
            return None
    for read in reads:
        used = module.parent(read)
        if len(module.bindings_at(read)) != 1 or around(read) is not around(target):
            return None
        if not isinstance(used, cst.Attribute) or used.value is not read:
            if not _leaves_it(module, read):
                return None
        elif used.attr.value in _TRAINS:
            call = module.parent(used)
            return used if isinstance(call, cst.Call) and call.func is used else None
        elif used.attr.value == "compile" or _is_stored(module, used):
            return None
    return None


def _leaves_it(module: Module, read: cst.Name) -> bool:
    passed = module.parent(read)
    call = module.parent(passed) if isinstance(passed, cst.Arg) else None
    return (
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value in _LEAVE_IT
    )


def _is_stored(module: Module, used: cst.Attribute) -> bool:
    return used.attr.value == "optimizer" and isinstance(module.parent(used), cst.AssignTarget)


_SAVED = (
    "import numpy as np\nfrom tensorflow import keras\n\nx, y = np.ones((4, 2)), np.ones((4, 1))\n"
    "model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'binary_crossentropy')\nmodel.fit(x, y, verbose=0)\n"
    "model.save('whole.h5')\n\n"
)
_LOADED = "again = keras.models.load_model('whole.h5')\n"

VALID = [
    _SAVED + _LOADED + "again.compile('sgd', 'binary_crossentropy')\nagain.fit(x, y)",
    _SAVED + _LOADED + "again.predict(x)\nagain.evaluate(x, y)",
    _SAVED + "again = keras.models.load_model('whole.h5', compile=False)\nagain.fit(x, y)",
    _SAVED + "again = keras.models.load_model('whole.h5', None, compiled)\nagain.fit(x, y)",
    _SAVED.replace(".h5", ".keras") + _LOADED.replace(".h5", ".keras") + "again.fit(x, y)",
    # It may be compiled there.
    _SAVED + "from mine import ready\n\n" + _LOADED + "ready(again)\nagain.fit(x, y)",
    _SAVED + _LOADED + "again.optimizer = keras.optimizers.Adam()\nagain.fit(x, y)",
    _SAVED + _LOADED + "if chosen:\n    again = model\nagain.fit(x, y)",
    _SAVED.replace("tensorflow import keras", "mine import keras") + _LOADED + "again.fit(x, y)",
    (_SAVED + _LOADED + "again.fit(x, y)").replace("from tensorflow import", "import tf_keras as"),
]
INVALID = [
    Example(
        before=_SAVED + _LOADED + "print(again)\nagain.summary()\nagain.fit(x, y, verbose=0)",
        raises=_ERROR,
        on_keras_2=True,
        findings=1,
    ),
    Example(
        before="import numpy as np\nfrom keras.layers import Dense, Input\n"
        "from keras.models import Model, load_model\n\n"
        "images, labels = np.ones((4, 2)), np.ones((4, 1))\ninputs = Input((2,))\n"
        "model = Model(inputs, Dense(1)(Dense(3)(inputs)))\n"
        "model.compile('adam', 'binary_crossentropy')\n"
        "model.fit(images, labels, verbose=0)\nPATH = 'whole.hdf5'\nmodel.save(PATH)\n"
        "loaded = load_model(PATH)\nloss = loaded.evaluate(images, labels, verbose=0)\n"
        "loaded.train_on_batch(images, labels)",
        raises=_ERROR,
        on_keras_2=True,
        findings=1,
    ),
]  # fmt: skip
