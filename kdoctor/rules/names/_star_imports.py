"""``from keras.layers.core import *``: what a module that is gone was to bring in."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import EntryKind, Lookup, Presence, oracle
from kdoctor.model import Applicability, Edit, Fix, Span
from kdoctor.syntax import Module, Reference


def star_of_package(
    module: Module, facts: TargetFacts, reference: Reference, found: Lookup
) -> Fix | None:
    """Return the fix that imports all from the package of the module that is gone.

    All that the file reads of the module must be there: nothing is said of it any more.
    """
    statement = reference.binding.statement
    if not isinstance(reference.node, cst.ImportStar) or not isinstance(statement, cst.ImportFrom):
        return None
    package, _, leaf = found.qualified.rpartition(".")
    written = statement.module
    if not isinstance(written, cst.Attribute) or written.attr.value != leaf or "." not in package:
        return None
    if facts.lookup(package).kind is not EntryKind.MODULE:
        return None
    brought = oracle(facts.target).star_names(found.qualified) or ()
    read = [each for each in module.unbound_reads if each in brought]
    if not read or not all(_is_there(facts, f"{package}.{each}") for each in read):
        return None
    span = Span(module.span(written.value).end, module.span(written).end)
    return Fix(
        f"Import all from `{package}`",
        (Edit(span, ("",)),),
        Applicability.UNSAFE,
        unsafe_because="it brings in more names, which may shadow others",
    )


def _is_there(facts: TargetFacts, name: str) -> bool:
    found = facts.lookup(name)
    return found.presence is Presence.EXISTS and not found.stub
