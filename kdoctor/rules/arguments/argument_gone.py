"""Keyword arguments that Keras 2 accepted and the target refuses.

## What it does
Binds the keywords of each call of Keras classes, functions and methods (such as `adapt` of a layer)
to the parameters of the target's release, and reports those that an earlier release accepted and
this one does not. This includes keywords given to `functools.partial(keras.layers.Conv2D,
padding="same")` and keywords passed with `**` from a dict that is written out and whose keys do not
change.

## Why it breaks
`Adam(lr=0.1)` is `ValueError: Argument(s) not recognized: {'lr': 0.1}` on Keras 3, `Dense(3,
dynamic=True)` is `ValueError: Unrecognized keyword arguments passed to Dense: {'dynamic': …}`, and
`model.fit(x, workers=4)` is `TypeError: TensorFlowTrainer.fit() got an unexpected keyword argument
'workers'`, for `evaluate` it is `ValueError: Arguments not recognized: {'workers': 4}`.

Some old keywords still work: `input_shape=`, `input_length=`, `implementation=` and
`LeakyReLU(alpha=)` are still accepted.

## What to write instead
Write `learning_rate=` instead of `lr=`. Pass `workers=`, `use_multiprocessing=` and
`max_queue_size=` to the `keras.utils.PyDataset` that supplies the data. Leave out a keyword that no
longer has an effect.

## How we know
The parameters of every release are read from its wheel; what Keras 3 takes out of `**kwargs` was
read from its sources, and a test tries it on the installed release. A fix is safe if it only
renames the keyword, or leaves out one that had no effect or its default value; a fix that loses
something says what.
"""

from __future__ import annotations

import re

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.arguments import _removed_examples as examples
from kdoctor.rules.arguments._bound_calls import Bound, BoundKeyword, bound_keywords
from kdoctor.rules.arguments._keyword_changes import (
    REFUSALS,
    Change,
    change_of,
    is_refused,
    was_taken,
)
from kdoctor.rules.arguments._keyword_dicts import HeldKeyword, held_keywords
from kdoctor.rules.arguments._move_input_shape import moved_with_a_size
from kdoctor.rules.arguments._replaced_keywords import Instead, instead_of
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

# Rules of their own see to these: KD232, KD301, KD311, and saving (KD6).
_ELSEWHERE = frozenset({"input_shape", "input_dim"})
_DEFAULTS = ("workers=1", "sample_weight_mode=None", "time_major=False", "period=1")
_WITHOUT_DECAY = "the optimizer then works, but ignores `decay=`: the learning rate stays constant"
_FLOAT64 = "the result was float32, and becomes float64"
_LOOKUPS = frozenset({"IntegerLookup", "StringLookup"})  # which look at their keywords themselves
_TOLD = frozenset({
    "get_initial_state", "save", "save_model", "save_weights", "load_weights", "load_model",
})  # fmt: skip


def _is_known(callee: Bound) -> bool:
    return callee.is_known and callee.leaf not in _TOLD


def _is_gone(facts: TargetFacts, callee: Bound, keyword: str) -> bool:
    if keyword in _ELSEWHERE or not is_refused(callee.leaf, callee.kind, callee.new, keyword):
        return False
    if callee.kind is Kind.LAYER and keyword in {"batch_input_shape", "weights"}:
        return False  # KD301, KD311
    return was_taken(callee.leaf, callee.kind, keyword) or any(
        each.parameter(keyword) is not None for each in callee.olds(facts)
    )


@rule(
    "KD303",
    severity=Severity.ERROR,
    since="3.0",
    look_for=bound_keywords(_is_known, _is_gone),
)
def check(gone: BoundKeyword) -> Finding:
    """Report each keyword that is gone."""
    call, given = gone.bound, gone.given
    change = change_of(call.leaf, call.kind, gone.keyword)
    return gone.finding(
        f"`{call.leaf}` no longer accepts `{gone.keyword}=`: {_error(gone)}",
        at=given.key if isinstance(given, HeldKeyword) else given,
        symbol=f"{call.name}({gone.keyword})",
        help=change.help,
        fix=_renamed_in_the_dict(gone, given, change)
        if isinstance(given, HeldKeyword)
        else _fix(gone, given, change),
    )


