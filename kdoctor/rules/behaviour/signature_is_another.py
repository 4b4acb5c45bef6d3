"""`inspect.signature(keras.layers.Dense)`: the parameters or defaults have changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import binding_of, is_keras_3
from kdoctor.analysis.dataflow.uses import names_of_variable
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Call, imported, references
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.behaviour.default_changed import LAST_KERAS_2
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.parametrized import pytest_parameter_values

_ASK: Final = frozenset({"inspect.signature", "inspect.getfullargspec", "inspect.getargspec"})


def _may_differ(facts: TargetFacts, name: str) -> bool:
    name = name.removesuffix(".__init__")
    return is_keras_3(facts, name) and bool(_difference(facts, name))


@rule(
    "KD433",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=imported(*_ASK)
    .even(hidden=True)
    .beside(references(where=_may_differ, guarded=True).trigger | attribute("parametrize")),
)
def check(asking: Call) -> Finding | None:
    """Report each question about a signature that changed."""
    module, call = asking.module, asking.call
    if not call.args or call.args[0].star or _asks_for_one(module, call):
        return None
    changed = {
        name: difference
        for each in _asked(module, call.args[0].value)
        if (name := module.qualified(each)) and is_keras_3(asking.facts, name)
        if (difference := _difference(asking.facts, name))
    }
    return _finding(asking, changed) if changed else None


def _asks_for_one(module: Module, node: cst.CSTNode, kept_in: frozenset[str] = frozenset()) -> bool:
    """Say whether all that is asked is if there is a parameter of some name, or which one it is.

    Also by way of variables, those in ``kept_in`` among them: ``names = signature.parameters``.
    """
    while isinstance(above := module.parent(node), cst.Attribute | cst.Call):
        if isinstance(above, cst.Call) and above.func is node and _binds(node):
            return True
        if isinstance(above, cst.Call) and (above.args or above.func is not node):
            return False
        node = above
    match above:
        case cst.ComparisonTarget():
            return isinstance(above.operator, cst.In | cst.NotIn)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name) as kept)]):
            reads = [] if name in kept_in else _reads(module, kept)
            return bool(reads) and all(
                _asks_for_one(module, each, kept_in | {name}) for each in reads
            )
    return False


def _binds(function: cst.CSTNode) -> bool:
    """Say whether arguments are bound as a call would bind them, whatever the parameters are."""
    return isinstance(function, cst.Attribute) and function.attr.value in {"bind", "bind_partial"}


def _reads(module: Module, name: cst.Name) -> list[cst.Name]:
    return [
        each
        for each in names_of_variable(module, name)
        if not isinstance(module.parent(each), cst.AssignTarget)
    ]


def _asked(module: Module, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what is asked about: the class, that of its ``__init__``, all that pytest passes."""
    if isinstance(node, cst.Attribute) and node.attr.value == "__init__":
        node = node.value
    bound = binding_of(module, node)
    return list(pytest_parameter_values(bound) if bound else ()) or [node]


def _difference(facts: TargetFacts, name: str) -> str:
    """Return in words what is another one, nothing where all is as it was."""
    split = split_root(name)
    if split is None or facts.lookup(name).presence is not Presence.EXISTS:
        return ""
    plain = f"keras.{split[1]}"
    new, old = facts.signature(plain), facts.at_release(LAST_KERAS_2).signature(plain)
    if new is None or old is None:
        return ""
    now = {each.name: each.default for each in new.parameters}
    before = {each.name: each.default for each in old.parameters}
    said = [f"{'without' if each in before else 'with'} `{each}`" for each in _either(now, before)]
    said += [
        f"`{each}={now[each]}`, not {before[each]}"
        for each in now
        if each in before and str(now[each]) != str(before[each])
    ]
    if not said and list(now) != list(before):
        said = ["in a different order"]
    return ", ".join(said[:3])


def _either(now: Collection[str], before: Collection[str]) -> list[str]:
    return [each for each in (*now, *before) if (each in now) != (each in before)]


def _finding(asking: Call, changed: dict[str, str]) -> Finding:
    name, difference = next(iter(changed.items()))
    leaf = name.rpartition(".")[2]
    more = f", and {len(changed) - 1} more" if len(changed) > 1 else ""
    return asking.finding(
        f"the signature of `{leaf}` changed in Keras 3: {difference}{more}",
        symbol=name,
        confidence=Confidence.LIKELY,
        help="Adopt the parameters of Keras 3 if a custom class copies them, or compare only "
        "what it adds.",
        fix=NoFix("kdoctor cannot tell what the parameters are used for"),
    )
