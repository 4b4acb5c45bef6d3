"""The `decay=` argument of optimizers is ignored.

## What it does
Reports `decay=` of Keras' own optimizers.

## Why it breaks
Keras up to 2.10 divided the learning rate by `1 + decay * iterations` at every step. Keras 3
accepts the argument, warns (`Argument `decay` is no longer supported and will be ignored.`) and
trains at the full rate to the end.

## What to write instead
The same formula as a schedule:

    keras.optimizers.SGD(keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 1e-4))

`decay=0` can be removed. The rate of an optimizer with a schedule cannot be set:
`TypeError: This optimizer was created with a `LearningRateSchedule` object as its `learning_rate`
constructor argument, hence its learning rate is not
settable.` If a callback (`LearningRateScheduler`, `ReduceLROnPlateau`, one defined in the file) or
a line of the file sets it, there is no fix: remove `decay=` there, which changes nothing since
Keras 3 ignores it, or apply the decay where the rate is set. The fix is safe if the file shows the
training call and no callback that could set the rate.

## How we know
Run on Keras 3.15.1 and on the optimizers of Keras 2.10 (`tf_keras.optimizers.legacy`): after the
same training steps the weights are equal, to the last bit.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Argument, Call, constructs
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Applicability, Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite import Speller
from kdoctor.rewrite.arguments import remove_arguments
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.behaviour._learning_rate_writes import rates_of
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_SCHEDULE = "keras.optimizers.schedules.InverseTimeDecay"


@rule(
    "KD401",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=constructs(Kind.OPTIMIZER).even(hidden=True).argument("decay"),
)
def check(decay: Argument) -> Finding | None:
    """Report each ``decay=``."""
    if not _is_ignored(decay):
        return None
    is_zero = literal(decay.node) == 0
    is_set = not is_zero and rates_of(decay.module).setter(decay.call) is not None
    return decay.finding(
        "`decay=` is ignored, with a warning"
        if is_zero
        else "`decay=` is ignored, with a warning: the learning rate stays constant",
        at=decay.arg,
        severity=Severity.LEGACY if is_zero else Severity.CHANGE,
        help="Remove it."
        if is_zero
        else "Remove it, as Keras 3 ignores it; or divide by `1 + decay * iterations` where the "
        "rate is set."
        if is_set
        else "Pass `keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)` as the rate.",
        fix=_removed(decay) if is_zero else _scheduled(decay),
    )


def stays_ignored(module: Module, facts: TargetFacts, reference: Reference) -> bool:
    """Say whether a call passes a decay that no safe fix turns into a schedule.

    As long as something else in it is refused, nothing is trained without that decay.
    """
    if reference.call is None:
        return False
    call = Call(module, facts, reference.call, reference=reference)
    call.rule = check
    given = call.argument("decay")
    decay = None if given is None else Argument(call, "decay", given)
    if decay is None or not _is_ignored(decay) or literal(decay.node) == 0:
        return False
    fix = _scheduled(decay)
    return isinstance(fix, NoFix) or fix.applicability is not Applicability.SAFE


def _is_ignored(decay: Argument) -> bool:
    """Say whether Keras 3 passes over it."""
    if "legacy" in decay.name or literal(decay.node) is None:
        return False
    return decay.facts.lookup(decay.name).presence is Presence.EXISTS


def _removed(decay: Argument) -> Fix | NoFix:
    edits = remove_arguments(decay.module, decay.call, [decay.arg])
    if edits is None:
        return NoFix("there is a comment next to it")
    return decay.fix("Remove `decay=0`", *edits)


def _scheduled(decay: Argument) -> Fix | NoFix:
    """Write the rate and its decay as one schedule, where the rate is or in its place."""
    module, rates = decay.module, rates_of(decay.module)
    setter = rates.setter(decay.call)
    if setter is not None:
        return NoFix(f"`{setter}` sets the learning rate, which is not possible with a schedule")
    if decay.is_hidden:
        return NoFix("`**` hides the other arguments")
    edits = remove_arguments(module, decay.call, [decay.arg])
    rate = decay.argument("learning_rate", 0) or decay.argument("lr")
    if edits is None:
        return NoFix("there is a comment next to it")
    if rate is not None and _is_schedule(module, value_of(module, rate.value)):
        return NoFix("the learning rate is already a schedule")
    assert decay.reference is not None
    spelled, need = Speller.at(module, decay.reference).spell(_SCHEDULE)
    each_step = Hole(module.outer_span(decay.node), Precedence.LAMBDA, precedence_of(decay.node))
    if rate is None:
        signature = decay.facts.signature(decay.name)
        default = signature and signature.parameter("learning_rate")
        if not default or default.default is None:
            return NoFix("the default rate is not known")
        start = f"learning_rate={spelled}({default.default}, 1, "
        edits = [Edit(module.span(decay.arg), (start, each_step, ")"))]
    else:
        span = module.outer_span(rate.value)
        inner = Hole(span, Precedence.LAMBDA, precedence_of(rate.value))
        edits = [*edits, Edit(span, (f"{spelled}(", inner, ", 1, ", each_step, ")"))]
    doubt = rates.doubt(decay.call)
    return decay.fix(
        "Replace the decay with a schedule",
        *edits,
        imports=() if need is None else (need,),
        unsafe_because=f"{doubt}, and the rate of an optimizer with a schedule cannot be set"
        if doubt
        else "",
    )


def _is_schedule(module: Module, rate: object) -> bool:
    name = module.qualified(rate.func) if isinstance(rate, cst.Call) else None
    split = split_root(name) if name else None
    return split is not None and "schedules" in split[1]


_TRAIN = (
    "\nmodel = keras.Sequential([keras.layers.Dense(1, kernel_initializer='ones')])\n"
    "model.compile(optimizer, 'mse')\n"
    "model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=2, verbose=0)"
)
_PRELUDE = "import keras\nimport numpy as np\n"

VALID = [
    "import keras\nkeras.optimizers.SGD(0.1, weight_decay=0.1)",
    "import keras\nkeras.optimizers.SGD(0.1, **options)",
    "import tf_keras\ntf_keras.optimizers.legacy.SGD(0.1, decay=0.1)",
    "import keras\nfrom mine import Ranger\nRanger(0.1, decay=0.1)",
    "import keras\nkeras.optimizers.schedules.ExponentialDecay(0.1, 10, decay_rate=0.9)",
]
_FIT = (
    "\nmodel = keras.Sequential([keras.layers.Dense(1, kernel_initializer='ones')])\n"
    "model.compile(optimizer={}, loss='mse')\n"
    "model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=2, verbose=0{})\n"
)
_STOPS = ", callbacks=[keras.callbacks.EarlyStopping('loss'), Noted()]"
_NOTED = (
    "\n\nclass Noted(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n"
    "        print(epoch, logs)\n\n"
)
_OLD = "keras.optimizers.SGD(0.1, decay=0.5)"
_SCHEDULED = "keras.optimizers.SGD(keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.5))"
_HALVED = (
    "\n\nclass Halved(keras.callbacks.Callback):\n    def on_epoch_end(self, epoch, logs=None):\n"
    "        self.model.optimizer.learning_rate = 0.5**epoch\n\n"
)
INVALID = [
    Example(
        before=_PRELUDE + "optimizer = keras.optimizers.SGD(learning_rate=0.1, decay=0.5, "
        "momentum=0.9)" + _FIT.format("optimizer", ""),
        after=_PRELUDE + "optimizer = keras.optimizers.SGD(learning_rate="
        "keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.5), momentum=0.9)"
        + _FIT.format("optimizer", ""),
        on_keras_2=True,
        same="model.get_weights()[0].tolist()",
    ),
    # All the callbacks are known.
    Example(
        before=_PRELUDE + _NOTED + _FIT.format(_OLD, _STOPS),
        after=_PRELUDE + _NOTED + _FIT.format(_SCHEDULED, _STOPS),
        on_keras_2=True,
        same="model.get_weights()[0].tolist()",
    ),
    Example(
        before=_PRELUDE + "optimizer = keras.optimizers.SGD(momentum=0.9, decay=1e-2)"
        + _FIT.format("optimizer", ""),
        after=_PRELUDE + "optimizer = keras.optimizers.SGD(momentum=0.9, "
        "learning_rate=keras.optimizers.schedules.InverseTimeDecay(0.01, 1, 1e-2))"
        + _FIT.format("optimizer", ""),
        on_keras_2=True,
        same="model.get_weights()[0].tolist()",
    ),
    Example(
        before="import keras\n\noptimizer = keras.optimizers.Adam(0.01, decay=0.0)",
        after="import keras\n\noptimizer = keras.optimizers.Adam(0.01)",
    ),
    # Another file may train with it, and set its rate.
    Example(
        before="from tensorflow.keras.optimizers import RMSprop\n\nRATE, EPOCHS = 0.01, 10\n"
        "optimizer = RMSprop(RATE, decay=RATE / EPOCHS)",
        after="from tensorflow.keras.optimizers import RMSprop, schedules\n\n"
        "RATE, EPOCHS = 0.01, 10\n"
        "optimizer = RMSprop(schedules.InverseTimeDecay(RATE, 1, RATE / EPOCHS))",
        prelude=_PRELUDE,
        check=_TRAIN,
        unsafe=True,
    ),
    Example(
        before="import keras\n\noptimizer = keras.optimizers.SGD(0.1, decay=1e-4)\n"
        "slower = keras.callbacks.ReduceLROnPlateau(monitor='loss')",
        after="import keras\n\noptimizer = keras.optimizers.SGD("
        "keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 1e-4))\n"
        "slower = keras.callbacks.ReduceLROnPlateau(monitor='loss')",
        unsafe=True,
    ),
    # Other code may put a callback into the list that sets the rate.
    Example(
        before=_PRELUDE + "def more(callbacks):\n    callbacks += ()\n\n\n"
        "watch = [keras.callbacks.EarlyStopping('loss')]\nmore(watch)\n"
        + _FIT.format(_OLD, ", callbacks=watch"),
        after=_PRELUDE + "def more(callbacks):\n    callbacks += ()\n\n\n"
        "watch = [keras.callbacks.EarlyStopping('loss')]\nmore(watch)\n"
        + _FIT.format(_SCHEDULED, ", callbacks=watch"),
        on_keras_2=True,
        same="model.get_weights()[0].tolist()",
        unsafe=True,
    ),
    # A schedule would raise here: the rate is set.
    Example(
        before=_PRELUDE + "slower = keras.callbacks.ReduceLROnPlateau(monitor='loss')"
        + _FIT.format(_OLD, ", callbacks=[slower]"),
    ),
    # A copy of the optimizer, as KD446 writes one, has a rate of the same kind.
    Example(
        before=_PRELUDE + f"optimizer = {_OLD}\n"
        "slower = keras.callbacks.ReduceLROnPlateau(monitor='loss')"
        + _FIT.format("optimizer.from_config(optimizer.get_config())", ", callbacks=[slower]"),
    ),
    Example(
        before=_PRELUDE + _HALVED + _FIT.format(_OLD, ", callbacks=[Halved()]"),
    ),
    Example(
        before=_PRELUDE + f"optimizer = {_OLD}" + _FIT.format("optimizer", "")
        + "optimizer.learning_rate = 0.01\n",
    ),
]  # fmt: skip
