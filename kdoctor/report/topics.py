"""The topics for people and for programs: what several rules are about."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kdoctor import __version__
from kdoctor.engine.selection.codes import codes_of
from kdoctor.report.output import Page
from kdoctor.rules.topics import TOPICS, Topic


def topics_shown(entry: str | None) -> Sequence[Topic]:
    """Return the topics that have a rule which an entry names, all where there is none.

    >>> [topic.name for topic in topics_shown("KD441")]
    ['learning-rate', 'log-names']

    Raises:
        UsageProblem: the entry names no rule.
    """
    if entry is None:
        return TOPICS
    codes = codes_of([entry])
    return [topic for topic in TOPICS if not codes.isdisjoint(topic.codes)]


def write_topics(topics: Sequence[Topic], page: Page) -> None:
    """Write each topic in three lines: its name, what it is about, its codes."""
    for topic in topics:
        page.line(f"{page.paint('path', topic.name)}: {topic.title}")
        page.line(f"    {topic.sentence}")
        page.line(f"    {page.paint('code', ', '.join(topic.codes))}")


def write_topics_json(topics: Sequence[Topic], page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    listed = [
        {
            "name": topic.name,
            "title": topic.title,
            "sentence": topic.sentence,
            "codes": list(topic.codes),
        }
        for topic in topics
    ]
    page.line(json.dumps({"kdoctor": __version__, "topics": listed}, indent=2))
