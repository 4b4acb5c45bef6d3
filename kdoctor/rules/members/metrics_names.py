"""``model.metrics_names``: on Keras 3 it has a single entry for all metrics of `compile`."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden, value_of
from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite import MemberTable, attribute
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.members._own_metrics import has_metrics_of_its_own
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

ROWS = (
    attribute(
        "keras.Model.metrics_names",
        "list(self.get_metrics_result())",
        unsafe_because="it is empty before the first batch",
    ),
)
_ORDER = (
    "the model has, or may have, several outputs, and then no list has the names in the order of "
    "`evaluate`"
)
_GIVE_VALUES = frozenset({"evaluate", "test_on_batch", "train_on_batch"})
_FURTHER = 3  # From here on they disagree on the places: `test_on_batch` takes `return_dict`.


@rule(
    "KD216", severity=Severity.CHANGE, since="3.0", look_for=reads("metrics_names", on=Kind.MODEL)
)
def check(read: Read) -> Finding | None:
    """Report each read that the user's own model does not define."""
    if has_metrics_of_its_own(read):
        return None
    return read.finding(
        "`metrics_names` has a single entry, `compile_metrics`, for all metrics of `compile`",
        symbol=symbol(read.owner, read.member),
        help="Get the values by name: `model.evaluate(x, y, return_dict=True)`.",
        fix=_fix(read),
    )


def _fix(read: Read) -> Fix | NoFix:
    if isinstance(read.module.parent(read.node), cst.Attribute):
        return NoFix("appending to it changes a temporary list")
    by_name = _asked_by_name(read)
    if by_name is not None:
        return by_name
    if not _has_one_output(read):
        return NoFix(_ORDER)
    table = MemberTable(ROWS, {"keras.Model": (Kind.MODEL,)}, read.facts.signature)
    return table.attempt(read.module, read.use, lambda _: check.applicability())


def _asked_by_name(read: Read) -> Fix | NoFix | None:
    """Return the fix of ``dict(zip(model.metrics_names, model.evaluate(…)))``."""
    module = read.module
    zipped = _called_with(module, read.node, "zip", 2)
    whole = None if zipped is None else _called_with(module, zipped, "dict", 1)
    if zipped is None or whole is None or zipped.args[0].value is not read.node:
        return None
    match zipped.args[1].value:
        case cst.Call(func=cst.Attribute(value=model, attr=method)) as call if (
            method.value in _GIVE_VALUES
            and module.source(model) == module.source(read.node.value)
            and not is_hidden(call)
            and argument(call, "return_dict", _FURTHER) is None
        ):
            kept, around = module.outer_span(call), module.span(whole)
        case _:
            return None
    left, right = Span(around.start, kept.start), Span(kept.end, around.end)
    if "#" in module.text[left.start : left.end] + module.text[right.start : right.end]:
        return None
    return read.fix(
        "Get the values by name: `return_dict=True`",
        Edit(left, ()),
        add_keyword(module, call, "return_dict=True"),
        Edit(right, ()),
        unsafe_because="the dict has another order",
    )


def _called_with(module: Module, node: cst.CSTNode, builtin: str, count: int) -> cst.Call | None:
    """Return the call of a builtin that takes a value among so many, each by its place."""
    passed = module.parent(node)
    match call := None if passed is None else module.parent(passed):
        case cst.Call(func=cst.Name(value=name) as function, args=args) if (
            name == builtin
            and len(args) == count
            and not module.bindings_at(function)
            and not any(each.star or each.keyword for each in args)
        ):
            return call
    return None


def _has_one_output(read: Read) -> bool:
    """Say whether it is a ``Sequential``, or made here of one tensor as its output."""
    if read.owner.cls == "Sequential":
        return True
    made = value_of(read.module, read.node.value)
    if read.owner.cls != "Functional" or not isinstance(made, cst.Call):
        return False
    given = argument(made, "outputs", 1)
    output = None if given is None else read.module.type_of(given.value)
    return output is not None and output.kind is Kind.TENSOR and output.cls is not None
