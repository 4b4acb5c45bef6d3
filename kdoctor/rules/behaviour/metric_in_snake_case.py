"""`metrics=[PSNR]`: the logs call a metric function `psnr`, in snake case.

## What it does
Reports names of metric functions with capitals, `PSNR` and `val_PSNR`, as keys of a history and of
a callback's `logs`, as `monitor=` of a callback and in the path of a `ModelCheckpoint`.

## Why it breaks
Keras 2 used the `__name__` of a metric function, Keras 3 converts it to snake case: `PSNR` is
`psnr`, `IoU` is `io_u`, `PSNRLoss` is `psnr_loss`. So `history.history['val_PSNR']` raises
`KeyError`, and a callback that monitors `val_PSNR` finds nothing: with `mode=`, `ModelCheckpoint`
warns and never saves.

## What to write instead
The name in snake case; or rename the function.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.queries import File, called, files
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.training.logs import NO_PATH, is_written, names_in_logs
from kdoctor.model import Finding, Severity
from kdoctor.rules.fixes.log_names import write_log_name
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import BindingKind

_FUNCTIONS = (BindingKind.FUNCTION, BindingKind.IMPORT)


def _names_one(form: object) -> bool:
    return isinstance(form, list | tuple) and any(
        isinstance(each, Expression)
        and each.kind == "Name"
        and in_snake_case(each.name) != each.name
        for each in form
    )


@rule(
    "KD443",
    severity=Severity.ERROR,
    since="3.0",
    only_alone=True,
    look_for=files(called("compile").passing("metrics", where=_names_one)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each use of a name that the logs do not have."""
    module = file.module
    named = {each for each in _metrics(module) if not _is_given(module, each)}
    if not named:
        return
    for node, name, what in names_in_logs(module):
        metric = name.removeprefix("val_")
        if metric in named and not module.is_guarded(node):
            yield _finding(file, node, name, what)


def _metrics(module: Module) -> Iterator[str]:
    """Yield the functions with capitals that are measured."""
    for node in module.nodes(cst.Call):
        if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "compile":
            continue
        given = argument(node, "metrics")
        value = None if given is None else value_of(module, given.value)
        if isinstance(value, cst.List | cst.Tuple) and module.qualified(node.func) is None:
            yield from (
                each.value.value
                for each in value.elements
                if isinstance(each.value, cst.Name) and _is_function(module, each.value)
            )


def _is_function(module: Module, name: cst.Name) -> bool:
    bindings = module.bindings_at(name)
    return (
        in_snake_case(name.value) != name.value
        and bool(bindings)
        and all(each.kind in _FUNCTIONS for each in bindings)
    )


def _is_given(module: Module, name: str) -> bool:
    """Say whether something else of the file may be called so in the logs."""
    return is_written(module, name) or any(
        (given := argument(each, "name")) is not None and literal(given.value) == name
        for each in module.nodes(cst.Call)
    )


def _finding(file: File, node: cst.SimpleString, old: str, what: str) -> Finding:
    metric = old.removeprefix("val_")
    new = old.removesuffix(metric) + in_snake_case(metric)
    return file.finding(
        f"`{metric}` appears as `{in_snake_case(metric)}` in the logs: {what}",
        symbol=f"History.history[{old}]",
        at=node,
        help=f"Write `{new}`.",
        fix=write_log_name(file, node, old, new),
    )


_MODEL = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 3)), np.ones((4, 1))\n"
    "model = keras.Sequential([keras.layers.Dense(1)])\n\n\n"
    "def MaxError(y_true, y_pred):\n    return keras.ops.max(keras.ops.abs(y_true - y_pred))\n\n\n"
    "model.compile('sgd', 'mse', metrics=[MaxError])\n"
)
_OLD_MODEL = _MODEL.replace("keras.ops.max(keras.ops.abs(y_true - y_pred))", "y_pred[:, 0]")

VALID = [
    _MODEL + "model.fit(x, y).history['max_error']",
    _MODEL.replace("MaxError", "max_error") + "model.fit(x, y).history['max_error']",
    # It has a name of its own.
    (
        "import keras\n\nAUC = keras.metrics.AUC(name='AUC')\nmodel = keras.Sequential()\n"
        "model.compile('sgd', 'mse', metrics=[AUC])\nmodel.fit(x, y).history['AUC']"
    ),
    (
        f"{_MODEL}model.compile('sgd', metrics=[keras.metrics.Mean(name='MaxError')])\n"
        "model.fit(x, y).history['MaxError']"
    ),
    _MODEL + "results['MaxError'] = model.fit(x, y).history['MaxError']",
    _MODEL + "print('MaxError')",
    _MODEL.replace("import keras", "import tf_keras as keras")
    + "model.fit(x, y).history['MaxError']",
]
INVALID = [
    Example(
        before=f"{_OLD_MODEL}history = model.fit(x, y, validation_split=0.5, verbose=0)\n"
        "both = len(history.history['MaxError'] + history.history[\"val_MaxError\"])",
        after=f"{_OLD_MODEL}history = model.fit(x, y, validation_split=0.5, verbose=0)\n"
        "both = len(history.history['max_error'] + history.history[\"val_max_error\"])",
        raises="KeyError: 'MaxError'",
        findings=2,
        on_keras_2=True,
        same="both",
    ),
    Example(
        before=f"{_OLD_MODEL}save = keras.callbacks.ModelCheckpoint(\n"
        "    'a.keras', monitor='MaxError', mode='min', save_best_only=True)\n"
        "model.fit(x, y, callbacks=[save], verbose=0)",
        after=f"{_OLD_MODEL}save = keras.callbacks.ModelCheckpoint(\n"
        "    'a.keras', monitor='max_error', mode='min', save_best_only=True)\n"
        "model.fit(x, y, callbacks=[save], verbose=0)",
        on_keras_2=True,
        same="__import__('os').path.exists('a.keras')",
    ),
    Example(
        before=f"{_OLD_MODEL}save = keras.callbacks.ModelCheckpoint('{{MaxError:.1f}}.keras')\n"
        "model.fit(x, y, callbacks=[save], verbose=0)",
        after=f"{_OLD_MODEL}save = keras.callbacks.ModelCheckpoint('{{max_error:.1f}}.keras')\n"
        "model.fit(x, y, callbacks=[save], verbose=0)",
        raises=NO_PATH,
        on_keras_2=True,
        same="len(__import__('glob').glob('*.keras'))",
    ),
]