def _error(gone: BoundKeyword) -> str:
    call, keyword = gone.bound, gone.keyword
    value = gone.source(gone.value) if isinstance(gone.value, cst.BaseNumber) else "…"
    passed = f"{{'{keyword}': {value}}}"
    if call.leaf in _LOOKUPS:
        return f"ValueError: Unrecognized keyword argument(s): {passed}"
    if call.new.takes_any_keyword and call.leaf in REFUSALS:
        return f"{REFUSALS[call.leaf]} {passed}"
    if call.new.takes_any_keyword and call.kind is Kind.LAYER:
        return f"ValueError: Unrecognized keyword arguments passed to {call.made}: {passed}"
    if call.new.takes_any_keyword and call.kind is Kind.OPTIMIZER:
        return f"ValueError: Argument(s) not recognized: {passed}"
    return f"TypeError: {call.written} got an unexpected keyword argument '{keyword}'"


def _fix(gone: BoundKeyword, given: cst.Arg, change: Change) -> Fix | NoFix:
    module, call, keyword = gone.module, gone.bound, gone.keyword
    if change.renamed:
        return _renamed(gone, given, change.renamed)
    if keyword == "batch_size" and call.reference is not None:
        proof = check.applicability(examples.MOVED_WITH_THE_SHAPE)
        moved = moved_with_a_size(module, gone.facts, call.reference, proof)
        if moved is not None:
            return moved
    is_harmless = gone.source(gone.value) in change.harmless
    stays = call.is_partial or is_harmless
    instead = None if stays else instead_of(module, call, given)
    if instead is not None:
        return _written(gone, instead)
    default = is_harmless or _has_its_default(gone)
    if not change.drop and not default:
        return NoFix(change.no_fix_because)
    edits = remove_arguments(module, call.call, [given])
    if edits is None:
        return NoFix("there is a comment inside it")
    lost = "" if default else change.loses
    if not default and isinstance(gone.value, cst.Call | cst.Await | cst.NamedExpr):
        lost = "; ".join(filter(None, [lost, "the call that computes its value is no longer made"]))
    return gone.fix(
        f"Leave out `{keyword}={_shown(gone)}`",
        *edits,
        unsafe_because=lost,
        proven_by=_examples_of_defaults() if default else _examples_of(keyword),
    )


def _renamed(gone: BoundKeyword, given: cst.Arg, name: str) -> Fix | NoFix:
    call, keyword = gone.bound, gone.keyword
    if call.keyword(name) is not None:
        return NoFix(f"`{name}=` is also passed")
    if (instead := instead_of(gone.module, call, given)) is not None:
        return _written(gone, instead)
    assert given.keyword is not None
    edit = Edit(gone.module.span(given.keyword), (name,))
    title = f"Write `{name}=` instead of `{keyword}=`"
    if _stays_ignored(gone):
        return gone.fix(title, edit, unsafe_because=_WITHOUT_DECAY)
    if call.is_partial and call.leaf == "to_categorical":
        return gone.fix(title, edit, unsafe_because=_FLOAT64)
    return gone.fix(title, edit, proven_by=_examples_of(keyword))


def _written(gone: BoundKeyword, instead: Instead) -> Fix | NoFix:
    return gone.fix(
        instead.title,
        *instead.edits,
        imports=instead.imports,
        unsafe_because=instead.unsafe_because,
        proven_by=_examples_of(gone.keyword),
    )


def _renamed_in_the_dict(gone: BoundKeyword, held: HeldKeyword, change: Change) -> Fix | NoFix:
    name, call = change.renamed, gone.bound
    if not name:
        return NoFix(change.no_fix_because)
    if not held.is_alone:
        return NoFix("the dict is also used elsewhere")
    others = {each.keyword for each in held_keywords(gone.module, call.call)}
    by_position = any(each.keyword is None and each.star != "**" for each in call.call.args)
    if call.keyword(name) is not None or name in others or by_position:
        return NoFix(f"`{name}=` may also be passed")
    title = f"Write `{name}` instead of `{held.keyword}`"
    edit = held.renamed(gone.module, name)
    return gone.fix(title, edit, proven_by=_examples_of(held.keyword))


def _has_its_default(gone: BoundKeyword) -> bool:
    """Say whether what is passed is what every release that had the parameter took anyway."""
    value = gone.source(gone.value)
    if gone.keyword == "dtype" and value != "None":
        return False  # what is made without it has another type now
    defaults = [
        found.default
        for each in gone.bound.olds(gone.facts)
        if (found := each.parameter(gone.keyword)) is not None
    ]
    return bool(defaults) and all(default == value for default in defaults)


def _shown(gone: BoundKeyword) -> str:
    source = gone.source(gone.value)
    return source if len(source) <= 30 and "\n" not in source else "…"


