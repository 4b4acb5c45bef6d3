"""What is not read is told, counted, and no success: silence would pass for a clean bill."""

import json

import pytest

OLD = "from keras import backend as K\nK.sum(1)\n"
TARGET = ("--target", "keras==3.15.1")


def notebook(*sources, **metadata):
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": each,
        }
        for each in sources
    ]
    content = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content)


@pytest.mark.parametrize(
    ("command", "code"),
    [("scan", 2), ("fix", 2), ("fix --apply", 2), ("baseline write", 2), ("report --json", 2)],
)
@pytest.mark.parametrize("holds", [{}, {"data.csv": "1"}, {".gitignore": "*", "a.py": OLD}])
def test_where_nothing_is_read_that_is_no_success(project, command, code, holds):
    project.write(holds)
    if ".gitignore" in holds:
        project.git("init", "--quiet")
    ended = project.kdoctor(*command.split(), ".", *TARGET)
    assert ended.code == code
    assert "kdoctor: no file was read" in ended.err


def test_named_files_that_are_excluded_are_no_failure_of_a_hook(project):
    project.write({"a.py": OLD, "kdoctor.toml": "exclude = ['a.py']\n"})
    ended = project.kdoctor("scan", "--force-exclude", "a.py", *TARGET)
    assert (ended.code, "no file was read" in ended.err) == (0, False)


def test_a_list_of_what_is_allowed_is_read_as_git_reads_it(project):
    project.write({".gitignore": "*\n!*/\n!*.py\n", "src/a.py": OLD, "src/b.md": "keras"})
    ended = project.kdoctor("scan", "--format", "json", *TARGET)
    assert ended.json["files"]["read"] == 1
    assert ended.code == 1


def test_what_git_tracks_is_read_though_it_is_ignored(project):
    project.write({"gen/a.py": OLD}).committed()
    project.write({".gitignore": "gen/\n", "gen/new.py": OLD})
    told = project.kdoctor("scan", "--format", "json", *TARGET).json
    assert [each["path"] for each in told["findings"]] == ["gen/a.py"]


ESCAPED = notebook(OLD).replace("keras", "\\u006beras")
PARTED = notebook(["from ker", "as import backend as K\n", "K.sum(1)"])
CAPITAL = notebook("import tensorflow as tf\ntf.keras.backend.in_top_k(1, 2, 3)").replace(
    "keras", "\\u006B\\u0065ras"
)


@pytest.mark.parametrize("text", [ESCAPED, PARTED, CAPITAL], ids=["escaped", "parted", "capital"])
def test_a_word_is_found_however_a_notebook_spells_it(project, text):
    project.write({"a.ipynb": text})
    assert b"keras" not in project.read("a.ipynb")
    with_gate = project.kdoctor("scan", "--format", "json", *TARGET)
    without = project.kdoctor("scan", "--no-gate", "--format", "json", *TARGET)
    assert with_gate.code == 1
    assert with_gate.json["findings"] == without.json["findings"]


BYTES = bytes(range(256)) * 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ipynb", ""),
        ("a.ipynb", "<html></html>"),
        ("a.ipynb", "[]"),
        ("a.ipynb", '{"cells": 3}'),
        ("a.ipynb", BYTES),
        ("a.ipynb", "version https://git-lfs.github.com/spec/v1\n"),
        ("a.py", BYTES),
        ("a.md", BYTES),
        ("a.rst", "keras".encode("utf-16-le")),
    ],
)
def test_what_is_not_what_it_is_called_is_named_and_counted(project, name, content):
    project.write({name: content, "b.py": OLD})
    ended = project.kdoctor("scan", *TARGET)
    assert ended.code == 2
    assert f"{name}: not checked: " in ended.out
    assert "(2 files read, 1 file not checked)" in ended.out
    assert "b.py:2:1: KD101" in ended.out


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.h5", b"\x89HDF\r\n\x1a\n", "not text, but an HDF5 file"),
        ("a.h5.py", b"\x89HDF\r\n\x1a\n\0", "not text, but an HDF5 file"),
        ("a.pb", BYTES, "not text, but binary data"),
        ("a.txt", "nothing of concern", "the extension .txt is unknown; say what kind of file"),
        ("a", "nothing of concern", "the file has no extension; say what kind of file"),
    ],
)
@pytest.mark.parametrize("command", ["scan", "fix", "verify"])
def test_a_named_file_that_cannot_be_read_is_told_whatever_it_holds(
    project, command, name, content, why
):
    target = () if command == "verify" else TARGET
    ended = project.write({name: content}).kdoctor(command, name, *target)
    assert ended.code == 2
    assert f"{name}: not checked: {why}" in ended.out + ended.err


