"""`train_step` returns `{"loss": loss}` but updates no metric with it: the logs show 0.0."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.calls import argument, is_builtin, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import decorated_by, kind_of_class
from kdoctor.analysis.models.user_models import (
    compiles_as_keras_does,
    lineage,
    methods_of,
    subclasses_of,
)
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.forms import DictForm, Expression
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.behaviour._single_output import gives_one
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants, own_nodes
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.value_types import Kind

_GRAPHS = ways_also_by_1("tensorflow.function")
_SEVERAL_DEVICES = tuple(ways_also_by_1("tensorflow.distribute"))
_STEPS = ("train_step", "test_step")
_GIVES = {"train_step": "`fit` logs", "test_step": "`evaluate` returns"}
_LOSS = "loss"
_NOT_BUILT = "Cannot get result() since the metric has not yet been built."
_RUNS = frozenset({"fit", "evaluate"})
# What a class reads or calls that may update a metric, or that makes the names differ.
_TRACKS = frozenset({
    *("_compile_loss", "_compile_metrics", "_loss_tracker", "_metrics", "add_metric"),
    *("compiled", "compiled_metrics", "compute_metrics", "get_metrics_result", "metrics"),
    *("metrics_names", "reset_metrics", "reset_state", "reset_states", "result", "update_state"),
})  # fmt: skip
# They update no metric, but a model of several outputs has one for each once they were called.
_OF_SEVERAL = frozenset({"compiled_loss", "compute_loss"})
# What decides which values are logged, and may be the class' own.
_DECIDES = frozenset({
    *("__getattr__", "__getattribute__", "_get_metrics_result_or_logs", "make_test_function"),
    *("make_train_function", *_RUNS, *_TRACKS),
})  # fmt: skip


def _may_be_the_loss_alone(form: object) -> bool:
    """Say whether it is ``{"loss": …}``, or ``dict(…)``."""
    if isinstance(form, DictForm):
        return [key for key, _ in form.items] == [_LOSS]
    return isinstance(form, Expression) and form.name == "dict"


@rule(
    "KD448",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods(*_STEPS, of=Kind.MODEL, holding=_may_be_the_loss_alone),
)
def check(step: Method) -> Finding | None:
    """Report each such step."""
    module, cls = step.module, step.owner.node
    found = _returned(module, step.node)
    if found is None or module.is_guarded(found):
        return None
    if not _is_plain_tensorflow(module) or _has_metrics(module):
        return None
    line = lineage(module, step.facts, cls)
    # The `train_step` of Keras would make other metrics known to a `test_step`.
    if "train_step" not in methods_of(line) or not _is_fitted(module, line):
        return None
    derived = subclasses_of(module, cls)
    if derived is None:
        return None
    lines = [line, *(lineage(module, step.facts, each) for each in derived)]
    if not all(lines) or any(_may_track(module, step.facts, each) for each in lines):
        return None
    fails = _is_compiled_with_metrics(module, [each.name.value for each in (cls, *derived)])
    return step.finding(
        f"{_GIVES[step.name]} the values of the model's metrics, and nothing here updates them: "
        + (f"ValueError: {_NOT_BUILT}" if fails else "`loss` is always 0.0"),
        at=found,
        severity=Severity.ERROR if fails else None,
        help='Create `self.loss_tracker = keras.metrics.Mean(name="loss")`, return '
        "`[self.loss_tracker]` from a `metrics` property, and in `train_step` and `test_step` "
        'update it and return `{"loss": self.loss_tracker.result()}`.',
        fix=NoFix("you have to decide which metric tracks the loss, and in which steps"),
    )


def _is_plain_tensorflow(module: Module) -> bool:
    """Say whether the steps are for TensorFlow, on one device, as far as the file tells."""
    names = {each.name for each in module.references}
    return any(each.split(".")[0] == "tensorflow" for each in names) and not any(
        each.startswith(_SEVERAL_DEVICES) for each in names
    )


def _has_metrics(module: Module) -> bool:
    """Say whether the file makes a metric, of whatever package, that is not for ``compile``."""
    made = [
        each.call
        for each in module.references
        if each.call is not None
        and "metrics" in each.name.split(".")[:-1]
        and each.name.rpartition(".")[2][0].isupper()
    ]
    return not all(_is_compiled(module, each) for each in made) or any(
        kind_of_class(module, each) is Kind.METRIC for each in module.nodes(cst.ClassDef)
    )


def _is_compiled(module: Module, call: cst.Call) -> bool:
    return any(
        isinstance(each, cst.Arg)
        and each.keyword is not None
        and each.keyword.value in {"metrics", "weighted_metrics"}
        for each in module.ancestors(call)
    )


def _may_track(module: Module, facts: TargetFacts, line: Sequence[cst.ClassDef]) -> bool:
    """Say whether these may update a metric, have another, or decide themselves what is logged."""
    methods = methods_of(line)
    forbidden = (
        _TRACKS
        | (frozenset() if gives_one(module, facts, methods.get("call")) else _OF_SEVERAL)
        - methods.keys()
    )
    return any(_may_be_tracked_in(module, node, forbidden) for node in line)


def _may_be_tracked_in(module: Module, node: cst.ClassDef, forbidden: frozenset[str]) -> bool:
    for each in descendants(node.body):
        match each:
            case cst.FunctionDef(name=cst.Name(value=name)) if name in _DECIDES:
                return True
            case cst.Attribute(attr=cst.Name(value=name)) if name in forbidden:
                if module.qualified(each) is None:
                    return True
            case cst.Name(value="setattr"):
                return True
    lines = (each for each in node.body.body if isinstance(each, cst.SimpleStatementLine))
    return any(
        isinstance(each, cst.Name) and each.value in _DECIDES.union(_STEPS)
        for line in lines
        for each in descendants(line)
    )


def _is_fitted(module: Module, line: Sequence[cst.ClassDef]) -> bool:
    """Say whether ``fit`` or ``evaluate`` runs the steps, as far as the file tells."""
    attributes = {each.attr.value for each in module.attributes}
    if attributes & set(_STEPS):  # by hand, or by the steps of the base
        return False
    runs = bool(attributes & _RUNS)
    if not runs and attributes & {"train_on_batch", "test_on_batch"}:
        return False
    if "compile" in methods_of(line):
        return compiles_as_keras_does(line)
    return (runs and "compile" in attributes) or _has_an_optimizer(line)


def _has_an_optimizer(line: Sequence[cst.ClassDef]) -> bool:
    """Say whether the class reads ``self.optimizer``, and leaves it to ``compile`` to set it."""
    parts = [part for node in line for part in descendants(node.body)]
    stored = {id(each.target) for each in parts if isinstance(each, cst.AssignTarget)}
    found = [
        id(each) in stored
        for each in parts
        if isinstance(each, cst.Attribute)
        and each.attr.value == "optimizer"
        and isinstance(each.value, cst.Name)
    ]
    return bool(found) and not any(found)


def _returned(module: Module, step: cst.FunctionDef) -> cst.BaseExpression | None:
    """Return the ``{"loss": loss}`` that a step returns, if it never returns anything else."""
    parameters = step.params
    if len(parameters.params) != 2 or step.asynchronous is not None:
        return None
    if parameters.posonly_params or parameters.kwonly_params or parameters.star_kwarg:
        return None
    if isinstance(parameters.star_arg, cst.Param) or not _is_only_a_graph(module, step):
        return None
    parts = [*own_nodes(step.body)]
    found = [_loss_alone(module, step, each.value) for each in parts if type(each) is cst.Return]
    return found[0] if found and None not in found and cst.Yield not in map(type, parts) else None


def _is_only_a_graph(module: Module, step: cst.FunctionDef) -> bool:
    return all(each in _GRAPHS for each in decorated_by(module, step))


def _loss_alone(
    module: Module, step: cst.FunctionDef, given: cst.BaseExpression | None
) -> cst.BaseExpression | None:
    if given is None:
        return None
    found = value_of(module, given)
    if found is not given and isinstance(given, cst.Name):
        read = [each for each in descendants(step.body) if isinstance(each, cst.Name)]
        if [each.value for each in read].count(given.value) != 2:
            return None
    match found:
        case cst.Dict(elements=[cst.DictElement(key=cst.SimpleString() as key, value=value)]):
            return found if literal(key) == _LOSS and literal(value) is UNKNOWN else None
        case cst.Call(
            func=cst.Name(value="dict") as called,
            args=[cst.Arg(keyword=cst.Name(value="loss"), value=value)],
        ) if is_builtin(module, called):
            return found if literal(value) is UNKNOWN else None
    return None


def _is_compiled_with_metrics(module: Module, names: Sequence[str]) -> bool:
    """Say whether all that the file compiles of these classes gets metrics."""
    given = [
        argument(use.called, "metrics")
        for use in module.members_named("compile")
        if use.called is not None and use.owner.cls in names
    ]
    return bool(given) and all(
        each is not None and literal(each.value) is not None for each in given
    )
