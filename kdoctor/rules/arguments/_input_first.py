"""The shape of a model's input, given to its first layer: moved to a ``keras.Input`` before it."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.keras_api import ClassFamily, EntryKind
from kdoctor.model import Applicability, Edit, Fix, Hole, ImportNeed, Span
from kdoctor.rewrite import Refusal, Speller, without
from kdoctor.rules.arguments._first_layer import Place, first_layer_place
from kdoctor.rules.arguments._keywords import TAKEN
from kdoctor.rules.calls import literal, value_of
from kdoctor.rules.facts import Facts
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.walk import descendants

LENGTH = "input_length"
ARGUMENTS = ("input_shape", "input_dim", "batch_input_shape", LENGTH)
_SIZE = "batch_size"
_WITH_A_SIZE = ("input_shape", "input_dim")
_KERAS_2 = "2.15.0"


class Moved(Struct, frozen=True):
    """What moves the shape. ``is_plain``: it is written out, and nothing is called for it."""

    edit: Edit
    imports: tuple[ImportNeed, ...]
    is_plain: bool
    unsafe_because: str


def shape_arguments(facts: Facts, reference: Reference, call: cst.Call) -> list[cst.Arg]:
    """Return the arguments that give one of Keras' own layers the shape of the model's input."""
    given = [each for each in call.args if each.keyword and each.keyword.value in ARGUMENTS]
    own = own_parameters(facts, reference.name) if given else None
    if own is None:
        return []
    not_its = [each for each in given if each.keyword and each.keyword.value not in own]
    # Where a shape is given as well, that one counts. And there may be no length.
    shapes = [each for each in not_its if not is_length(each)]
    return shapes or [each for each in not_its if literal(each.value) is not None]


def is_length(argument: cst.Arg) -> bool:
    return argument.keyword is not None and argument.keyword.value == LENGTH


def own_parameters(facts: Facts, name: str) -> set[str] | None:
    """Return what a layer takes of its own, None of what is no layer."""
    found = facts.lookup(name)
    if found.moved_to:
        found = facts.lookup(found.moved_to[0])
    if found.kind is not EntryKind.CLASS or found.family is not ClassFamily.LAYER:
        return None
    # `input_dim` of Embedding, `input_shape` of InputLayer are their own. On Keras 3 such a
    # parameter may hide in **kwargs; what came with it, as ReversibleEmbedding, Keras 2 knows not.
    signatures = (known.signature(found.qualified) for known in (facts, facts.at_release(_KERAS_2)))
    own = {each.name for known in signatures if known for each in known.parameters}
    own |= TAKEN.get(found.name.rpartition(".")[2], frozenset())
    # Of an Embedding it is taken, and nothing is done with it; no other layer of Keras 2 had it.
    return own ^ {LENGTH}


def input_first(
    module: Module, reference: Reference, call: cst.Call, argument: cst.Arg
) -> Moved | Refusal:
    """Return what moves the argument into a ``keras.Input`` before the layer."""
    place = first_layer_place(module, call)
    if place is None:
        return Refusal("it is not plainly the first layer of a `Sequential`, where Keras reads it")
    beside = {each.keyword.value: each for each in call.args if each.keyword}
    if not is_length(argument) and LENGTH in beside:
        return Refusal(f"`{LENGTH}=` belongs to the shape and is not taken by Keras 3 either")
    size = beside.get(_SIZE)
    if size is not None and argument.keyword and argument.keyword.value not in _WITH_A_SIZE:
        return Refusal(f"`{_SIZE}=` belongs to the shape and is not taken by Keras 3 either")
    moved = [argument] if size is None else [argument, size]
    gone = without(module, call, moved)
    if gone is None:
        return Refusal("there is a comment beside it")
    values = [module.outer_span(each.value) for each in moved]
    spelled, need = Speller.at(module, reference).spell("keras.Input")
    edit = _edit(place, spelled, argument, values, [each.span for each in gone])
    return Moved(
        edit,
        () if need is None else (need,),
        is_plain(module, argument) and not (size is not None and calls_something(size.value)),
        f"what `{module.source(argument.value)}` is cannot be told; "
        + ("it may be a tuple" if is_length(argument) else "`keras.Input` takes no None"),
    )


def _edit(
    place: Place, spelled: str, argument: cst.Arg, values: Sequence[Span], gaps: Sequence[Span]
) -> Edit:
    assert argument.keyword is not None
    before, after = {
        "input_shape": ("shape=", ""),
        "input_dim": ("shape=(", ",)"),
        "input_length": ("shape=(", ",)"),
        "batch_input_shape": ("batch_shape=", ""),
    }[argument.keyword.value]
    size = (f", {_SIZE}=", Hole(values[1])) if len(values) > 1 else ()
    starts = [place.span.start, *(gap.end for gap in gaps)]
    ends = [*(gap.start for gap in gaps), place.span.end]
    return Edit(
        place.span,
        (
            f"{place.before}{spelled}({before}",
            Hole(values[0]),
            after,
            *size,
            f"){place.after}",
            *(Hole(Span(start, end)) for start, end in zip(starts, ends, strict=True)),
        ),
    )


def is_plain(module: Module, argument: cst.Arg) -> bool:
    """A shape that is written out is no None, and nothing is called to get at it."""
    value = argument.value
    if is_length(argument):
        plain = isinstance(literal(value_of(module, value)), int)
    else:
        plain = isinstance(value, cst.Tuple | cst.List) or (
            argument.keyword is not None
            and argument.keyword.value == "input_dim"
            and isinstance(value, cst.Integer)
        )
    return plain and not calls_something(value)


def calls_something(value: cst.BaseExpression) -> bool:
    return any(
        isinstance(each, cst.Call | cst.Await | cst.Yield | cst.NamedExpr) and not _is_len(each)
        for each in descendants(value)
    )


def _is_len(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "len"
    )


def moved_with_a_size(
    module: Module, facts: Facts, reference: Reference, proof: Applicability
) -> Fix | None:
    """Return the fix of a ``batch_size`` that stands beside the shape, None for any other."""
    call = reference.call
    shapes = [] if call is None else shape_arguments(facts, reference, call)
    if call is None or len(shapes) != 1:
        return None
    moved = input_first(module, reference, call, shapes[0])
    return None if isinstance(moved, Refusal) else fix_of(moved, proof)


def fix_of(moved: Moved, proof: Applicability) -> Fix:
    """Return the fix, as safe as its ``proof`` where nothing is hidden."""
    return Fix(
        "Start with `keras.Input` instead",
        (moved.edit,),
        proof if moved.is_plain else Applicability.UNSAFE,
        moved.imports,
        unsafe_because=moved.unsafe_because,
    )
