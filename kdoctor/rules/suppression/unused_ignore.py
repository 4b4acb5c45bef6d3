"""An unused suppression comment: its rules report nothing there."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.documents import Unit
from kdoctor.model import Confidence, Finding, Fix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.suppression import Directive, Entry, Form, removal_edit
from kdoctor.syntax import Module


def check(_module: Module, _facts: TargetFacts) -> Iterator[Finding]:
    """Report nothing: whether a comment is of use is known when all other rules have spoken."""
    return iter(())


def unused(
    unit: Unit, directive: Directive, unused_entries: Collection[Entry], facts: TargetFacts
) -> Finding:
    """Return the finding on the unused entries of a comment (none: the whole comment)."""
    whole = len(unused_entries) == len(directive.entries) and not directive.others
    first = next(iter(unused_entries), None)
    place = directive.span if whole or first is None else first.span
    names = ", ".join(f"`{entry.text}`" for entry in unused_entries)
    edit = removal_edit(unit, directive, unused_entries)
    title = "Remove the comment" if whole else f"Remove {names} from the list"
    return rule.finding(
        unit.place(Span(place.start, place.end)),
        _message(directive, names),
        symbol=f"kdoctor: {directive.form.value}",
        confidence=Confidence.CERTAIN,
        help="Remove it, or add `KD901` to its list to keep it.",
        fix=Fix(title, (edit,), facts.applicability(*rule.invalid)),
    )


def _message(directive: Directive, names: str) -> str:
    what = names or "the comment"
    match directive.form:
        case Form.ON:
            return f"{what} ends nothing: no matching `# kdoctor: off` is open here"
        case Form.OFF:
            return f"{what} silences nothing until the end of its block or its `on`"
        case Form.FILE:
            return f"{what} silences nothing in this file"
        case _:
            return f"{what} silences nothing here"


rule = Rule(
    code="KD901",
    name="unused-ignore",
    family="suppression",
    severity=Severity.LEGACY,
    check=check,
    triggers={"kdoctor"},
)
