"""What is wrong with a configuration is one sentence, with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.repository import OLD


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"kdoctor.toml": "selct = []\n"}, "kdoctor.toml:1: unknown setting 'selct'; did you mean 'select'?"),
        ({"kdoctor.toml": "\nper_file_ignores = {}\n"}, "kdoctor.toml:2: unknown setting 'per_file_ignores'; did you mean 'per-file-ignores'?"),
        ({"pyproject.toml": "[tool.kdoctor]\nselect = ['KD101', 'KD1O2']\n"}, "pyproject.toml:2: select: there is no rule 'KD1O2'; did you mean KD102?"),
        ({"kdoctor.toml": "[per-file-ignores]\n'a*' = []\n'b' = ['nope']\n"}, "kdoctor.toml:3: per-file-ignores: there is no rule 'nope'; `kdoctor rules` lists them all"),
        ({"kdoctor.toml": "keras-2-helpers = 'copy'\n"}, 'kdoctor.toml:1: keras-2-helpers must be one of "import", "write"'),
        ({"kdoctor.toml": "namespace = 'tf'\n"}, 'kdoctor.toml:1: namespace must be one of "keep", "keras", "tf.keras"'),
        ({"kdoctor.toml": "backend = ['all', 'tf']\n"}, 'kdoctor.toml:1: backend must be one of "all", "jax", "tensorflow", "torch", or a list of them'),
        ({"kdoctor.toml": "select = ['KD8']\n"}, 'kdoctor.toml:1: select: KD8: these rules are asked with a backend only; add --backend all, or `backend = "all"` to the settings'),
        ({"kdoctor.toml": "unsafe = 'yes'\n"}, "kdoctor.toml:1: unsafe must be true or false, as in unsafe = true"),
        ({"kdoctor.toml": "exclude = 'a'\n"}, 'kdoctor.toml:1: exclude must be a list of strings, as in exclude = ["docs/old/", "*_legacy.py"]'),
        ({"kdoctor.toml": "exclude = ['a', '[z-a]']\n"}, "kdoctor.toml:1: exclude: invalid pattern '[z-a]'; write it as in .gitignore: docs/, *_old.py, /a/**/b.py"),
        ({"kdoctor.toml": "target = 'keras==9'\n"}, "kdoctor.toml:1: target: keras 9 is not a known release: kdoctor knows keras 2.0 to 3.15.1."),
        ({"kdoctor.toml": "a = \n"}, "kdoctor.toml: not valid TOML: invalid value (line 1); fix it, or ignore all settings with --isolated"),
        ({"pyproject.toml": "[tool.kdoctor]\n<<<<<<< HEAD\n"}, "pyproject.toml: not valid TOML: invalid statement (line 2); fix it, or ignore all settings with --isolated"),
        ({"kdoctor.toml": "extend = 'b.toml'\n"}, "kdoctor.toml:1: extend: no such file: b.toml; the path is relative to the file that contains `extend`"),
        ({"kdoctor.toml": "extend = 'pyproject.toml'\n", "pyproject.toml": "[project]\n"}, "kdoctor.toml:1: extend: pyproject.toml has no [tool.kdoctor] table"),
        ({"kdoctor.toml": "extend = 'b/c.toml'\n", "b/c.toml": "unsafe = true\nextend = '../kdoctor.toml'\n"}, "b/c.toml:2: extend is circular: kdoctor.toml → b/c.toml → kdoctor.toml; remove one of them"),
        ({"kdoctor.toml": "extend = 'kdoctor.toml'\n"}, "kdoctor.toml:1: extend is circular: kdoctor.toml → kdoctor.toml; remove one of them"),
        ({"kdoctor.toml": "baseline = ''\n"}, 'kdoctor.toml:1: baseline must be a path, as in baseline = ".kdoctor-baseline.json"'),
        ({"kdoctor.toml": "extend = ''\n"}, 'kdoctor.toml:1: extend must be a path, as in extend = "../kdoctor.toml"'),
        ({"kdoctor.toml": "cache-dir = ''\n"}, 'kdoctor.toml:1: cache-dir must be a path, as in cache-dir = "build/kdoctor"'),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence_with_its_place(repository, files, sentence):
    repository.write({"a.py": OLD, **files})
    assert repository.problem("scan").startswith(f"kdoctor: {sentence}")
    assert repository.problem("config") == repository.problem("scan")


def test_settings_that_hold_for_no_file_are_named_too(repository):
    repository.write({"a.py": OLD, "sub/kdoctor.toml": "select = ['KD9999']\n", "sub/a.txt": ""})
    ended = repository.run("scan", "--target", "keras==3.15.1")
    said = "sub/kdoctor.toml: line 1: select: there is no rule 'KD9999'; `kdoctor rules` lists them all"
    assert (ended.exit_code, ended.stderr) == (2, f"kdoctor: {said}\n")
    assert "KD101" in ended.stdout


def test_a_pyproject_that_is_no_toml_is_named_as_the_scan_names_it(repository):
    repository.write({"a.py": "import keras\n", "pyproject.toml": "[project]\nkeras = \n"})
    sentence = "kdoctor: pyproject.toml: not valid TOML: invalid value (line 2)\n"
    for command in (["scan"], ["config"]):
        ended = repository.run(*command)
        assert (ended.exit_code, ended.stderr) == (2, sentence), command
        assert ended.stdout, "what else can be said is said"
    ended = repository.run("baseline", "write")
    assert (ended.exit_code, ended.stderr) == (0, sentence), "it is named, and accepted"
    assert repository.run("baseline", "check").exit_code == 0
    assert repository.run("scan").exit_code == 2
    told = json.loads(repository.run("config", "--json").stdout)
    assert told["unreadable"] == [
        {"path": "pyproject.toml", "why": "not valid TOML: invalid value (line 2)"}
    ]


@pytest.fixture
def unreadable(repository):
    """A ``pyproject.toml`` that not even root can read."""
    memory = Path("/proc/self/mem")  # nothing is at its begin: EIO
    if not memory.is_file():
        pytest.skip("this system has no such file")
    repository.write({"a.py": "import keras\n"})
    (repository.folder / "pyproject.toml").symlink_to(memory)
    return repository


def test_a_pyproject_that_may_not_be_read_is_named_whoever_asks(unreadable):
    sentence = "kdoctor: pyproject.toml: cannot be read: Input/output error\n"
    # With a target, only the settings are asked for; it may have some.
    asked = ["--target", "keras==3.15.1"]
    for command in (["scan"], ["scan", *asked], ["config"], ["config", *asked]):
        ended = unreadable.run(*command)
        assert (ended.exit_code, ended.stderr) == (2, sentence), command
    assert unreadable.run("scan", *asked, "--isolated").exit_code == 0


def test_a_pyproject_that_is_named_must_be_readable(unreadable):
    sentence = (
        "kdoctor: pyproject.toml: cannot be read: Input/output error; "
        "fix it, or ignore all settings with --isolated"
    )
    assert unreadable.problem("scan", "--config", "pyproject.toml") == sentence
    unreadable.write({"sub/kdoctor.toml": "extend = '../pyproject.toml'\n"})
    assert unreadable.problem("scan", "sub") == sentence


def test_a_format_that_there_is_not_is_named_with_its_line(repository):
    repository.write({"a.py": OLD, "kdoctor.toml": "\nformat = 'jsn'\n"})
    begin = "kdoctor: kdoctor.toml:2: format: unknown format 'jsn'; choose one of: concise, "
    assert repository.problem("scan").startswith(begin)
    assert repository.problem("config").startswith(begin)
    assert repository.run("fix").exit_code == 1


def test_config_and_isolated_do_not_go_together(repository):
    repository.write({"k.toml": "", "pyproject.toml": "[project]\n"})
    assert "cannot be combined with --isolated" in repository.problem(
        "scan", "--config", "k.toml", "--isolated"
    )
    assert (
        repository.problem("scan", "--config", "l.toml")
        == "kdoctor: --config: no such file: l.toml"
    )
    said = repository.problem("scan", "--config", "")
    assert said == "kdoctor: --config: no such file: ''"
    said = repository.problem("scan", "--config", "l" * 300)
    assert said == f"kdoctor: --config: no such file: {'l' * 300}"
    said = repository.problem("config", "")
    assert said == "kdoctor: '': no such file or folder; check the path"
    said = repository.problem("scan", "--config", "~nobody-of-this-name/k.toml")
    assert said == "kdoctor: --config: no such file: ~nobody-of-this-name/k.toml"
    said = repository.problem("scan", "--config", "pyproject.toml")
    assert said == "kdoctor: --config: pyproject.toml has no [tool.kdoctor] table"


def test_an_exclude_that_is_no_pattern_is_named_and_an_empty_one_excludes_nothing(repository):
    repository.write({"a.py": OLD})
    said = repository.problem("scan", "a.py", "--exclude", "[z-a]")
    assert said.startswith(
        "kdoctor: --exclude: invalid pattern '[z-a]'; write it as in .gitignore: "
    )
    assert repository.files("--exclude", "") == ["a.py"]


def test_a_broken_pyproject_of_others_costs_the_target_only(repository):
    repository.write({"pyproject.toml": "[project\nkeras = kdoctor\n", "a.py": OLD})
    ended = repository.run("scan", "--format", "concise")
    assert ended.exit_code == 2
    assert ended.stdout.startswith("a.py:5:12: KD101")
