"""A project that is not ported yet, from its first scan to the last comment taken out."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from kdoctor.cli.app import app

OLD = "from keras import backend as K\n\ntotal = K.sum(\n    K.dot(1, 2),\n)\n"
COMMENT = "  # kdoctor: ignore[KD101] until we leave Keras 2"
TARGET = ("--target", "keras==3.15.1")


def test_findings_are_silenced_by_comments_counted_and_forgotten_once_they_are_gone(project):
    project.write(
        {
            "src/old.py": OLD,
            "nb.ipynb": project.notebook("%pip list", OLD),
            "README.md": f"# It\n\n- so:\n\n```python\n{OLD}```\n",
        }
    )
    shown = project.kdoctor("fix", *TARGET, "--add-ignores")
    assert shown.code == 1
    assert "+total = K.sum(  # kdoctor: ignore[KD101]\n" in shown.out
    assert "Would ignore 6 findings in 3 files" in shown.err
    assert project.read("src/old.py").decode() == OLD

    reason = ("--reason", "until we leave Keras 2")
    written = project.kdoctor("fix", *TARGET, "--apply", "--add-ignores", *reason)
    assert (written.code, written.out.count("ignored in ")) == (0, 3)
    ignored = OLD.replace("K.sum(", f"K.sum({COMMENT}")
    assert project.read("src/old.py").decode() == ignored
    assert project.read("README.md").decode() == f"# It\n\n- so:\n\n```python\n{ignored}```\n"
    assert project.read("nb.ipynb") == project.notebook("%pip list", ignored)

    clean = project.kdoctor("scan", *TARGET, "-v")
    assert clean.code == 0
    assert "Ignored by comments in the code: 6 findings." in clean.out
    assert project.kdoctor("scan", *TARGET, "--format", "json").json["suppressed"] == 6
    assert "gnored" not in project.kdoctor("scan", *TARGET).out

    project.write({"src/old.py": f"total = 3{COMMENT}\n"})
    told = project.kdoctor("scan", *TARGET)
    assert told.code == 1
    assert "src/old.py:1:12: KD901 [legacy] `KD101` silences nothing here\n" in told.out
    assert "fix available (safe)" in told.out
    assert project.kdoctor("fix", *TARGET, "--apply").code == 0
    assert project.read("src/old.py") == b"total = 3\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--reason", "so"), "--reason requires --add-ignores"),
        (("--add-ignores", "--unsafe"), "--add-ignores fixes nothing"),
        (("--add-ignores", "--verify"), "--add-ignores fixes nothing"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments, sentence):
    ended = CliRunner().invoke(app, ["fix", *arguments])
    assert ended.exit_code == 2
    assert sentence in ended.output
