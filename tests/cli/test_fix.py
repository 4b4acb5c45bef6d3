"""``kdoctor fix`` from end to end."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

BEFORE = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x, axis=-1)\n"
AFTER = "from keras import ops\n\n\ndef total(x):\n    return ops.sum(x, axis=-1)\n"
BY_HAND = "from keras import backend as K\n\nK.get_session()\n"


def test_without_apply_the_diff_is_shown_and_nothing_is_written(project):
    ended = project.write({"old.py": BEFORE}).kdoctor("fix")
    assert ended.code == 1
    assert ended.out.startswith("--- a/old.py\n+++ b/old.py\n@@ -1,5 +1,5 @@\n")
    assert "-    return K.sum(x, axis=-1)\n+    return ops.sum(x, axis=-1)\n" in ended.out
    assert "Would fix 1 finding in 1 file" in ended.err
    assert "--apply" in ended.err
    assert project.read("old.py").decode() == BEFORE


def test_with_apply_it_is_written_and_zero_says_that_nothing_is_left(project):
    ended = project.write({"old.py": BEFORE}).kdoctor("fix", "--apply")
    assert ended.code == 0
    assert ended.out == "fixed old.py: 1 finding\n"
    assert "Fixed 1 finding in 1 file; nothing is left." in ended.err
    assert project.read("old.py").decode() == AFTER


def test_with_apply_one_says_that_something_is_left(project):
    ended = project.write({"old.py": BEFORE, "hand.py": BY_HAND}).kdoctor("fix", "--apply")
    assert ended.code == 1
    assert "left: 1 error" in ended.err
    assert "`kdoctor scan`" in ended.err
    assert project.read("hand.py").decode() == BY_HAND


def test_nothing_to_fix_ends_with_zero_also_where_there_are_findings(project):
    ended = project.write({"hand.py": BY_HAND}).kdoctor("fix")
    assert ended.code == 0
    assert ended.out == ""
    assert "Nothing to fix automatically; left: 1 error." in ended.err


def test_a_second_fix_changes_nothing(project):
    project.write({"old.py": BEFORE + "\n\nmean = K.mean(K.square(K.abs(total(1))))\n"})
    project.kdoctor("fix", "--apply", "--unsafe")
    once = project.read("old.py")
    assert project.kdoctor("fix", "--unsafe").out == ""
    project.kdoctor("fix", "--apply", "--unsafe")
    assert project.read("old.py") == once


def test_a_page_is_fixed_though_a_fence_binds_now_what_a_later_one_needs(project):
    page = (
        "```py\nfrom keras import backend as K\nrun = K.function([a], [b])\n```\n\n"
        "```py\nmodel = Model(a, b)\n```\n"
    )
    ended = project.write({"page.md": page}).kdoctor("fix", "--apply")
    assert ended.code == 0
    assert "Fixed 1 finding in 1 file; nothing is left." in ended.err
    after = project.read("page.md").decode()
    assert "from keras import Model, ops\n" in after
    assert "run = keras_function([a], [b])\n```\n" in after


FILES = {
    "plain.py": BEFORE.encode(),
    "windows.py": BEFORE.replace("\n", "\r\n").encode(),
    "bom.py": b"\xef\xbb\xbf" + BEFORE.encode(),
    "latin.py": b"# coding: latin-1\n" + BEFORE.encode() + b"name = '\xfc\xdf'\n",
    "unended.py": BEFORE.rstrip("\n").encode(),
    "tabs.py": BEFORE.replace("    ", "\t").encode(),
    "formfeed.py": BEFORE.replace("\n\n\n", "\n\n\x0c\n").encode(),
    "sub folder/ü.py": BEFORE.encode(),
    "README.md": f"# Loss\r\n\r\n```python\r\n{BEFORE}```\r\nend".encode(),
    "docs.rst": ("Loss::\n\n  x\n\n.. code-block:: python\n\n"
                 + "".join(f"    {line}\n" for line in BEFORE.splitlines())).encode(),
}  # fmt: skip


def test_the_printed_diff_is_a_patch_that_gives_what_apply_writes(project, tmp_path_factory):
    project.write(FILES)
    diff = project.kdoctor("fix").out.encode(errors="surrogateescape")
    patched = tmp_path_factory.mktemp("patched")
    for name, content in FILES.items():
        path = patched / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    subprocess.run(["patch", "-p1", "--binary", "--quiet"], cwd=patched, input=diff, check=True)
    assert project.kdoctor("fix", "--apply").code == 0
    for name, content in FILES.items():
        assert project.read(name) != content, name
        assert (patched / name).read_bytes() == project.read(name), name


def test_encodings_line_ends_and_the_missing_last_newline_are_kept(project):
    project.write(FILES).kdoctor("fix", "--apply")
    assert project.read("windows.py") == AFTER.replace("\n", "\r\n").encode()
    assert project.read("bom.py") == b"\xef\xbb\xbf" + AFTER.encode()
    assert project.read("latin.py").endswith(b"name = '\xfc\xdf'\n")
    assert project.read("unended.py") == AFTER.rstrip("\n").encode()
    assert project.read("tabs.py") == AFTER.replace("    ", "\t").encode()


def test_a_notebook_keeps_all_that_is_no_code_and_its_magics(project):
    before = project.notebook(
        ("markdown", "# Title"),
        "%matplotlib inline\nfrom keras import backend as K",
        "K.sum(1)\n!ls",
    )
    project.write({"nb.ipynb": before})
    shown = project.kdoctor("fix")
    assert "--- a/nb.ipynb:cell 2\t\n+++ b/nb.ipynb:cell 2\t\n" in shown.out
    assert "-K.sum(1)\n+ops.sum(1)\n !ls" in shown.out
    assert project.kdoctor("fix", "--apply").code == 0
    old, new = json.loads(before), json.loads(project.read("nb.ipynb"))
    assert new["cells"][1]["source"] == ["%matplotlib inline\n", "from keras import ops"]
    assert new["cells"][2]["source"] == ["ops.sum(1)\n", "!ls"]
    for document in (old, new):
        for cell in document["cells"]:
            del cell["source"]
    assert new == old


@pytest.mark.skipif(os.name == "nt", reason="mode bits")
def test_the_mode_of_a_file_and_a_link_to_it_are_kept(project):
    project.write({"real.py": BEFORE})
    (project.folder / "real.py").chmod(0o755)
    (project.folder / "link.py").symlink_to("real.py")
    assert project.kdoctor("fix", "--apply", "link.py").code == 0
    assert (project.folder / "link.py").is_symlink()
    assert (project.folder / "real.py").stat().st_mode & 0o777 == 0o755
    assert project.read("real.py").decode() == AFTER


def test_a_read_only_file_is_left_and_named_and_the_others_are_written(project):
    project.write({"a.py": BEFORE, "b.py": BEFORE})
    (project.folder / "a.py").chmod(0o444)
    ended = project.kdoctor("fix", "--apply")
    assert ended.code == 2
    assert "a.py: not fixed: the file is read-only" in ended.err
    assert "left: 1 error" in ended.err
    assert project.read("a.py").decode() == BEFORE
    assert project.read("b.py").decode() == AFTER


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_file_in_a_read_only_folder_is_left_and_named(project):
    project.write({"sub/a.py": BEFORE})
    (project.folder / "sub").chmod(0o555)
    ended = project.kdoctor("fix", "--apply")
    (project.folder / "sub").chmod(0o755)
    assert ended.code == 2
    assert "sub/a.py: not fixed: cannot be written" in ended.err
    assert project.read("sub/a.py").decode() == BEFORE


def test_a_file_that_changes_meanwhile_is_left_and_named(project):
    project.write({"a.py": BEFORE, "b.py": BEFORE})
    edits_b = (
        "import sys, kdoctor.engine.fixes.write as f\n"
        "from kdoctor.cli.app import main\n"
        "write = f.write_atomically\n"
        "def meanwhile(path, data):\n"
        "    open('b.py', 'a').write('# mine\\n')\n"
        "    write(path, data)\n"
        "f.write_atomically = meanwhile\n"
        "sys.argv = ['kdoctor', 'fix', '--apply']\n"
        "main()\n"
    )
    ended = project.python(edits_b)
    assert ended.code == 2
    assert "b.py: not fixed: it changed while it was being fixed" in ended.err
    assert project.read("a.py").decode() == AFTER
    assert project.read("b.py").decode() == BEFORE + "# mine\n"


def test_standard_input_is_a_diff_and_with_apply_the_fixed_code(project):
    shown = project.kdoctor("fix", "-", stdin=BEFORE.encode())
    assert shown.code == 1
    assert shown.out.startswith("--- a/-\n+++ b/-\n")
    fixed = project.kdoctor("fix", "-", "--apply", stdin=BEFORE.replace("\n", "\r\n").encode())
    assert fixed.code == 0
    assert fixed.out == AFTER.replace("\n", "\r\n")
    assert list(project.folder.iterdir()) == []


@pytest.mark.parametrize("source", ["import os\n", "import keras\nprint 'two'\n", ""])
def test_standard_input_with_nothing_to_fix_comes_out_as_it_went_in(project, source):
    assert project.kdoctor("fix", "-", "--apply", stdin=source.encode()).out == source


def test_standard_input_beside_files_cannot_be_applied(project):
    ended = project.write({"a.py": BEFORE}).kdoctor("fix", "-", "a.py", "--apply", stdin=b"")
    assert ended.code == 2
    assert "must be the only path" in ended.err
    assert project.read("a.py").decode() == BEFORE


def test_only_selected_rules_are_fixed(project):
    project.write({"old.py": BEFORE})
    assert project.kdoctor("fix", "--ignore", "KD1", "--apply").code == 0
    assert project.read("old.py").decode() == BEFORE


def test_a_file_that_cannot_be_parsed_is_named_and_ends_with_two(project):
    project.write({"a.py": BEFORE, "b.py": "import keras\nprint 'two'\n"})
    ended = project.kdoctor("fix", "--apply")
    assert ended.code == 2
    assert "b.py: not checked: " in ended.err
    assert project.read("a.py").decode() == AFTER


def test_colours_of_the_diff_change_nothing_of_its_text(project):
    project.write({"old.py": BEFORE})
    painted = project.kdoctor("fix", "--color", "always").out
    assert "\x1b[32m+" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == project.kdoctor("fix").out


def test_helpers_of_keras_2_are_written_or_imported_and_undone(project):
    before = "from keras.utils.generic_utils import to_list\n\nprint(to_list(1))\n"
    project.write({"a.py": before})
    written = project.kdoctor("fix", "--apply", "a.py")
    assert written.code == 0
    assert "def to_list(x, allow_tuple: bool = False) -> list:\n" in project.read("a.py").decode()
    assert project.kdoctor("fix", "--undo", "a.py").code == 0
    assert project.read("a.py").decode() == before
    ended = project.kdoctor("fix", "--unsafe", "--keras-2-helpers", "import", "a.py")
    assert "+from keras.src.utils.python_utils import to_list\n" in ended.out
    assert project.kdoctor("fix", "--keras-2-helpers", "copy", "a.py").code == 2


def test_a_fix_moves_the_imports_to_the_root_that_is_asked_for(project):
    project.write({"a.py": "from tensorflow.keras import layers\n\nlayers.Dense(1)\n"})
    ended = project.kdoctor("fix", "--namespace", "keras", "a.py")
    assert ended.code == 1
    assert "+from keras import layers\n" in ended.out
    assert project.kdoctor("fix", "a.py").code == 0
    assert project.kdoctor("scan", "--namespace", "tf.keras", "a.py").code == 0
    ended = project.kdoctor("scan", "--namespace", "torch", "a.py")
    assert ended.code == 2
    assert "tf.keras" in ended.err


def test_a_file_of_the_name_of_standard_input_is_neither_read_nor_written(project):
    project.write({"src/a.py": "print('on disk')\n"})
    name = ("--stdin-filename", "src/a.py")
    shown = project.kdoctor("fix", *name, stdin=BEFORE.encode())
    assert shown.out.startswith("--- a/src/a.py\n+++ b/src/a.py\n")
    fixed = project.kdoctor("fix", "-", "--apply", *name, stdin=BEFORE.encode())
    assert (fixed.code, fixed.out) == (0, AFTER)
    assert project.read("src/a.py") == b"print('on disk')\n"


def test_excluded_standard_input_comes_out_as_it_went_in(project):
    name = ("--stdin-filename", "old/a.py", "--exclude", "old", "--force-exclude")
    fixed = project.kdoctor("fix", "--apply", *name, stdin=BEFORE.encode())
    assert (fixed.code, fixed.out) == (0, BEFORE)
