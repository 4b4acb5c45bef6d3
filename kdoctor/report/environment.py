"""Reports of an environment's health check, for people and programs."""

from __future__ import annotations

import json
from typing import Any

from kdoctor.diagnose.environment import Check, CheckState, HealthReport
from kdoctor.report.output import Page, printable

_ROLES = {CheckState.OK: "good", CheckState.WARNING: "change", CheckState.BROKEN: "error"}
_WIDTH = max(map(len, CheckState))


def write_text(health_report: HealthReport, page: Page) -> None:
    """Write one line per check, the remedy below what is wrong, and a summary."""
    subjects = max(len(check.subject) for check in health_report.checks)
    for check in health_report.checks:
        state = page.paint(_ROLES[check.state], f"{check.state:<{_WIDTH}}")
        page.line(f"{state}  {printable(check.subject):<{subjects}}  {printable(check.message)}")
        _write_remedy(check, page, " " * (_WIDTH + 2 + subjects + 2))
    page.line()
    page.line(_summary(health_report))


def _write_remedy(check: Check, page: Page, indent: str) -> None:
    remedy = check.remedy
    if remedy is None:
        return
    if remedy.command:
        page.line(f"{indent}{page.paint('help', 'cure:')} {printable(remedy.command)}")
    if remedy.note:
        mark = "      " if remedy.command else page.paint("help", "cure:") + " "
        page.line(f"{indent}{mark}{printable(remedy.note)}")


def _summary(health_report: HealthReport) -> str:
    broken = sum(check.state is CheckState.BROKEN for check in health_report.checks)
    warnings = sum(check.state is CheckState.WARNING for check in health_report.checks)
    said = f", {_counted(warnings, 'warning')}" if warnings else ""
    if broken:
        return f"{_counted(broken, 'problem')}{said}"
    hint = "" if health_report.deep else " (from its files; --deep also imports the packages)"
    return f"healthy{said}{hint}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def write_json(health_report: HealthReport, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    document: dict[str, Any] = {
        "python": health_report.interpreter.path,
        "because": health_report.interpreter.because,
        "healthy": health_report.healthy,
        "deep": health_report.deep,
        "checks": [_check(check) for check in health_report.checks],
    }
    page.line(json.dumps(document, indent=2))


def _check(check: Check) -> dict[str, Any]:
    remedy = check.remedy
    return {
        "subject": check.subject,
        "state": check.state.value,
        "message": check.message,
        "remedy": None if remedy is None else {"command": remedy.command, "note": remedy.note},
        "evidence": check.evidence or None,
    }
