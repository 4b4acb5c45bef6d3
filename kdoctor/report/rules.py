"""Reports of the rules, for people and programs: a table of all, or one in full."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from kdoctor import __version__
from kdoctor.model import Severity
from kdoctor.report.links import page_url
from kdoctor.report.locations import rule_shown
from kdoctor.report.output import Page, printable
from kdoctor.report.proofs import HEADINGS, Record, Verdict, named, proven, remarks, verdicts
from kdoctor.report.summary import count
from kdoctor.rewrite import Rewrite
from kdoctor.rules import Example, Rule
from kdoctor.rules.topics import others_of

_INDENT = "    "
_WIDTH = 100  # as the documentation is written
_ROLES = {True: "safe", False: "unsafe"}


def write_table(rules: Sequence[Rule], page: Page) -> None:
    """Write one line per rule: code, severity, name, summary."""
    names = max((len(rule.name) for rule in rules), default=0)
    kinds = max(map(len, Severity))
    for rule in rules:
        kind = page.paint(rule.severity.value, rule.severity.value.ljust(kinds))
        code = rule_shown(rule.code, rule.name, page)
        page.line(f"{code}  {kind}  {rule.name.ljust(names)}  {rule.summary}")


def write_page(rule: Rule, proofs: Record, page: Page) -> None:
    """Write one rule in full: documentation, examples, rewrites and their proofs."""
    kind = page.paint(rule.severity.value, f"[{rule.severity.value}]")
    page.line(
        f"{rule_shown(rule.code, rule.name, page)} {page.paint('path', rule.name)} "
        f"{kind}{_when(rule)}"
    )
    for topic in rule.topics:
        others = ", ".join(others_of(topic, rule.code))
        page.line(f"topic {page.paint('path', topic.name)}: {topic.sentence} Also: {others}.")
    page.line()
    for line in rule.docs.splitlines():
        page.line(page.paint("path", line) if line.startswith("## ") else line)
    if rule.invalid:
        page.line()
        page.line(page.paint("path", "## Examples"))
    for example in rule.invalid:
        page.line()
        _write_example(example, proofs, page)
    if rule.rewrites:
        page.line()
        page.line(page.paint("path", "## Rewrites"))
    for rewrite in rule.rewrites:
        page.line()
        _write_rewrite(rewrite, proofs, page)


def write_table_json(rules: Sequence[Rule], page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    listed = [_headed(rule) for rule in rules]
    page.line(json.dumps({"kdoctor": __version__, "rules": listed}, indent=2))


def write_page_json(rule: Rule, proofs: Record, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    document = {
        "kdoctor": __version__,
        **_headed(rule),
        "docs": rule.docs,
        "examples": [_example(example, proofs) for example in rule.invalid],
        "rewrites": [_rewrite(rewrite, proofs) for rewrite in rule.rewrites],
    }
    page.line(json.dumps(document, indent=2))


def _headed(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "family": rule.family,
        "severity": rule.severity.value,
        "since": rule.since,
        "until": rule.until,
        "preview": rule.preview,
        "topics": [topic.name for topic in rule.topics],
        "url": page_url(rule.code),
        "summary": rule.summary,
    }


def _example(example: Example, proofs: Record) -> dict[str, Any]:
    """Return an example as plain data; ``holds`` is how the run of its fix ended, None for none."""
    return {
        "target": example.on,
        "before": example.before,
        "raises": example.raises,
        "after": example.after,
        "unsafe": example.unsafe,
        "holds": None if example.after is None else _held(proofs.get(example.id)),
    }


def _rewrite(rewrite: Rewrite, proofs: Record) -> dict[str, Any]:
    """Return a rewrite as plain data; ``holds`` is how its runs ended, None where none did."""
    proof = proofs.get(rewrite.id)
    found = [] if proof is None else verdicts(proof)
    return {
        "before": rewrite.left,
        "after": rewrite.right,
        "when": None if rewrite.when is None else rewrite.when.condition or None,
        "holds": _held(proof),
        "remarks": [] if proof is None else remarks(proof),
        "runs": [_run(verdict, proofs) for verdict in found],
    }


def _run(verdict: Verdict, proofs: Record) -> dict[str, Any]:
    return {
        "backend": named(verdict.backend, proofs),
        "holds": verdict.holds,
        "cases": dict(verdict.cases or {}),
        "gradients": verdict.gradients,
        "largest_difference": verdict.apart,
        "notes": verdict.notes(),
    }


def _held(proof: Mapping[str, Any] | None) -> bool | None:
    return None if proof is None else bool(proof.get("holds"))


def _when(rule: Rule) -> str:
    since = f", from Keras {rule.since}" if rule.since else ""
    until = f", before Keras {rule.until}" if rule.until else ""
    return since + until + (", in preview" if rule.preview else "")


def _write_example(example: Example, proofs: Record, page: Page) -> None:
    for line in wrap(example.note, _WIDTH):
        page.line(line)
    target = f" (on {example.on})" if example.on else ""
    page.line(f"Before{target}:")
    _write_code(example.before, "removed", page)
    if example.raises:
        page.line(f"raises {page.paint('error', example.error)}")
    if example.after is None:
        page.line("No fix.")
        return
    page.line(f"After ({proven(example, proofs)}):")
    _write_code(example.after, "added", page)


def _write_rewrite(rewrite: Rewrite, proofs: Record, page: Page) -> None:
    _write_code(rewrite.left, "removed", page)
    _write_code(f"-> {rewrite.right}", "added", page)
    asked = "" if rewrite.when is None else rewrite.when.condition
    condition = f"where {asked}; " if asked else ""
    proof = proofs.get(rewrite.id)
    page.line(f"{_INDENT}{condition}{_verdict(proof)}")
    if proof is not None:
        _write_proof(proof, proofs, page)


def _write_proof(proof: Mapping[str, Any], proofs: Record, page: Page) -> None:
    """Write how the runs went on each backend, and what belongs to them."""
    found = verdicts(proof)
    lines = [HEADINGS, *(each.cells(named(each.backend, proofs)) for each in found)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for verdict, (name, word, *numbers) in zip([None, *found], lines, strict=True):
        role = "quiet" if verdict is None or verdict.holds is None else _ROLES[verdict.holds]
        cells = [text.rjust(width) for text, width in zip(numbers, widths[2:], strict=True)]
        shown = page.paint(role, word.ljust(widths[1]))
        page.line(f"{_INDENT}  {name.ljust(widths[0])}  {shown}  {'  '.join(cells)}".rstrip())
    for remark in (*remarks(proof), *(note for each in found for note in each.notes())):
        page.line(f"{_INDENT}  {printable(remark)}")


def _verdict(proof: Mapping[str, Any] | None) -> str:
    if proof is None:
        return "no run is recorded"
    if not proof.get("holds"):
        return "not safe: the runs differ"
    runs = sum(proof.get("cases", {}).values())
    where = f" of {count(runs, 'run')}" if runs else ""
    excepted = f", except where {proof['except_where']}" if proof.get("except_where") else ""
    return f"proven: both sides agree in all{where}{excepted}"


def _write_code(code: str, role: str, page: Page) -> None:
    for line in code.rstrip("\n").split("\n"):
        page.line(f"{_INDENT}{page.paint(role, line)}".rstrip())
