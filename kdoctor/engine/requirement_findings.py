"""Findings on what a document has installed, beside those of the rules on its modules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kdoctor.documents import Document, Unit
from kdoctor.model import Finding
from kdoctor.rules.environment._pin_rule import CODE
from kdoctor.rules.environment._pins import concerns, findings_of_document
from kdoctor.target import Target


class RequirementFindings:
    """Finds requirements that contradict the target, where the rule on them counts."""

    def __init__(self, target: Target, codes: Collection[str]) -> None:
        self._target = target
        self._is_asked = CODE in codes and concerns(target)

    def parts(self, document: Document) -> Sequence[Unit]:
        """Return the parts of a document that are looked at, for their comments."""
        return document.parts if self._is_asked else document.units

    def beside(
        self, document: Document, known: Collection[Finding]
    ) -> Iterator[tuple[Unit, Finding]]:
        """Yield the findings that are not known yet, each with its part of the document."""
        if not self._is_asked:
            return
        places = {finding.place for finding in known if finding.code == CODE}
        for finding in findings_of_document(document, self._target):
            if finding.place not in places:
                yield document.part(finding.place.unit), finding
