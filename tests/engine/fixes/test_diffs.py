"""Diffs are what ``patch`` takes and what ``difflib`` would print."""

from __future__ import annotations

import difflib
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kdoctor.engine.fixes.diffs import Change, split_lines, unified, unified_of_changes

LINE = st.sampled_from(["a", "b", "c", "", "d\x0c", "e\r", "ü\u2028"])
TEXT = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(LINE, max_size=30),
    st.sampled_from(["", "\n"]),
)


def patched(before: str, diff: str) -> bytes:
    """Apply ``diff`` with the reference reader of the format, hunk by hunk."""
    old, new, at, at_new = split_lines(before), [], 0, False
    for line in split_lines(diff)[2:]:
        if line.startswith("@@"):
            start, _, length = line.split()[1][1:].partition(",")
            hunk = int(start) - (length != "0")
            new += old[at:hunk]
            at = hunk
        elif line.startswith("\\"):
            new[-1:] = [new[-1].removesuffix("\n")] if at_new else new[-1:]
        else:
            at_new = line[0] in " +"
            if at_new:
                new.append(line[1:])
            at += line[0] in " -"
    return "".join(new + old[at:]).encode()


@given(TEXT, TEXT)
def test_a_diff_leads_from_the_old_text_to_the_new(before, after):
    diff = unified(before, after, "f.py")
    assert bool(diff) == (before != after)
    assert patched(before, diff) == after.encode()


@given(st.lists(LINE, max_size=40), st.data())
def test_known_changes_give_the_same_new_text_as_a_whole_comparison(lines, data):
    old = [line + "\n" for line in lines]
    cuts = sorted(
        data.draw(st.lists(st.integers(0, len(old)), max_size=6).filter(lambda n: len(n) % 2 == 0))
    )
    changes, new, at = [], [], 0
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        replacement = [line + "\n" for line in data.draw(st.lists(LINE, max_size=4))]
        changes.append(Change(start, end, replacement))
        new += old[at:start] + replacement
        at = end
    new += old[at:]
    assert patched("".join(old), unified_of_changes(old, changes, "f.py")) == "".join(new).encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("", "a\n"),
        ("a\n", ""),
        ("a", "a\n"),
        (
            "".join(f"{n}\n" for n in range(40)),
            "".join(f"{n + (n in (3, 30))}\n" for n in range(40)),
        ),
    ],
)
def test_the_format_is_that_of_difflib(before, after):
    expected = "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(
            split_lines(before), split_lines(after), "a/f.py", "b/f.py"
        )
    )
    assert unified(before, after, "f.py") == expected


def test_patch_applies_a_diff_of_crlf_lines_without_a_final_newline(tmp_path):
    before, after = "a\r\nb\r\nc", "a\r\nB\r\nc"
    (tmp_path / "f.py").write_bytes(before.encode())
    subprocess.run(
        ["patch", "-p1", "--binary"],
        cwd=tmp_path,
        check=True,
        input=unified(before, after, "f.py").encode(),
    )
    assert (tmp_path / "f.py").read_bytes() == after.encode()


@pytest.mark.parametrize(("path", "name"), [("/a/f.py", "a/f.py"), ("a b.py", "a b.py\t")])
def test_names_are_written_as_patch_reads_them(path, name):
    assert unified("a\n", "b\n", path).startswith(f"--- a/{name}\n+++ b/{name}\n")


@pytest.mark.parametrize("name", ["ta\tb.py", "new\nline.py", 'a"b.py', "a\\b.py", "\x7f é.py"])
@pytest.mark.parametrize("program", [["patch", "-p1"], ["git", "apply"]])
def test_odd_names_are_found_again(tmp_path, name, program):
    (tmp_path / name).write_bytes(b"a\n")
    diff = unified("a\n", "b\n", name)
    subprocess.run(program, cwd=tmp_path, check=True, input=diff.encode())
    assert (tmp_path / name).read_bytes() == b"b\n"
