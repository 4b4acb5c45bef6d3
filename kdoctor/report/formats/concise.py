"""One line per finding, as compilers write them: ``path:line:column: CODE message``."""

from __future__ import annotations

from kdoctor.engine.result import ScanResult
from kdoctor.report import statistics, summary
from kdoctor.report.formats import Format
from kdoctor.report.locations import code_shown, where_shown
from kdoctor.report.output import Page, printable


def _write(result: ScanResult, page: Page) -> None:
    for finding in result.findings:
        place, code = where_shown(finding, page), code_shown(finding, page)
        sure = "".join(f" ({each})" for each in summary.how_sure(finding))
        page.line(f"{place}: {code} {printable(finding.message)}{sure}")
    for own in result.own_targets:
        page.line(f"{page.paint('path', printable(own.path))}: {printable(own.description)}")
    for line in summary.unread(result, page):
        page.line(line)


FORMAT = Format(write=_write, statistics=statistics.write_text)
