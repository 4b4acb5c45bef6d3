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

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.logs import NO_PATH, is_written, names_in_logs
from kdoctor.analysis.triggers import Trigger, attribute
from kdoctor.model import Confidence, Finding, Severity
from kdoctor.rules.fixes.log_names import write_log_name
from kdoctor.rules.fixes.snake_case import in_snake_case
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind

_FUNCTIONS = (BindingKind.FUNCTION, BindingKind.IMPORT)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each use of a name that the logs do not have."""
    named = {each for each in _metrics(module) if not _is_given(module, each)}
    if not named:
        return
    for node, name, what in names_in_logs(module):
        metric = name.removeprefix("val_")
        if metric in named and not module.is_guarded(node):
            yield _finding(module, node, name, what)


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


def _finding(module: Module, node: cst.SimpleString, old: str, what: str) -> Finding:
    metric = old.removeprefix("val_")
    new = old.removesuffix(metric) + in_snake_case(metric)
    return rule.finding(
        module.place(node),
        f"`{metric}` appears as `{in_snake_case(metric)}` in the logs: {what}",
        symbol=f"History.history[{old}]",
        confidence=Confidence.LIKELY,
        help=f"Write `{new}`.",
        fix=write_log_name(module, node, old, new, rule.applicability()),
    )


def _may_be_called_so(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether a metric with capitals may be named in a string."""
    names = {
        each.id
        for called in quick.calls_of("compile")
        for value in quick.values_of(called.argument("metrics"))
        if isinstance(value, ast.List | ast.Tuple)
        for each in value.elts
        if isinstance(each, ast.Name) and in_snake_case(each.id) != each.id
    }
    return any(name in text for name in names for text in quick.strings)


rule = Rule(
    code="KD443",
    name="metric-in-snake-case",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute("compile") & Trigger(_may_be_called_so),
    since="3.0",
    only_alone=True,
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
