"""``kdoctor target``, and what scan and fix make of a project's own files."""

from __future__ import annotations

import pytest

from kdoctor import __version__

OLD = "from keras import backend as K\n\nK.sum(1)\n"


def test_a_scan_takes_the_target_from_the_project_and_names_the_source(project):
    project.write({"requirements.txt": "keras==2.10.0\n", "src/old.py": OLD, ".git/HEAD": ""})
    ended = project.kdoctor("scan", "src")
    assert ended.out.split("\n")[0].endswith("checking for keras 2.10.0 (requirements.txt:1)")
    assert "To see what Keras 3 breaks: kdoctor scan --target keras==3" in ended.out
    assert (ended.code, ended.err) == (0, "")
    ended = project.kdoctor("scan", "src", "--target", "keras==3")
    assert (ended.code, "That is Keras 2" in ended.out) == (1, False)
    assert project.kdoctor("fix", "src").code == 0
    assert "checking for keras 2.10.0 (requirements.txt:1)" in project.kdoctor("fix", "src").err


def test_standard_input_belongs_to_the_working_folder(project):
    project.write({"requirements.txt": "keras==2.10.0\n", ".git/HEAD": ""})
    assert "keras 2.10.0" in project.kdoctor("scan", "-", stdin=OLD.encode()).out


def test_a_conflict_is_said_on_standard_error_and_changes_no_exit_code(project):
    project.write(
        {"requirements.txt": "keras==3.5.0\n", "requirements-old.txt": "keras==2.10\n", "a.py": ""}
    )
    ended = project.kdoctor("scan", "a.py")
    assert ended.code == 0
    assert ended.err == (
        "kdoctor: requirements-old.txt:1 says keras==2.10 and requirements.txt:1 says "
        "keras==3.5.0: requirements.txt:1 is used, as it is read first\n"
    )
    assert project.kdoctor("scan", "a.py", "-q").err == ""
    assert project.kdoctor("scan", "a.py", "--format", "json").json["conflicts"]


@pytest.mark.parametrize("command", ["scan", "fix", "target"])
def test_a_broken_lock_is_one_sentence_and_two_and_harms_nothing_else(project, command):
    project.write(
        {
            "uv.lock": "<<<<<<< HEAD\nkeras\n",
            "requirements.txt": "keras==3.5.0\n",
            "old.py": OLD,
            ".git/HEAD": "",
        }
    )
    ended = project.kdoctor(command, "old.py")
    assert ended.code == 2
    assert "kdoctor: uv.lock: unresolved merge conflict (line 1)\n" in ended.err
    assert "keras 3.5.0 (requirements.txt:1)" in ended.out + ended.err
    if command == "scan":
        assert "old.py:3:1: KD101" in ended.out
        unreadable = project.kdoctor("scan", "old.py", "--format", "json").json["files"]
        assert [file["path"] for file in unreadable["unreadable"]] == ["uv.lock"]


def test_an_absurd_target_and_a_wrong_setting_end_with_a_sentence_and_two(project):
    ended = project.kdoctor("target", "--target", "keras==9")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(
        "kdoctor: keras 9 is not a known release: kdoctor knows keras 2.0 to 3."
    )
    ended = project.kdoctor("target", "nowhere")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("kdoctor: nowhere: no such file or folder; ")
    ended = project.write({"kdoctor.toml": "tragte = 'x'\n"}).kdoctor("scan")
    assert (ended.code, ended.out) == (2, "")
    assert (
        ended.err == "kdoctor: kdoctor.toml:1: unknown setting 'tragte'; did you mean 'target'?\n"
    )


