"""HTML elements as functions; everything but ``Markup`` is escaped."""

from __future__ import annotations

from html import escape
from typing import Final

from kdoctor.report.links import page_url
from kdoctor.report.output import printable

_OPEN: Final = 12  # entries of a list before the rest is folded


class Markup(str):
    """HTML that must not be escaped."""

    __slots__ = ()


Content = str | int | None


def text(value: str | int) -> Markup:
    r"""Escape text for HTML; unprintable characters are shown as escape sequences.

    >>> text("a<b>\udcff")
    'a&lt;b&gt;\\udcff'
    """
    return value if isinstance(value, Markup) else Markup(escape(printable(str(value))))


def join(*contents: Content, by: str = "") -> Markup:
    """Join pieces of HTML, skipping None."""
    return Markup(by.join(text(each) for each in contents if each is not None))


def element(name: str, *contents: Content, **attributes: str | int | None) -> Markup:
    """Return an element; ``class_`` is ``class``, ``_`` in other attributes is ``-``.

    >>> element("p", "a < b", class_="note", id=None)
    '<p class="note">a &lt; b</p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{join(*contents)}</{name}>")


def code(value: str) -> Markup:
    """Return a name, path or command as inline code."""
    return element("code", value)


def rule_link(code: str) -> Markup:
    """Return the code of a rule, as a link to its page where this distribution names one."""
    url = page_url(code)
    return element("a", code, href=url) if url else text(code)


def rule_code(rule: str) -> Markup:
    """Return the code of a rule as inline code, a link to its page where there is one."""
    return element("code", rule_link(rule))


def prose(value: str) -> Markup:
    """Return one line of text, with names in backquotes as inline code.

    >>> prose("`K.dot` is gone")
    '<code>K.dot</code> is gone'
    """
    parts = value.replace("``", "`").split("`")
    if len(parts) % 2 == 0:  # one that is not closed
        return text(value)
    return join(*(code(part) if index % 2 else part for index, part in enumerate(parts)))


def table(head: tuple[Content, ...], rows: list[tuple[Content, ...]], caption: str) -> Markup:
    """Return a table: the first cell of a row is its heading, numbers are right-aligned."""
    headings = (
        element("th", each, scope="col", class_=_side(head, rows, i)) for i, each in enumerate(head)
    )
    body = (
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(
                element("td", each, class_="number" if isinstance(each, int) else None)
                for each in row[1:]
            ),
        )
        for row in rows
    )
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *headings)),
        element("tbody", *body),
    )


def _side(head: tuple[Content, ...], rows: list[tuple[Content, ...]], column: int) -> str | None:
    is_number = column and rows and isinstance(rows[0][column], int)
    return "number" if is_number and len(head) > column else None


def folded(summary: Content, *contents: Content) -> Markup:
    """Return contents folded under a summary; in print, they are open."""
    return element("details", element("summary", summary), *contents)


def listed(items: list[Content], class_: str | None = None) -> Markup:
    """Return an unordered list."""
    return element("ul", *(element("li", each) for each in items), class_=class_)


def entries(items: list[Content]) -> Markup:
    """Return a list of what takes some lines each; what is more than a screen is folded."""
    rest = items[_OPEN:]
    return join(
        listed(items[:_OPEN], class_="plain"),
        folded(f"{len(rest)} more", listed(rest, class_="plain")) if rest else None,
    )
