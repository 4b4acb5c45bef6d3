"""Objects of two Keras packages in one model: `keras` with `tf_keras`, or an older `tf.keras`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import passed
from kdoctor.analysis.facts import FACADES, TargetFacts
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import mixes, word
from kdoctor.keras_api import known_releases, split_root
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.environment._model_layers import layers_given
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind, Type


def _keras_of(facts: TargetFacts, name: str) -> str | None:
    """Return which Keras a name is of on the target; None where that is open."""
    split = split_root(name)
    return None if split is None or facts.is_open(name) else _keras_behind(split[0], facts)


@rule(
    "KD703",
    severity=Severity.ERROR,
    look_for=files(word("Sequential", "add", "compile"), mixes(_keras_of)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each layer and optimizer that a model of another Keras is given."""
    module, facts = file.module, file.facts
    if _are_roots_open(module, facts):
        return
    for model, given, node in _given_to_models(module):
        if model.qualified is None or given.qualified is None:
            continue
        own, other = _keras_of(facts, model.qualified), _keras_of(facts, given.qualified)
        if own is None or other is None or own == other or module.is_guarded(node):
            continue
        yield file.finding(
            f"`{given.qualified}` comes from another Keras than its model, `{model.qualified}`: "
            f"{_error(own, given.kind, facts)}",
            at=node,
            symbol=given.qualified,
            help="Import everything from one Keras.",
            fix=NoFix("kdoctor cannot choose which Keras the project should run on"),
        )


def _are_roots_open(module: Module, facts: TargetFacts) -> bool:
    """Say whether something decides which Keras a name of the module comes from."""
    roots: dict[str, set[str | None]] = {}
    for each in module.imports:
        if split_root(each.name) is not None:
            roots.setdefault(each.local, set()).add(_keras_of(facts, each.name))
    return any(len(known) > 1 for known in roots.values())


def _given_to_models(module: Module) -> Iterator[tuple[Type, Type, cst.BaseExpression]]:
    """Yield each model, with a layer or an optimizer that it is given, and where."""
    for model, given in layers_given(module):
        yield from _typed(module, model, given, Kind.LAYER)
    for use in module.members_named("compile"):
        if use.called is None or use.owner_defines:
            continue
        optimizer = passed(use.called, "optimizer", 0)
        if use.owner.kind is Kind.MODEL and optimizer is not None:
            yield from _typed(module, use.owner, optimizer, Kind.OPTIMIZER)


def _typed(
    module: Module, model: Type, node: cst.BaseExpression, kind: Kind
) -> Iterator[tuple[Type, Type, cst.BaseExpression]]:
    found = module.type_of(node)
    if found is not None and found.kind is kind:
        yield model, found, node


def _keras_behind(root: str, facts: TargetFacts) -> str | None:
    if root in ("keras", "tf_keras", "tensorflow.python.keras"):
        return root
    if root not in FACADES:
        return None
    target = facts.target
    # The latter where TF_USE_LEGACY_KERAS is set: by the code, or beside it.
    if target.name == "tf_keras" or target.tf_keras_version in known_releases("tf_keras"):
        return "tf_keras"
    if target.keras_version and target.keras_version == target.tf_keras_version:
        return "keras"
    return "tf.keras" if target.keras_version.startswith(("2.0", "2.1.", "2.2", "2.3")) else None


def _error(own: str, kind: Kind, facts: TargetFacts) -> str:
    if kind is Kind.OPTIMIZER:
        return "ValueError: Could not interpret optimizer identifier"
    if own == "keras" and facts.runs_keras_3(own):
        return "ValueError: Only instances of `keras.Layer` can be added to a Sequential model"
    return "TypeError: The added layer must be an instance of class Layer"
