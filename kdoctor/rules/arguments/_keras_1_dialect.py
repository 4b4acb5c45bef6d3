"""Which Keras a file was written for, by the keywords of Keras 1 in it, and what that leaves open.

`Convolution2D(32, 3, 3)` has a kernel of 3 x 3 up to Keras 2.3, and strides of 3 from 2.4 on. A
file with keywords of Keras 1 raises on Keras 3 until they are renamed; then its other calls run,
too. So the keywords decide how its positions are read, or nothing is written as safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.dataflow.keyword_dicts import held_keywords
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import KerasCall, keras_calls, partial_calls
from kdoctor.keras_api import ClassFamily, split_root
from kdoctor.memoize import once
from kdoctor.rules.arguments._keras_1_kernel_sizes import (
    KERNELS,
    MULTI_BACKEND,
    given_by_position,
    is_one_by_one,
    kernel_in_one,
)
from kdoctor.rules.arguments._keras_1_rewrites import GENERATORS, known_keywords
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ANY_ROOT = ""
_OF_KERAS_2 = ("padding", "strides", "data_format")
_Old = Sequence[cst.Arg]


@once
def calls_with_keywords(module: Module, facts: TargetFacts) -> tuple[tuple[KerasCall, _Old], ...]:
    """Return the calls that may pass keywords of Keras 1, each with those that it passes."""
    return tuple(
        (call, _old_arguments(call))
        for call in (
            *keras_calls(module, facts),
            *_model_calls(module, facts),
            *_generator_calls(module, facts),
            *partial_calls(module, facts),
        )
    )


@once
def speaks_keras_1(module: Module, facts: TargetFacts) -> bool:
    """Say whether the file passes a keyword of Keras 1 where nothing has made sure of Keras 1."""
    return bool(_roots(module, facts))


def is_of_keras_1(module: Module, facts: TargetFacts, call: KerasCall) -> bool:
    """Say whether the file speaks Keras 1 to the root that a callable is read from."""
    roots, root = _roots(module, facts), root_of(call)
    return bool(roots) if root == _ANY_ROOT else not roots.isdisjoint({root, _ANY_ROOT})


def root_of(call: KerasCall) -> str:
    """Return the root that the callable is read from, "" where it is not known."""
    name = call.reference.name if call.reference is not None else None
    if name is None and call.owner is not None:
        name = call.owner.qualified
    split = split_root(name) if name else None
    return _ANY_ROOT if split is None else split[0]


@once
def _roots(module: Module, facts: TargetFacts) -> frozenset[str]:
    """Return the roots of the callables that get keywords of Keras 1."""
    return frozenset(
        root_of(call)
        for call, old in calls_with_keywords(module, facts)
        if (old or _gets_old_keywords(module, call)) and not module.is_guarded(call.call)
    )


def _gets_old_keywords(module: Module, call: KerasCall) -> bool:
    return call.leaf not in GENERATORS and any(
        each.keyword in known_keywords(call) and not call.new.parameter(each.keyword)
        for each in held_keywords(module, call.call)
    )


class Unread(Struct, frozen=True):
    """A call whose last number is a stride today and may be a side of the kernel."""

    text: str
    line: int


@once
def unread_calls(module: Module, facts: TargetFacts) -> tuple[Unread, ...]:
    """Return what a file of Keras 1 passes by position that nobody can read for sure."""
    return tuple(
        Unread(module.source(call.call.func), module.place(call.call).line)
        for call, old in calls_with_keywords(module, facts)
        if not old
        and is_of_keras_1(module, facts, call)
        and not module.is_guarded(call.call)
        and not is_read(module, facts, call)
        and _may_be_sides(module, call)
    )


def why_not_alone(module: Module, facts: TargetFacts) -> str:
    """Say what else would run once the keywords are renamed, "" where nothing is left open."""
    open_calls = unread_calls(module, facts)
    if not open_calls:
        return ""
    first, *rest = open_calls
    more = f" and {len(rest)} more" if rest else ""
    return (
        f"once the keywords no longer raise, `{first.text}(…)` on line {first.line}{more} runs "
        "as well, and reads its last number as the stride: in Keras 1 it was a side of the kernel"
    )


def _may_be_sides(module: Module, call: KerasCall) -> bool:
    """Say whether what is passed by position may be the sides of a kernel, and raises nothing."""
    sides = KERNELS.get(call.leaf.replace("Convolution", "Conv", 1), ())
    if not sides or call.keyword("kernel_size") is not None or call.keyword("strides") is not None:
        return False
    given = [each for each in given_by_position(call) if each.star != "**"]
    if any(each.star == "*" for each in given):
        return len(given) <= len(sides) + 1
    values = [value_of(module, each.value) for each in given[1:]]
    is_of_today = any(isinstance(each, cst.Tuple | cst.List) for each in values)
    return len(values) == len(sides) and not is_of_today


def is_read(module: Module, facts: TargetFacts, call: KerasCall) -> bool:
    """Say whether a call surely gives the sides of a kernel, and can be written anew.

    Beside a keyword of Keras 2 the old converters refused two numbers: "for safety reasons, this is
    disallowed" (Keras 2.0 to 2.3).
    """
    return (
        root_of(call) == MULTI_BACKEND
        and is_of_keras_1(module, facts, call)
        and is_one_by_one(module, call, is_of_keras_1=True)
        and not any(call.keyword(each) for each in _OF_KERAS_2)
        and kernel_in_one(module, call) is not None
    )


# What passes keywords of Keras 1


def _model_calls(module: Module, facts: TargetFacts) -> Iterator[KerasCall]:
    """Yield `Model(…)`, which takes whatever it is given and finds out later."""
    for reference in module.references:
        if reference.call is None or reference.name.rpartition(".")[2] != "Model":
            continue
        found = facts.lookup(reference.name)
        found = facts.lookup(found.moved_to[0]) if found.moved_to else found
        new = facts.signature(found.qualified)
        if found.family is ClassFamily.MODEL and new and facts.runs_keras_3(found.root or ""):
            name = f"keras.{found.name}"
            yield KerasCall(
                reference.call, name, Kind.MODEL, new, reference.confidence, made="Model",
                reference=reference,
            )  # fmt: skip


def _generator_calls(module: Module, facts: TargetFacts) -> Iterator[KerasCall]:
    """Yield the calls of `fit_generator` and its kin, which KD205 has to rewrite, too."""
    for use in module.members_named(*GENERATORS):
        if use.called is None or use.owner_defines or use.owner.kind is not Kind.MODEL:
            continue
        name = f"keras.Model.{use.member}"
        if facts.runs_keras_3("keras"):
            new = facts.at_release("2.10.0").signature(name)
            if new is not None:
                yield KerasCall(use.called, name, None, new, use.confidence, owner=use.owner)


def _old_arguments(call: KerasCall) -> list[cst.Arg]:
    known = known_keywords(call)
    return [
        each
        for each in call.args
        if each.keyword is not None
        and each.keyword.value in known
        and call.new.parameter(each.keyword.value) is None
    ]