def test_a_script_that_says_nothing_of_keras_is_read_without_a_word(project):
    ended = project.write({"tool": "#!/usr/bin/env python\nprint(1)\n"}).kdoctor(
        "scan", "tool", *TARGET
    )
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("line", "construct"),
    [
        ("print 'x'", "a print statement"),
        ("print x, y", "a print statement"),
        ("if x: print x", "a print statement"),
        ("exec code in scope", "an exec statement"),
        ("try:\n    x = 1\nexcept Exception, e:\n    print(e)", "`except E, e:`"),
        ("raise ValueError, 'no'", "`raise E, text`"),
        ("x = a <> b", "the operator `<>`"),
        ("x = `a`", "backquotes"),
        ("os.chmod(p, 0755)", "an octal number such as `0755`"),
        ("x = 10L", "a long number such as `10L`"),
        ("x = ur'a'", "a string such as `ur''`"),
        ("f = lambda (a, b): a", "a tuple as a parameter"),
        ("def f(self, (a, b)): pass", "a tuple as a parameter"),
        ("if x:\n        y = 1\n\ty = 2", "indentation that mixes tabs and spaces"),
    ],
)
def test_python_2_is_called_so_with_what_to_do(project, line, construct):
    project.write({"a.py": f"import keras\n{line}\n", "b.ipynb": notebook(OLD, line)})
    ended = project.kdoctor("scan", *TARGET)
    assert ended.code == 2
    of_file, of_notebook = (each for each in ended.out.splitlines() if "not checked: " in each)
    for told, place in ((of_file, "(line "), (of_notebook, "(cell 2, line ")):
        assert f"not checked: Python 2: {construct} {place}" in told
        assert told.endswith("convert it first, with 2to3 or python-modernize")
    assert "1 code block skipped (Python 2), 2 files not checked" in ended.out
    # What is Python in it is checked all the same.
    assert "b.ipynb:cell 1:2:1: KD101" in ended.out


@pytest.mark.parametrize(
    ("above", "handler"),
    [
        ("", "ValueError, TypeError"),
        ("import socket\nfrom queue import (\n    Empty,\n)", "socket.error, Empty"),
        ("class mine(Exception): ...", "ValueError, mine"),
        ("mine = OSError", "KeyError, mine"),
        ("from errors import *", "KeyError, mine"),
        ("", "(KeyError, mine)"),
        ("'''Of old:\nexcept Exception, e:\n'''", "KeyError"),
    ],
)
def test_exceptions_without_parentheses_are_python_3_where_the_file_knows_them(
    project, above, handler
):
    code = f"{OLD}\n{above}\ntry:\n    pass\nexcept {handler}:\n    pass\n"
    project.write({"a.py": code})
    ended = project.kdoctor("scan", *TARGET)
    assert "a.py:2:1: KD101" in ended.out
    assert "not checked" not in ended.out


@pytest.mark.parametrize(
    "line", ["x = (", "print(x", "def f(:", "x = 'a <> b", "# print x\nx = ]", "x = 'print x' y z"]
)
def test_a_slip_is_not_called_python_2(project, line):
    project.write({"a.py": f"import keras\n{line}\n"})
    ended = project.kdoctor("scan", *TARGET)
    assert ended.code == 2
    assert "Python 2" not in ended.out


def test_a_notebook_with_cells_in_python_2_keeps_them_when_the_rest_is_fixed(project):
    project.write({"a.ipynb": notebook(OLD, "print K")})
    ended = project.kdoctor("fix", "--apply", *TARGET)
    assert ended.code == 2
    assert "print K" in project.read("a.ipynb").decode()


def test_links_that_lead_out_are_told(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "a.py"
    outside.write_text(OLD)
    (project.folder / "a.py").symlink_to(outside)
    project.write({"b.py": OLD})
    ended = project.kdoctor("scan", *TARGET)
    assert "kdoctor: not read: 1 link points outside the folder (a.py)" in ended.err


def test_a_device_is_for_the_reference_and_not_for_code_in_files(project):
    project.write({"a.py": OLD})
    ended = project.kdoctor("verify", "a.py", "--device", "cpu")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "kdoctor: --device is for the check of the reference, without a PATH: code in files is "
        "run on the CPU. Leave out --device, or the paths\n"
    )
