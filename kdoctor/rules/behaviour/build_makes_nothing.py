"""`model.build((None, 28, 28))` of a subclassed model no longer creates weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor import keras_api
from kdoctor.analysis.calls import argument, speller_at
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.dataflow.uses import names_with_spelling
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.unbuilt_weights import OF_NO_MATTER, is_plain_model, makes_weights
from kdoctor.analysis.models.user_classes import class_of, methods_in
from kdoctor.analysis.models.user_models import lineage, methods_of
from kdoctor.analysis.triggers import Trigger, bases_meant, bases_of, member, method_of
from kdoctor.memoize import once
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.members import MemberUse
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind, Type

_CALL: Final = "()"
_PASSED_ON: Final = "(…)"  # as an argument
_RUNS: Final = frozenset({
    *("evaluate", "fit", "predict", "predict_on_batch", "test_on_batch", "train_on_batch", _CALL),
})  # fmt: skip


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such call."""
    for use in module.members:
        if use.member != "build" or use.owner.kind is not Kind.MODEL or use.called is None:
            continue
        cls = None if use.owner_defines else class_of(module, use.owner)
        line = [] if cls is None else _lineage(module, facts, cls)
        if not line or not makes_weights(module, line) or module.is_guarded(use.called):
            continue
        if not _is_run_around(module, use):
            yield _finding(module, facts, use, line)


def _lineage(module: Module, facts: TargetFacts, cls: cst.ClassDef) -> list[cst.ClassDef]:
    """Return a class and those of the file that it is made from, up to ``keras.Model``.

    None of them where one builds for itself.
    """
    found = lineage(module, facts, cls)
    methods = methods_of(found)
    if "build" in methods or "call" not in methods or not is_plain_model(module, found[-1]):
        return []
    return found


def _is_run_around(module: Module, use: MemberUse) -> bool:
    """Say whether what is written like the object was run above, or is run before all else."""
    owner = module.source(use.node.value)
    start = module.span(use.node).start
    function = points_to_of(module).function_around(use.node)
    uses = _uses(module, owner)
    if any(place < start and name in _RUNS for place, name, _ in uses):
        return True
    after = (
        name
        for place, name, node in uses
        if place > start and points_to_of(module).function_around(node) is function
    )
    return next((name in _RUNS for name in after if name not in OF_NO_MATTER), False)


@once
def _uses(module: Module, owner: str) -> list[tuple[int, str, cst.CSTNode]]:
    """Return where what is written so is called, or a member of it is read, and which, in order."""
    return sorted(_uses_of(module, owner), key=lambda each: each[0])


def _uses_of(module: Module, owner: str) -> Iterator[tuple[int, str, cst.CSTNode]]:
    leaf = owner.rpartition(".")[2]
    for each in names_with_spelling(module, leaf):
        above = module.parent(each)
        node = above if isinstance(above, cst.Attribute) and above.attr is each else each
        around = module.parent(node)
        if module.source(node) != owner:
            continue
        if isinstance(around, cst.Attribute) and around.value is node:
            yield module.span(around).start, around.attr.value, around
        elif isinstance(around, cst.Call) and around.func is node:
            yield module.span(around).start, _CALL, around
        elif isinstance(around, cst.Arg):
            yield module.span(node).start, _PASSED_ON, around


def _finding(
    module: Module, facts: TargetFacts, use: MemberUse, lineage: list[cst.ClassDef]
) -> Finding:
    assert use.called is not None
    fix = _fix(module, facts, use.node, use.called, lineage)
    name = lineage[0].name.value
    return rule.finding(
        module.place(use.called),
        f"this creates no weights: `{name}` has none until it is called, so nothing is counted, "
        "loaded or copied before that",
        symbol=f"{name}.build",
        confidence=use.confidence,
        help="Call the model with a symbolic tensor: `model(keras.Input(batch_shape=…))`.",
        fix=fix or NoFix("it is called with more than one tensor"),
    )


def _fix(
    module: Module,
    facts: TargetFacts,
    node: cst.Attribute,
    call: cst.Call,
    lineage: list[cst.ClassDef],
) -> Fix | None:
    """Return the fix that calls the model with a symbolic tensor of that shape."""
    shape = argument(call, "input_shape", 0)
    if shape is None or len(call.args) != 1 or not isinstance(module.parent(call), cst.Expr):
        return None
    if not _takes_one(lineage):
        return None
    is_known = _is_one_shape(shape.value)
    if is_known is False:
        return None
    owner, value = module.span(node.value), module.outer_span(shape.value)
    if "#" in module.text[owner.end : value.start]:
        return None
    spelled, need = speller_at(module, node).spell("keras.Input")
    edits = (
        Edit(Span(owner.end, value.start), (f"({spelled}(batch_shape=",)),
        Edit(Span(value.end, value.end), (")",)),
    )
    title = "Call it with a symbolic tensor of that shape"
    needs = () if need is None else (need,)
    if is_known is None:
        because = "if the model has several inputs, the shapes belong in a list or a dict"
        return Fix(title, edits, Applicability.UNSAFE, needs, unsafe_because=because)
    safe = facts.applicability(*(each for each in rule.invalid if each.after and not each.unsafe))
    return Fix(title, edits, safe, needs)


def _takes_one(lineage: list[cst.ClassDef]) -> bool:
    """Say whether ``call`` wants one argument, and no more."""
    call = next(found for each in lineage if (found := methods_in(each).get("call")) is not None)
    wanted = [each for each in call.params.params if each.default is None]
    more = [each for each in call.params.kwonly_params if each.default is None]
    return len(wanted) == 2 and not more and not call.params.posonly_params


def _is_one_shape(node: cst.BaseExpression) -> bool | None:
    """Say whether an expression is one shape, None where that is not known."""
    match node:
        case cst.Tuple() | cst.List():
            inner = (each.value for each in node.elements)
            return not any(isinstance(e, cst.Tuple | cst.List | cst.Dict) for e in inner)
        case cst.BinaryOperation(operator=cst.Add()):
            return True if _is_one_shape(node.left) or _is_one_shape(node.right) else None
        case cst.Dict():
            return False
    return None


def _may_build_one(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether there is a class of models without a `build` that is called, or builds itself."""
    known = keras_api.oracle(facts.target)
    classes = quick.nodes.get(ast.ClassDef, ())
    names = {each.name for each in classes}
    return any(
        (
            any(isinstance(base, ast.Name) and base.id in names for base in bases_of(each))
            or any(_is_model(known.class_type(name)) for name in bases_meant(quick, each))
        )
        and (quick.calls_of(each.name) or _builds_itself(each))
        for each in classes
        if method_of(each, "build") is None
    )


def _is_model(made: Type | None) -> bool:
    return made is not None and made.kind is Kind.MODEL


def _builds_itself(node: ast.ClassDef) -> bool:
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == "build"
        and isinstance(each.value, ast.Name)
        for each in ast.walk(node)
    )


rule = Rule(
    code="KD464",
    name="build-makes-nothing",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=member("build") & Trigger(_may_build_one),
    since="3.0",
)
