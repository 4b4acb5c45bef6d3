"""Outputs in a dict: the logs use its keys (`price_loss`), no longer the layers' names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.dataflow.escapes import unmutated_value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.output_names import name_of_output
from kdoctor.analysis.training.logs import (
    FIELD,
    NO_PATH,
    fields_of_paths,
    is_written,
    keys_of_logs,
    monitored,
    renamed,
)
from kdoctor.analysis.triggers import Trigger, calls_that_make, keyword
from kdoctor.model import Confidence, Finding, Fix, Severity
from kdoctor.rules.behaviour._single_item_lists import outputs_of
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_LOSS = "loss"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each use of a name that the logs do not have."""
    keys = _keys_by_layer(module, facts)
    if not keys:
        return
    places = [(node, name, NO_PATH) for node, name in fields_of_paths(module, FIELD)]
    places += [
        (node, node.raw_value, what) for node, what in (*keys_of_logs(module), *monitored(module))
    ]
    texts = {each.raw_value for each in module.nodes(cst.SimpleString)}
    for node, name, what in places:
        new = _renamed(name, keys, texts)
        if new is not None and not is_written(module, name) and not module.is_guarded(node):
            yield _finding(module, facts, node, (name, new), what)


def _keys_by_layer(module: Module, facts: TargetFacts) -> Mapping[str, str]:
    """Return what the logs call each output of the file's one model, by the name of its layer.

    Those that go by one name are left out. Nothing where there is another model, whose outputs may
    be called so, or where a key or a name is not written out.
    """
    made = [
        (call, outputs)
        for call in module.nodes(cst.Call)
        if (outputs := outputs_of(module, call)) is not None
    ]
    if len(made) != 1 or not is_keras_3(facts, module.qualified(made[0][0].func)):
        return {}
    outputs = unmutated_value_of(module, made[0][1])
    if not isinstance(outputs, cst.Dict) or len(outputs.elements) < 2:
        return {}
    names: dict[str, str] = {}
    for each in outputs.elements:
        layer = None if each.value is None else name_of_output(module, each.value)
        key = each.key if isinstance(each, cst.DictElement) else None
        if not isinstance(key, cst.SimpleString) or not isinstance(layer, str):
            return {}
        names[layer] = key.raw_value
    return {} if len(names) < len(outputs.elements) else names


def _renamed(name: str, keys: Mapping[str, str], texts: set[str]) -> str | None:
    """Return what a loss or a metric is called now, None where it is called so or is another."""
    plain = name.removeprefix("val_")
    for layer, key in keys.items():
        rest = plain.removeprefix(f"{layer}_")
        # A metric is asked for by its name somewhere: `metrics={"price": ["mae"]}`.
        is_one = plain != rest and (rest == _LOSS or rest in texts)
        if is_one and plain not in {f"{each}_{rest}" for each in keys.values()}:
            return f"{name.removesuffix(plain)}{key}_{rest}"
    return None


def _finding(
    module: Module, facts: TargetFacts, node: cst.SimpleString, names: tuple[str, str], what: str
) -> Finding:
    old, new = names
    return rule.finding(
        module.place(node),
        f"the logs name an output in a dict after its key, not after its layer: {what}",
        symbol=f"History.history[{old}]",
        confidence=Confidence.LIKELY,
        help=f"Write `{new}`.",
        fix=Fix(
            f"Write `{new}` instead of `{old}`",
            (renamed(module, node, old, new),),
            facts.applicability(*rule.invalid),
        ),
    )


def _may_be_called_so(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether outputs are in a dict, and a layer's name is in front of something in a text."""
    outputs = (
        value
        for _, called in calls_that_make(quick, facts, Kind.MODEL, "Functional")
        for value in quick.values_of(called.argument("outputs", 1))
    )
    if not any(isinstance(each, ast.Dict) for each in outputs):
        return False
    names = {
        each.value
        for called in quick.calls_with("name")
        if isinstance(each := called.argument("name"), ast.Constant) and isinstance(each.value, str)
    }
    return any(f"{name}_" in text for name in names for text in quick.strings)


rule = Rule(
    code="KD480",
    name="output-called-by-its-key",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=keyword("name") & Trigger(_may_be_called_so),
    since="3.0",
)
