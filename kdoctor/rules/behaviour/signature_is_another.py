"""`inspect.signature(keras.layers.Dense)`: the parameters or defaults have changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_keras_3, is_not_a_variable
from kdoctor.analysis.dataflow.uses import names_with_spelling
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.behaviour.default_changed import LAST_KERAS_2
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.parametrized import pytest_parameter_values
from kdoctor.syntax.quick_facts import QuickFacts

_ASK: Final = frozenset({"inspect.signature", "inspect.getfullargspec", "inspect.getargspec"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each question about a signature that changed."""
    for call in module.nodes(cst.Call):
        if module.qualified(call.func) not in _ASK or module.is_guarded(call):
            continue
        if not call.args or call.args[0].star or _asks_for_one(module, call):
            continue
        changed = {
            name: difference
            for each in _asked(module, call.args[0].value)
            if (name := module.qualified(each)) and is_keras_3(facts, name)
            if (difference := _difference(facts, name))
        }
        if changed:
            yield _finding(module, call, changed)


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
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            reads = [] if name in kept_in else _reads(module, name)
            return bool(reads) and all(
                _asks_for_one(module, each, kept_in | {name}) for each in reads
            )
    return False


def _binds(function: cst.CSTNode) -> bool:
    """Say whether arguments are bound as a call would bind them, whatever the parameters are."""
    return isinstance(function, cst.Attribute) and function.attr.value in {"bind", "bind_partial"}


def _reads(module: Module, name: str) -> list[cst.Name]:
    return [
        each
        for each in names_with_spelling(module, name)
        if not isinstance(module.parent(each), cst.AssignTarget)
        and not is_not_a_variable(module, each)
    ]


def _asked(module: Module, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what is asked about: the class, that of its ``__init__``, all that pytest passes."""
    if isinstance(node, cst.Attribute) and node.attr.value == "__init__":
        node = node.value
    if not isinstance(node, cst.Name):
        return [node]
    bound = module.bindings_at(node)
    return list(pytest_parameter_values(bound[0]) if len(bound) == 1 else ()) or [node]


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


def _finding(module: Module, call: cst.Call, changed: dict[str, str]) -> Finding:
    name, difference = next(iter(changed.items()))
    leaf = name.rpartition(".")[2]
    more = f", and {len(changed) - 1} more" if len(changed) > 1 else ""
    return rule.finding(
        module.place(call),
        f"the signature of `{leaf}` changed in Keras 3: {difference}{more}",
        symbol=name,
        confidence=Confidence.LIKELY,
        help="Adopt the parameters of Keras 3 if a custom class copies them, or compare only "
        "what it adds.",
        fix=NoFix("kdoctor cannot tell what the parameters are used for"),
    )


def _may_ask(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether the signature of something of Keras may be asked for."""
    by_pytest = "parametrize" in quick.attributes
    return any(
        by_pytest
        or any(
            _may_differ(facts, each) for value in called.values for each in quick.meant_by(value)
        )
        for name in _ASK
        for called in quick.calls_by_meaning.get(name, ())
    )


def _may_differ(facts: TargetFacts, name: str) -> bool:
    name = name.removesuffix(".__init__")
    return is_keras_3(facts, name) and bool(_difference(facts, name))


rule = Rule(
    code="KD433",
    name="signature-is-another",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word("signature", "getfullargspec", "getargspec") & Trigger(_may_ask),
    since="3.0",
)
