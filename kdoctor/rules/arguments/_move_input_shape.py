"""The shape of a model's input, given to its first layer: moved to a ``keras.Input`` before it."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keyword_changes import TAKEN
from kdoctor.keras_api import ClassFamily, EntryKind
from kdoctor.model import Applicability, Edit, Fix, Hole, ImportNeed, NoFix, Span
from kdoctor.rewrite import Speller, remove_arguments
from kdoctor.rules.arguments._first_layer import LayerPlace, first_layer_place
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.syntax.literals import literal

LENGTH = "input_length"
_DIM = "input_dim"
ARGUMENTS = ("input_shape", _DIM, "batch_input_shape", LENGTH)
_SIZE = "batch_size"
_WITH_A_SIZE = ("input_shape", _DIM)
OF_STEPS = frozenset({"RNN", "SimpleRNN", "LSTM", "GRU", "Conv1D", "Convolution1D"})
"""Layers whose `input_dim` and `input_length` are one shape to Keras 2: length, then features.

To the convolutions it was up to Keras 2.3.
"""
_KERAS_2 = "2.15.0"


class Moved(Struct, frozen=True):
    """What moves the shape. ``is_plain``: it is written out, and nothing is called for it."""

    edit: Edit
    imports: tuple[ImportNeed, ...]
    is_plain: bool
    unsafe_because: str


def shape_arguments(facts: TargetFacts, reference: Reference, call: cst.Call) -> list[cst.Arg]:
    """Return the arguments that give one of Keras' own layers the shape of the model's input."""
    given = [each for each in call.args if each.keyword and each.keyword.value in ARGUMENTS]
    own = own_parameters(facts, reference.name) if given else None
    if own is None:
        return []
    not_its = [each for each in given if each.keyword and each.keyword.value not in own]
    lengths = [each for each in given if is_length(each)]
    if lengths and takes_steps(reference) and _DIM in _beside(call):
        return lengths
    # Where a shape is given as well, that one counts. And there may be no length.
    shapes = [each for each in not_its if not is_length(each)]
    return shapes or [each for each in not_its if literal(each.value) is not None]


def is_length(argument: cst.Arg) -> bool:
    return argument.keyword is not None and argument.keyword.value == LENGTH


def takes_steps(reference: Reference) -> bool:
    return reference.name.rpartition(".")[2] in OF_STEPS


def gives_steps(reference: Reference, argument: cst.Arg) -> bool:
    """Say whether an argument is a part of the shape (steps, features)."""
    is_part = argument.keyword is not None and argument.keyword.value in {_DIM, LENGTH}
    return is_part and takes_steps(reference)


def _beside(call: cst.Call) -> dict[str, cst.Arg]:
    return {each.keyword.value: each for each in call.args if each.keyword}


def own_parameters(facts: TargetFacts, name: str) -> set[str] | None:
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
    leaf = found.name.rpartition(".")[2]
    own |= TAKEN.get(leaf, frozenset())
    # Of an Embedding it is taken, and nothing is done with it; but for those of steps, no other
    # layer of Keras 2 had it.
    return own - {LENGTH} if leaf in OF_STEPS else own ^ {LENGTH}


def input_first(
    module: Module, reference: Reference, call: cst.Call, argument: cst.Arg
) -> Moved | NoFix:
    """Return what moves the argument into a ``keras.Input`` before the layer."""
    place = first_layer_place(module, call)
    if place is None:
        return NoFix(
            "kdoctor cannot tell that this is the first layer of a `Sequential`, the only place "
            "where Keras reads it"
        )
    beside, shape = _beside(call), shape_of(reference, call, argument)
    if not shape.is_whole:
        return NoFix(f"without `{_DIM}=` this was an error on Keras 2 as well")
    if LENGTH in beside and beside[LENGTH] not in shape.arguments:
        return NoFix(f"`{LENGTH}=` is part of the shape, and Keras 3 does not accept it either")
    size = beside.get(_SIZE)
    if size is not None and not shape.takes_a_size:
        return NoFix(f"`{_SIZE}=` is part of the shape, and Keras 3 does not accept it either")
    moved = [*shape.arguments, *([] if size is None else [size])]
    gone = remove_arguments(module, call, moved)
    if gone is None:
        return NoFix("there is a comment next to it")
    spelled, need = Speller.at(module, reference).spell("keras.Input")
    pieces = (*shape.pieces, *(() if size is None else (f", {_SIZE}=", size)))
    is_clear = all(is_plain(module, each) for each in shape.arguments)
    unclear = next((e for e in shape.arguments if not is_plain(module, e)), argument)
    return Moved(
        _edit(module, place, spelled, pieces, sorted(each.span for each in gone)),
        () if need is None else (need,),
        is_clear and not (size is not None and calls_something(size.value)),
        f"the value of `{module.source(unclear.value)}` is not known; "
        + ("it may be a tuple" if is_length(unclear) else "`keras.Input` does not accept None"),
    )


class Shape(Struct, frozen=True):
    """What gives a shape, and how an ``Input`` is given it: texts, and arguments' values between.

    ``is_whole``: no part of it is left out.
    """

    arguments: tuple[cst.Arg, ...]
    pieces: tuple[str | cst.Arg, ...]
    takes_a_size: bool = True
    is_whole: bool = True

    def written(self, module: Module) -> str:
        """Return the argument of the ``Input``."""
        spans = (
            each if isinstance(each, str) else module.outer_span(each.value) for each in self.pieces
        )
        return "".join(
            each if isinstance(each, str) else module.text[each.start : each.end] for each in spans
        )


def shape_of(reference: Reference, call: cst.Call, argument: cst.Arg) -> Shape:
    """Return the shape that an argument gives, be it with another one beside it."""
    assert argument.keyword is not None
    name = argument.keyword.value
    if gives_steps(reference, argument):
        dim, length = (_beside(call).get(each) for each in (_DIM, LENGTH))
        return Shape(
            tuple(each for each in (length, dim) if each is not None),
            ("shape=(", length or "None", ", ", dim or "…", ")"),
            is_whole=dim is not None,
        )
    before, after = {
        "input_shape": ("shape=", ""),
        _DIM: ("shape=(", ",)"),
        LENGTH: ("shape=(", ",)"),
        "batch_input_shape": ("batch_shape=", ""),
    }[name]
    return Shape((argument,), (before, argument, after), name in _WITH_A_SIZE)


def _edit(
    module: Module,
    place: LayerPlace,
    spelled: str,
    pieces: Sequence[str | cst.Arg],
    gaps: Sequence[Span],
) -> Edit:
    starts = [place.span.start, *(gap.end for gap in gaps)]
    ends = [*(gap.start for gap in gaps), place.span.end]
    return Edit(
        place.span,
        (
            f"{place.before}{spelled}(",
            *(
                each if isinstance(each, str) else Hole(module.outer_span(each.value))
                for each in pieces
            ),
            f"){place.after}",
            *(Hole(Span(start, end)) for start, end in zip(starts, ends, strict=True)),
        ),
    )


def is_plain(module: Module, argument: cst.Arg) -> bool:
    """A shape that is written out is no None, and nothing is called to get at it."""
    value = argument.value
    if is_length(argument):
        plain = isinstance(literal(value_of(module, value)), int | None)
    else:
        plain = isinstance(value, cst.Tuple | cst.List) or (
            argument.keyword is not None
            and argument.keyword.value == _DIM
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
    module: Module, facts: TargetFacts, reference: Reference, proof: Applicability
) -> Fix | None:
    """Return the fix of a ``batch_size`` that stands beside the shape, None for any other."""
    call = reference.call
    shapes = [] if call is None else shape_arguments(facts, reference, call)
    if call is None or len(shapes) != 1:
        return None
    moved = input_first(module, reference, call, shapes[0])
    return None if isinstance(moved, NoFix) else fix_of(moved, proof)


def fix_of(moved: Moved, proof: Applicability) -> Fix:
    """Return the fix, as safe as its ``proof`` where nothing is hidden."""
    return Fix(
        "Use `keras.Input` as the first layer",
        (moved.edit,),
        proof if moved.is_plain else Applicability.UNSAFE,
        moved.imports,
        unsafe_because=moved.unsafe_because,
    )
