"""A callback that monitors a custom metric needs an explicit `mode=`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

import libcst as cst
from packaging.version import Version

from kdoctor.analysis.calls import (
    add_keyword,
    argument,
    instances,
    is_hidden,
    is_keras_3,
    keras_version,
    literal,
    literal_of,
)
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, may_be_called_on, word
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
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
_PLAINLY_LESS = pattern(r"(^|_)(loss|err|error|mse|mae|rmse|distance|crossentropy|ce|wer|cer)$")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each monitor whose direction Keras 3 cannot know."""
    compiled: list[set[str] | None] | None = None
    for reference, call, made in instances(module, Kind.CALLBACK, facts):
        if made.cls not in _CALLBACKS or is_hidden(call) or module.is_guarded(call):
            continue
        monitor, mode = _CALLBACKS[made.cls]
        given, said = argument(call, "monitor", monitor), argument(call, "mode", mode)
        name = literal(given.value) if given else None
        if made.cls != "EarlyStopping" and keras_version(facts) < _ALL_CALLBACKS:
            continue
        if given is None or not isinstance(name, str) or (said and literal(said.value) != "auto"):
            continue
        if compiled is None:
            compiled = list(_compiled(module))
        if _may_be_known(module, name.removeprefix("val_"), compiled):
            continue
        yield _finding(module, facts, reference, call, made.cls, name, given, said)


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module,
    facts: TargetFacts,
    reference: Reference,
    call: cst.Call,
    cls: str,
    monitor: str,
    given: cst.Arg,
    said: cst.Arg | None,
) -> Finding:
    mode = keras_2_mode(cls, monitor)
    sure = mode == "max" or _PLAINLY_LESS.search(monitor) is not None
    fix = None
    if sure:
        quote = given.value.quote if isinstance(given.value, cst.SimpleString) else '"'
        edit = (
            add_keyword(module, call, f"mode={quote}{mode}{quote}")
            if said is None
            else _replaced(module, said.value, f"{quote}{mode}{quote}")
        )
        rating = facts.applicability(*(each for each in rule.invalid if each.after))
        fix = Fix(f'Add `mode="{mode}"`, which Keras 2 used', (edit,), rating)
    return rule.finding(
        module.place(call),
        f"ValueError: {cls} callback received monitor={monitor}, but Keras isn't able to "
        "automatically determine whether that metric should be maximized or minimized.",
        symbol=f"{reference.name}(monitor)",
        confidence=reference.confidence,
        help='Add `mode="max"` or `mode="min"`.',
        fix=fix
        or NoFix(f"Keras 2 treated a lower `{monitor}` as better; only you can tell whether it is"),
    )


def keras_2_mode(cls: str, monitor: str) -> str:
    """Return what ``mode="auto"`` was in Keras 2."""
    if cls == "EarlyStopping":
        return "max" if monitor.endswith(("acc", "accuracy", "auc")) else "min"
    if cls == "ModelCheckpoint" and monitor.startswith("fmeasure"):
        return "max"
    return "max" if "acc" in monitor else "min"


def _may_be_known(module: Module, name: str, compiled: list[set[str] | None]) -> bool:
    """Say whether a metric that knows its direction may go by that name."""
    if name == "loss" or re.search(rf"name\s*=\s*['\"]{re.escape(name)}['\"]", module.text):
        return True
    if not _is_of_keras(name):
        return False
    # One of Keras' own names: it is there, unless all metrics are in sight and it is not.
    return not compiled or any(names is None or name in names for names in compiled)


def _is_of_keras(name: str) -> bool:
    return _NUMBERED.sub("", name).lower() in _SQUEEZED or name in KNOWN


def _compiled(module: Module) -> Iterator[set[str] | None]:
    """Yield, for each call of ``compile``, the names of the metrics; None if not all are plain."""
    for use in module.members:
        if use.member == "compile" and use.owner.kind is Kind.MODEL and use.called is not None:
            yield _metrics(use.called)


def _metrics(call: cst.Call) -> set[str] | None:
    if is_hidden(call) or len([e for e in call.args if e.keyword is None]) > 2:
        return None
    given = (argument(call, keyword) for keyword in _METRICS)
    return _names_of(literal(each.value) if each else [] for each in given)


def _names_of(metrics: Iterable[object]) -> set[str] | None:
    names: set[str] = set()
    for value in metrics:
        if not isinstance(value, list):
            return None
        # What a class's name (`AUC`) becomes in the logs is left open.
        if not all(isinstance(each, str) and each.islower() for each in value):
            return None
        names |= set(value)
    return names


def _replaced(module: Module, node: cst.BaseExpression, text: str) -> Edit:
    return Edit(module.span(node), (text,))


def _may_lack_a_mode(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether ``_may_be_known`` could say no of something that is monitored without a mode."""
    made = chain.from_iterable(map(quick.calls_of, _CALLBACKS))
    monitored = {name for called in made for name in _monitored(facts, called)} - {"loss"}
    if not all(map(_is_of_keras, monitored)):
        return True
    lacking = [
        called
        for called in (quick.calls_of("compile") if monitored else ())
        if (names := _glimpsed_metrics(called)) is not None and not monitored <= names
    ]
    return may_be_called_on(quick, facts, lacking, {Kind.MODEL})


def _monitored(facts: TargetFacts, called: QuickCall) -> Iterator[str]:
    keras_3 = (each for each in called.names if is_keras_3(facts, each))
    for cls in {each.rpartition(".")[2] for each in keras_3} & _CALLBACKS.keys():
        monitor, mode = _CALLBACKS[cls]
        given, said = called.argument("monitor", monitor), called.argument("mode", mode)
        name = None if given is None else literal_of(given)
        if isinstance(name, str) and (said is None or literal_of(said) == "auto"):
            yield name.removeprefix("val_")


def _glimpsed_metrics(called: QuickCall) -> set[str] | None:
    """Return what ``_metrics`` does."""
    if called.is_hidden or called.places > 2:
        return None
    given = map(called.argument, _METRICS)
    return _names_of([] if each is None else literal_of(each) for each in given)


rule = Rule(
    code="KD408",
    name="monitor-without-mode",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word(*_CALLBACKS) & Trigger(_may_lack_a_mode),
    since="3.0",
)
