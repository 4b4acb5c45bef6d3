"""Fixed and scanned again: what a reviewer would refuse, in code that nobody wrote for kdoctor."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.check_fixes import broken, lints, lost_comments, more

HERE = Path(__file__).resolve().parents[2]


@pytest.mark.frameworks  # without Keras nothing that is installed needs a fix
def test_the_fixes_of_installed_code_leave_nothing_to_refuse():
    command = [sys.executable, "-m", "tools.check_fixes", "--json", "--sample", "40"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    reports = json.loads(done.stdout)
    assert sum(each["files"] for each in reports) > 20
    told = {"tree", "fixes", "files", "found", "fixed", "changed_files", "told"}
    wrong = [{k: v for k, v in each.items() if v and k not in told} for each in reports]
    assert wrong == [{} for _ in reports]


def test_a_comment_that_a_fix_loses_is_told():
    before = b"import a  # why\n# and how\nx = 1  # one\n"
    assert lost_comments(before, b"# and how\nx = 2  # one, anew\n", "x.py") == [
        "x.py: # why",
        "x.py: # one",
    ]
    assert lost_comments(before, before + b"# more\n", "x.py") == []


def test_code_that_no_longer_compiles_is_told():
    good, bad = b"def f():\n    return 1\n", b"return 1\n"  # a syntax tree, but no module
    assert more(broken(bad, "x.py"), broken(good, "x.py")) == ["x.py"]
    assert more(broken(bad, "x.py"), broken(bad, "x.py")) == []


@pytest.mark.parametrize(
    ("after", "code"),
    [
        ("import keras\nfrom keras import ops\nkeras.Input(1)\n", "F401"),
        ("import keras\nkeras.Input(1)\nops.sum(1)\n", "F821"),
        ("import keras\nkeras.Input(1)\nfrom keras import ops\nops.sum(1)\n", "E402"),
    ],
)
def test_what_the_linter_sees_anew_is_told(tmp_path, after, code):
    for name, text in (("before", "import keras\nkeras.Input(1)\n"), ("after", after)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.py").write_text(text, encoding="utf-8")
    told = more(*(lints(tmp_path / name, ["x.py"]) for name in ("after", "before")))
    assert len(told) == 1
    assert f": {code} " in told[0]


def test_an_import_that_text_may_read_is_not_unused(tmp_path):
    (tmp_path / "x.py").write_text("from keras import backend as K\nglobals()['K']\n")
    (tmp_path / "y.py").write_text("from keras import backend as K\n")
    assert [line.split(":")[0] for line in lints(tmp_path, ["x.py", "y.py"])] == ["y.py"]


def test_an_unused_import_is_none_anew_where_it_comes_from_elsewhere_under_its_name(tmp_path):
    before, after = (tmp_path / name / "x.py" for name in ("before", "after"))
    for path, what in ((before, "mean_squared_error"), (after, "MSE as mean_squared_error")):
        path.parent.mkdir()
        path.write_text(f"from keras.losses import {what}\n", encoding="utf-8")
    old, new = (lints(path.parent, ["x.py"]) for path in (before, after))
    assert old
    assert more(new, old) == []
