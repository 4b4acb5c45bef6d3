"""A generator or `Sequence` that yields lists: Keras 3 requires tuples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import has_builtin, replace_expression, value_of
from kdoctor.analysis.queries import Method, methods
from kdoctor.analysis.queries.forms import Expression
from kdoctor.analysis.queries.generators import Generator, generators
from kdoctor.analysis.queries.parts import ANYTHING, OneOf
from kdoctor.analysis.training.generators import FED, PREDICTS
from kdoctor.model import Edit, Finding, Severity, Span
from kdoctor.rules.behaviour._list_expressions import lists_of
from kdoctor.rules.behaviour._taken_batches import are_taken_by_hand, is_imported_elsewhere
from kdoctor.rules.rule import rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import own_nodes

_SEQUENCES = ("utils.Sequence", "utils.PyDataset", "utils.data_utils.Sequence")
_LISTS = (cst.Attribute, cst.BinaryOperation, cst.Call, cst.ListComp, cst.Name)
_NO_TUPLE = (
    "ValueError: When passing a Python generator to a Keras model, the generator must return a "
    "tuple, either (input,) or (inputs, targets) or (inputs, targets, sample_weights)."
)
_LIST_FOUND = "`tf.TypeSpec` but found <class 'list'>"
_OF_ARRAYS = frozenset({"jax", "keras", "numpy", "tensorflow", "torch"})
_NO_SPEC = (
    "TypeError: `output_signature` must contain objects that are subclass of `tf.TypeSpec` but "
    "found <class 'list'> which is not."
)

_TAKEN_BY_HAND = (
    "the file reads batches from it: a tuple cannot be modified, and a list of one becomes the "
    "bare item"
)

_ONE_ITEM = (
    "other files may take batches of it, so the one item stays in a container: a model that its "
    "first batch builds, as a subclass or a `Sequential` without `Input`, needs the bare item"
)


def _may_be_wrong(batch: object) -> bool:
    """Say whether it is a list, or a tuple with what may be one, of as many parts as a batch."""
    if not isinstance(batch, list | tuple) or not 1 < len(batch) < 4:
        return False
    return isinstance(batch, list) or any(map(_may_be_a_list, batch))


def _may_be_a_list(part: object) -> bool:
    match part:
        case OneOf(forms=forms):
            return any(map(_may_be_a_list, forms))
        case Expression(kind="ListComp") | Expression(name="+" | "list"):
            return True
        case list():
            return not any(map(_is_counted, part))  # a list of numbers is one array
    return part == ANYTHING


def _is_counted(form: object) -> bool:
    return isinstance(form, int | float) and form >= 0  # `-1` is an operation to the rule


@rule(
    "KD409",
    severity=Severity.ERROR,
    since="3.0",
    only_alone=True,
    look_for=generators(*FED, yielding=_may_be_wrong)
    | methods("__getitem__", of=_SEQUENCES, returning=_may_be_wrong, guarded=True),
)
def check(function: Generator | Method) -> Iterator[Finding]:
    """Report each batch that holds, or is, a list."""
    if isinstance(function, Generator):
        if function.feeds[0] in PREDICTS:
            return
        batches = [each.value for each in function.yields]
        maker = function.node.name.value
    else:
        inside = own_nodes(function.node.body)
        batches = [each.value for each in inside if isinstance(each, cst.Return)]
        maker = function.owner.symbol
    for batch in batches:
        if isinstance(batch, cst.Tuple | cst.List) and 1 < len(batch.elements) < 4:
            found = _finding(function, batch, maker)
            if found is not None:
                yield found


def _finding(
    function: Generator | Method, batch: cst.Tuple | cst.List, maker: str
) -> Finding | None:
    module = function.module
    lists = [each.value for each in batch.elements if _is_list(each.value)]
    named = [each.value for each in batch.elements if _holds_a_list(module, each.value)]
    unknown = [] if lists or named else _unknown_parts(function, batch)
    # What a `Sequence` returns may be a list.
    is_wrong = isinstance(batch, cst.List) and isinstance(function, Generator)
    if not lists and not named and not is_wrong and not unknown:
        return None
    changed: list[cst.BaseExpression] = [batch, *lists] if is_wrong else lists
    doubt = _TAKEN_BY_HAND if are_taken_by_hand(module, maker) else ""
    # Whoever else takes batches of it gets at the one item as before: `(inputs,), _ = batch`.
    is_kept = any(map(_is_alone, lists)) and is_imported_elsewhere(module)
    if is_kept:
        doubt = _ONE_ITEM
    if not all(_holds_a_list(module, each, several=True) for each in named):
        doubt = (
            "the list may hold a single array, and a `Sequential` needs that one without a "
            "container"
        )
    if unknown:
        doubt = "the code does not tell which part is the list that an error told of"
    return function.finding(
        f"a batch must be a tuple, and so must its parts: {_NO_TUPLE if is_wrong else _NO_SPEC}",
        at=batch,
        symbol="keras.Model.fit",
        help="Use tuples instead of lists: `(a, b), y`.",
        fix=function.fix(
            "Use tuples instead of lists",
            *(edit for each in changed for edit in _as_tuple(module, each, is_kept=is_kept)),
            *(replace_expression(module, each, f"tuple({module.source(each)})") for each in named),
            *_asking(module, unknown),
            unsafe_because=doubt,
        ),
    )


def _unknown_parts(
    function: Generator | Method, batch: cst.Tuple | cst.List
) -> list[cst.BaseExpression]:
    """Return the parts that may be the list that an error was seen to tell of."""
    module = function.module
    calls = function.calls if isinstance(function, Generator) else ()
    seen = [error for each in calls for error in module.inference.errors_in(module.scope_of(each))]
    if not any(_LIST_FOUND in each for each in seen):
        return []
    parts = [each.value for each in batch.elements if isinstance(each, cst.Element)]
    if not all(has_builtin(module, batch, each) for each in ("isinstance", "list", "tuple")):
        return []
    return [each for each in parts if _may_hold_a_list(module, each)]


def _may_hold_a_list(module: Module, node: cst.BaseExpression) -> bool:
    made = value_of(module, node)
    if isinstance(made, cst.Call):
        name = module.qualified(made.func) or ""
        is_tuple = isinstance(made.func, cst.Name) and made.func.value == "tuple"
        gives_arrays = name.partition(".")[0] in _OF_ARRAYS and not name.endswith("split")
        return not (is_tuple or gives_arrays)
    return isinstance(node, cst.Name | cst.Attribute | cst.Subscript)


def _asking(module: Module, unknown: Sequence[cst.BaseExpression]) -> Iterator[Edit]:
    """Write tuples for what may be lists: a single part is one, of several each is asked."""
    for each in unknown:
        text = module.source(each)
        if len(unknown) == 1:
            yield replace_expression(module, each, f"tuple({text})")
        elif not isinstance(each, cst.Call):
            asked = f"tuple({text}) if isinstance({text}, list) else {text}"
            yield replace_expression(module, each, asked)


def _is_list(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.List)
        and bool(node.elements)
        and not any(isinstance(each, cst.StarredElement) for each in node.elements)
        # A list of numbers is one array.
        and not any(isinstance(each.value, cst.BaseNumber) for each in node.elements)
    )


def _holds_a_list(module: Module, node: cst.BaseExpression, *, several: bool = False) -> bool:
    """Say whether a variable surely has a list of arrays, or a call gives one."""
    known = lists_of(module).several if several else lists_of(module)
    if not has_builtin(module, node, "tuple"):
        return False
    value = value_of(module, node)
    if isinstance(node, cst.Name) and isinstance(value, cst.List) and value.elements:
        is_one = _is_list(value) and len(value.elements) > 1
        return is_one and not known.may_shrink(node.value)
    return isinstance(node, _LISTS) and known.is_one(node)


def _is_alone(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.List) and len(node.elements) == 1


def _as_tuple(module: Module, node: cst.BaseExpression, *, is_kept: bool) -> Iterator[Edit]:
    """Write a tuple for a list; what stands alone in a list is the batch itself.

    ``is_kept``: it stands in a tuple then.
    """
    assert isinstance(node, cst.List)
    span, last = module.span(node), node.elements[-1]
    alone = _is_alone(node)
    start, end = ("(", ",)" if alone else ")") if is_kept or not alone else ("", "")
    behind = module.outer_span(last.value).end if alone else span.end - 1
    yield Edit(Span(span.start, span.start + 1), (start,))
    yield Edit(Span(behind, span.end), (end,))
