"""Reports of the reference, for people and programs: its contents, and its checks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from kdoctor.report.output import Page, printable
from kdoctor.report.summary import count
from kdoctor.rules.dead_packages import StandIn
from kdoctor.verify.reference.catalogue import Module
from kdoctor.verify.reference.results import Result


def write_list(
    modules: Sequence[Module], page: Page, stand_ins: Mapping[str, Sequence[StandIn]]
) -> None:
    """Write each file with its summary, and each name that it defines; of packages, how many."""
    width = max(len(each.name) for module in modules for each in module.definitions)
    for module in modules:
        page.line(f"{page.paint('path', module.name)}: {module.summary}")
        for each in module.definitions:
            page.line(f"  {each.name.ljust(width)}  {each.summary}")
        page.line()
    for package, several in stand_ins.items():
        told = f"what stands for {len(several)} of its names; kdoctor reference {package} lists it"
        page.line(f"{page.paint('path', package)}: {told}.")
    page.line()
    page.line("kdoctor reference NAME prints the file that defines NAME; it is self-contained.")


def write_stand_ins(stand_ins: Sequence[StandIn], page: Page) -> None:
    """Write each name of a package that something stands for, with what that is."""
    width = max(len(each.name) for each in stand_ins)
    for each in stand_ins:
        page.line(f"{each.name.ljust(width)}  {each.summary}".rstrip())


def write_source(source: str, page: Page) -> None:
    """Write a file of the reference unchanged."""
    page.line(source.rstrip("\n"))


def write_results(results: Sequence[Result], page: Page) -> None:
    """Write a table: each check with its largest error and its tolerance."""
    rows = [_row(each) for each in results]
    widths = [max((len(row[at]) for row in rows), default=0) for at in range(3)]
    place = ""
    for each, row in zip(results, rows, strict=True):
        here = f"{each.backend} on {each.device}"
        if here != place:
            page.line(page.paint("path", here))
            place = here
        told = "  ".join(text.ljust(width) for text, width in zip(row[:3], widths, strict=True))
        role = "quiet" if not each.applies else "good" if each.holds else "error"
        page.line(f"  {told}  {page.paint(role, row[3])}")
    page.line()
    page.line(_told(results))


def write_json(results: Sequence[Result], page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    document = {"checks": [{**asdict(each), "holds": each.holds} for each in results]}
    page.line(json.dumps(document, indent=2))


def _row(result: Result) -> tuple[str, str, str, str]:
    if not result.applies:
        return result.subject, result.check, "", f"nothing to check: {printable(result.why)}"
    if result.error is None or result.tolerance is None:
        return result.subject, result.check, "", f"failed: {printable(result.why)}"
    sign = "<=" if result.holds else "> "
    told = f"{result.error:.1e} {sign} {result.tolerance:.0e}"
    return result.subject, result.check, told, "ok" if result.holds else "wrong"


def _told(results: Sequence[Result]) -> str:
    asked = [each for each in results if each.applies]
    wrong = sum(not each.holds for each in asked)
    places = sorted({f"{each.backend} on {each.device}" for each in asked})
    where = ", ".join(places)
    if wrong:
        return f"{wrong} of {count(len(asked), 'check')} failed ({where})."
    return f"All {count(len(asked), 'check')} within tolerance ({where})."
