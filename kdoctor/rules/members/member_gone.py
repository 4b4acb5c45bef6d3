"""Members of models, layers, optimizers, metrics and tensors that the target no longer has.

## What it does
Looks up every attribute that is read from an object of known class or kind in the API of the
target's release, and reports those that the class had in an earlier release but lacks on the
target.

## Why it breaks
Keras 3 is a rewrite that kept only the documented members. `fit_generator` and the like,
`predict_classes`, `layer.output_shape`, `get_output_at`, `add_update`, `optimizer.weights`,
`metric.reset_states` and some 200 more are gone: `AttributeError: 'Sequential' object has no
attribute 'fit_generator'`. The class matters: layers lost `output_shape`, models still have it.

## What to write instead
`model.fit(generator)`, which takes the arguments of `fit_generator`; `layer.output.shape`;
`metric.reset_state()`. `workers=`, `use_multiprocessing=` and `max_queue_size=` now belong to the
data: `class Mine(keras.utils.PyDataset)`, made with `Mine(workers=4, use_multiprocessing=True)`.
`class_weight=` is rejected with a Python generator. With an endless validation generator, Keras 3
may skip a batch between two epochs.

Where a member has no counterpart, the finding says what replaced it: `variable.assign(…)` runs
updates directly, extra metrics are objects that `call` or `train_step` updates, and a layer adds
losses of inner tensors:

    class Regularize(keras.layers.Layer):
        def call(self, x):
            self.add_loss(0.01 * keras.ops.mean(keras.ops.square(x)))
            return x

## How we know
The members of every release are read from its wheel. A class with an unreadable base is never
reported: a mixin from another package may define the member, before or after the Keras class. Each
replacement was run; it is safe if it gave the same result and lost nothing.
"""

from __future__ import annotations

from functools import lru_cache

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import is_in_old_optimizer
from kdoctor.analysis.queries import Read
from kdoctor.model import Applicability, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import MemberRewrite, MemberTable
from kdoctor.rules.behaviour.weights_appended import appended_weight
from kdoctor.rules.idioms.hook_is_never_called import is_handed_on
from kdoctor.rules.members._add_update import update_fix
from kdoctor.rules.members._advice import advice_for
from kdoctor.rules.members._error_owner import (
    asks_for_several_calls,
    attribute_error,
    last_release_with,
    owner_in_words,
    symbol,
)
from kdoctor.rules.members._generator_calls import generator_fix, may_count_samples
from kdoctor.rules.members._may_be_removed import reads_of_gone
from kdoctor.rules.members._member_rewrites import KINDS, ROWS
from kdoctor.rules.members._one_input_name import BY_NUMBER, one_input_name
from kdoctor.rules.members._output_shapes import OF_ANY_LAYER, shape_of_any_layer
from kdoctor.rules.members._removed_examples import INVALID as EXAMPLES
from kdoctor.rules.members.shape_is_a_tuple import mends_get_shape
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

_KINDS = frozenset(
    {
        *(Kind.MODEL, Kind.LAYER, Kind.OPTIMIZER, Kind.LOSS, Kind.METRIC, Kind.CALLBACK),
        *(Kind.TENSOR, Kind.VARIABLE),
    }
)
# Rules of their own tell more about these.
_ELSEWHERE = frozenset(
    {
        *("backend", "unique_object_name", "_keras_history"),
        *("get_gradients", "get_updates", "updates_with_grads", "lr"),
        "_keras_shape",
    }
)


@rule("KD205", severity=Severity.ERROR, since="3.0", look_for=reads_of_gone(_KINDS))
def check(read: Read) -> Finding | None:
    """Report each use of a member that is gone and that the user's own code does not define."""
    module, owner, member = read.module, read.owner, read.member
    if member in _ELSEWHERE or (owner.kind, member) == (Kind.MODEL, "reset_states"):
        return None  # KD208
    if member.endswith("trainable_weights") and appended_weight(module, read.node):
        return None  # KD430
    if member == "get_shape" and mends_get_shape(module, read.node):
        return None  # KD207
    if is_handed_on(module, read.node, member):
        return None  # KD514
    if owner.kind is Kind.OPTIMIZER and is_in_old_optimizer(module, read.node):
        return None  # KD511 and KD512 tell of the class as a whole
    last = last_release_with(read.facts, owner, member) or ""
    release = f" (last in Keras {last})" if last[1:] else ""
    return read.finding(
        f"{owner_in_words(owner)} no longer has `{member}`{release}: "
        f"{attribute_error(owner, member)}",
        symbol=symbol(owner, member),
        help=advice_for(owner.kind, member).help,
        fix=_fix(read),
    )


