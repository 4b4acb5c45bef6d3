"""The text report, as people read it."""

from __future__ import annotations

import io
import re

import pytest

from kdoctor.engine.result import ScanResult, SkippedPart
from kdoctor.model import (
    Applicability,
    Confidence,
    Finding,
    Fix,
    Place,
    Severity,
    Span,
    Unreadable,
)
from kdoctor.report.formats import format_by_name
from kdoctor.report.output import Page
from kdoctor.target import Target

TARGET = Target("keras", "3.15.1", "--target", "3.15.1", "3.15.1")


def place(line=3, column=5, end_column=10, *, path="train.py", cell=None, end_line=None):
    return Place(path, 0, Span(0, 1), cell, line, column, end_line or line, end_column)


def finding(where, *, fix=None, because=None, message="`K.sum` is gone", **kind):
    return Finding(
        code="KD101",
        name="removed-name",
        place=where,
        message=message,
        severity=kind.get("severity", Severity.ERROR),
        confidence=Confidence.CERTAIN,
        symbol="keras.backend.sum",
        help="Write keras.ops.sum.",
        fix=fix,
        no_fix_because=because,
    )


def text(result, *, color=False, verbosity=0, **page):
    stream = io.StringIO()
    format_by_name("text").write(result, Page(stream, color=color, verbosity=verbosity, **page))
    return stream.getvalue()


def scanned(*findings, line="y = K.sum(x)", **rest):
    return ScanResult(TARGET, findings, {each.place: line for each in findings}, read=2, **rest)


SAFE = Fix("Use keras.ops.sum", (), Applicability.SAFE)
UNSAFE = Fix("Use keras.ops.mean", (), Applicability.UNSAFE)


def test_a_finding_shows_its_place_its_line_its_help_and_its_fix():
    assert text(scanned(finding(place(), fix=SAFE))) == (
        "kdoctor 0.1.0: checking for keras 3.15.1 (--target)\n"
        "\n"
        "train.py:3:5: KD101 [error] `K.sum` is gone\n"
        "  3 | y = K.sum(x)\n"
        "    |     ^^^^^\n"
        "  help: Write keras.ops.sum.\n"
        "  fix available (safe): Use keras.ops.sum\n"
        "\n"
        "Found 1 finding in 1 file: 1 error. (2 files read)\n"
        "Fixable: 1 safe; by hand: 0.\n"
        "Next: `kdoctor fix PATH` shows the fixes as a diff; add --apply to write them.\n"
    )


def test_a_finding_in_a_notebook_names_its_cell():
    assert "nb.ipynb:cell 4:3:5: KD101" in text(scanned(finding(place(path="nb.ipynb", cell=4))))


def test_a_finding_without_a_fix_says_why():
    assert "  no fix: the axis is not known\n" in text(
        scanned(finding(place(), because="the axis is not known"))
    )


def test_the_help_of_a_rule_stands_once_in_a_file():
    same = [finding(place(line=line)) for line in (3, 4)]
    elsewhere = finding(place(path="z.py"))
    assert text(scanned(*same, elsewhere), folded=False).count("help:") == 2
    others = [finding(place(line=line), message=f"{line}") for line in (3, 4)]
    assert text(scanned(*others)).count("help:") == 1


def test_what_says_the_same_is_told_once_with_all_its_places():
    places = [place(1), place(7, 2), place(path="z.py"), place(2, path="n.ipynb", cell=1)]
    places += [place(4, path="n.ipynb", cell=1), place(1, path="n.ipynb", cell=3)]
    result = scanned(*[finding(each, fix=SAFE) for each in places], finding(place(9), message="?"))
    shown = text(result, verbosity=-1)
    assert shown == (
        "train.py:1:5: KD101 [error] `K.sum` is gone\n"
        "  1 | y = K.sum(x)\n"
        "    |     ^^^^^\n"
        "  help: Write keras.ops.sum.\n"
        "  fix available (safe): Use keras.ops.sum\n"
        "  also: train.py:7:2\n"
        "        z.py:3:5\n"
        "        n.ipynb:cell 1:2:5, 4:5, cell 3:1:5\n"
        "\n"
        "train.py:9:5: KD101 [error] ?\n"
        "  9 | y = K.sum(x)\n"
        "    |     ^^^^^\n"
        "  no fix: it needs your decision\n"
        "\n"
    )
    assert text(result, folded=False).count("K.sum(x)") == len(places) + 1


