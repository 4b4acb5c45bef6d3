"""An old code or name goes on working wherever rules are named, and is told of once."""

from __future__ import annotations

import pytest

from kdoctor import engine
from kdoctor.engine.baseline import Baseline, compare
from kdoctor.engine.selection.codes import chosen_codes, rule_named
from kdoctor.errors import UsageProblem
from kdoctor.rules import all_rules, rule_by_code
from kdoctor.rules.index import rule_index
from kdoctor.rules.redirects import REDIRECTS, redirect_notes, redirected

OLD = "from keras import backend as K\n\nK.sum([1.0]){comment}\n"
NOTE = "KD198 is called KD101 now; the old code still works"
TARGET = "keras==3.15.1"


@pytest.fixture(autouse=True)
def redirects(monkeypatch):
    """What became of rules that there never were."""
    for old, new in {
        "KD198": "KD101",
        "backend-gone": "backend-function-gone",
        "KD197": "KD198",  # renamed twice
        "KD199": "",  # retired
    }.items():
        monkeypatch.setitem(REDIRECTS, old, new)


def scanned(folder, comment="", settings="", **options):
    (folder / "old.py").write_text(OLD.format(comment=comment))
    (folder / "kdoctor.toml").write_text(settings)
    return engine.scan([folder], target=TARGET, **options)


def told(result):
    return [finding.code for finding in result.findings], list(result.project.remarks)


def test_no_old_code_or_name_is_one_of_a_rule():
    now = {word for entry in rule_index() for word in (entry.code, entry.name)}
    assert now.isdisjoint(REDIRECTS)
    for old in REDIRECTS:
        assert redirected(old) in {"", *now}


@pytest.mark.parametrize("entry", ["KD198", "kd198", "KD197", "backend-gone"])
def test_an_old_one_selects_what_it_became(entry, tmp_path):
    assert chosen_codes([entry]) == ("KD101",)
    assert rule_named(entry) is rule_by_code(entry) is rule_by_code("KD101")
    codes, notes = told(scanned(tmp_path, select=[entry]))
    assert codes == ["KD101"]
    assert notes == list(redirect_notes([entry]))
    assert len(notes) == 1
    assert told(scanned(tmp_path, ignore=[entry])) == ([], notes)


def test_a_retired_one_selects_nothing(tmp_path):
    assert told(scanned(tmp_path, select=["KD199"])) == (
        [],
        ["KD199 is retired: it means no rule any more"],
    )
    assert chosen_codes(None, ["KD199"]) == chosen_codes(None)
    with pytest.raises(UsageProblem, match="there is no rule 'KD196'"):
        chosen_codes(["KD196"])


@pytest.mark.parametrize(
    "settings", ['ignore = ["KD198"]\n', '[per-file-ignores]\n"*.py" = ["KD198", "KD5"]\n']
)
def test_settings_may_say_it(settings, tmp_path):
    assert told(scanned(tmp_path, settings=settings)) == ([], [NOTE])


@pytest.mark.parametrize("cache", [False, True])
@pytest.mark.parametrize("words", ["noqa: KD198", "noqa: E501, KD198", "kdoctor: ignore[KD198]"])
def test_comments_may_say_it(words, cache, tmp_path):
    for _ in range(2):  # the second time from the cache
        result = scanned(tmp_path, f"  # {words}", cache=cache)
        assert told(result) == ([], [NOTE])
        assert [each.finding.code for each in result.suppressed] == ["KD101"]


def test_a_comment_that_names_a_retired_rule_is_no_finding(tmp_path):
    result = scanned(tmp_path, "  # kdoctor: ignore[KD101, KD199]")
    assert told(result) == ([], ["KD199 is retired: it means no rule any more"])


def test_it_is_told_once_however_often_it_is_said(tmp_path):
    (tmp_path / "another.py").write_text(OLD.format(comment="  # noqa: KD198"))
    assert told(scanned(tmp_path, "  # noqa: KD198", 'ignore = ["KD198"]\n'))[1] == [NOTE]


def test_a_baseline_may_have_it(tmp_path):
    result = scanned(tmp_path)
    first = compare(result, Baseline(tmp_path / "known.json"), [tmp_path])
    Baseline(tmp_path / "known.json").write(first.entries)
    text = (tmp_path / "known.json").read_text()
    assert text.count("KD101") == 1
    (tmp_path / "known.json").write_text(text.replace("KD101", "KD198"))

    known = Baseline.read(tmp_path / "known.json")
    compared = compare(result, known, [tmp_path])

    assert told(compared.result) == ([], [NOTE])
    assert [finding.code for finding in compared.result.known] == ["KD101"]
    assert compared.fixed == ()
    Baseline(tmp_path / "known.json").write(compared.entries)
    assert (tmp_path / "known.json").read_text() == text


def test_a_retired_rule_of_a_baseline_is_fixed(tmp_path):
    result = scanned(tmp_path)
    first = compare(result, Baseline(tmp_path / "known.json"), [tmp_path])
    Baseline(tmp_path / "known.json").write(first.entries)
    text = (tmp_path / "known.json").read_text().replace("KD101", "KD199")
    (tmp_path / "known.json").write_text(text)
    compared = compare(result, Baseline.read(tmp_path / "known.json"), [tmp_path])
    assert [entry.rule for entry in compared.fixed] == ["KD199"]
    assert [finding.code for finding in compared.result.findings] == ["KD101"]


def test_nobody_is_told_of_the_others(tmp_path):
    assert told(scanned(tmp_path, "  # noqa: KD101", 'ignore = ["KD102"]\n')) == ([], [])
    assert {rule.code for rule in all_rules()} == {entry.code for entry in rule_index()}
