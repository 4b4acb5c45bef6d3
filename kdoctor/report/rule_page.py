"""One rule as a Markdown page: documentation, examples, rewrites and proofs."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.model import Severity
from kdoctor.report.proofs import Record, proven
from kdoctor.report.proofs_page import matrix
from kdoctor.rules import Example, Rule
from kdoctor.rules.topics import others_of

_SEVERITIES = {
    Severity.ERROR: "raises on the target",
    Severity.CHANGE: "runs, but means something else",
    Severity.LEGACY: "works, but is deprecated or private",
}


def page_of(rule: Rule, record: Record) -> str:
    """Return the page of one rule."""
    title = f"# {rule.code} {rule.name}"
    return (
        "\n".join([title, "", *_head(rule), "", rule.docs.rstrip(), *_shown(rule, record)]) + "\n"
    )


def _head(rule: Rule) -> Iterator[str]:
    since = f" · from Keras {rule.since}" if rule.since else ""
    until = f" · before Keras {rule.until}" if rule.until else ""
    yield f"**{rule.severity.value}**: {_SEVERITIES[rule.severity]}{since}{until}"
    if rule.preview:
        yield "\nThis rule is in preview: it is asked with `--preview` only, and may still change."
    for topic in rule.topics:
        links = ", ".join(f"[{code}]({code}.md)" for code in others_of(topic, rule.code))
        yield (
            f"\nTopic [{topic.name}](topics.md#{topic.name}): {topic.sentence} "
            f"Other rules of it: {links}."
        )


def _shown(rule: Rule, record: Record) -> Iterator[str]:
    if rule.invalid:
        yield "\n## Examples"
    for example in rule.invalid:
        yield ""
        yield from _example(example, record)
    if rule.rewrites:
        yield "\n## Rewrites and their proofs\n"
        yield "What the numbers mean: [Proofs](../proofs.md).\n"
        yield from matrix(rule.rewrites, record)


def _example(example: Example, record: Record) -> Iterator[str]:
    if example.note:
        yield f"{example.note}\n"
    yield f"Before{f' (on {example.on})' if example.on else ''}:\n"
    yield from _code(example.before)
    if example.raises:
        yield "\nraises\n"
        yield from _code(example.error, "text")
    if example.after is None:
        yield "\nNo fix."
        return
    yield f"\nAfter ({proven(example, record)}):\n"
    yield from _code(example.after)


def _code(code: str, language: str = "python") -> Iterator[str]:
    fence = "```" if "```" not in code else "`````"
    yield f"{fence}{language}\n{code.rstrip()}\n{fence}"
