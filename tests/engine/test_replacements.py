"""What a fix changes in the file itself, and where a finding stands in it."""

from __future__ import annotations

import json

import pytest

from kdoctor import engine

TARGET = "keras==3.15.1"
CODE = (
    "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x, axis=-1)  # é 漢 😀\n"
)
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# é 😀"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [{"data": {"text/plain": "K.sum"}}],
            "source": CODE.splitlines(keepends=True),
        },
        {
            "cell_type": "code",
            "execution_count": 2,
            "metadata": {},
            "outputs": [],
            "source": ['%time x = "\\"\\u00e9 😀"; y = 1\n', 'name = "\\"é 😀"; y = K.sum(x)'],
        },
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 4,
}
AS_STRINGS = {
    **NOTEBOOK,
    "cells": [cell | {"source": "".join(cell["source"])} for cell in NOTEBOOK["cells"]],
}
FILES = {
    "lf.py": CODE.encode(),
    "crlf.py": CODE.replace("\n", "\r\n").encode(),
    "cr.py": CODE.replace("\n", "\r").encode(),
    "marked.py": b"\xef\xbb\xbf" + CODE.encode(),
    "latin.py": b"# coding: latin-1\n# \xe9\n" + CODE.split("#", maxsplit=1)[0].encode(),
    "nb.ipynb": json.dumps(NOTEBOOK, indent=1, ensure_ascii=False).encode(),
    "escaped.ipynb": json.dumps(NOTEBOOK).encode(),
    "strings.ipynb": json.dumps(AS_STRINGS, indent=2).encode(),
    "quoted.md": "".join(f"> {line}\n" for line in f"```python\n{CODE}```".split("\n")).encode(),
    "session.rst": b"Text\n\n    >>> from keras import backend as K\n    >>> K.sum(x)\n",
}


@pytest.mark.parametrize("name", FILES)
def test_the_replacements_of_a_fix_make_of_the_file_what_the_fix_makes(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    found = engine.scan([path], target=TARGET, replacements=True).findings
    assert found
    for finding in found:
        now = _replaced(FILES[name], finding.fix.replacements, name)
        path.write_bytes(now)
        left = engine.scan([path], target=TARGET).findings
        assert len(left) == len(found) - 1
        path.write_bytes(FILES[name])
    if len(found) == 1:
        (fixed,) = engine.fix([path], target=TARGET, unsafe=True).files
        assert now == fixed.after


@pytest.mark.parametrize("name", FILES)
def test_the_region_of_a_finding_holds_its_code_in_the_file(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    result = engine.scan([path], target=TARGET)
    assert [_text_at(FILES[name], result.region(each.place), name) for each in result.findings] == [
        "K.sum"
    ] * len(result.findings)


def test_each_piece_of_code_has_a_diff_of_its_own(tmp_path):
    # Of fixes that move imports alone, which say the same in both pieces.
    piece = "```python\nfrom keras.layers.core import Dense\nDense(2)\n```\n"
    (tmp_path / "twice.md").write_text(f"# One\n\n{piece}\n# Two\n\n{piece}")

    first, second = engine.scan(
        [tmp_path / "twice.md"], target=TARGET, diffs=True, replacements=True
    ).findings

    assert "@@ -1,7 +1,7 @@" in first.fix.diff
    assert "@@ -8,6 +8,6 @@" in second.fix.diff
    assert first.fix.replacements != second.fix.replacements


def test_replacements_take_no_more_than_words(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(CODE)
    (finding,) = engine.scan([path], target=TARGET, replacements=True).findings
    changes = [(each.region.line, each.text) for each in finding.fix.replacements]
    assert changes == [(1, "ops"), (5, "ops")]


def test_the_files_that_were_read_are_listed_in_order(tmp_path):
    for name in ("b.py", "a.py", "c.md"):
        (tmp_path / name).write_text("text = 1\n")
    result = engine.scan([tmp_path])
    assert [path.rsplit("/", 1)[-1] for path in result.files] == ["a.py", "b.py", "c.md"]
    assert result.read == 3


def _decoded(data, name):
    encoding = "latin-1" if name == "latin.py" else "utf-8"
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    return data.removeprefix(mark).decode(encoding), mark, encoding


def _offset(text, line, column):
    rows = text.replace("\r\n", "\n\0").replace("\r", "\n").split("\n")
    before = sum(len(row) + 1 for row in rows[: line - 1])
    return before + (rows[line - 1].startswith("\0")) + column - 1


def _span(text, region):
    return slice(
        _offset(text, region.line, region.column), _offset(text, region.end_line, region.end_column)
    )


def _text_at(data, region, name):
    text = _decoded(data, name)[0]
    return text[_span(text, region)]


def _replaced(data, replacements, name):
    text, mark, encoding = _decoded(data, name)
    for each in sorted(replacements, reverse=True):
        span = _span(text, each.region)
        text = text[: span.start] + each.text + text[span.stop :]
    return mark + text.encode(encoding)
