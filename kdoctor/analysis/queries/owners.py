"""Of which types the objects may be whose members a source reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from kdoctor import keras_api
from kdoctor.analysis.facts import TargetFacts
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind, Type


def with_merged(types: Collection[Type]) -> Iterator[Type]:
    """Yield the types, and what is true of several of one kind."""
    yield from types
    for kind in {each.kind for each in types}:
        alike = [each for each in types if each.kind is kind]
        if len(alike) > 1:
            yield Type(kind)
            yield from (Type(kind, each.cls) for each in alike)
            yield from (Type(kind, qualified=each.qualified) for each in alike)


def classes_mentioned(quick: QuickFacts, facts: TargetFacts) -> Collection[Type]:
    """Return the types of which a source names the class, each once."""
    return dict.fromkeys(_owners(quick, facts))


def _owners(quick: QuickFacts, facts: TargetFacts) -> Iterator[Type]:
    """Yield the types of which the source names the class."""
    known = keras_api.oracle(facts.target)
    classes: dict[tuple[Kind, str | None], Type] = {}
    for name in quick.mentioned:
        made = known.class_type(name)
        if made is None:
            continue
        yield made
        if made.kind is Kind.MODEL and made.qualified is not None:
            yield replace(made, cls="")  # the user's own subclass, which is asked in another way
        # Of one of two classes of a name, it is only known how they are called.
        if classes.setdefault((made.kind, made.cls), made) != made:
            yield replace(made, qualified=None)
