"""`compute_output_shape` returns `[shape]` although `call` returns a single tensor."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.dataflow.uses import attributes_named
from kdoctor.analysis.models.activations import calls_activation
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.forms import form_of
from kdoctor.model import Edit, Finding, Hole, Precedence, Severity
from kdoctor.rules.behaviour._single_output import gives_one
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import returned_in
from kdoctor.value_types import Kind


def _is_of_one_tuple(form: object) -> bool:
    return isinstance(form, list) and len(form) == 1 and isinstance(form[0], tuple)


_READ = "other code calls it, and may take the shape out of the list"


@rule(
    "KD456",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=methods(
        "compute_output_shape",
        of=Kind.LAYER,
        defining=["call"],
        returning=_is_of_one_tuple,
    ),
)
def check(asked: Method) -> Iterator[Finding]:
    """Report each such list."""
    call, given = asked.owner.methods["call"], returned_in(asked.node)
    if not all(each is not None and _is_of_one_tuple(form_of(each)) for each in given):
        return
    returned = returned_in(call)  # nothing where it is left to subclasses
    methods_here = asked.owner.methods
    is_computed = bool(returned) and all(
        _is_computed(each) or calls_activation(asked.module, methods_here, each)
        for each in returned
    )
    if is_computed or gives_one(asked.module, asked.facts, call):
        yield from (_finding(asked, each) for each in given)


def _is_computed(given: cst.BaseExpression | None) -> bool:
    """Say whether it is a tensor for sure: `+` alone joins lists, too."""
    match given:
        case cst.BinaryOperation(operator=cst.Subtract() | cst.Multiply() | cst.Divide()):
            return not any(
                isinstance(e, cst.List | cst.ListComp) for e in (given.left, given.right)
            )
        case cst.BinaryOperation(operator=cst.Add()):
            return _is_computed(given.left) or _is_computed(given.right)
    return False


def _finding(asked: Method, given: cst.BaseExpression | None) -> Finding:
    assert isinstance(given, cst.List)
    inner = given.elements[0].value
    hole = Hole(asked.module.outer_span(inner), Precedence.PRIMARY, Precedence.PRIMARY)
    return asked.finding(
        f"`{asked.owner.symbol}` returns a list of one tensor while a model is constructed; most "
        "layers reject that: ValueError: Cannot convert '((None, …), …)' to a shape",
        at=given,
        help=f"Write `({asked.source(inner)})`: `call` returns one tensor.",
        fix=asked.fix(
            "Return the shape without a list",
            Edit(asked.module.span(given), (hole,), Precedence.PRIMARY),
            unsafe_because=_READ if _is_read_otherwise(asked) else "",
        ),
    )


def _is_read_otherwise(asked: Method) -> bool:
    """Say whether other code asks for the shapes, and may count on the list."""
    module = asked.module
    return bool(attributes_named(module, asked.name)) or module.is_written_by_importers(asked.name)