DIFFERENT = {
    "safe and not": [{"fix": SAFE}, {"fix": UNSAFE}],
    "a fix and none": [{"fix": SAFE}, {}],
    "reasons": [{"because": "it is not seen"}, {"because": "there is a comment"}],
    "messages": [{"message": "one"}, {"message": "another"}],
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_what_differs_in_anything_that_matters_is_told_apart(pair):
    shown = text(scanned(*[finding(place(line), **each) for line, each in enumerate(pair, 1)]))
    assert "also:" not in shown
    assert shown.count("KD101") == len(pair)


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("width", [40, 80])
def test_no_line_of_text_is_wider_than_the_terminal_and_no_word_is_broken(width, color):
    message = "`keras.backend.sum` is gone (last in keras 2.15.0): " + "word " * 30
    many = [finding(place(line), message=message, fix=UNSAFE) for line in range(1, 11)]
    code = "x = 1; " * 30
    shown = re.sub(r"\x1b\[[0-9;]*m", "", text(scanned(*many, line=code), width=width, color=color))
    assert max(map(len, shown.splitlines())) <= width
    told = [each for each in shown.split() if not set(each) <= set("x=1;^…|")]
    whole = re.sub(r"\x1b\[[0-9;]*m", "", text(scanned(*many, line=code), color=color)).split()
    assert told == [each for each in whole if not set(each) <= set("x=1;^…|")]


def test_a_word_that_is_wider_than_the_terminal_stays_whole():
    assert "a" * 100 in text(scanned(finding(place(), message="a" * 100)), width=40)


@pytest.mark.parametrize("width", [40, 80, 0])
@pytest.mark.parametrize("code", ["漢字" * 60, "a漢" * 60, "é\x07" * 60])
def test_wide_characters_count_as_two_columns(width, code):
    where = place(column=50, end_column=52)
    shown = text(scanned(finding(where), line=code), width=width).splitlines()
    line, mark = shown[shown.index(next(e for e in shown if e.startswith("  3 |"))) :][:2]
    columns = [1 + (ord(each) > 0x2E80) for each in line]
    assert sum(columns) <= (width or 130)
    assert "^" in mark
    assert len(mark.rstrip()) <= (width or 130)


def test_a_command_is_never_broken_for_it_is_copied():
    arguments = "'a folder with a long name and blanks/train it.py' --target keras==3.10.0"
    shown = text(scanned(finding(place(), fix=SAFE)), width=40, arguments=arguments)
    assert f"`kdoctor fix {arguments}`" in shown


def test_many_findings_end_with_a_table_of_rules():
    few, many = ([finding(place(line)) for line in range(1, n)] for n in (11, 12))
    assert "findings  rule" not in text(scanned(*few))
    assert "findings  rule                 safe  unsafe  by hand\n" in text(scanned(*many))
    assert "findings  rule" not in text(scanned(*many), verbosity=-1)
    assert text(scanned(*many)).endswith(
        "`kdoctor migrate PATH` tells in which order, and what breaks first.\n"
    )
    assert "kdoctor migrate" not in text(scanned(*few))


def test_the_next_command_has_the_paths_and_options_of_this_one():
    shown = text(scanned(finding(place(), fix=SAFE)), arguments="src --target keras==3.10.0")
    assert "Next: `kdoctor fix src --target keras==3.10.0` shows the fixes" in shown
    assert "Next: `kdoctor fix` shows" in text(scanned(finding(place(), fix=SAFE)), arguments="")


def test_an_unsafe_fix_says_why_it_is_not_safe():
    unsafe = Fix("Use f", (), Applicability.UNSAFE, unsafe_because="f counts from 1")
    safe = Fix("Use f", (), Applicability.SAFE, unsafe_because="f counts from 1")
    shown = text(scanned(finding(place(line=1), fix=unsafe), finding(place(line=2), fix=safe)))
    assert "fix available (unsafe): Use f; unsafe because f counts from 1\n" in shown
    assert "fix available (safe): Use f\n" in shown


def test_the_summary_counts_by_severity_and_by_what_can_be_done():
    shown = text(
        scanned(
            finding(place(line=1), fix=SAFE),
            finding(place(line=2), fix=UNSAFE, severity=Severity.CHANGE),
            finding(place(line=3), severity=Severity.LEGACY),
            skipped=(SkippedPart("README.md", None, 7, "not Python"),),
            unreadable=(Unreadable("b.py", "cannot be read: Permission denied"),),
        )
    )
    assert "Found 3 findings in 1 file: 1 error, 1 change, 1 legacy. " in shown
    assert "(2 files read, 1 code block skipped (not Python), 1 file not checked)" in shown
    assert "Fixable: 1 safe, 1 unsafe; by hand: 1." in shown
    assert "b.py: not checked: cannot be read: Permission denied\n" in shown


def test_skipped_code_is_named_only_in_detail():
    result = scanned(skipped=(SkippedPart("a.ipynb", 3, 7, "not Python"),))
    assert "a.ipynb:cell 3:7: skipped: not Python" in text(result, verbosity=1)
    assert "a.ipynb" not in text(result)


def test_quiet_shows_findings_only():
    shown = text(scanned(finding(place())), verbosity=-1)
    assert shown.startswith("train.py:3:5:")
    assert "Found" not in shown
    assert text(scanned(), verbosity=-1) == ""


def test_nothing_found_is_said():
    assert text(scanned()).endswith("Nothing to report. (2 files read)\n")


@pytest.mark.parametrize(
    ("line", "column", "end_column", "rows"),
    [
        ("\tK.sum(x)", 2, 7, ["  3 | \tK.sum(x)", "    | \t^^^^^"]),
        ("'漢', K.sum", 6, 11, ["  3 | '漢', K.sum", "    |       ^^^^^"]),
        ("K.sum(", 1, 7, ["  3 | K.sum(", "    | ^^^^^^"]),
        ("", 1, 1, ["  3 |", "    | ^"]),
    ],
)
def test_the_mark_stands_below_the_span(line, column, end_column, rows):
    where = place(column=column, end_column=end_column)
    assert text(scanned(finding(where), line=line)).split("\n")[3:5] == rows


def test_a_span_over_several_lines_is_marked_to_the_end_of_the_first():
    where = place(column=5, end_line=9, end_column=1)
    assert "    |     ^^^^^^\n" in text(scanned(finding(where), line="y = K.sum("))


def test_of_a_very_long_line_the_part_with_the_span_is_shown():
    line = "a" * 5000 + "K.sum" + "b" * 5000
    shown = text(scanned(finding(place(column=5001, end_column=5006)), line=line)).split("\n")
    assert len(shown[3]) < 140
    assert shown[3][shown[4].index("^") :].startswith("K.sum")


def test_control_characters_of_the_scanned_code_do_not_reach_the_terminal():
    where = place(path="a\x1b[2J.py")
    shown = text(
        scanned(finding(where, message="\x1b]0;x\x07"), line="\x1b[2J K.sum\r"), color=True
    )
    assert "\x1b[2J" not in shown
    assert "\x1b]0;" not in shown
    assert "\r" not in shown


def test_colours_change_nothing_of_the_text():
    result = scanned(finding(place(), fix=SAFE), finding(place(line=9)))
    painted = text(result, color=True)
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == text(result)
