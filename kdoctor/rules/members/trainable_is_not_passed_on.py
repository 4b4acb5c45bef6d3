"""``base.trainable = True`` on a model that is already trainable: frozen layers stay frozen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.training.freezing import Freezing, Setting
from kdoctor.analysis.triggers import Trigger, assigned
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity
from kdoctor.rewrite.source_lines import margin
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_NAMES = ("layer", "inner_layer", "thawed_layer")


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such assignment."""
    freezing = Freezing(module)
    if freezing.is_too_much or freezing.has_too_many:
        return
    frozen = [each for each in freezing.settings if each.value is False]
    for setting in freezing.settings:
        if setting.value is not True or not setting.is_whole or isinstance(setting.node, cst.Call):
            continue
        if module.is_guarded(setting.node) or not freezing.is_model(setting.model):
            continue
        places = [
            each.node if each.is_whole else _loop(module, each)
            for each in frozen
            if _is_frozen_in(freezing, each, setting)
        ]
        if not any(freezing.is_after(setting.node, each, None) for each in places):
            continue
        if not _may_be_set_otherwise(freezing, setting):
            yield _finding(module, facts, setting)


def _is_frozen_in(freezing: Freezing, frozen: Setting, setting: Setting) -> bool:
    """Say whether layers of the model are frozen, or a part of it, and nothing thaws that part."""
    if freezing.is_same(frozen.model, setting.model):
        return not frozen.is_whole
    others = (each for each in freezing.settings if each.value is not False)
    if not freezing.is_model(frozen.model):
        return False
    is_thawed = any(freezing.is_same(each.model, frozen.model) for each in others)
    return not is_thawed and freezing.is_in(frozen.model, setting.model)


def _loop(module: Module, setting: Setting) -> cst.CSTNode:
    """Return the loop that sets layers, or the call of a function that does."""
    around = (each for each in module.ancestors(setting.node) if isinstance(each, cst.For))
    return setting.node if isinstance(setting.node, cst.Call) else next(around, setting.node)


def _may_be_set_otherwise(freezing: Freezing, setting: Setting) -> bool:
    """Say whether the model may not have been trainable, or its layers are thawed all the same."""
    for made in freezing.points_to.of(setting.model):
        if argument(made.call, "trainable") is not None:
            return True
    for each in freezing.settings:
        if each.value is True and each.is_whole:
            continue
        is_same = freezing.is_same(each.model, setting.model)
        if each.is_whole and not is_same and freezing.is_in(each.model, setting.model):
            continue
        if each.is_whole and (is_same or not _is_layer(freezing, each.model)):
            return True  # a model that it is in hands on what it is set to
        if not each.is_whole and each.value is not False and is_same:
            return True
    return False


def _is_layer(freezing: Freezing, node: cst.BaseExpression) -> bool:
    found = freezing.module.type_of(node)
    return found is not None and found.kind is Kind.LAYER


def _finding(module: Module, facts: TargetFacts, setting: Setting) -> Finding:
    name = module.source(setting.model)
    fix = _thawing(module, facts, setting)
    return rule.finding(
        module.place(setting.node),
        f"`{name}.trainable` is already True, and Keras 3 with TensorFlow ignores setting it "
        "again: its frozen layers stay frozen",
        symbol="Model.trainable",
        confidence=Confidence.LIKELY,
        help=f"Write `for layer in {name}.layers: layer.trainable = True`.",
        fix=fix or NoFix("there is no place for a loop here"),
    )


def _thawing(module: Module, facts: TargetFacts, setting: Setting) -> Fix | None:
    """Return the fix that writes the loop in place of the assignment."""
    assign = next((e for e in module.ancestors(setting.node) if isinstance(e, cst.Assign)), None)
    line = None if assign is None else module.parent(assign)
    if assign is None or len(assign.targets) > 1 or not isinstance(line, cst.SimpleStatementLine):
        return None
    scope = module.scope_of(setting.node)
    name = next(
        (
            each
            for each in _NAMES
            if (owner := scope.owner(each)) is None
            or all(bound.kind is BindingKind.LOOP for bound in owner.bindings[each])
        ),
        None,
    )
    start = module.span(assign).start
    indent = margin(module.text, start)
    block = module.parent(line)
    if name is None or len(line.body) > 1 or indent.strip() or block is None:
        return None
    deeper = f"{indent}{module.tree.default_indent}"
    text = f"for {name} in {module.source(setting.model)}.layers:\n{deeper}{name}.trainable = True"
    return Fix(
        "Unfreeze layer by layer",
        (Edit(module.span(assign), (text,)),),
        facts.applicability(*(each for each in rule.invalid if each.after)),
    )


def _may_be_thawed(quick: QuickFacts, _: TargetFacts) -> bool:
    """Say whether something is frozen, in a function that may be given the value, and thawed."""
    set_to = {
        each.value.value
        for each in quick.nodes.get(ast.Assign, ())
        if isinstance(each.value, ast.Constant)
        for target in each.targets
        if isinstance(target, ast.Attribute) and target.attr == "trainable"
    }
    return True in set_to and (len(set_to) > 1 or ast.FunctionDef in quick.nodes)


rule = Rule(
    code="KD233",
    name="trainable-is-not-passed-on",
    family="members",
    severity=Severity.CHANGE,
    check=check,
    triggers=assigned("trainable") & Trigger(_may_be_thawed),
    since="3.0",
)
