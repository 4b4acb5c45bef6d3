"""``x.shape.as_list()``, ``x.shape[1].value``: the shape of a Keras tensor is a tuple of ints."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import is_builtin, is_keras_3, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, conditions, files
from kdoctor.analysis.roots import USES_KERAS_3
from kdoctor.analysis.tensors.keras_inputs import is_put_into_a_layer
from kdoctor.analysis.tensors.shape_queries import reads_of_a_shape
from kdoctor.analysis.tensors.shapes import is_shape_tuple, whole_of
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import (
    Edit,
    Finding,
    Hole,
    NoFix,
    Precedence,
    Severity,
)
from kdoctor.rewrite.precedence import precedence_of, required_precedence
from kdoctor.rules.members._dimension_checks import is_asked
from kdoctor.rules.members._tensorflow_tensors import (
    is_given_by_tensorflow,
    is_of_tensorflow,
    seems_tensorflows,
)
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Context

# What stands instead, around and behind the shape; and how tightly the whole then binds.
_METHODS = {
    "as_list": ("list(", ")", Precedence.PRIMARY),
    "is_fully_defined": ("None not in ", "", Precedence.COMPARE),
}
_ATTRIBUTES = {
    "ndims": ("len(", ")", Precedence.PRIMARY),
    "rank": ("len(", ")", Precedence.PRIMARY),
}
_OF_TUPLES = frozenset({*_METHODS, *_ATTRIBUTES})
_METHOD = "get_shape"
_MANUAL = {
    "dims": "The elements of the shape are the dimensions: ints, or None.",
    "num_elements": "Multiply its elements: `math.prod(x.shape)`; None cannot be multiplied.",
    "concatenate": "Add tuples: `x.shape + (3,)`.",
    "with_rank": "Compare `len(x.shape)`.",
    "with_rank_at_least": "Compare `len(x.shape)`.",
    "with_rank_at_most": "Compare `len(x.shape)`.",
    "assert_has_rank": "Compare `len(x.shape)`.",
    "assert_same_rank": "Compare the lengths.",
    "assert_is_compatible_with": "Compare the tuples.",
    "assert_is_fully_defined": "Check `None not in x.shape`.",
    "is_compatible_with": "Compare the tuples.",
    "merge_with": "Compare the tuples.",
}
_TENSOR_SHAPES = ways_also_by_1("tensorflow.TensorShape") | {
    "tensorflow.python.framework.tensor_shape.TensorShape"
}
# After them the elements of TensorFlow's own shapes have a `value`, as in TensorFlow 1.
_OLD_DIMENSIONS = frozenset({"disable_v2_behavior", "disable_v2_tensorshape"})
_MAX_BRANCHES = 8  # that assign one size: each is looked at wherever it is read


@rule(
    "KD207",
    severity=Severity.ERROR,
    since="3.0",
    only_alone=True,
    look_for=files(
        reads_of_a_shape({*_METHODS, *_ATTRIBUTES, *_MANUAL}, {"value"}, of_either=_OF_TUPLES)
        | (conditions.member(_METHOD) & USES_KERAS_3)
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such attribute of a shape."""
    mentions_keras = _speaks_of_keras_3(file.module, file.facts)
    for node in file.module.attributes:
        severity = _severity(file.module, node, mentions_keras=mentions_keras)
        # Asked last: most attributes are of no concern, and the question is dear.
        if severity is not None and not file.module.is_guarded(node):
            yield _finding(file, node, severity)
        elif mentions_keras and _asks_a_layers_input(file.module, node):
            yield _finding_of_method(file, node)


def mends_get_shape(module: Module, node: cst.Attribute) -> bool:
    """Say whether the finding about ``x.get_shape().as_list()`` mends its ``x.get_shape``, too."""
    call = module.parent(node)
    read = None if call is None else module.parent(call)
    return (
        isinstance(read, cst.Attribute)
        and _owner_of_get_shape(read.value)[0] is node.value
        and _severity(module, read, mentions_keras=False) is Severity.ERROR
        and not isinstance(_rewritten(module, read), NoFix)
        and not module.is_guarded(read)
    )


def _severity(module: Module, node: cst.Attribute, *, mentions_keras: bool) -> Severity | None:
    """Return how bad it is to read the attribute, None where that is fine."""
    member = node.attr.value
    if member in _METHODS or member in _ATTRIBUTES or member in _MANUAL:
        is_it = is_shape_tuple(module, node.value)
    else:
        is_it = (
            member == "value" and _is_a_dimension(module, node.value) and not is_asked(module, node)
        )
    if is_it:
        return Severity.ERROR
    if member == "as_list" and mentions_keras and _may_be_a_tuple(module, node.value):
        return _severity_by_comparison(module, node)
    if member in _OF_TUPLES and mentions_keras and _is_of_a_layers_input(module, node.value):
        return Severity.LEGACY
    return None


