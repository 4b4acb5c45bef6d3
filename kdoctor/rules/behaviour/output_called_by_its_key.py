"""Outputs in a dict: the logs use its keys (`price_loss`), no longer the layers' names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from kdoctor.analysis.calls import is_keras_3
from kdoctor.analysis.dataflow.escapes import unmutated_value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.output_names import name_of_output
from kdoctor.analysis.queries import File, Instance, constructs, files
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.analysis.queries.forms import is_dict_of_several
from kdoctor.analysis.training.logs import is_written, names_in_logs
from kdoctor.model import Finding, Severity
from kdoctor.rules.behaviour._single_item_lists import outputs_of
from kdoctor.rules.fixes.log_names import write_log_name
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_LOSS = "loss"


@rule(
    "KD480",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(
        keyword("name"),
        constructs(Instance(Kind.MODEL, "Functional")).passing(
            "outputs", place=1, where=is_dict_of_several
        ),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each use of a name that the logs do not have."""
    module = file.module
    keys = _keys_by_layer(module, file.facts)
    if not keys:
        return
    texts = {each.raw_value for each in module.nodes(cst.SimpleString)}
    for node, name, what in names_in_logs(module):
        new = _renamed(name, keys, texts)
        if new is not None and not is_written(module, name):
            yield _finding(file, node, (name, new), what)


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


def _finding(file: File, node: cst.SimpleString, names: tuple[str, str], what: str) -> Finding:
    old, new = names
    return file.finding(
        f"the logs name an output in a dict after its key, not after its layer: {what}",
        symbol=f"History.history[{old}]",
        at=node,
        help=f"Write `{new}`.",
        fix=write_log_name(file, node, old, new),
    )
