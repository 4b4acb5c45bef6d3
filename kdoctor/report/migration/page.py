"""The HTML page on a migration: one self-contained file without scripts."""

from __future__ import annotations

from kdoctor import __version__
from kdoctor.progress import Effort, Group, Overview
from kdoctor.report.migration import charts
from kdoctor.report.migration.burndown import burndown
from kdoctor.report.migration.elements import (
    Content,
    Markup,
    code,
    element,
    folded,
    join,
    listed,
    prose,
    rule_code,
    table,
    text,
)
from kdoctor.report.migration.files import breaks_first, by_effort, every_file, target_again
from kdoctor.report.migration.html_document import Figure, figures, html_document
from kdoctor.report.migration.portability import portability
from kdoctor.report.summary import count

_MAX_OPEN_ROWS = 20  # rows of a table before the rest is folded
_EFFORTS = {
    Effort.SAFE: "`kdoctor fix --apply` fixes them: each fix was proven by running it",
    Effort.UNSAFE: "`kdoctor fix --apply --unsafe` fixes them too: read the diff",
    Effort.BY_HAND: "a person must decide: `kdoctor scan` says what to write",
}


def html_page(overview: Overview, made: int | None = None) -> str:
    """Return the page.

    ``made`` is when (seconds since 1970), where the files lie in no repository: a page of the same
    files must have the same bytes.
    """
    sections = [
        ("breaks-first", "What breaks first", breaks_first(overview)),
        ("left", "What is left", _left(overview)),
        ("files", "File by file", every_file(overview)),
        ("burndown", "Burndown", burndown(overview)),
        ("portability", "Portability", portability(overview)),
        ("counted", "How this was counted", _counted(overview)),
    ]
    title = f"{overview.name}: migration to {overview.scan.target}"
    header = join(_origin(overview, made), _figures(overview))
    return html_document(title, header, sections)


def _origin(overview: Overview, made: int | None) -> Markup:
    target = overview.scan.target
    parts: list[Content] = [f"kdoctor {__version__}, checked for {target} ({target.source})"]
    if overview.commit is not None:
        changed = ", with changes not yet committed" if overview.is_changed else ""
        when = charts.day(overview.commit.time)
        parts.append(join("commit ", code(overview.commit.id[:10]), f" of {when}{changed}"))
    elif made is not None:
        parts.append(charts.day(made))
    lines = [element("p", join(*parts, by=" · "), class_="quiet")]
    others = [use for use in overview.scan.targets[1:] if use.files]
    lines += (
        element(
            "p", f"{count(use.files, 'file')}: {use.target} ({use.target.source})", class_="quiet"
        )
        for use in others
    )
    if target.inferred and target.is_before_keras_3:
        hint = "To see what Keras 3 breaks: kdoctor report --target keras==3"
        lines.append(element("p", f"That is Keras 2. {hint}"))
    return join(*lines)


def _figures(overview: Overview) -> Markup:
    files, left = overview.files, overview.left
    done = sum(each.is_done for each in files)
    stopped = sum(len(stop.ways) for stop in overview.stops)
    shown: list[Figure] = [
        ("Files done", f"{done} of {len(files)}", charts.share(done, len(files))),
        ("Findings left", left.total, charts.bar(left, max(1, left.total))),
        ("Files that fail on import", stopped, None),
    ]
    free = overview.portability
    if free.percent is not None:
        bar = charts.share(len(free.free), free.files)
        shown.append(("Files without TensorFlow imports", f"{free.percent} %", bar))
    return figures(shown)


def _left(overview: Overview) -> Markup:
    left = overview.left
    if not left.total:
        return element("p", _nothing(overview))
    efforts: list[tuple[Content, ...]] = [
        (
            join(charts.swatch(effort), element("strong", effort), ": ", prose(meaning)),
            left[effort],
        )
        for effort, meaning in _EFFORTS.items()
    ]
    first = Effort.SAFE if left.safe else Effort.UNSAFE
    return join(
        table(("Effort", "Findings"), efforts, "By effort"),
        _next(overview, first) if left.safe + left.unsafe else None,
        element("h3", "By folder"),
        _groups(overview.folders, "Folder"),
        element("h3", "By rule"),
        _groups(overview.rules, "Rule"),
    )


def _nothing(overview: Overview) -> str:
    if overview.files:
        return "Nothing: every file that imports Keras is done."
    return "Nothing: no file that was read imports Keras."


def _next(overview: Overview, effort: Effort) -> Markup:
    flags = "" if effort is Effort.SAFE else " --unsafe"
    paths = " ".join(overview.paths)
    number = count(overview.left[effort], "finding")
    command = code(f"kdoctor fix{flags} {paths}{target_again(overview)}")
    return element(
        "p", "Next: ", command, f" shows fixes for {number} as a diff; add ",
        code("--apply"), " to write them.", class_="next",
    )  # fmt: skip


def _groups(groups: tuple[Group, ...], what: str) -> Markup:
    most = max(each.left.total for each in groups)
    rows = [_row(each, most, is_rule=what == "Rule") for each in groups]
    caption = f"Most findings first; the longest bar is {most}."
    shown = table((what, "Findings"), rows[:_MAX_OPEN_ROWS], caption)
    if len(rows) <= _MAX_OPEN_ROWS:
        return shown
    return join(
        shown,
        folded(
            f"{len(rows) - _MAX_OPEN_ROWS} more",
            table((what, "Findings"), rows[_MAX_OPEN_ROWS:], caption),
        ),
    )


def _row(group: Group, most: int, *, is_rule: bool) -> tuple[Content, ...]:
    what = join(" ", prose(group.what)) if group.what else None
    told = f"{by_effort(group.left)}, in {count(group.files, 'file')}"
    return (
        join(
            rule_code(group.name) if is_rule else code(group.name),
            what,
            charts.bar(group.left, most),
            element("div", told, class_="quiet"),
        ),
        group.left.total,
    )


def _counted(overview: Overview) -> Markup:
    scan = overview.scan
    parts: list[Content] = [
        element(
            "p",
            f"{count(scan.read, 'file')} read. A file counts if it imports Keras, under any root "
            "and also through the project's own modules, or if it has findings. It is done if it "
            "has none left.",
        ),
        element(
            "p",
            "Every number comes from a scan: the same as ",
            code("kdoctor scan --format json"),
            ". Nothing was run. A name is counted only if kdoctor can trace it to an import.",
        ),
    ]
    if scan.unreadable:
        parts.append(element("h3", f"Not checked: {count(len(scan.unreadable), 'file')}"))
        parts.append(listed([join(code(each.path), f": {each.why}") for each in scan.unreadable]))
    if scan.skipped:
        parts.append(
            element("p", f"{count(len(scan.skipped), 'code block')} skipped as not Python.")
        )
    parts += (
        element("p", code(problem.path), f": {problem.why}") for problem in scan.project.unreadable
    )
    parts += (element("p", text(conflict)) for conflict in scan.project.conflicts)
    return join(*parts)
