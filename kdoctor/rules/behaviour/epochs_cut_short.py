"""`fit(flow, steps_per_epoch=n // 32)`: every other epoch is just the remaining batch.

## What it does
Reports `steps_per_epoch` that rounds down, `train.samples // train.batch_size` or
`int(len(x) / 32)`, with an iterator of an `ImageDataGenerator`, or a `Sequence` of the file whose
`__len__` rounds up, if all samples are counted, some may be left over, and `epochs` is more than
one.

## Why it breaks
In Keras 2 such data started over when they ended, even in the middle of an epoch, and each epoch
had all its steps. Keras 3 ends the epoch there. With 50 samples in batches of 8 there are 7
batches, and `50 // 8` is 6: the epochs have 6, 1, 6, 1, … of them. Half of the epochs train on a
single batch, and callbacks, schedules and validation count them as full epochs. The only sign is
the warning `Your input ran out of data; interrupting training.`

## What to write instead
Omit `steps_per_epoch`: each epoch then covers all of the data. (`math.ceil(n / 32)` does the same.)

## How we know
Batches were counted on tf_keras 2.21 and on Keras 3.3, 3.6, 3.9, 3.12 and 3.15.1. An infinite
generator and `dataset.repeat()` work as before; a `tf.data.Dataset` that ends stopped the training
on Keras 2.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import is_hidden, value_of
from kdoctor.analysis.dataflow.definitions import class_named
from kdoctor.analysis.dataflow.points_to_by_call import points_to_by_call_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import methods_in, only_base
from kdoctor.analysis.queries import Argument, calls
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.training.batch_sizes import batch_size_of_flow
from kdoctor.analysis.training.generators import has_several_epochs
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rules.behaviour._counted_steps import (
    Division,
    fixed_or_written,
    leaves_some,
    rounded_down,
)
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import returned_in
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_DATA = {"fit": "x", "fit_generator": "generator"}
_STEPS = "steps_per_epoch"
_UP = frozenset({"math.ceil", "numpy.ceil"})


def _may_round_down(form: object) -> bool:
    """Say whether it is a division, or a call other than ``max(len(flow), 1)``."""
    if not isinstance(form, Expression):
        return False
    return (form.kind == "Call" and form.name not in {"len", "max"}) or form.name in {"/", "//"}


@rule(
    "KD461",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=(
        calls("fit", on=Kind.MODEL).even(hidden=True).argument(_STEPS, where=_may_round_down)
        | calls("fit_generator", on=Kind.MODEL)
        .even(hidden=True)
        .argument(_STEPS, 1, where=_may_round_down)
    ).beside(word("ImageDataGenerator", "__len__")),
)
def check(steps: Argument) -> Finding | None:
    """Report each such number of steps."""
    module = steps.module
    division = rounded_down(module, steps.node)
    data = steps.argument(_DATA[steps.leaf], 0)
    if data is None or division is None:
        return None
    if not has_several_epochs(module, steps.call, steps.leaf):
        return None
    by_call = points_to_by_call_of(module)
    assert steps.use is not None
    made = (by_call.made(data.value, run) for run in by_call.runs(steps.use.node))
    if not any(
        each is not None and _is_cut(module, steps.facts, data.value, each.call, division)
        for each in made
    ):
        return None
    counted = f"{module.source(division.samples)} // {module.source(division.batch)}"
    return steps.finding(
        f"`{counted}` does not count a partial last batch, and Keras 3 makes an epoch of it: "
        "every other epoch is this one batch",
        symbol=f"Model.{steps.leaf}({_STEPS})",
        help="Remove `steps_per_epoch`: an epoch then covers all of the data.",
        fix=_removed(steps),
    )


def _removed(steps: Argument) -> Fix | NoFix:
    if steps.arg.keyword is None:
        return NoFix("the steps are passed by position")
    edits = remove_arguments(steps.module, steps.call, [steps.arg])
    if edits is None:
        return NoFix("a comment would be removed with it")
    return steps.fix(
        "Remove `steps_per_epoch`",
        *edits,
        unsafe_because="each epoch gets one more batch: the remaining samples",
    )


def _is_cut(
    module: Module, facts: TargetFacts, data: cst.BaseExpression, made: cst.Call, division: Division
) -> bool:
    """Say whether all of what a call gives is counted, in its own batches, and may leave some."""
    own = class_named(module, made.func)
    size = batch_size_of_flow(module, facts, made) if own is None else None
    if is_hidden(made) or (own is None and size is None):
        return False
    if own is not None and not _rounds_up(module, own):
        return False
    texts = {fixed_or_written(module, each.value) for each in made.args}
    itself = module.source(data)
    batch = module.source(division.batch)
    sizes = {f"{itself}.batch_size", *(texts if own is not None else {size})}
    value = literal(value_of(module, division.batch))
    known = {literal(value_of(module, each.value)) for each in made.args} if own else set()
    known |= {int(size)} if size is not None and size.isdigit() else set()
    if batch not in sizes and (not isinstance(value, int) or value not in known):
        return False
    is_folder = isinstance(made.func, cst.Attribute) and "directory" in made.func.attr.value
    return leaves_some(module, division, {itself, *texts}, is_counted=is_folder)


def _rounds_up(module: Module, cls: cst.ClassDef) -> bool:
    """Say whether the length of a ``Sequence`` of the file counts what is left over as a batch."""
    length = methods_in(cls).get("__len__")
    returned = [] if length is None else returned_in(length)
    only = only_base(module, cls)
    if len(returned) != 1 or returned[0] is None or only is None:
        return False
    base = module.qualified(only) or ""
    if not base.endswith((".Sequence", ".PyDataset")):
        return False
    value = value_of(module, returned[0])
    while isinstance(value, cst.Call) and len(value.args) == 1:
        if module.qualified(value.func) in _UP:
            return True
        value = value_of(module, value.args[0].value)
    return False


_HEAD = (
    "import math\n\nimport numpy as np\nfrom tensorflow import keras\n"
    "from tensorflow.keras.preprocessing.image import ImageDataGenerator\n\n"
    "x, y = np.ones((50, 4, 4, 1)), np.ones((50, 1))\n"
    "model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse')\ncounted = []\n\n\n"
    "class Counting(keras.callbacks.Callback):\n"
    "    def on_epoch_begin(self, epoch, logs=None):\n        counted.append(0)\n\n"
    "    def on_train_batch_end(self, batch, logs=None):\n        counted[-1] += 1\n\n\n"
)
_FLOW = "flow = ImageDataGenerator().flow(x, y, batch_size=8)\n"
_FIT = "model.fit(flow{}, epochs=3, verbose=0, callbacks=[Counting()])\n"
_SEQUENCE = (
    "class Batches(keras.utils.Sequence):\n    def __init__(self, x, y, size):\n"
    "        super().__init__()\n        self.x, self.y, self.size = x, y, size\n\n"
    "    def __len__(self):\n        return {}\n\n    def __getitem__(self, index):\n"
    "        part = slice(index * self.size, (index + 1) * self.size)\n"
    "        return self.x[part], self.y[part]\n\n\nflow = Batches(x, y, 8)\n"
)
_IMPORTS = "import keras\nfrom tensorflow.keras.preprocessing.image import ImageDataGenerator\n\n"
_FOLDER = (
    "found = {}\nsize = {}\nflow = ImageDataGenerator().flow_from_directory(\n"
    "    'images', target_size=(4, 4), class_mode='binary', batch_size=size)\n"
)
_IMAGES = (
    "import os\n\nfrom PIL import Image\n\nos.makedirs('images/one')\nfor i in range(9):\n"
    "    Image.new('RGB', (4, 4)).save(f'images/one/{i}.png')\n"
)
_CEIL = _SEQUENCE.format("math.ceil(len(self.x) / self.size)")
_ALL_ALIKE = "assert len(set(counted)) == 1"

VALID = [
    _HEAD + _FLOW + _FIT.format(""),
    _HEAD + _FLOW + _FIT.format(", steps_per_epoch=len(flow)"),
    _HEAD + _FLOW + _FIT.format(", steps_per_epoch=math.ceil(len(x) / 8)"),
    _HEAD + _FLOW + _FIT.format(", steps_per_epoch=(len(x) + 7) // 8"),
    # One epoch ends where its steps do.
    _HEAD + _FLOW + "model.fit(flow, steps_per_epoch=len(x) // 8)",
    _HEAD + _FLOW + _FIT.format(", steps_per_epoch=len(x) // 8").replace("epochs=3", "epochs=1"),
    # How many there are of what, nobody knows.
    _HEAD + _FLOW + _FIT.format(", steps_per_epoch=100"),
    _HEAD + _FLOW + _FIT.format(", steps_per_epoch=steps"),
    _HEAD + _FLOW + _FIT.format(", steps_per_epoch=2000 // 8"),
    _HEAD + _FLOW + _FIT.format(", steps_per_epoch=len(z) // 8"),
    _HEAD + _FLOW + _FIT.format(", steps_per_epoch=len(x) // 4"),
    # None is left over.
    _IMPORTS + "(x, y), _ = keras.datasets.mnist.load_data()\n"
    "x = x.reshape(-1, 28, 28, 1).astype('float')\n"
    "x /= 255\nmodel = keras.Sequential()\n"
    "model.fit(ImageDataGenerator().flow(x, y), steps_per_epoch=len(x) // 32, epochs=2)",
    _HEAD + _FOLDER.format(2000, 16) + _FIT.format(", steps_per_epoch=found // size"),
    _HEAD + _CEIL.replace("(x, y, 8)", "(x, [1, 2], 8)")
    + _FIT.format(", steps_per_epoch=len(z) // 8"),
    # The length itself rounds down.
    _HEAD + _SEQUENCE.format("len(self.x) // self.size")
    + _FIT.format(", steps_per_epoch=len(x) // 8"),
    # What begins anew by itself.
    _HEAD + "def flow():\n    while True:\n        yield x[:8], y[:8]\n\n\n"
    "model.fit(flow(), steps_per_epoch=len(x) // 8, epochs=2)",
    (_HEAD + _FLOW + _FIT.format(", steps_per_epoch=len(x) // 8")).replace(
        "from tensorflow import keras", "import tf_keras as keras"
    ),
]  # fmt: skip
INVALID = [
    *(
        Example(
            before=_HEAD + _FLOW + steps + _FIT.format(f", steps_per_epoch={given}"),
            after=_HEAD + _FLOW + steps + _FIT.format(""),
            check=_ALL_ALIKE,
            on_keras_2=True,
            unsafe=True,
            needs=("tensorflow",),
        )
        for steps, given in (
            ("", "len(x) // 8"),
            ("", "int(x.shape[0] / 8)"),
            ("", "flow.n // flow.batch_size"),
            ("steps = int(np.floor(flow.n / flow.batch_size))\n", "steps"),
        )
    ),
    Example(
        before=_HEAD + _CEIL + _FIT.format(", steps_per_epoch=len(x) // 8"),
        after=_HEAD + _CEIL + _FIT.format(""),
        check=_ALL_ALIKE,
        on_keras_2=True,
        unsafe=True,
        needs=("tensorflow",),
    ),
    # A folder, by the number of images that somebody counted.
    Example(
        before=_HEAD + _FOLDER.format(9, 4) + _FIT.format(", steps_per_epoch=found // size"),
        after=_HEAD + _FOLDER.format(9, 4) + _FIT.format(""),
        prelude=_IMAGES,
        check=_ALL_ALIKE,
        on_keras_2=True,
        unsafe=True,
        needs=("tensorflow",),
    ),
]
