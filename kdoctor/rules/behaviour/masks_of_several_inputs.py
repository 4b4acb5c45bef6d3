"""A layer with several inputs checks `mask is not None`, but Keras 3 passes a list of None."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.models.user_classes import holds_original_argument
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.conditions import word
from kdoctor.analysis.queries.signatures import FormalSignature
from kdoctor.model import Edit, Finding, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
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


def _takes_a_mask(call: FormalSignature) -> bool:
    """Say whether it is a ``call`` where Keras decides about the mask."""
    given = [*call.parameters]
    inputs = given[1:2]
    if call.is_decorated or inputs != call.by_position[1:2] or not inputs:
        return False
    names = {each.name for each in given[2:]}
    if any(each.kind == inspect.Parameter.POSITIONAL_ONLY for each in given):
        return False
    return _MASK in names and names <= _NO_TENSORS and not inputs[0].has_default


@rule(
    "KD434",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods(
        "call",
        of=Kind.LAYER,
        where=_takes_a_mask,
        body=lambda inside: _MASK in inside.indexed and bool(inside.unpacked),
    ).beside(word(_MASK)),
)
def check(method: Method) -> Iterator[Finding]:
    """Report each such question."""
    if not (method.facts.runs_keras_3("keras") or method.facts.runs_keras_3("tf.keras")):
        return
    parameters = method.node.params
    others = (*parameters.params[2:], *parameters.kwonly_params)
    mask = next(each for each in others if each.name.value == _MASK)
    call = _Call(method.node, parameters.params[1], mask)
    is_optional = isinstance(mask.default, cst.Name) and mask.default.value == "None"
    if is_optional and _unpacks_its_inputs(method.module, call):
        yield from _in_call(method, call)


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


def _in_call(method: Method, call: _Call) -> Iterator[Finding]:
    module = method.module
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
            yield _finding(method, each, [*dict.fromkeys(used)])


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


def _finding(method: Method, question: cst.CSTNode, used: list[str]) -> Finding:
    end = method.module.span(question).end
    asked = "".join(f" and {each} is not None" for each in used)
    return method.finding(
        f"a layer with several inputs without masks gets a list of None: `{used[0]}` is None, and "
        "fails",
        symbol="Layer.call(mask)",
        at=question,
        help=f"Write `{method.source(question)}{asked}`.",
        fix=method.fix("Also check the mask that is used", Edit(Span(end, end), (asked,))),
    )
