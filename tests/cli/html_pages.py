"""An HTML page as a browser and a reader get it."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser

VOID = {"meta"}


class Parsed(HTMLParser):
    """HTML in which each element that is opened is closed in turn."""

    @classmethod
    def of(cls, text):
        page = cls(convert_charrefs=True)
        page.source, page.open, page.elements, page.texts = text, [], [], []
        page.feed(text)
        page.close()
        assert page.open == []
        return page

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def assert_readable(elements):
    """Check that the structure tells as much as the look: headings, tables, links, pictures."""
    tags = [tag for tag, _ in elements]
    assert dict(elements)["html"] == {"lang": "en"}
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels))
    assert tags.count("table") == tags.count("caption") == tags.count("thead")
    for tag, attributes in elements:
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"][1:] for tag, attributes in elements if tag == "a"}
    assert links
    assert links <= set(ids)
    for tag, attributes in elements:
        if tag == "svg" and "role" not in attributes and "x" not in attributes:
            assert attributes["aria-hidden"] == "true"
