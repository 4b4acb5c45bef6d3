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


def text(result, *, color=False, verbosity=0):
    stream = io.StringIO()
    format_by_name("text").write(result, Page(stream, color=color, verbosity=verbosity))
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
    assert text(scanned(*same, elsewhere)).count("help:") == 2


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
