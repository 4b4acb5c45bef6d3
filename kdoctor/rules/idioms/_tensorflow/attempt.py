"""The fix of one use of a TensorFlow function, by the tables."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Presence
from kdoctor.lazy_regex import pattern
from kdoctor.model import Applicability, Fix, NoFix
from kdoctor.rewrite import RewriteTable, rewrite
from kdoctor.rules.idioms._tensorflow import REWRITES, forgets
from kdoctor.rules.idioms._tensorflow.differences import DIFFERENCES
from kdoctor.syntax import Module, Reference

_NEW = pattern(r"\bkeras(?:\.\w+)+")
_NOT_EQUAL = "for some arguments TensorFlow returns something else, see `kdoctor rules KD503`"
_NAMELESS = "the operation loses its name, which other code may look for"


def attempted(module: Module, facts: TargetFacts, reference: Reference) -> Fix | NoFix:
    """Return the fix of a use, or why there is none.

    ``reference`` has the name under which the tables have the function (``canonical``). A call with
    ``name=`` loses it, which is unsafe.
    """
    table, nameless = _tables(facts)
    attempt = table.attempt(module, reference, facts.applicability)
    if isinstance(attempt, Fix):
        known = DIFFERENCES.get(reference.name.rpartition(".")[2], _NOT_EQUAL)
        return replace(attempt, unsafe_because=attempt.unsafe_because or known)
    unnamed = nameless.attempt(module, reference, lambda _: Applicability.UNSAFE)
    if isinstance(unnamed, Fix):
        return replace(unnamed, title=f"{unnamed.title}, without name=", unsafe_because=_NAMELESS)
    return attempt


def reason(refused: NoFix, name: str, facts: TargetFacts) -> NoFix:
    """Return why there is no fix: none of the rows holds here, or there is no row."""
    if _tables(facts)[0].rows_for(name):
        return refused
    return NoFix("there is no single replacement expression in Keras 3")


def sentence(text: str) -> str:
    """Return advice as a sentence, without its full stop."""
    return text if text.startswith(("keras.", "tf.")) else f"{text[:1].upper()}{text[1:]}"


@cache
def _tables(facts: TargetFacts) -> tuple[RewriteTable, RewriteTable]:
    """Return the rows whose right sides the target has; and the same for calls with ``name=``."""
    rows = [
        row
        for row in REWRITES
        if all(
            facts.lookup(name).presence is not Presence.MISSING for name in _NEW.findall(row.right)
        )
    ]
    named = [row for row in rows if "name" in row.left and "name" in row.pattern.parameters]
    nameless = [
        rewrite(row.left, row.right, forgets() if row.when is None else row.when & forgets())
        for row in named
    ]
    return (
        RewriteTable(rows, facts.signature, unproven=facts.unproven_elsewhere),
        RewriteTable(nameless, facts.signature),
    )
