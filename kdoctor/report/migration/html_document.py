"""An HTML document around the sections of a page: one self-contained file without scripts."""

from __future__ import annotations

from collections.abc import Iterable

from kdoctor.report.migration import charts
from kdoctor.report.migration.elements import Content, Markup, element, join, listed
from kdoctor.report.migration.style import style_sheet

Section = tuple[str, str, Markup]
"""The anchor, the heading and the contents of a section; one without contents is left out."""

Figure = tuple[str, Content, Content]
"""What is counted, the number, and a bar that shows it or None."""


def html_document(title: str, header: Markup, sections: Iterable[Section]) -> str:
    """Return the document: title and ``header``, links to the sections, the sections."""
    shown = [section for section in sections if section[2]]
    links = listed([element("a", name, href=f"#{key}") for key, name, _ in shown])
    main = [
        element("section", element("h2", name, id=key), content, aria_labelledby=key)
        for key, name, content in shown
    ]
    head = join(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", title),
        element("style", Markup(style_sheet())),
        by="\n",
    )
    body = join(
        charts.patterns(),
        element("header", element("h1", title), header),
        element("nav", links, aria_label="Sections"),
        element("main", join(*main, by="\n")),
        by="\n",
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n'
        f"<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def figures(shown: Iterable[Figure]) -> Markup:
    """Return the figures at the head of a page, side by side where there is room."""
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", name),
                element("dd", element("span", value, class_="big"), bar),
            )
            for name, value, bar in shown
        ),
        class_="figures",
    )
