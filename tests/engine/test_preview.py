"""Rules in preview: asked only where somebody asks for them."""

from __future__ import annotations

import io

import pytest

from kdoctor import engine
from kdoctor.engine.selection.effective_settings import overview
from kdoctor.errors import UsageProblem
from kdoctor.report.output import Page
from kdoctor.report.rule_page import page_of
from kdoctor.report.rules import write_page
from kdoctor.rules import rule_by_code
from kdoctor.rules.index import rule_index
from kdoctor.rules.preview import PREVIEW

OLD = 'import keras\n\nmodel = keras.Sequential()\nmodel.compile("adam", "mse")\nmodel.backend{comment}\n'
CODE = "KD201"
TARGET = "keras==3.15.1"


@pytest.fixture
def preview():
    """KD201, as if it were in preview."""
    PREVIEW.add(CODE)
    yield
    PREVIEW.discard(CODE)


def found(tmp_path, comment="", settings="", **options):
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    (folder / "old.py").write_text(OLD.format(comment=comment))
    (folder / "kdoctor.toml").write_text(settings)
    findings = engine.scan([folder], target=TARGET, **options).findings
    return [finding.code for finding in findings]


def test_each_code_in_preview_is_one_of_a_rule():
    assert {entry.code for entry in rule_index()} >= PREVIEW


@pytest.mark.usefixtures("preview")
def test_a_rule_and_its_entry_know_it():
    assert rule_by_code(CODE).preview
    assert [entry.code for entry in rule_index() if entry.preview] == sorted(PREVIEW)


def test_without_the_mark_it_is_asked(tmp_path):
    assert found(tmp_path) == [CODE]


@pytest.mark.usefixtures("preview")
def test_it_is_asked_only_with_preview(tmp_path):
    assert found(tmp_path) == []
    assert found(tmp_path, preview=True) == [CODE]
    assert found(tmp_path, settings="preview = true\n") == [CODE]
    assert found(tmp_path, settings="preview = true\n", preview=False) == []


@pytest.mark.usefixtures("preview")
@pytest.mark.parametrize("select", ["KD2", "ALL", "KD20"])
def test_several_rules_leave_it_out(select, tmp_path):
    assert found(tmp_path, select=[select]) == []
    assert found(tmp_path, select=[select], preview=True) == [CODE]


@pytest.mark.usefixtures("preview")
@pytest.mark.parametrize("entry", [CODE, "model-has-no-backend"])
def test_named_by_itself_it_wants_preview(entry, tmp_path):
    with pytest.raises(UsageProblem, match="KD201 is in preview; add --preview"):
        found(tmp_path, select=[entry])
    with pytest.raises(UsageProblem, match=r"kdoctor\.toml:1: select: KD201 is in preview"):
        found(tmp_path, settings=f'select = ["{entry}"]\n')
    assert found(tmp_path, select=[entry], preview=True) == [CODE]
    assert found(tmp_path, select=[entry], settings="preview = true\n") == [CODE]
    assert found(tmp_path, ignore=[entry]) == []


@pytest.mark.usefixtures("preview")
def test_a_comment_for_it_is_not_called_unused(tmp_path):
    # With --preview it is of use, and who has it in the code may run either.
    comment = "  # kdoctor: ignore[KD201]"
    assert found(tmp_path, comment) == found(tmp_path, comment, preview=True) == []
    assert found(tmp_path, comment, select=["KD9"]) == []


@pytest.mark.usefixtures("preview")
def test_the_settings_in_force_count_it_only_with_preview(tmp_path):
    without, with_it = (overview(str(tmp_path), {"preview": each}).rules for each in (None, True))
    assert set(with_it) - set(without) == {CODE}


@pytest.mark.usefixtures("preview")
def test_its_page_says_so():
    text = io.StringIO()
    write_page(rule_by_code(CODE), {}, Page(text))
    assert text.getvalue().split("\n")[0].endswith(", in preview")
    assert "asked with `--preview` only" in page_of(rule_by_code(CODE), {})
    assert "--preview" not in page_of(rule_by_code("KD202"), {})