def test_the_chain_names_each_place_in_order_and_what_counts(project):
    project.write(
        {
            "requirements.txt": "tensorflow>=2.4,<2.12\nkeras\n",
            "setup.cfg": "[options]\ninstall_requires = tensorflow\n",
            "Pipfile": "[packages]\nnumpy = '*'\n",
            ".git/HEAD": "",
        }
    )
    ended = project.kdoctor("target")
    assert ended.code == 0
    assert ended.out == (
        "tensorflow 2.11.1 (requirements.txt:1 says tensorflow<2.12,>=2.4: the newest matching release, "
        "with keras 2.11.0)\n\n"
        "  import keras     keras 2.11.0\n"
        "  tf.keras         keras 2.11.0, with tensorflow 2.11.1\n\n"
        "Checked in this order:\n"
        "    --target: not given\n"
        "    [tool.kdoctor]: names no target\n"
        "  * requirements.txt: tensorflow<2.12,>=2.4, line 1; keras, line 2\n"
        "    setup.cfg: tensorflow, line 2\n"
        "    Pipfile: nothing about Keras\n"
        "    otherwise: newest Keras 3 known\n"
        "  (* decides)\n\n"
        "To see what Keras 3 breaks: kdoctor scan --target keras==3\n"
    )
    told = project.kdoctor("target", "--json").json
    assert told["target"]["name"] == "tensorflow"
    assert (told["keras"], told["tf.keras"], told["tensorflow"]) == ("2.11.0", "2.11.0", "2.11.1")
    assert [each["place"] for each in told["asked"] if each["counts"]] == ["requirements.txt"]
    assert [each["counts"] for each in told["evidence"]] == [True, True, False]
    given = project.kdoctor("target", "--target", "keras==3.15.1")
    assert given.out.startswith("keras 3.15.1 (--target)\n")
    assert "  * --target: keras==3.15.1\n" in given.out
    assert "    requirements.txt: tensorflow" in given.out


def test_each_file_is_checked_for_the_keras_of_its_own_project(project):
    project.write(
        {
            "requirements.txt": "keras==3.15.1\n",
            "old/requirements.txt": "keras==2.10.0\n",
            "old/deep/a.py": OLD,
            "new/b.py": OLD,
            "new/c.py": OLD,
            ".git/HEAD": "",
        }
    )
    ended = project.kdoctor("scan")
    assert ended.code == 1
    assert ended.out.startswith(
        f"kdoctor {__version__}: checking for keras 3.15.1 (requirements.txt:1)\n"
        "  1 file: keras 2.10.0 (old/requirements.txt:1)\n"
        "Part of it is Keras 2. To see what Keras 3 breaks: kdoctor scan --target keras==3\n"
    )
    told = project.kdoctor("scan", "--format", "json").json
    assert {finding["path"] for finding in told["findings"]} == {"new/b.py", "new/c.py"}
    assert [(use["version"], use["files"]) for use in told["targets"]] == [
        ("3.15.1", 2),
        ("2.10.0", 1),
    ]
    # The same is said about a file that is named alone.
    assert project.kdoctor("scan", "old/deep/a.py").code == 0
    assert project.kdoctor("fix", "old").code == 0
    assert project.kdoctor("scan", "old", "--target", "keras==3").code == 1
    assert "+++ b/new/b.py" in project.kdoctor("fix").out
    assert "old/deep" not in project.kdoctor("fix").out


def test_the_number_of_processes_changes_no_files_target(project):
    filler = "# filler\n" * 20000
    files = {f"p{n}/m.py": OLD + filler for n in range(12)}
    pins = {
        f"p{n}/requirements.txt": f"keras=={'2.10.0' if n % 2 else '3.15.1'}\n" for n in range(12)
    }
    project.write({**files, **pins, ".git/HEAD": ""})
    one = project.kdoctor("scan", "--format", "json", "--jobs", "1")
    assert {finding["path"] for finding in one.json["findings"]} == {
        f"p{n}/m.py" for n in range(0, 12, 2)
    }
    assert one.out == project.kdoctor("scan", "--format", "json", "--jobs", "4").out


def test_where_no_file_has_the_target_of_the_top_that_of_the_most_is_named_first(project):
    project.write({"code/requirements.txt": "keras==3.5.0\n", "code/a.py": OLD, ".git/HEAD": ""})
    ended = project.kdoctor("scan")
    assert ended.out.split("\n")[0].endswith("keras 3.5.0 (code/requirements.txt:1)")
