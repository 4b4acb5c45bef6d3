"""The rules for people: all of them in a table, one of them whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kdoctor.model import Severity
from kdoctor.report.page import Page
from kdoctor.report.summary import count
from kdoctor.rewrite import Rewrite
from kdoctor.rules import Example, Rule

_INDENT = "    "


def write_table(rules: Sequence[Rule], page: Page) -> None:
    """Write one line a rule: code, severity, name, what it is about."""
    names = max((len(rule.name) for rule in rules), default=0)
    kinds = max(map(len, Severity))
    for rule in rules:
        kind = page.paint(rule.severity.value, rule.severity.value.ljust(kinds))
        page.line(
            f"{page.paint('code', rule.code)}  {kind}  {rule.name.ljust(names)}  {rule.summary}"
        )


def write_page(rule: Rule, proofs: Mapping[str, Mapping[str, Any]], page: Page) -> None:
    """Write all about one rule: its documentation, its examples, its rewrites and their proofs."""
    kind = page.paint(rule.severity.value, f"[{rule.severity.value}]")
    page.line(
        f"{page.paint('code', rule.code)} {page.paint('path', rule.name)} {kind}{_when(rule)}"
    )
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


def _when(rule: Rule) -> str:
    since = f", from Keras {rule.since}" if rule.since else ""
    until = f", before Keras {rule.until}" if rule.until else ""
    return since + until


def _write_example(example: Example, proofs: Mapping[str, Mapping[str, Any]], page: Page) -> None:
    target = f" (on {example.on})" if example.on else ""
    page.line(f"Before{target}:")
    _write_code(example.before, "removed", page)
    if example.raises:
        page.line(f"raises {page.paint('error', example.raises)}")
    if example.after is None:
        page.line("No fix.")
        return
    page.line(f"After ({_proven(example, proofs)}):")
    _write_code(example.after, "added", page)


def _write_rewrite(rewrite: Rewrite, proofs: Mapping[str, Mapping[str, Any]], page: Page) -> None:
    _write_code(rewrite.left, "removed", page)
    _write_code(f"-> {rewrite.right}", "added", page)
    condition = f"where {rewrite.when}; " if rewrite.when is not None else ""
    proof = proofs.get(rewrite.id)
    page.line(f"{_INDENT}{condition}{_verdict(proof)}")
    for failure in (proof or {}).get("failures", ())[:1]:
        differs = failure.get("what", "")
        shown = f" for {failure['input']}" if failure.get("input") else ""
        page.line(f"{_INDENT}{differs}{shown}")


def _proven(example: Example, proofs: Mapping[str, Mapping[str, Any]]) -> str:
    kind = "unsafe fix" if example.unsafe else "fix"
    proof = proofs.get(example.id)
    if proof is None:
        return f"{kind}; no run is recorded"
    return f"{kind}; it runs" if proof.get("holds") else f"{kind}; its run did not hold"


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
