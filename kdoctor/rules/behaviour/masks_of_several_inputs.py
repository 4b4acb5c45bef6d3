"""A layer with several inputs checks `mask is not None`, but Keras 3 passes a list of None."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import holds_original_argument, kind_of_class
from kdoctor.analysis.triggers import Trigger, word
from kdoctor.model import Confidence, Edit, Finding, Fix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.target import FRAMEWORKS
from kdoctor.value_types import Kind

_MASK = "mask"
# Beside these, another argument of `call` may be a tensor: then Keras 3 gives no mask by itself.
_NO_TENSORS = frozenset({_MASK, "training"})
_REFUSE_NONE = frozenset({
    "cast", "expand_dims", "logical_not", "permute_dimensions", "repeat_elements", "reshape",
    "squeeze", "tile", "transpose",
})  # fmt: skip
"""Functions of Keras and TensorFlow that take no None for a tensor."""


class _Call(Struct, frozen=True):
    """A layer's ``call`` with its first parameter and that of the mask."""

    node: cst.FunctionDef
    inputs: cst.Param
    mask: cst.Param


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such question."""
    if not (facts.runs_keras_3("keras") or facts.runs_keras_3("tf.keras")):
        return
    for node in module.nodes(cst.ClassDef):
        call = _call(node)
        if call is None or not _unpacks_its_inputs(module, call):
            continue
        if kind_of_class(module, node) is Kind.LAYER:
            yield from _in_call(module, facts, call)


def _call(node: cst.ClassDef) -> _Call | None:
    """Return the ``call`` of a class where Keras decides about its mask."""
    for each in node.body.body:
        match each:
            case cst.FunctionDef(
                name=cst.Name(value="call"),
                decorators=[],
                params=cst.Parameters(posonly_params=[], params=[_, inputs, *others]) as parameters,
            ):
                names = {other.name.value: other for other in (*others, *parameters.kwonly_params)}
                mask = names.get(_MASK)
                if mask is None or not _NO_TENSORS.issuperset(names) or inputs.default is not None:
                    return None
                is_optional = isinstance(mask.default, cst.Name) and mask.default.value == "None"
                return _Call(each, inputs, mask) if is_optional else None
    return None


def _unpacks_its_inputs(module: Module, call: _Call) -> bool:
    """Say whether ``x, weights = inputs`` is surely done: of a single tensor it would fail."""
    for line in call.node.body.body:
        for each in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match each:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Tuple(elements=[_, _, *_]))], value=value
                ) if holds_original_argument(module, value, call.inputs):
                    return True
    return False


def _in_call(module: Module, facts: TargetFacts, call: _Call) -> Iterator[Finding]:
    inside = [*descendants(call.node.body)]
    if any(_compares_with_none(each) and _is_element(module, each, call) for each in inside):
        return  # it knows of masks that are None
    for each in inside:
        if not _compares_with_none(each) or not holds_original_argument(
            module, _left(each), call.mask
        ):
            continue
        branch = _branch(module, each)
        if branch is None or module.is_guarded(each):
            continue
        used = [
            module.source(part)
            for part in descendants(branch.body)
            if _is_element(module, part, call) and _needs_a_value(module, part)
        ]
        if used:
            yield _finding(module, facts, each, [*dict.fromkeys(used)])


def _compares_with_none(node: cst.CSTNode) -> bool:
    match node:
        case cst.Comparison(
            comparisons=[
                cst.ComparisonTarget(
                    operator=cst.Is() | cst.IsNot() | cst.Equal() | cst.NotEqual(),
                    comparator=cst.Name(value="None"),
                )
            ]
        ):
            return True
    return False


def _left(node: cst.CSTNode) -> cst.CSTNode:
    return node.left if isinstance(node, cst.Comparison) else node


def _is_element(module: Module, node: cst.CSTNode, call: _Call) -> bool:
    """Say whether ``node`` is ``mask[0]``, or compares that."""
    match _left(node):
        case cst.Subscript(
            value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer()))]
        ):
            return holds_original_argument(module, value, call.mask)
    return False


def _branch(module: Module, question: cst.CSTNode) -> cst.If | None:
    """Return the ``if`` that is entered only where the answer is that there is a mask."""
    match question:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=cst.IsNot())]):
            test: cst.CSTNode = question
        case _:
            return None
    above = module.parent(test)
    while isinstance(above, cst.BooleanOperation) and isinstance(above.operator, cst.And):
        test, above = above, module.parent(above)
    return above if isinstance(above, cst.If) and above.test is test else None


def _needs_a_value(module: Module, element: cst.CSTNode) -> bool:
    """Say whether what is done with an element of the mask fails where it is None."""
    above = module.parent(element)
    match above:
        case cst.BinaryOperation() | cst.AugAssign() | cst.Attribute():
            return True
        case cst.Subscript():
            return above.value is element
        case cst.Arg(keyword=None, star=""):
            call = module.parent(above)
            if not isinstance(call, cst.Call) or call.args[0] is not above:
                return False
            top, _, leaf = (module.qualified(call.func) or "").partition(".")
            return top in FRAMEWORKS and leaf.rpartition(".")[2] in _REFUSE_NONE
    return False


def _finding(module: Module, facts: TargetFacts, question: cst.CSTNode, used: list[str]) -> Finding:
    end = module.span(question).end
    asked = "".join(f" and {each} is not None" for each in used)
    return rule.finding(
        module.place(question),
        f"a layer with several inputs without masks gets a list of None: `{used[0]}` is None, and "
        "fails",
        symbol="Layer.call(mask)",
        confidence=Confidence.LIKELY,
        help=f"Write `{module.source(question)}{asked}`.",
        fix=Fix(
            "Check the mask that is used, too",
            (Edit(Span(end, end), (asked,)),),
            facts.applicability(*(each for each in rule.invalid if each.after)),
        ),
    )


def _may_ask(quick: QuickFacts, _: TargetFacts) -> bool:
    return any(
        node.name == "call" and _may_unpack(node) and any(map(_may_take_one, ast.walk(node)))
        for node in quick.nodes.get(ast.FunctionDef, ())
    )


def _may_unpack(node: ast.FunctionDef) -> bool:
    names = [each.arg for each in node.args.args]
    return len(names) > 1 and any(
        isinstance(each, ast.Assign)
        and isinstance(each.targets[0], ast.Tuple)
        and isinstance(each.value, ast.Name)
        and each.value.id == names[1]
        for each in node.body
    )


def _may_take_one(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == _MASK
    )


rule = Rule(
    code="KD434",
    name="masks-of-several-inputs",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word(_MASK) & Trigger(_may_ask),
    since="3.0",
)
