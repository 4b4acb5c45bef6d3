"""Apply the suppression comments of a document to its findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kdoctor.documents import Unit
from kdoctor.engine.suppression.suppressions import Applied, Suppressions
from kdoctor.model import Finding
from kdoctor.suppression import may_have_suppressions

if TYPE_CHECKING:
    from kdoctor.suppression import Directives


def apply(
    suppressions: Suppressions,
    parts: Sequence[Unit],
    findings: Iterable[Finding],
    unparsed: Collection[int],
) -> Applied:
    """Split findings by suppression comments, and report bad comments.

    ``parts`` are the units of the document, and what else of it is looked at. ``unparsed`` are the
    units that no rule could be asked about. None of the comments in a document that has one is
    called unused.
    """
    if not any(may_have_suppressions(unit.text) for unit in parts):
        return Applied(suppressions.reported(findings))
    # Most documents have no comment.
    from kdoctor.engine.suppression.unused_and_invalid import apply_comments  # noqa: PLC0415

    return apply_comments(suppressions, parts, findings, unparsed)


def old_names(directives: Directives | None) -> Iterator[str]:
    """Yield the old codes and names of rules that the comments of a document say."""
    if not directives:
        return
    from kdoctor.rules.redirects import redirected  # noqa: PLC0415 - as above

    for _, directive in directives:
        for entry in directive.entries:
            if redirected(entry.text) is not None:
                yield entry.text
