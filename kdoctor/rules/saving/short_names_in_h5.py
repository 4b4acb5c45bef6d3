"""A model compiled with `loss="mse"` and saved to `.h5` cannot be loaded again.

## What it does
Reports `load_model("x.h5")` if the same file compiles a model with a short loss name (`mse`, `mae`,
`mape`, `msle`, `bce`, `kld`, also in upper case or for one of several outputs) and saves it to that
path: the same string, or the same variable.

## Why it breaks
The `.h5` format stores the name as written, and Keras 3 looks it up in the metrics: `ValueError:
Could not deserialize 'keras.metrics.mse' because it is not a KerasSaveable subclass`. The file
loads if the model was compiled with the full name or a loss object, or if `load_model` gets
`compile=False`; `.keras` files load too.

## What to write instead
Write `model.compile(loss="mean_squared_error")`: it is the same function, and the names in the logs
stay the same. Older files need `keras.models.load_model("x.h5", compile=False)` and a new
`compile`.

## How we know
Run on Keras 3.15.1 with each loss name; Keras 2 loads all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.analysis.node_values import elements_in
from kdoctor.analysis.queries.conditions import text, word
from kdoctor.analysis.training.loss_names import LONG_NAMES
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.rules.saving._possible_endings import LOADS_H5
from kdoctor.rules.saving._save_and_load_calls import (
    FileUse,
    PathUse,
    compiles,
    file_uses,
    is_h5,
    is_same_path,
    model_of,
    saves,
)
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind


@rule(
    "KD607",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("load").beside(
        LOADS_H5, word("save", "save_model"), text(LONG_NAMES.__contains__)
    ),
)
def check(load: FileUse) -> Finding | None:
    """Report each load of a file that this module writes with a short loss name."""
    if not is_h5(load.use) or not compiles(load.use):
        return None
    losses = _short_losses(load.module, load.use)
    if not losses:
        return None
    name = str(literal(losses[0]))
    return load.finding(
        f"the file is saved with the short loss name `{name}`: ValueError: Could not "
        f"deserialize 'keras.metrics.{name}' because it is not a KerasSaveable subclass",
        help="Compile with the full name of the loss; load older files with `compile=False`.",
        fix=load.fix(
            "Compile with the full name of the loss",
            *(_long_name(load.module, loss) for loss in losses),
        ),
    )


def _short_losses(module: Module, load: PathUse) -> list[cst.SimpleString]:
    """Return the short names with which the models are compiled that are saved where this loads."""
    return [
        name
        for save in saves(module)
        if is_same_path(module, save, load)
        for name in _names(_last_loss(module, save))
        if literal(name) in LONG_NAMES
    ]


def _names(loss: cst.BaseExpression | None) -> Iterator[cst.SimpleString]:
    """Yield the strings of a loss: of one, of a list for several outputs, of a dict by output."""
    for each in () if loss is None else elements_in(loss):
        if isinstance(each, cst.SimpleString):
            yield each


def _last_loss(module: Module, save: PathUse) -> cst.BaseExpression | None:
    """Return the loss that the saved model was last compiled with, in the same run of code."""
    saved = model_of(save)
    if saved is None:
        return None
    scope, place, name = module.scope_of(saved), module.span(save.call), module.source(saved)
    compiled = [
        use.called
        for use in module.members
        if use.member == "compile"
        and use.owner.kind is Kind.MODEL
        and use.called is not None
        and module.source(use.node.value) == name
        and module.scope_of(use.node) is scope
        and module.span(use.node) < place
    ]
    loss = argument(max(compiled, key=module.span), "loss", 1) if compiled else None
    return None if loss is None else loss.value


def _long_name(module: Module, loss: cst.SimpleString) -> Edit:
    quote = loss.quote
    return Edit(module.span(loss), (f"{quote}{LONG_NAMES[str(literal(loss))]}{quote}",))


_MODEL = "import keras\n\nmodel = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
_NAMED = (
    "import keras\nimport os\nimport tempfile\n\nmodel = keras.Sequential([keras.Input((2,)), "
    "keras.layers.Dense(1, name='out')])\npath = os.path.join(tempfile.gettempdir(), "
    "'kdoctor_%d.h5' % os.getpid())\n"
)

VALID = [
    # It is compiled anew before it is saved.
    _MODEL + "model.compile('sgd', 'mse')\nmodel.fit(x, y)\nmodel.compile('sgd', 'hinge')\n"
    "model.save('a.h5')\nkeras.models.load_model('a.h5')",
    _MODEL + "model.compile('sgd', 'mse')\nmodel.save('a.keras')\n"
    "keras.models.load_model('a.keras')",
    _MODEL + "model.compile('sgd', 'mean_squared_error')\nmodel.save('a.h5')\n"
    "keras.models.load_model('a.h5')",
    _MODEL + "model.compile('sgd', 'mse')\nmodel.save('a.h5')\n"
    "keras.models.load_model('a.h5', compile=False)\nkeras.models.load_model('b.h5')",
    # The variable may have got another path in between, or elsewhere.
    _MODEL + "path = 'a' + '.h5'\nmodel.compile('sgd', 'mse')\nmodel.save(path)\n"
    "path = other + '.h5'\nkeras.models.load_model(path)",
    _MODEL + "for path in paths:\n    path = path + '.h5'\n    keras.models.load_model(path)\n"
    "model.compile('sgd', 'mse')\nmodel.save(path)",
    _MODEL + "model.compile('sgd', 'hinge', metrics=['mse'])\nmodel.save('a.h5')\n"
    "keras.models.load_model('a.h5')",
]
INVALID = [
    Example(
        before=_MODEL + "model.compile('sgd', loss='mse', metrics=['mae'])\nmodel.save('a.h5')\n"
        "again = keras.models.load_model('a.h5')",
        after=_MODEL + "model.compile('sgd', loss='mean_squared_error', metrics=['mae'])\n"
        "model.save('a.h5')\nagain = keras.models.load_model('a.h5')",
        raises="ValueError: Could not deserialize 'keras.metrics.mse' because it is not a "
        "KerasSaveable subclass",
        check="assert again.compiled\n"
        "assert again.evaluate(keras.ops.ones((2, 2)), keras.ops.ones((2, 1)), verbose=0) == "
        "model.evaluate(keras.ops.ones((2, 2)), keras.ops.ones((2, 1)), verbose=0)",
    ),
    # The path is what a variable holds at both places, and it is used again.
    Example(
        before=_NAMED + "model.compile('sgd', loss={'out': 'MAE'})\n"
        "model.save(path)\nagain = keras.models.load_model(path)\n"
        "path = os.path.join(tempfile.gettempdir(), 'kdoctor_2.h5')\n"
        "model.compile('sgd', ['mse'])\nmodel.save(path)\n"
        "again = keras.models.load_model(path)",
        after=_NAMED + "model.compile('sgd', loss={'out': 'mean_absolute_error'})\n"
        "model.save(path)\nagain = keras.models.load_model(path)\n"
        "path = os.path.join(tempfile.gettempdir(), 'kdoctor_2.h5')\n"
        "model.compile('sgd', ['mean_squared_error'])\nmodel.save(path)\n"
        "again = keras.models.load_model(path)",
        raises="ValueError: Could not deserialize 'keras.metrics.MAE' because it is not a "
        "KerasSaveable subclass",
        findings=2,
        check="assert again.compiled",
    ),
]
