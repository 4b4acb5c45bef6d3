"""How fixes are carried out, with rules made for the purpose."""

from __future__ import annotations

import re
import sys

import msgspec
import pytest

from kdoctor import engine
from kdoctor.engine import examine
from kdoctor.model import Applicability, Confidence, Edit, Fix, Hole, Severity, Span
from kdoctor.report import summary
from kdoctor.report.output import Page
from kdoctor.rules import Rule
from kdoctor.rules.index import entry_of


def rule(pattern, *edits, applicability=Applicability.SAFE, code="KD901"):
    """Make a rule that finds a pattern and replaces what its groups match by ``edits``.

    An edit is a text, or a function from the match to parts.
    """

    def check(module, _facts):
        for match in re.finditer(pattern, module.text):
            spans = [Span(*match.span(number + 1)) for number in range(len(edits))]
            made = tuple(
                Edit(span, edit(match) if callable(edit) else (edit,))
                for span, edit in zip(spans, edits, strict=True)
            )
            yield found.finding(
                module.unit.place(Span(*match.span())),
                "a message",
                symbol="keras.x",
                confidence=Confidence.CERTAIN,
                fix=Fix("a title", made, applicability),
            )

    found = Rule(
        code=code,
        name=f"rule-{code.lower()}",
        family="names",
        severity=Severity.ERROR,
        check=check,
    )
    return found


@pytest.fixture
def ask_only(monkeypatch):
    """Have a scan know these rules, and no other."""

    def known(*rules):
        monkeypatch.setattr(examine, "rule_index", lambda: tuple(map(entry_of, rules)))

    return known


@pytest.fixture
def fixed(tmp_path, monkeypatch, ask_only):
    """Fix one file by given rules and return (its new text, the result)."""

    def run(source, *rules, name="f.py", **options):
        ask_only(*rules)
        monkeypatch.chdir(tmp_path)
        (tmp_path / name).write_text(source)
        result = engine.fix([name], apply=True, **options)
        return (tmp_path / name).read_text(), result

    return run


def test_fixes_of_one_file_are_made_in_one_go(fixed):
    text, result = fixed("import keras\na = b = 1\n", rule(r"\b(a|b)\b", "c"))
    assert text == "import keras\nc = c = 1\n"
    assert len(result.files[0].applied) == 2
    assert result.left.findings == ()


def test_a_fix_inside_a_hole_of_another_is_made_with_it(fixed):
    def wrapped(match):
        return "new(", Hole(Span(*match.span(2))), ")"

    outer = rule(r"(outer\((.*)\))", wrapped)
    text, _ = fixed("import keras\nouter(inner)\n", outer, rule(r"(inner)", "x", code="KD902"))
    assert text == "import keras\nnew(x)\n"


def test_of_overlapping_fixes_the_later_comes_in_the_next_pass(fixed):
    first, second = rule(r"(one, two)", "two"), rule(r"(two, three)", "three", code="KD902")
    text, result = fixed("import keras\none, two, three\n", first, second)
    assert text == "import keras\nthree\n"
    assert [finding.code for finding in result.files[0].applied] == ["KD901", "KD902"]


def test_unsafe_fixes_are_made_on_demand_and_manual_ones_never(fixed):
    rules = (
        rule(r"(safe)", "1"),
        rule(r"(risky)", "2", applicability=Applicability.UNSAFE, code="KD902"),
        rule(r"(byhand)", "3", applicability=Applicability.MANUAL, code="KD903"),
    )
    source = "import keras\nsafe, risky, byhand\n"
    text, result = fixed(source, *rules)
    assert text == "import keras\n1, risky, byhand\n"
    assert [finding.code for finding in result.left.findings] == ["KD902", "KD903"]
    assert fixed(source, *rules, unsafe=True)[0] == "import keras\n1, 2, byhand\n"


def test_a_result_that_is_no_python_leaves_the_file_and_names_it(fixed):
    source = "import keras\nbad, good\n"
    text, result = fixed(source, rule(r"(bad)", "(("), rule(r"(good)", "1", code="KD902"))
    assert text == source
    assert result.files == ()
    assert [file.path for file in result.left_alone] == ["f.py"]
    assert "its fix failed and was discarded" in result.left_alone[0].why
    assert len(result.left.findings) == 2


def test_who_used_the_unsafe_fixes_is_not_told_to(fixed):
    broken = rule(r"(risky)", "((", applicability=Applicability.UNSAFE)
    page = Page(sys.stderr)
    for unsafe in (False, True):
        _, result = fixed("import keras\nrisky\n", broken, unsafe=unsafe)
        told = "\n".join(summary.of_fix(result, page))
        assert ("add --unsafe" in told) is not unsafe


