"""``x.shape.as_list()`` in code that Keras runs: only a shape of TensorFlow has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.backends.own_tensors import is_made_by_tensorflow
from kdoctor.analysis.backends.reach import is_run_by_keras_alone
from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.facts import BACKEND_NAMES
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import ASKS_OTHER_BACKENDS, member
from kdoctor.analysis.tensors.shapes import is_shape_tuple
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Precedence, Severity
from kdoctor.rewrite.precedence import precedence_of, required_precedence
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module

# What stands instead, around and behind the shape; and how tightly the whole then binds.
_METHODS: Final = {
    "as_list": ("list(", ")", Precedence.PRIMARY),
    "is_fully_defined": ("None not in ", "", Precedence.COMPARE),
}
_ATTRIBUTES: Final = {
    "ndims": ("len(", ")", Precedence.PRIMARY),
    "rank": ("len(", ")", Precedence.PRIMARY),
}
_BY_HAND: Final = {
    "dims": "The elements of the shape are the dimensions: ints, or None.",
    "num_elements": "Multiply its elements: `math.prod(x.shape)`; None cannot be multiplied.",
    "assert_has_rank": "Compare `len(x.shape)`.",
    "with_rank": "Compare `len(x.shape)`.",
    "with_rank_at_least": "Compare `len(x.shape)`.",
    "assert_is_compatible_with": "Compare the tuples.",
    "is_compatible_with": "Compare the tuples.",
}
_OF_SHAPES: Final = frozenset({*_METHODS, *_ATTRIBUTES, *_BY_HAND})
_GETTER: Final = "get_shape"
_MAY_BE_UNKNOWN: Final = (
    "of a tensor with an unknown number of axes it is None on TensorFlow, and `len` raises"
)


@rule(
    "KD812",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(ASKS_OTHER_BACKENDS & member(*_OF_SHAPES, _GETTER)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each member that a tuple has not, and each call of ``get_shape``."""
    module = file.module
    for node in module.attributes:
        name = node.attr.value
        if name in _OF_SHAPES and _is_shape_of_tensor(module, node.value):
            symbol, raised = f"tuple.{name}", f"'tuple' object has no attribute '{name}'"
        elif name == _GETTER and _is_getter(module, node) and not _is_read_further(module, node):
            symbol, raised = f"Tensor.{name}", f"no tensor of theirs has `{name}`"
        else:
            continue
        if module.is_guarded(node) or _asks_for_it(module, name):
            continue
        if is_run_by_keras_alone(module, node):
            yield file.finding(
                f"only TensorFlow has `.{name}`, not {_backends(file)}: AttributeError: {raised}",
                at=node,
                symbol=symbol,
                help=_BY_HAND.get(name, ""),
                fix=_fix(file, node),
            )


def _backends(file: File) -> str:
    return " and ".join(BACKEND_NAMES[each] for each in file.facts.backends)


def _is_shape_of_tensor(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether it is ``x.shape`` or ``x.get_shape()``, which KD207 says nothing about."""
    match node:
        case cst.Attribute(attr=cst.Name(value="shape"), value=owner):
            pass
        case cst.Call(func=cst.Attribute(value=owner) as method, args=[]):
            if not _is_getter(module, method):
                return False
        case _:
            return False
    return (
        not _is_of_self(owner)
        and not is_shape_tuple(module, node)
        and not is_made_by_tensorflow(module, owner)
    )


def _is_getter(module: Module, node: cst.Attribute) -> bool:
    """Say whether it is ``x.get_shape`` of a tensor: no function of the file is called like it."""
    call = module.parent(node)
    return (
        node.attr.value == _GETTER
        and isinstance(call, cst.Call)
        and call.func is node
        and not call.args
        and not _is_of_self(node.value)
        and not is_made_by_tensorflow(module, node.value)
        and module.qualified(node) is None
        and not any(each.name.value == _GETTER for each in module.nodes(cst.FunctionDef))
    )


def _is_of_self(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value in {"self", "cls"}


def _is_read_further(module: Module, node: cst.Attribute) -> bool:
    """Say whether a member of the shape is read, of which there is a finding that mends both."""
    call = module.parent(node)
    above = None if call is None else module.parent(call)
    return isinstance(above, cst.Attribute) and above.attr.value in _OF_SHAPES


def _asks_for_it(module: Module, name: str) -> bool:
    """Say whether the file asks whether something has it: ``hasattr(shape, "as_list")``."""
    return any(
        isinstance(each.func, cst.Name)
        and each.func.value in {"hasattr", "getattr"}
        and any(
            isinstance(given.value, cst.SimpleString) and given.value.evaluated_value == name
            for given in each.args
        )
        for each in module.nodes(cst.Call)
    )


def _fix(file: File, node: cst.Attribute) -> Fix | NoFix:
    module, member_ = file.module, node.attr.value
    parent = module.parent(node)
    whole: cst.BaseExpression = node
    if member_ in _METHODS or member_ == _GETTER:
        if not isinstance(parent, cst.Call) or parent.func is not node or parent.args:
            return NoFix("it is not called here")
        whole = parent
    if member_ == _GETTER:
        owner, attribute, parts = node.value, ".shape", ("", "", Precedence.PRIMARY)
    elif member_ in _BY_HAND:
        return NoFix("the replacement depends on what it is used for")
    else:
        owner, attribute = _owner_of_getter(node.value)
        parts = (_METHODS | _ATTRIBUTES)[member_]
    before, after, own = parts
    builtin = before.rstrip("(")
    if before.endswith("(") and not has_builtin(module, node, builtin):
        return NoFix(hidden_builtin(builtin))
    span, inner = module.span(whole), module.outer_span(owner)
    if "#" in module.text[inner.end : span.end]:
        return NoFix("there is a comment inside the expression")
    required = Precedence.ANY if after else Precedence.PRIMARY if not before else Precedence.BIT_OR
    hole = Hole(inner, Precedence.PRIMARY if attribute else required, precedence_of(owner))
    edit = Edit(
        span,
        (before, hole, f"{attribute}{after}"),
        own,
        required_precedence(module.parent(whole), whole),
    )
    return file.fix(
        f"Write `{before}…{after}`" if before else "Write `shape`",
        edit,
        unsafe_because=_MAY_BE_UNKNOWN if member_ in _ATTRIBUTES else "",
    )


def _owner_of_getter(shape: cst.BaseExpression) -> tuple[cst.BaseExpression, str]:
    """Return ``x`` and ``.shape`` of ``x.get_shape()``, which no other backend has."""
    match shape:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="get_shape"), value=owner), args=[]):
            return owner, ".shape"
    return shape, ""
