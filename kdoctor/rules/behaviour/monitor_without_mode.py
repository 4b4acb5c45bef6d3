"""A callback that monitors a custom metric needs an explicit `mode=`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import (
    add_keyword,
    argument,
    is_hidden,
    keras_version,
    replace_expression,
)
from kdoctor.analysis.queries import Call, Instance, Query, called, constructs
from kdoctor.analysis.queries.conditions import together
from kdoctor.analysis.queries.forms import Expression, Given, given_by
from kdoctor.keras_api import split_root
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

# Where `monitor` and `mode` stand by position.
_CALLBACKS = {
    "EarlyStopping": (0, 4),
    "ReduceLROnPlateau": (0, 4),
    "ModelCheckpoint": (1, 5),
}
# The names of Keras 3.15's own metrics, by which they go in the logs, in whatever case.
KNOWN = frozenset({
    *("acc", "accuracy", "auc", "bce", "binary_accuracy", "binary_crossentropy", "binary_io_u"),
    *("categorical_accuracy", "categorical_crossentropy", "categorical_hinge", "ce"),
    *("concordance_correlation", "cosine_similarity", "crossentropy", "f1_score"),
    *("f_beta_score", "false_negatives", "false_positives", "fbeta_score", "hinge", "io_u"),
    *("kl_divergence", "log_cosh_error", "logcosh", "mae", "mape", "mean"),
    *("mean_absolute_error", "mean_absolute_percentage_error", "mean_io_u"),
    *("mean_squared_error", "mean_squared_logarithmic_error", "mse", "msle", "one_hot_io_u"),
    *("one_hot_mean_io_u", "pearson_correlation", "poisson", "precision"),
    *("precision_at_recall", "r2_score", "recall", "recall_at_precision"),
    *("root_mean_squared_error", "sensitivity_at_specificity", "sparse_categorical_accuracy"),
    *("sparse_categorical_crossentropy", "sparse_top_k_categorical_accuracy"),
    *("specificity_at_sensitivity", "squared_hinge", "sum", "top_k_categorical_accuracy"),
    *("true_negatives", "true_positives"),
})  # fmt: skip
# `MeanSquaredError` is written so as a name, too.
_SQUEEZED = KNOWN | {each.replace("_", "") for each in KNOWN}
_NUMBERED = pattern(r"_\d+$")
# Before, only EarlyStopping asked; the others guessed as in Keras 2.
_ALL_CALLBACKS = Version("3.11.0")
_METRICS = ("metrics", "weighted_metrics")
_BEFORE_METRICS = 2  # arguments of `compile` by position
_PLAINLY_LESS = pattern(r"(^|_)(loss|err|error|mse|mae|rmse|distance|crossentropy|ce|wer|cer)$")


def _monitored(cls: str, given: Given) -> str:
    """Return the metric that a callback monitors without a mode, "" if none is asked for one."""
    monitor, mode = _CALLBACKS[cls]
    name, said = given.argument("monitor", monitor), given.argument("mode", mode, "auto")
    found = name.removeprefix("val_") if isinstance(name, str) and said == "auto" else ""
    return "" if found == "loss" else found


def _names(given: Given, is_function: Callable[[str], bool]) -> set[str] | None:
    """Return the metrics that `compile` is given by their names; None if it has unknown ones.

    A function of Keras goes in the logs by its name, too, but nobody knows its direction.
    """
    names: set[str] = set()
    for keyword in _METRICS:
        metrics = given.argument(keyword, absent=[])
        if len(given.by_position) > _BEFORE_METRICS or not isinstance(metrics, list):
            return None
        functions = [
            each for each in metrics if isinstance(each, Expression) and is_function(each.name)
        ]
        named = [each for each in metrics if each not in functions]
        # What a class's name (`AUC`) becomes in the logs is left open.
        if not all(isinstance(each, str) and each.islower() for each in named):
            return None
        names.update(named)
    return names


def _may_be_function(name: str) -> bool:
    return name.rpartition(".")[2] in KNOWN


def _functions(module: Module, call: cst.Call) -> frozenset[str]:
    """Return the names, as written, of the functions of Keras among the metrics of a call."""
    lists = (given.value for each in _METRICS if (given := argument(call, each)) is not None)
    values = (each.value for given in lists for each in _elements(given))
    return frozenset(module.source(each) for each in values if _is_function(module, each))


def _elements(given: cst.BaseExpression) -> Sequence[cst.BaseElement]:
    return given.elements if isinstance(given, cst.List | cst.Tuple) else ()


def _is_function(module: Module, node: cst.BaseExpression) -> bool:
    split = split_root(module.qualified(node) or "")
    room, _, leaf = ("", "", "") if split is None else split[1].rpartition(".")
    return room in {"metrics", "losses"} and leaf.islower()


def _callbacks(cls: str) -> Query[Call]:
    """Callbacks of a class whose metric is none of Keras, or none that a model is compiled with."""

    def is_own(given: Given) -> bool:
        name = _monitored(cls, given)
        return bool(name) and not _is_of_keras(name)

    def is_known(given: Given) -> bool:
        return _is_of_keras(_monitored(cls, given))

    def is_left_out(callback: Given, compiled: Given) -> bool:
        names = _names(compiled, _may_be_function)
        return names is not None and _monitored(cls, callback) not in names

    callbacks = constructs(Instance(Kind.CALLBACK, cls))
    known = callbacks.where(is_known)
    return callbacks.where(is_own) | known.beside(together(known, called("compile"), is_left_out))


@rule(
    "KD408",
    severity=Severity.ERROR,
    since="3.0",
    look_for=reduce(or_, map(_callbacks, _CALLBACKS)),
)
def check(callback: Call) -> Finding | None:
    """Report each monitor whose direction Keras 3 cannot know."""
    monitor, mode = _CALLBACKS[callback.cls]
    given, said = callback.argument("monitor", monitor), callback.argument("mode", mode)
    if callback.cls != "EarlyStopping" and keras_version(callback.facts) < _ALL_CALLBACKS:
        return None
    name = literal(given.value) if given else None
    if given is None or not isinstance(name, str):
        return None
    if _may_be_known(callback.module, name.removeprefix("val_")):
        return None
    return _finding(callback, name, given, said)


def _finding(callback: Call, monitor: str, given: cst.Arg, said: cst.Arg | None) -> Finding:
    module, mode = callback.module, keras_2_mode(callback.cls, monitor)
    fix: Fix | NoFix = NoFix(
        f"Keras 2 treated a lower `{monitor}` as better; only you can tell whether it is"
    )
    if mode == "max" or _PLAINLY_LESS.search(monitor) is not None:
        quote = given.value.quote if isinstance(given.value, cst.SimpleString) else '"'
        edit = (
            add_keyword(module, callback.node, f"mode={quote}{mode}{quote}")
            if said is None
            else replace_expression(module, said.value, f"{quote}{mode}{quote}")
        )
        fix = callback.fix(f'Add `mode="{mode}"`, which Keras 2 used', edit)
    return callback.finding(
        f"ValueError: {callback.cls} callback received monitor={monitor}, but Keras isn't able to "
        "automatically determine whether that metric should be maximized or minimized.",
        symbol=f"{callback.name}(monitor)",
        help='Add `mode="max"` or `mode="min"`.',
        fix=fix,
    )


def keras_2_mode(cls: str, monitor: str) -> str:
    """Return what ``mode="auto"`` was in Keras 2."""
    if cls == "EarlyStopping":
        return "max" if monitor.endswith(("acc", "accuracy", "auc")) else "min"
    if cls == "ModelCheckpoint" and monitor.startswith("fmeasure"):
        return "max"
    return "max" if "acc" in monitor else "min"


def _may_be_known(module: Module, name: str) -> bool:
    """Say whether a metric that knows its direction may go by that name."""
    if name == "loss" or re.search(rf"name\s*=\s*['\"]{re.escape(name)}['\"]", module.text):
        return True
    if not _is_of_keras(name):
        return False
    # One of Keras' own names: it is there, unless all metrics are in sight and it is not.
    compiled = _compiled(module)
    return not compiled or any(names is None or name in names for names in compiled)


def _is_of_keras(name: str) -> bool:
    return _NUMBERED.sub("", name).lower() in _SQUEEZED or name in KNOWN


@once
def _compiled(module: Module) -> list[set[str] | None]:
    """Return, for each call of ``compile``, the names of the metrics; None if not all are plain."""
    return [
        None
        if is_hidden(use.called)
        else _names(given_by(use.called), _functions(module, use.called).__contains__)
        for use in module.members_named("compile")
        if use.owner.kind is Kind.MODEL and use.called is not None
    ]
