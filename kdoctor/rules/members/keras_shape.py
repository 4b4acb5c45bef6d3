"""``x._keras_shape``: the static shape of a tensor is ``x.shape``."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import attribute
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.imports import dotted_name
from kdoctor.value_types import Kind

_MEMBER = "_keras_shape"


@rule(
    "KD211",
    severity=Severity.ERROR,
    since="3.0",
    only_alone=True,
    look_for=files(attribute(_MEMBER)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each read, unless the file itself assigns such an attribute to the same thing.

    Where a class of the file has one of its own, only what is known to be a tensor lacks it.
    """
    module = file.module
    nodes = [each for each in module.attributes if each.attr.value == _MEMBER]
    assigned = {_owner(module, each) for each in nodes if _is_stored(module, each)}
    is_own = "self" in assigned or any(map(_defines_it, module.nodes(cst.ClassDef)))
    for node in nodes:
        is_symbolic = _is_symbolic(module, node)
        if (is_own and not is_symbolic) or module.is_guarded(node):
            continue
        if _owner(module, node) not in assigned:
            yield _finding(file, node, is_symbolic=is_symbolic)


def _defines_it(cls: cst.ClassDef) -> bool:
    """Say whether a class has it in its body: a property, a default, a field."""
    for statement in cls.body.body:
        match statement:
            case cst.FunctionDef(name=cst.Name(value=name)):
                names = [name]
            case cst.SimpleStatementLine(body=[cst.Assign(targets=targets)]):
                names = [dotted_name(each.target) or "" for each in targets]
            case cst.SimpleStatementLine(body=[cst.AnnAssign(target=target)]):
                names = [dotted_name(target) or ""]
            case _:
                continue
        if _MEMBER in names:
            return True
    return False


def _is_symbolic(module: Module, node: cst.Attribute) -> bool:
    owner = module.type_of(node.value)
    return owner is not None and owner.kind is Kind.TENSOR


def _owner(module: Module, node: cst.Attribute) -> str:
    return dotted_name(node.value) or module.source(node.value)


def _is_stored(module: Module, node: cst.Attribute) -> bool:
    target: cst.CSTNode = node
    above = module.parent(target)
    while isinstance(above, cst.Element | cst.Tuple | cst.List):
        target, above = above, module.parent(above)
    return (
        isinstance(above, cst.AssignTarget | cst.AugAssign | cst.AnnAssign)
        and above.target is target
    )


def _finding(file: File, node: cst.Attribute, *, is_symbolic: bool) -> Finding:
    named = "'KerasTensor' object" if is_symbolic else "object"
    return file.finding(
        f"a tensor has no `{_MEMBER}`: AttributeError: {named} has no attribute '{_MEMBER}'",
        at=node,
        symbol=f"KerasTensor.{_MEMBER}",
        help="The static shape is `.shape`.",
        fix=file.fix(
            "Read `.shape` instead",
            Edit(file.module.span(node.attr), ("shape",)),
            unsafe_because=""
            if is_symbolic
            else "inside `call` it is TensorFlow's `TensorShape`, not a tuple",
        ),
    )
