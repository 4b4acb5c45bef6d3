"""Code in a changelog is reported and left as it was; set-ups in other pages are the author's."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix, scan

GONE = "from keras import backend as K\n\nK.sum(x)\n"
FENCE = "# Notes\n\n```python\n{}```\n"
SETUPS = {
    "KD701": "import segmentation_models as sm\n",
    "KD702": "import efficientnet.keras as efn\n",
}


def page(tmp_path, name, code):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FENCE.format(code))
    return path


@pytest.mark.parametrize(
    "name",
    ["CHANGELOG.md", "ChangeLog.rst.md", "changes.md", "HISTORY.markdown", "docs/release-notes.md"],
)
@pytest.mark.parametrize("code", [GONE, *SETUPS.values()])
def test_no_fix_writes_into_a_changelog(tmp_path, name, code):
    path = page(tmp_path, name.replace(".rst", ""), code)
    before = path.read_bytes()
    assert scan([path]).findings
    assert all(each.no_fix_because for each in scan([path]).findings)
    fix([path], apply=True, unsafe=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["README.md", "docs/history_of_losses.md", "guide.md"])
def test_code_in_other_pages_is_fixed(tmp_path, name):
    path = page(tmp_path, name, GONE)
    fix([path], apply=True)
    assert "ops.sum(x)" in path.read_text()


@pytest.mark.parametrize(("code", "source"), SETUPS.items())
def test_no_page_is_told_how_its_readers_set_a_library_up(tmp_path, code, source):
    path = page(tmp_path, "README.md", source)
    [finding] = scan([path], select=[code]).findings
    assert "a page about code" in finding.no_fix_because
    script = tmp_path / "train.py"
    script.write_text(source)
    [finding] = scan([script], select=[code]).findings
    assert finding.fix is not None


@pytest.mark.parametrize("name", ["history.py", "news.ipynb", "changes.pyi"])
def test_a_program_may_be_called_so(name):
    [finding] = scan(
        ["-"], stdin=GONE.encode(), stdin_filename=name, kind="python", select=["KD101"]
    ).findings
    assert finding.fix is not None
