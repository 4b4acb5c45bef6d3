"""`from_config` no longer accepts `batch_input_shape` in the config of a layer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_keras_3, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.roots import USES_KERAS_3
from kdoctor.analysis.triggers import Trigger, attribute
from kdoctor.keras_api import split_root
from kdoctor.model import Applicability, Confidence, Edit, Finding, Fix, Hole, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import evaluated
from kdoctor.syntax.quick_facts import QuickFacts

_KEY = "batch_input_shape"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such entry."""
    if not _is_of_keras_3(module, facts):
        return
    for node in module.nodes(cst.Assign):
        if len(node.targets) != 1:
            continue
        target = node.targets[0].target
        key = _key(target)
        if key is None or not isinstance(target, cst.Subscript):
            continue
        made = _layers_made_of(module, target)
        if not made or module.is_guarded(node):
            continue
        is_used = any(_is_used(module, each) for each in made)
        proven = facts.applicability(*(each for each in rule.invalid if not each.unsafe))
        applicability = Applicability.UNSAFE if is_used else proven
        yield _finding(module, node.value, key, applicability)


def _is_of_keras_3(module: Module, facts: TargetFacts) -> bool:
    """Say whether all Keras of the file is the target's Keras 3."""
    of_keras = [each.name for each in module.references if split_root(each.name) is not None]
    return bool(of_keras) and all(is_keras_3(facts, each) for each in of_keras)


def _key(target: cst.BaseExpression) -> cst.SimpleString | None:
    match target:
        case cst.Subscript(
            value=cst.Name(),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))],
        ) if evaluated(key) == _KEY:
            return key
    return None


def _layers_made_of(module: Module, target: cst.Subscript) -> list[cst.Call]:
    """Return where layers are made of what the name holds, if it is a layer's configuration."""
    name = target.value
    if not isinstance(name, cst.Name):
        return []
    owner = module.scope_of(name).owner(name.value)
    bindings = owner.bindings.get(name.value, []) if owner is not None else []
    if owner is None or len(bindings) != 1 or bindings[0].path:
        return []
    match bindings[0].value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get_config"))):
            pass
        case _:
            return []
    return [
        each
        for each in descendants(owner.node)
        if isinstance(each, cst.Call) and _is_made_of(module, each, name.value)
    ]


def _is_used(module: Module, made: cst.Call) -> bool:
    """Say whether anything is done with the layer: else nobody asks for the size of its batch."""
    statement = module.parent(made)
    if isinstance(statement, cst.Expr):
        return False
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            owner = module.scope_of(target).owner(target.value)
        case _:
            return True
    end = module.span(made).end
    return (
        owner is None
        or not isinstance(owner.node, cst.FunctionDef)
        or any(isinstance(each, cst.For | cst.While) for each in module.ancestors(made))
        or any(
            isinstance(each, cst.Name)
            and each.value == target.value
            and module.span(each).start > end
            for each in descendants(owner.node.body)
        )
    )


def _is_made_of(module: Module, call: cst.Call, name: str) -> bool:
    match call:
        case cst.Call(
            func=cst.Attribute(value=cls, attr=cst.Name(value="from_config")),
            args=[cst.Arg(value=cst.Name(value=passed), keyword=None), *_],
        ):
            return passed == name and not (module.qualified(cls) or "").endswith("InputLayer")
    return False


def _finding(
    module: Module,
    value: cst.BaseExpression,
    key: cst.SimpleString,
    applicability: Applicability,
) -> Finding:
    shape = literal(value)
    hole = Hole(module.outer_span(value), Precedence.PRIMARY, precedence_of(value))
    changes: list[Edit] = [Edit(module.span(key), (f"{key.quote}input_shape{key.quote}",))]
    if value.__class__ is cst.Tuple and isinstance(shape, tuple):
        changes.append(Edit(module.outer_span(value), (repr(shape[1:]),)))
    else:
        changes.append(Edit(module.outer_span(value), (hole, "[1:]"), Precedence.PRIMARY))
    return rule.finding(
        module.place(key),
        "`from_config` no longer accepts `batch_input_shape`: TypeError: Error when "
        "deserializing class",
        symbol=_KEY,
        confidence=Confidence.LIKELY,
        help='Write `config["input_shape"] = shape[1:]`, without the batch size.',
        fix=Fix(
            "Set `input_shape`, without the batch size",
            tuple(changes),
            applicability,
            unsafe_because="the batch size is not kept, and a stateful layer needs it",
        ),
    )


def _may_set_it(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        isinstance(target, ast.Subscript)
        and isinstance(target.slice, ast.Constant)
        and target.slice.value == _KEY
        for node in quick.nodes.get(ast.Assign, ())
        for target in node.targets
    )


rule = Rule(
    code="KD325",
    name="batch-shape-in-config",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=attribute("get_config")
    & attribute("from_config")
    & Trigger(_may_set_it)
    & USES_KERAS_3,
    since="3.0",
    only_alone=True,
)