def test_python_that_only_libcst_accepts_is_no_result(fixed):
    source = "import keras\nbad\n"
    text, result = fixed(source, rule(r"(bad)", "return 1; f() = 1"))
    assert text == source
    assert result.left_alone


def test_fixes_that_undo_each_other_leave_the_file_and_name_it(fixed):
    source = "import keras\nping\n"
    text, result = fixed(source, rule(r"(ping)", "pong"), rule(r"(pong)", "ping", code="KD902"))
    assert text == source
    assert "did not converge" in result.left_alone[0].why


def test_a_fix_that_changes_nothing_is_no_fix(fixed):
    source = "import keras\nsame\n"
    text, result = fixed(source, rule(r"(same)", "same"))
    assert text == source
    assert result.files == ()
    assert len(result.left.findings) == 1


def test_edits_that_overlap_within_one_fix_leave_it_out(fixed):
    source = "import keras\nabc\n"
    text, result = fixed(source, rule(r"((a)bc)", "x", "y"))
    assert text == source
    assert len(result.left.findings) == 1
    assert "(in the fix of KD901)" in result.left.unreadable[0].why


def test_a_fix_over_a_magic_of_a_notebook_is_left_out(fixed):
    source = (
        '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null,'
        ' "source": ["import keras\\n", "a\\n", "%magic\\n", "b"]}],'
        ' "metadata": {}, "nbformat": 4, "nbformat_minor": 4}'
    )
    over, beside = rule(r"(a\n0+\nb)", "x"), rule(r"(?<=keras\n)(a)", "y", code="KD902")
    text, result = fixed(source, over, name="nb.ipynb")
    assert text == source
    text, result = fixed(source, beside, name="nb.ipynb")
    assert text == source.replace('"a\\n"', '"y\\n"')
    assert "+y\n %magic\n" in result.files[0].diff


def test_the_diff_of_each_finding_is_that_of_its_own_fix(tmp_path, monkeypatch, ask_only):
    monkeypatch.chdir(tmp_path)
    ask_only(rule(r"\b(a|b)\b", "c"))
    (tmp_path / "f.py").write_text("import keras\n" + "0\n" * 20 + "a\n" + "0\n" * 20 + "b")
    one, other = (each.fix.diff for each in engine.scan(["f.py"]).findings)
    assert one == "--- a/f.py\n+++ b/f.py\n@@ -19,7 +19,7 @@\n 0\n 0\n 0\n-a\n+c\n 0\n 0\n 0\n"
    assert other.endswith("-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n")


def test_findings_stand_in_order_of_place_and_code_and_once(tmp_path, monkeypatch, ask_only):
    rules = tuple(rule(r"\b(a)\b", "b", code=code) for code in ("KD903", "KD902"))
    twice = msgspec.structs.replace(rules[0], check=lambda *args: [*rules[0].check(*args)] * 2)
    monkeypatch.chdir(tmp_path)
    ask_only(twice, rules[1])
    (tmp_path / "z.py").write_text("import keras\na\na\n")
    found = engine.scan(["z.py"]).findings
    assert [(each.place.line, each.code) for each in found] == [
        (2, "KD902"), (2, "KD903"), (3, "KD902"), (3, "KD903"),
    ]  # fmt: skip


def test_a_second_call_sees_what_changed_in_the_modules_of_the_project(
    tmp_path, monkeypatch, ask_only
):
    monkeypatch.chdir(tmp_path)
    ask_only(rule(r"(K)", "b"))
    (tmp_path / "use.py").write_text("from compat import K\n")
    (tmp_path / "compat.py").write_text("K = 1\n")
    assert not engine.scan(["use.py"]).findings
    (tmp_path / "compat.py").write_text("from keras import backend as K\n")
    assert engine.scan(["use.py"]).findings


def test_one_path_is_no_list_of_letters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_text("from keras import backend as K\nK.sum(1)\n")
    (tmp_path / "outside.py").write_text("from keras import backend as K\nK.sum(1)\n")
    for one in ("a", "a/b.py", tmp_path / "a"):
        assert [each.place.line for each in engine.scan(one, jobs=1).findings] == [2]
    assert len(engine.fix("a", apply=True, jobs=1).files) == 1
    assert "K.sum" in (tmp_path / "outside.py").read_text()