def _stays_ignored(gone: BoundKeyword) -> bool:
    from kdoctor.rules.behaviour import decay_is_ignored  # noqa: PLC0415 - few files need it

    reference = gone.bound.reference
    return reference is not None and decay_is_ignored.stays_ignored(
        gone.module, gone.facts, reference
    )


def _examples_of(keyword: str) -> list[Example]:
    """A keyword is proven by the examples in which it is what goes."""
    word = re.compile(rf"\b{keyword}=")
    return [
        each
        for each in INVALID
        if each.after and not each.unsafe
        if word.search(each.before) and not word.search(each.after)
    ]


def _examples_of_defaults() -> list[Example]:
    """To pass a default is to say nothing, whatever the keyword."""
    return [each for each in INVALID if any(shown in each.before for shown in _DEFAULTS)]


VALID = [
    "import keras\nkeras.optimizers.Adam(learning_rate=0.1, clipnorm=1.0, amsgrad=True)",
    # Taken and ignored: that is told by a rule of its own.
    "import keras\nkeras.optimizers.SGD(0.1, decay=1e-6, momentum=0.9, nesterov=True)",
    "import keras\nkeras.layers.LeakyReLU(alpha=0.1)",
    "import keras\nkeras.layers.Embedding(5, 3, input_length=4, weights=[w])",
    "import keras\nkeras.layers.LSTM(3, implementation=2, input_shape=(4, 3))",
    "import keras\nkeras.layers.BatchNormalization(renorm=True, name='n', dtype='float32')",
    "import keras\nkeras.layers.InputLayer(batch_input_shape=(2, 3))",
    "import keras\nkeras.layers.Dense(3, activity_regularizer='l2', trainable=False)",
    "import keras\nkeras.callbacks.ReduceLROnPlateau(epsilon=0.1)",
    # Each class takes its own: only Layer's parameter has another name.
    "import keras\nkeras.layers.Embedding(5, 3).compute_mask([[1]], mask=None)",
    (
        "import keras\n\n\ndef ask(model: keras.Model):\n"
        "    return model.get_layer('mine').compute_mask([1], mask=None)"
    ),
    "import keras\nkeras.callbacks.LambdaCallback(on_batch_end=print)",
    "import keras\nkeras.Sequential().compile('sgd', 'mse', weighted_metrics=[])",
    "import tf_keras\ntf_keras.optimizers.Adam(lr=0.1)",
    "from mine import Adam\nimport keras\nAdam(lr=0.1)",
    # A partial of another function, that gets the class; and one that gives what is still taken.
    "from functools import partial\nimport keras\npartial(print, keras.optimizers.Adam, sep='')",
    "from functools import partial\nimport keras\npartial(keras.layers.Dense, activation='relu')",
    *examples.KEPT_BY_A_DICT,
    *examples.TAKEN_BY_SOME_LAYERS,
    (
        "import keras\n\n\nclass Mine(keras.Model):\n"
        "    def fit(self, x, workers=1):\n        return x\n\n\nMine().fit(3, workers=2)"
    ),
    (
        "import keras\n\ntry:\n    optimizer = keras.optimizers.Adam(lr=0.1)\n"
        "except Exception:\n    optimizer = keras.optimizers.Adam(learning_rate=0.1)"
    ),
]
INVALID = [
    *examples.UNDER_OLDER_NAMES,
    *examples.GIVEN_IN_A_PARTIAL,
    *examples.HELD_BY_A_DICT,
    *examples.LENT,
    *examples.MOVED_WITH_THE_SHAPE,
    Example(
        before="import keras\n\noptimizer = keras.optimizers.Adam(lr=0.1, beta_1=0.5)",
        after="import keras\n\noptimizer = keras.optimizers.Adam(learning_rate=0.1, beta_1=0.5)",
        raises="ValueError: Argument(s) not recognized: {'lr': 0.1}",
        check="assert round(float(optimizer.learning_rate), 6) == 0.1",
    ),
    Example(
        before="from tensorflow.keras.optimizers import SGD\n\n"
        "optimizer = SGD(\n    lr=1e-2,  # small\n    momentum=0.9,\n)",
        after="from tensorflow.keras.optimizers import SGD\n\n"
        "optimizer = SGD(\n    learning_rate=1e-2,  # small\n    momentum=0.9,\n)",
        raises="ValueError: Argument(s) not recognized: {'lr': ",
        check="assert round(float(optimizer.learning_rate), 6) == 0.01",
    ),
    Example(
        before="import tensorflow.compat.v1 as tf\n\noptimizer = tf.keras.optimizers.SGD(lr=0.1)",
        after="import tensorflow.compat.v1 as tf\n\n"
        "optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)",
        raises="ValueError: Argument(s) not recognized: {'lr': 0.1}",
        check="assert round(float(optimizer.learning_rate), 6) == 0.1",
    ),
    Example(
        before="import keras\n\noptimizer = keras.optimizers.Adam(0.1, jit_compile=False)",
        after="import keras\n\noptimizer = keras.optimizers.Adam(0.1)",
        raises="ValueError: Argument(s) not recognized: {'jit_compile': ",
    ),
    *examples.OF_THE_DATA,
    Example(
        before=f"{examples.MODEL}model.compile('sgd', 'mse', sample_weight_mode=None)",
        after=f"{examples.MODEL}model.compile('sgd', 'mse')",
        raises="TypeError: Trainer.compile() got an unexpected keyword argument "
        "'sample_weight_mode'",
    ),
    Example(
        before=f"{examples.MODEL}model.compile('sgd', 'mse', target_tensors=[x])",
        raises="TypeError: Trainer.compile() got an unexpected keyword argument 'target_tensors'",
        prelude="x = None",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.BatchNormalization(fused=True, name='norm')",
        after="import keras\n\nlayer = keras.layers.BatchNormalization(name='norm')",
        raises="ValueError: Unrecognized keyword arguments passed to BatchNormalization: "
        "{'fused': ",
        same="layer.axis, layer.momentum, layer.epsilon, layer.name",
    ),
    # They never reached a weight: there is none called `kernel`.
    Example(
        before="import keras\n\nlayer = keras.layers.SeparableConv2D(\n    2, 3, "
        "kernel_initializer='ones', kernel_regularizer='l2', kernel_constraint='non_neg')",
        after="import keras\n\nlayer = keras.layers.SeparableConv2D(\n    2, 3)",
        raises="ValueError: Unrecognized keyword arguments passed to SeparableConv2D: "
        "{'kernel_initializer': ",
        findings=3,
        on_keras_2=True,
        same="type(layer.depthwise_initializer).__name__, layer.depthwise_regularizer, "
        "layer.pointwise_regularizer, layer.pointwise_constraint",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.LSTM(3, time_major=False)",
        after="import keras\n\nlayer = keras.layers.LSTM(3)",
        raises="ValueError: Unrecognized keyword arguments passed to LSTM: {'time_major': ",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.LSTM(3, time_major=True)",
        raises="ValueError: Unrecognized keyword arguments passed to LSTM: {'time_major': ",
    ),
    *examples.OF_EVERY_FEW_EPOCHS,
    *examples.OF_SOME_LAYERS,
    Example(
        before="import keras\n\nkeras.callbacks.TensorBoard(\n"
        "    'logs', histogram_freq=1, batch_size=32, write_graph=True, write_grads=False\n)",
        after="import keras\n\nkeras.callbacks.TensorBoard(\n"
        "    'logs', histogram_freq=1, write_graph=True\n)",
        raises="TypeError: TensorBoard.__init__() got an unexpected keyword argument 'batch_size'",
        findings=2,
    ),
    Example(
        before="import keras\n\n"
        "y = keras.activations.relu(keras.ops.array([-2.0, 2.0]), alpha=0.5)",
        after="import keras\n\n"
        "y = keras.activations.relu(keras.ops.array([-2.0, 2.0]), negative_slope=0.5)",
        raises="TypeError: relu() got an unexpected keyword argument 'alpha'",
        check="assert [float(each) for each in y] == [-1.0, 2.0]",
    ),
    Example(
        before="import keras\n\nx = keras.Input(batch_input_shape=(2, 3))",
        after="import keras\n\nx = keras.Input(batch_shape=(2, 3))",
        raises="TypeError: Input() got an unexpected keyword argument 'batch_input_shape'",
        check="assert x.shape == (2, 3)",
        same="tuple(x.shape)",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def build(self, shape):\n"
        "        self.w = self.add_weight(name='w', shape=(1,), use_resource=True)\n\n\n"
        "Mine().build(None)",
        after="import keras\n\n\nclass Mine(keras.layers.Layer):\n"
        "    def build(self, shape):\n"
        "        self.w = self.add_weight(name='w', shape=(1,))\n\n\n"
        "Mine().build(None)",
        raises="TypeError: Layer.add_weight() got an unexpected keyword argument 'use_resource'",
    ),
    *examples.OF_CATEGORIES,
    *examples.OF_GREY_IMAGES,
]
