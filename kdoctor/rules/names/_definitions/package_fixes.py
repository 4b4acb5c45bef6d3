"""The fixes of all that one file uses of a package that died with Keras 2."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Applicability, Fix, NoFix
from kdoctor.rewrite import Rewrite, RewriteTable
from kdoctor.rules.example import Example
from kdoctor.rules.names._deferred_imports import deferred_import
from kdoctor.rules.names._definitions.fixes import DefinitionFixes
from kdoctor.rules.names._definitions.keras_2_helpers import helper_of
from kdoctor.syntax import ImportBinding, Module, Reference, ReferenceKind

_SEVERAL = "Write what is used of `{}` without it"
_LATER = "it is no safe one"


class PackageFixes:
    """The fixes of one file, for a package; ``rows`` are its rewrites, with what proves each.

    A name with a rewrite is written out instead where one of its uses cannot be rewritten.
    """

    def __init__(
        self, module: Module, facts: TargetFacts, package: str, rows: Mapping[Rewrite, Example]
    ) -> None:
        self._module = module
        self._facts = facts
        self._package = package
        self._rows = rows
        self._safe: dict[ImportBinding, bool] = {}

    def of(self, binding: ImportBinding) -> Fix | NoFix:
        """Return the fix of all that one import brings in."""
        for each in self._references:
            if each.binding is binding and each.kind is ReferenceKind.IMPORT:
                found = self.titled(each)
                if isinstance(found, NoFix):
                    deferred = deferred_import(
                        self._module, self._facts, each, self._stuck, of_keras=False
                    )
                    return deferred or found
                return found
        return NoFix("kdoctor cannot tell which names a star import was meant to bring in")

    def titled(self, reference: Reference) -> Fix | NoFix:
        """Return the fix of an import or a use, under a title that says all it does."""
        found = self.of_reference(reference)
        is_import = reference.kind is ReferenceKind.IMPORT
        several = is_import and len(self._module.uses_of(reference.binding)) > 1
        if isinstance(found, Fix) and several:
            return replace(found, title=_SEVERAL.format(self._package))
        return found

    def of_reference(self, reference: Reference) -> Fix | NoFix:
        """Return the fix of one use, for an import that of its uses: the safe ones at first."""
        own = self._written.attempt(reference)
        if own is not None:
            return own
        return self._table.attempt(self._module, reference, self._rating, self._of_use)

    @cached_property
    def _table(self) -> RewriteTable:
        return RewriteTable(self._rows, self._facts.signature)

    @cached_property
    def _references(self) -> tuple[Reference, ...]:
        start = f"{self._package}."
        return tuple(e for e in self._module.references if f"{e.name}.".startswith(start))

    @cached_property
    def _written(self) -> DefinitionFixes:
        ours = [each for each in self._references if self._leaf(each) not in self._by_table]
        return DefinitionFixes(self._module, self._facts, ours)

    @cached_property
    def _by_table(self) -> frozenset[str]:
        """The names that are rewritten wherever the file reads them."""
        reads = [each for each in self._references if each.kind is not ReferenceKind.IMPORT]
        named = {self._leaf(each) for each in self._references if self._table.rows_for(each.name)}
        stuck = {
            self._leaf(each)
            for each in reads
            if isinstance(self._table.attempt(self._module, each, self._rating), NoFix)
        }
        return frozenset(named - stuck - {""})

    def _leaf(self, reference: Reference) -> str:
        if rows := self._table.rows_for(reference.name):
            return rows[0].left.partition("(")[0].rpartition(".")[2]
        found = helper_of(reference.name)
        return found[0].leaf if found is not None else ""

    @cached_property
    def _stuck(self) -> tuple[Reference, ...]:
        """The imports without a fix."""
        return tuple(
            each
            for each in self._references
            if each.kind is ReferenceKind.IMPORT and isinstance(self.of_reference(each), NoFix)
        )

    def _of_use(self, reference: Reference) -> Fix | NoFix:
        """Return the fix of one use of an import, a safe one if any use has such."""
        found = self.of_reference(reference)
        is_late = isinstance(found, Fix) and found.applicability is not Applicability.SAFE
        return NoFix(_LATER) if is_late and self._has_safe(reference.binding) else found

    def _has_safe(self, binding: ImportBinding) -> bool:
        if binding not in self._safe:
            fixes = map(self.of_reference, self._reads_of(binding))
            self._safe[binding] = any(
                isinstance(each, Fix) and each.applicability is Applicability.SAFE for each in fixes
            )
        return self._safe[binding]

    def _reads_of(self, binding: ImportBinding) -> list[Reference]:
        return [
            each
            for each in self._references
            if each.binding is binding
            and each.kind is not ReferenceKind.IMPORT
            and not self._module.is_dead(each.node)
        ]

    def _rating(self, row: Rewrite) -> Applicability:
        return self._facts.applicability(self._rows[row])