def _speaks_of_keras_3(module: Module, facts: TargetFacts) -> bool:
    return any(
        split_root(each.name) is not None and is_keras_3(facts, each.name)
        for each in module.references
    )


def _may_be_a_tuple(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is the shape of something of which nothing is known, outside of layers."""
    match node:
        case cst.Attribute(attr=cst.Name(value="shape"), value=owner):
            pass
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get_shape"), value=owner), args=[]):
            pass
        case _:
            return False
    base: cst.BaseExpression = owner
    while isinstance(base, cst.Subscript):
        base = base.value
    if not isinstance(base, cst.Name) or base.value in {"self", "cls"}:
        return False
    made = value_of(module, base)
    if isinstance(made, cst.Call):
        dotted = module.qualified(made.func) or ""
        if dotted.startswith("tensorflow.") or is_of_tensorflow(module, made.func):
            return False
    if module.type_of(owner) is not None or module.qualified(base) is not None:
        return False
    if seems_tensorflows(module, base) or is_given_by_tensorflow(module, base):
        return False
    return module.context_of(node) in {Context.UNKNOWN, Context.FUNCTIONAL}


def _is_of_a_layers_input(module: Module, shape: cst.BaseExpression) -> bool:
    """Say whether it is the shape of what a layer is called with, and nothing else is known of."""
    match shape:
        case (
            cst.Attribute(value=cst.Name() as tensor)
            | cst.Call(func=cst.Attribute(value=cst.Name() as tensor))
        ) if _may_be_a_tuple(module, shape):
            return is_put_into_a_layer(module, tensor)
    return False


def _asks_a_layers_input(module: Module, node: cst.Attribute) -> bool:
    """Say whether it is such a ``x.get_shape`` of which nothing is read that has a finding."""
    if node.attr.value != _METHOD:
        return False
    call = module.parent(node)
    if not isinstance(call, cst.Call) or not _is_of_a_layers_input(module, call):
        return False
    read = module.parent(call)
    mended = isinstance(read, cst.Attribute) and read.attr.value in _OF_TUPLES
    return not mended and not module.is_guarded(node)


def _severity_by_comparison(module: Module, node: cst.Attribute) -> Severity:
    """Return ERROR where it is compared with sizes of which one is None: it is symbolic then."""
    call = module.parent(node)
    above = None if call is None else module.parent(call)
    around = above if isinstance(above, cst.Comparison) else module.parent(above) if above else None
    if isinstance(around, cst.Comparison | cst.Call):
        for each in descendants(around):
            if isinstance(each, cst.List) and any(
                isinstance(size.value, cst.Name) and size.value.value == "None"
                for size in each.elements
            ):
                return Severity.ERROR
    return Severity.LEGACY


def _is_a_dimension(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether an expression is one element of a shape, of whatever tensor."""
    match node:
        case cst.Subscript(
            slice=[
                cst.SubscriptElement(slice=cst.Index(value=cst.Integer() | cst.UnaryOperation()))
            ]
        ):
            shape = node.value
        case cst.Name() if (value := value_of(module, node)) is not node:
            return _is_a_dimension(module, value)
        case cst.Name() if whole := whole_of(module, node):
            shape = whole
        case cst.Name():
            return _is_one_of_dimensions(module, node)
        case _:
            return False
    if isinstance(shape, cst.Name | cst.Subscript) and is_shape_tuple(module, shape):
        return True
    return _OLD_DIMENSIONS.isdisjoint(module.words) and _is_some_shape(module, shape)


def _is_one_of_dimensions(module: Module, name: cst.Name) -> bool:
    """Say whether each branch assigns an element of a shape: ``size = x.shape[1]``, ``size += 1``.

    Python's ints stay such, whatever whole number is added.
    """
    bindings = module.bindings_at(name)
    if len(bindings) > _MAX_BRANCHES:
        return False
    assigned = False
    for each in bindings:
        around = module.parent(each.node)
        if isinstance(around, cst.AugAssign) and isinstance(around.value, cst.Integer):
            continue
        if each.path or not isinstance(around, cst.AssignTarget):
            return False
        if not isinstance(each.value, cst.Subscript) or not _is_a_dimension(module, each.value):
            return False
        assigned = True
    return assigned


def _is_some_shape(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is the shape of a tensor, whoever made it, or one that is made here."""
    match value_of(module, node):
        case cst.Call(func=function) if module.qualified(function) in _TENSOR_SHAPES:
            return True
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get_shape"))):
            return True
        case cst.Attribute(attr=cst.Name(value="shape")):
            return True
    return False


def _finding(file: File, node: cst.Attribute, severity: Severity) -> Finding:
    member = node.attr.value
    owner = "int" if member == "value" else "tuple"
    raised = f"AttributeError: '{owner}' object has no attribute '{member}'"
    if _owner_of_get_shape(node.value)[1]:
        raised = "AttributeError: 'KerasTensor' object has no attribute 'get_shape'"
    only = "only TensorFlow tensors have such a shape; the shape of a Keras tensor is a tuple"
    rewritten = _rewritten(file.module, node)
    return file.finding(
        f"{'a shape is a tuple of ints' if severity is Severity.ERROR else only}: {raised}",
        at=node,
        symbol=f"{owner}.{member}",
        severity=severity,
        help=_MANUAL.get(member, ""),
        fix=rewritten
        if isinstance(rewritten, NoFix)
        else file.fix(
            f"Write {rewritten[0]}",
            rewritten[1],
            proven_by=[
                each for each in check.invalid if each.after and f".{member}" in each.before
            ],
        ),
    )


def _finding_of_method(file: File, node: cst.Attribute) -> Finding:
    call = file.module.parent(node)
    assert call is not None
    owner = file.module.outer_span(node.value)
    span = file.module.span(call)
    edit = Edit(span, (Hole(owner, Precedence.PRIMARY, Precedence.ATOM), ".shape"))
    return file.finding(
        "only TensorFlow tensors have this method; Keras tensors have `shape` alone: "
        "AttributeError: 'KerasTensor' object has no attribute 'get_shape'",
        at=node,
        symbol="KerasTensor.get_shape",
        severity=Severity.LEGACY,
        help="Read `shape`, which both have.",
        fix=file.fix(
            "Write `shape`",
            edit,
            proven_by=[each for each in check.invalid if "len(x.get_shape())" in each.before],
        ),
    )


def _rewritten(module: Module, node: cst.Attribute) -> tuple[str, Edit] | NoFix:
    """Return how to write what is read of a shape, in words and as an edit."""
    member, parent = node.attr.value, module.parent(node)
    whole: cst.BaseExpression = node
    if member in _METHODS:
        if not isinstance(parent, cst.Call) or parent.func is not node or parent.args:
            return NoFix("it is not called here")
        whole = parent
    before, after, own = (_METHODS | _ATTRIBUTES | {"value": ("", "", Precedence.PRIMARY)}).get(
        member, (None, "", Precedence.ATOM)
    )
    if before is None:
        return NoFix("the replacement depends on what it is used for")
    if member == "as_list" and _does_as_a_tuple(module, whole):
        before, after, own = "", "", Precedence.PRIMARY
    shape, attribute = _owner_of_get_shape(node.value)
    span, inner = module.span(whole), module.outer_span(shape)
    if "#" in module.text[inner.end : span.end] or "#" in module.text[span.start : inner.start]:
        return NoFix("there is a comment inside the expression")
    required = Precedence.ANY if after else Precedence.PRIMARY if not before else Precedence.BIT_OR
    hole = Hole(inner, Precedence.PRIMARY if attribute else required, precedence_of(shape))
    parts = (before, hole, f"{attribute}{after}")
    edit = Edit(span, parts, own, required_precedence(module.parent(whole), whole))
    itself = "the element itself" if member == "value" else "the shape itself"
    return f"`{before}…{after}`" if before else itself, edit


def _does_as_a_tuple(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether one element is read, or the length: there a list is no more than a tuple."""
    match module.parent(node):
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index())]):
            return value is node
        case cst.Arg(star="") as passed:
            call = module.parent(passed)
            match call:
                case cst.Call(func=cst.Name(value="len") as function, args=[_]):
                    return is_builtin(module, function)
    return False


def _owner_of_get_shape(shape: cst.BaseExpression) -> tuple[cst.BaseExpression, str]:
    """Return ``x`` and ``.shape`` of ``x.get_shape()``, which Keras tensors do not have."""
    match shape:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get_shape"), value=owner), args=[]):
            return owner, ".shape"
    return shape, ""