@lru_cache(maxsize=8)
def _table(facts: TargetFacts) -> MemberTable:
    return MemberTable(ROWS, KINDS, facts.signature)


def _fix(read: Read) -> Fix | NoFix:
    module, facts, use = read.module, read.facts, read.use
    table = _table(facts)
    attempt = (
        update_fix(module, use)
        or generator_fix(module, use)
        or shape_of_any_layer(module, use, facts)
        or one_input_name(module, use, facts)
        or table.attempt(module, use, _rated)
    )
    if read.member.endswith("_at") and asks_for_several_calls(module):
        return NoFix("this file also reads the results of other calls of a layer")
    if not isinstance(attempt, NoFix):
        return may_count_samples(module, facts, use, attempt)
    if table.rows_for(read.owner, read.member):
        return attempt
    return NoFix(advice_for(read.owner.kind, read.member).no_fix_because)


def _rated(row: MemberRewrite) -> Applicability:
    """A row is proven by the examples that show its member."""
    return check.applicability(
        each
        for each in INVALID
        if each.after is not None
        if f".{row.member}" in each.before and f".{row.member}" not in each.after
    )


VALID = [
    "import keras\nmodel = keras.Sequential()\nmodel.fit(generator, steps_per_epoch=3)",
    # A model has it; only layers have lost it.
    "import keras\nmodel = keras.Sequential()\nmodel.output_shape",
    # The class is a stub: what it is in Keras 3 has this.
    (
        "import keras\n\n\nclass A(keras.optimizers.legacy.Optimizer):\n"
        "    def get_config(self):\n        return super().get_config()\n"
    ),
    "import tf_keras\nmodel = tf_keras.Sequential()\nmodel.fit_generator(generator)",
    (
        "import keras, tf_keras\nfrom other import make\n\n\ndef train(model: tf_keras.Model):\n"
        "    model.fit_generator(data)\n\n\nmake().fit_generator(data)"
    ),
    "import keras\nmodel = read_somewhere()\nmodel.fit_generator(generator)",
    "import keras\nfrom agents import Agent\nAgent(keras.Sequential()).fit_generator(generator)",
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def fit_generator(self, data):\n"
        "        return self.fit(data)\n\n\nMine().fit_generator(data)"
    ),
    (
        "import keras\nmodel = keras.Sequential()\nif hasattr(model, 'fit_generator'):\n"
        "    model.fit_generator(data)\nelse:\n    model.fit(data)"
    ),
    (
        "import keras\nmodel = keras.Sequential()\ntry:\n    model.fit_generator(data)\n"
        "except AttributeError:\n    model.fit(data)"
    ),
    # Not a metric as those that are passed to `compile`, but what holds them.
    "import keras\nmodel = keras.Sequential()\nmodel.metrics[1].metrics",
    # Recurrent layers have both names.
    "import keras\nkeras.layers.LSTM(3, stateful=True).reset_states()",
    # `tf.Variable` is TensorFlow's, and has it.
    "import keras\nimport tensorflow as tf\ntf.Variable(1.0).get_shape()",
    # KD207 mends the whole.
    "import keras\nx = keras.Input((4,))\nx.get_shape().as_list(), x.get_shape().ndims",
    "import keras\nmodel = keras.Sequential()\nmodel.targets = [1]\nmodel.targets",
    "import keras\nmodel = keras.Sequential()\nmodel.anything_of_mine",
    # Built by calls, a class of models is functional, and has `inputs`.
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def __init__(self, x, y):\n"
        "        super().__init__(inputs=x, outputs=y)\n\n    def show(self):\n"
        "        return self.inputs, self.outputs"
    ),
    "import keras\nagent.compile(optimizer, metrics=['mae'])\nagent.fit_generator(data)",
]
INVALID = [
    *EXAMPLES,
    OF_ANY_LAYER,
    BY_NUMBER,
    # Beside a Keras 2 of its own, an object of Keras 3.
    Example(
        before="import keras\nfrom tensorflow.python.keras import testing_utils\n\n"
        "optimizer = keras.optimizers.SGD(0.5)\nrate = optimizer._get_hyper('learning_rate')\n",
        raises="AttributeError: 'SGD' object has no attribute '_get_hyper'",
    ),
]
