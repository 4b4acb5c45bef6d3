"""Section of the page: the burndown with its table."""

from __future__ import annotations

from kdoctor.progress import Overview, Sample
from kdoctor.report.migration import charts
from kdoctor.report.migration.elements import Content, Markup, code, element, folded, join, table
from kdoctor.report.summary import count


def burndown(overview: Overview) -> Markup:
    """Return the section, empty if no history was requested."""
    history = overview.burndown
    if history is None:
        return Markup()
    first, last = history.samples[0], history.samples[-1]
    since = history.since
    if first.commit.id.startswith(since):
        since = first.commit.id[:10]
    said = (
        f"{_at(first)}, {_at(last)}. "
        f"{count(len(history.samples), 'commit')} of {history.commits} since {since} "
        f"{'was' if len(history.samples) == 1 else 'were'} scanned, all with today's rules and "
        f"settings, for {overview.scan.target}."
    )
    parts: list[Content] = [element("p", said)]
    if overview.is_changed:
        parts.append(
            element("p", "Uncommitted changes are counted above, but not here.", class_="quiet")
        )
    if any(each.left.total for each in history.samples):
        parts.append(charts.steps(history, overview.name))
    parts.append(folded("The values", _values(history.samples)))
    return join(*parts)


def _at(sample: Sample) -> str:
    return f"{count(sample.left.total, 'finding')} on {charts.day(sample.commit.time)}"


def _values(samples: tuple[Sample, ...]) -> Markup:
    rows: list[tuple[Content, ...]] = [
        (
            join(
                f"{charts.day(each.commit.time)} ",
                code(each.commit.id[:10]),
                " ",
                element("span", each.commit.subject, class_="quiet"),
                None if not each.unreadable else f" ({each.unreadable} not checked)",
            ),
            each.left.safe,
            each.left.unsafe,
            each.left.by_hand,
            each.left.total,
        )
        for each in samples
    ]
    head = ("Commit", "Safe", "Unsafe", "By hand", "All")
    return table(head, rows, "Findings left at each commit, by effort")
