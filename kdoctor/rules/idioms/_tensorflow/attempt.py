"""The fix of one use of a TensorFlow function, by a table of rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import Presence
from kdoctor.lazy_regex import pattern
from kdoctor.model import Applicability, Fix, NoFix
from kdoctor.rewrite import Rewrite, RewriteTable, rewrite
from kdoctor.rules.idioms._tensorflow.differences import DIFFERENCES
from kdoctor.rules.idioms._tensorflow.guards import forgets
from kdoctor.syntax import Module, Reference

_NEW = pattern(r"\bkeras(?:\.\w+)+")
_NOT_EQUAL = "for some arguments TensorFlow returns something else, see `kdoctor rules KD503`"
_UNPROVEN = "it is not proven for tensors with values and for variables"
_NAMELESS = "the operation loses its name, which other code may look for"


class FunctionTable:
    """The rows for functions of TensorFlow.

    Of each use it says what the fix is, or why there is none. A reference is given with the name
    under which the rows have the function (``canonical``). A call with ``name=`` loses it, which is
    unsafe. ``unproven`` are rows that are tried after the others and never safe: see ``_UNPROVEN``.
    """

    def __init__(self, rows: Sequence[Rewrite], unproven: Sequence[Rewrite] = ()) -> None:
        self._rows = (*rows, *unproven)
        self._unproven = frozenset(unproven)
        self._tables_of = cache(self._tables)

    def attempted(self, module: Module, facts: TargetFacts, reference: Reference) -> Fix | NoFix:
        """Return the fix of a use, or why there is none."""
        table, nameless = self._tables_of(facts)
        attempt = table.attempt(module, reference, partial(self._rated, facts))
        if isinstance(attempt, Fix):
            known = DIFFERENCES.get(reference.name.rpartition(".")[2], _NOT_EQUAL)
            return replace(attempt, unsafe_because=attempt.unsafe_because or known)
        unnamed = nameless.attempt(module, reference, lambda _: Applicability.UNSAFE)
        if isinstance(unnamed, Fix):
            title = f"{unnamed.title}, without name="
            return replace(unnamed, title=title, unsafe_because=_NAMELESS)
        return attempt

    def reason(self, refused: NoFix, name: str, facts: TargetFacts) -> NoFix:
        """Return why there is no fix: none of the rows holds here, or there is no row."""
        if self._tables_of(facts)[0].rows_for(name):
            return refused
        return NoFix("there is no single replacement expression in Keras 3")

    def _rated(self, facts: TargetFacts, row: Rewrite) -> Applicability:
        return Applicability.UNSAFE if row in self._unproven else facts.applicability(row)

    def _why_unproven(self, facts: TargetFacts, row: Rewrite) -> str:
        return _UNPROVEN if row in self._unproven else facts.unproven_elsewhere(row)

    def _tables(self, facts: TargetFacts) -> tuple[RewriteTable, RewriteTable]:
        """Return the rows whose right sides the target has; and those for calls with ``name=``."""
        rows = [
            row
            for row in self._rows
            if all(
                facts.lookup(name).presence is not Presence.MISSING
                for name in _NEW.findall(row.right)
            )
        ]
        named = [row for row in rows if "name" in row.left and "name" in row.pattern.parameters]
        nameless = [
            rewrite(row.left, row.right, forgets() if row.when is None else row.when & forgets())
            for row in named
        ]
        return (
            RewriteTable(rows, facts.signature, unproven=partial(self._why_unproven, facts)),
            RewriteTable(nameless, facts.signature),
        )


def sentence(text: str) -> str:
    """Return advice as a sentence, without its full stop."""
    return text if text.startswith(("keras.", "tf.")) else f"{text[:1].upper()}{text[1:]}"
