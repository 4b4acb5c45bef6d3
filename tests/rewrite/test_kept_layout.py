"""Where the lines of an edit tell that nothing moves, to look at the whole statement finds the same."""

import itertools
import re

import pytest

from kdoctor.documents import Document
from kdoctor.model import Edit, Span
from kdoctor.rewrite import render
from kdoctor.rewrite.edit_layout import _layout, _regions
from kdoctor.rewrite.kept_layout import preserves_layout
from kdoctor.syntax import Module

STATEMENTS = {
    "a list": "x = [\n    one(a, b),\n    two(a),\n    three([a], b),\n]\n",
    "aligned": "x = one(a,\n        two(b,\n            c),\n        d)\n",
    "hanging": "x = one(\n    two(\n        a, b\n    ),\n    three(a,\n          b), c\n)\n",
    "hugged": "x = one(\n    a_long_name, b\n)\n",
    "hugged in a list": "x = [\n    one(\n        a_long_name\n    ),\n    two(a)\n]\n",
    "a chain": "x = (one(a)\n     .two(b, [\n         c\n     ])\n     .three())\n",
    "a continued line": "x = one(a) + \\\n    two(b,\n        c)\n",
    "a text over lines": 'x = one("""a\n   b(""", two(a,\n b))\n',
    "comments": "x = one(  # a (\n    a,  # b\n    two(a), b)\n",
}
NAMES = ["i", "a_much_longer_name", "f(i)", "f(\n    i)", "# i", ""]


def edits_of(text):
    """Draw what may come in the place of a name, or of a call's beginning or its end."""
    for found in re.finditer(r"\b\w+\b\(?|\)", text):
        for new in (*NAMES, "i(", "one_more(", "))"):
            yield Edit(Span(found.start(), found.end()), (new,))


def kept_ones(text, limit, newline):
    data = text.replace("\n", newline).encode()
    module = Module.parse(Document.parse(data, "code.py").units[0])
    text = module.text
    (region,) = _regions(module)
    old = text[region.start : region.end].replace("\r\n", "\n")
    edits = list(edits_of(text))
    drawn = [
        *((one,) for one in edits),
        *itertools.islice(itertools.combinations(edits, 2), 0, None, 61),
    ]
    for own in drawn:
        try:
            new = render(text, own, region, "\n").replace("\r\n", "\n")
        except ValueError:  # one overlaps another
            continue
        laid = _layout(old, new, limit, "    ")
        kept = preserves_layout(module, region, own, limit)
        assert not kept or laid == new, (own, new)
        yield kept, laid == new


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("limit", [14, 80])
@pytest.mark.parametrize("name", STATEMENTS)
def test_what_is_told_from_few_lines_is_true_of_all(name, limit, newline):
    assert set(kept_ones(STATEMENTS[name], limit, newline)) >= {(True, True)}


def test_what_moves_other_lines_is_not_told_from_few():
    every = [each for text in STATEMENTS.values() for each in kept_ones(text, 20, "\n")]
    assert (False, False) in every
