"""Each key of a TOML file is found on the line on which a person finds it."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kdoctor.project.toml_lines import key_lines

TRICKY = '''\
# [not.a.table]
top = """
[also.not]
a = 1 \\""" still
"""  # b = 2
[tool . "kdoctor"]  # the table
select = [  # comment ]
  "KD1", '[x]',
  { in = "line" },
]
"per-file-ignores"."a # b" = ["KD1"]
  'raw "key"' = \'\'\'
[no]
x = 1\'\'\'
dotted . key = 2
[[list.of]]
one = 1
[[list.of]]
two = { a = 1, b = [
] }
last = 3'''


def test_tables_strings_lists_and_comments_are_told_apart():
    assert key_lines(TRICKY) == {
        ("top",): 2,
        ("tool", "kdoctor"): 6,
        ("tool", "kdoctor", "select"): 7,
        ("tool", "kdoctor", "per-file-ignores", "a # b"): 11,
        ("tool", "kdoctor", 'raw "key"'): 12,
        ("tool", "kdoctor", "dotted", "key"): 15,
        ("list", "of"): 16,
        ("list", "of", "one"): 17,
        ("list", "of", "two"): 19,
        ("list", "of", "last"): 21,
    }


KEYS = st.text("ab-_1", min_size=1, max_size=3)
VALUES = st.one_of(
    st.integers(0, 9).map(str),
    st.booleans().map(lambda value: str(value).lower()),
    st.text("ab[]{}#=. '\"\\", max_size=6).map(
        lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    ),
    st.text('ab[]{}#=."\n', max_size=6).map(lambda text: f"'''{text}'''"),
    st.lists(st.sampled_from(["1", "'a]'", "[ # x ]\n]", '"""\n["""']), max_size=3).map(
        lambda parts: "[\n" + ",\n".join(parts) + "\n]"
    ),
)


@settings(deadline=None)  # machines are busy
@given(st.dictionaries(KEYS, VALUES, max_size=6), st.dictionaries(KEYS, VALUES, max_size=3))
def test_every_key_of_what_tomllib_reads_is_on_its_line(top, below):
    lines: list[str] = []
    expected = {}
    for table, keys in ((), top), (("t", "u"), below):
        if table:
            expected[table] = len(lines) + 1
            lines += ["[t.u] # head"]
        for key, value in keys.items():
            expected[*table, key] = len(lines) + 1
            lines += f"{key} = {value} # end".split("\n")
    tomllib.loads("\n".join(lines))
    assert key_lines("\n".join(lines)) == expected


@pytest.mark.parametrize(
    "text", ["", "\n", "[", "[[", "=", "a", "a = '", 'a = """', "]]\n}{", "[a\n]"]
)
def test_what_is_no_toml_raises_nothing(text):
    key_lines(text)
