"""The real program in repositories with several configuration files."""

from __future__ import annotations

import json

import jsonschema
import pytest
from typer.testing import CliRunner

import kdoctor
from kdoctor.cli.app import app
from kdoctor.config import config_of
from kdoctor.errors import UsageProblem
from tests.cli.repository import OLD


@pytest.fixture
def nested(repository):
    """Four projects in one repository: each settles its own things, one settles nothing."""
    return repository.write(
        {
            "pyproject.toml": '[project]\nname = "top"\n\n[tool.kdoctor]\nselect = ["KD1"]\n'
            'exclude = ["attic/", "*_pb2.py"]\n\n'
            '[tool.kdoctor.per-file-ignores]\n"scripts/*.py" = ["KD101"]\n',
            "top.py": OLD,
            "top_pb2.py": OLD,
            "attic/dust.py": OLD,
            "scripts/run.py": OLD,
            "quiet/kdoctor.toml": 'ignore = ["KD1"]\n',
            "quiet/a.py": OLD,
            "quiet/deep/er/b.py": OLD,
            "quiet/c_pb2.py": OLD,
            "old/kdoctor.toml": 'target = "keras==2.15"\n',
            "old/a.py": OLD,
            "plain/pyproject.toml": '[project]\nname = "plain"\n',
            "plain/a.py": OLD,
            "plain/scripts/b.py": OLD,
            "heir/kdoctor.toml": 'extend = "../quiet/kdoctor.toml"\nselect = ["backend-function-gone"]\n'
            'exclude = ["/out/"]\n',
            "heir/a.py": OLD,
            "heir/out/a.py": OLD,
            "heir/in/out/a.py": OLD,
        }
    )


FOUND = ["heir/a.py", "heir/in/out/a.py", "plain/a.py", "plain/scripts/b.py", "top.py"]


def test_each_file_is_as_its_own_nearest_configuration_has_it(nested):
    assert nested.files() == FOUND


def test_the_same_is_said_of_a_file_that_is_named_alone(nested):
    below = nested.scan()
    named = [
        path.relative_to(nested.folder).as_posix() for path in sorted(nested.folder.rglob("*.py"))
    ]
    alone = [found for path in named for found in nested.scan(path, "--force-exclude")]
    assert alone == below
    assert nested.scan(*named, "--force-exclude") == below


def test_the_working_folder_changes_nothing(nested, monkeypatch):
    monkeypatch.chdir(nested.folder / "plain")
    seen = {(nested.folder / "plain" / path).resolve() for path in nested.files("..")}
    assert seen == {nested.folder / path for path in FOUND}
    assert nested.files(".", "../top_pb2.py", "--force-exclude") == ["a.py", "scripts/b.py"]


def test_a_file_that_is_named_is_read_though_it_is_excluded(nested):
    assert nested.files("attic/dust.py", "top_pb2.py") == ["attic/dust.py", "top_pb2.py"]
    assert nested.files("attic") == ["attic/dust.py"]
    assert nested.files("attic", "--force-exclude") == []


def test_standard_input_is_as_the_configuration_of_its_name_has_it(nested):
    def named(name, *more):
        return nested.scan("-", "--stdin-filename", name, *more, stdin=OLD)

    assert named("top.py") == [("top.py", "KD101")]
    assert named("quiet/new.py") == []
    assert named("scripts/new.py") == []
    assert named("attic/new.py") == [("attic/new.py", "KD101")]
    assert named("attic/new.py", "--force-exclude") == []
    assert named("old/new.py") == []


def test_workers_get_the_rules_of_each_file(nested):
    long = OLD + "#" * 70_000  # several such are worth a process
    for number in range(4):
        nested.write({f"{name}/many/m{number}.py": long for name in ("quiet", "plain")})
    found = {each.place.path for each in kdoctor.scan(["."], jobs=2).findings}
    assert found == {*FOUND, *(f"plain/many/m{number}.py" for number in range(4))}


def test_the_command_line_comes_before_any_file(nested):
    everything = {each for each, _ in nested.scan("--isolated")}
    assert everything == {
        path.relative_to(nested.folder).as_posix() for path in nested.folder.rglob("*.py")
    }
    # --select starts anew, --ignore adds.
    assert "quiet/a.py" in nested.files("--select", "KD101")
    assert "scripts/run.py" not in nested.files("--select", "KD101"), "per-file-ignores still count"
    assert nested.files("--ignore", "KD101") == []
    assert "old/a.py" in nested.files("--target", "keras==3.15.1")
    # --exclude takes the place of what is configured.
    assert nested.files("--exclude", "top.py", "--select", "KD101") == sorted(
        everything - {"top.py", "scripts/run.py", "old/a.py"}
    )


def test_one_file_with_settings_for_all(nested):
    nested.write({"ci/strict.toml": 'select = ["KD101"]\nexclude = ["quiet"]\n'})
    found = nested.files("--config", "ci/strict.toml")
    assert "attic/dust.py" in found
    assert "scripts/run.py" in found
    assert not [path for path in found if path.startswith("quiet/")], "from the working folder"


def test_the_format_comes_from_where_all_paths_lie_and_the_namespace_from_each(repository):
    source = "from tensorflow.keras import backend as K, layers\n\nlayers.Dense(K.sum(1))\n"
    repository.write(
        {
            "kdoctor.toml": 'format = "concise"\n',
            "a/kdoctor.toml": 'format = "json"\nnamespace = "keras"\n',
            "a/x.py": source,
            "b/x.py": source,
        }
    )
    assert repository.run("scan", "b/x.py").stdout.startswith("b/x.py:3:")
    assert repository.run("scan", "a").stdout.startswith("{")
    assert repository.run("scan", "a", "b").stdout.startswith("a/x.py:1:")
    assert repository.run("scan", "a", "--format", "text").stdout.startswith("kdoctor ")
    first, second = repository.run("fix", "a", "b").stdout.split("--- a/b/x.py")
    assert "+from keras import layers\n+from keras import ops" in first
    assert "+from keras" not in second
    assert "+from keras" not in repository.run("fix", "a", "--namespace", "keep").stdout


def test_unsafe_fixes_are_used_where_the_settings_say_so(repository):
    repository.write({"a.py": OLD.replace("K.sum(x)", "K.sum(x) / K.mean(x)")})
    safe, both = (
        sum(len(file.applied) for file in kdoctor.fix(["a.py"], unsafe=unsafe).files)
        for unsafe in (None, True)
    )
    assert (safe, both) == (1, 2)
    repository.write({"kdoctor.toml": "unsafe = true\n"})
    assert len(kdoctor.fix(["a.py"]).files[0].applied) == both
    assert len(kdoctor.fix(["a.py"], unsafe=False).files[0].applied) == safe
    assert "ops.mean" in repository.run("fix", "a.py").stdout
    assert "ops.mean" not in repository.run("fix", "a.py", "--no-unsafe").stdout


def test_kdoctor_toml_wins_over_a_pyproject_toml_beside_it(repository):
    repository.write(
        {
            "kdoctor.toml": 'ignore = ["KD1"]\n',
            "pyproject.toml": '[tool.kdoctor]\ntarget = "keras==2.15"\n',
            "a.py": OLD,
        }
    )
    assert repository.settings()["settings"]["target"]["value"] == "keras==3.15.1"
    assert repository.files() == []


def test_settings_do_not_reach_out_of_a_repository(repository):
    repository.write(
        {"kdoctor.toml": 'ignore = ["KD1"]\n', "inner/.git/HEAD": "", "inner/a.py": OLD}
    )
    assert repository.files() == ["inner/a.py"]


def test_python_callers_get_the_same(nested):
    paths = {each.place.path for each in kdoctor.scan([nested.folder]).findings}
    assert sorted(paths) == FOUND
    assert not kdoctor.scan(["."], ignore=["KD101"]).findings
    assert not kdoctor.scan(["top.py"], select=[]).findings, "none is selected"
    assert kdoctor.scan(["quiet/a.py"], isolated=True).findings
    assert kdoctor.scan(["quiet/a.py"], select=["KD101"], ignore=[]).findings
    assert not kdoctor.scan(["top.py"], config="quiet/kdoctor.toml").findings
    with pytest.raises(UsageProblem, match="unknown namespace 'tf'"):
        kdoctor.scan(["."], namespace="tf")
    with pytest.raises(UsageProblem, match="unknown keras_2_helpers 'copy'; choose write or imp"):
        kdoctor.scan(["."], keras_2_helpers="copy")


def test_config_says_what_counts_and_from_which_line(nested):
    told = nested.settings("heir/a.py", "--exclude", "x")
    assert told["files"] == ["heir/kdoctor.toml", "quiet/kdoctor.toml"]
    came = {key: each["from"][0] for key, each in told["settings"].items()}
    assert came["select"] == {"kind": "file", "path": "heir/kdoctor.toml", "line": 2}
    assert came["exclude"] == {"kind": "command line"}
    assert came["extend"] == {"kind": "file", "path": "heir/kdoctor.toml", "line": 1}
    assert came["unsafe"] == {"kind": "default"}
    assert came["target"] == {"kind": "project", "note": "newest Keras 3 known"}
    assert told["settings"]["ignore"]["value"] is None, "select starts anew"
    assert told["rules"] == ["KD101"]
    assert told["excluded"] is False

    top = nested.settings("scripts/run.py")
    assert top["settings"]["per-file-ignores"] == {
        "value": {"scripts/*.py": ["KD101"]},
        "from": [{"kind": "file", "path": "pyproject.toml", "line": 9}],
    }
    assert "KD101" not in top["rules"]
    nested.write({"plain/kdoctor.toml": "extend = '../pyproject.toml'\nper-file-ignores = {}\n"})
    plain = nested.run("config", "plain").stdout
    assert any(
        line.split() == ["per-file-ignores", "nothing", "plain/kdoctor.toml:2"]
        for line in plain.splitlines()
    )
    assert "KD101" in nested.settings("scripts")["rules"]
    assert nested.settings("attic/dust.py")["excluded"] is True


def test_config_in_words(nested):
    ended = nested.run("config", "quiet/a.py", "--ignore", "KD2", "--unsafe")
    assert ended.stdout.splitlines()[:19] == [
        "quiet/a.py: quiet/kdoctor.toml",
        "",
        "  target            keras==3.15.1   newest Keras 3 known",
        "  select            all rules       default",
        "  ignore            KD1, KD2        quiet/kdoctor.toml:1",
        "                                    command line",
        "  preview           false           default",
        "  per-file-ignores  nothing         default",
        "  exclude           nothing         default",
        "  extend            no file         default",
        "  namespace         keep            default",
        "  backend           tensorflow      default",
        "  keras-2-helpers   write           default",
        "  project-types     true            default",
        "  unsafe            true            command line",
        "  format            text            default",
        "  rules             nothing         default",
        "  baseline          nothing         default",
        "  cache-dir         .kdoctor_cache  default",
    ]
    assert ended.stdout.endswith("rules are selected; --json lists them.\n")


def test_the_schema_says_what_kdoctor_takes(repository):
    schema = json.loads(repository.run("config", "--schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    right = [
        {key: example}
        for key, described in schema["properties"].items()
        for example in described["examples"]
    ]
    wrong = [
        {"targt": "keras==3"}, {"target": 3}, {"select": "KD1"}, {"select": [1]}, {"unsafe": "yes"},
        {"per-file-ignores": {"a": "KD1"}}, {"namespace": "tf"}, {"extend": ["a"]}, {"format": 1},
        {"backend": "tf"}, {"backend": ["tf"]}, {"backend": 1},
    ]  # fmt: skip
    assert all(described["description"] for described in schema["properties"].values())
    validator = jsonschema.Draft202012Validator(schema)
    for table in right:
        validator.validate(table)
        config_of(table, str)
    for table in wrong:
        assert not validator.is_valid(table), table
        with pytest.raises(UsageProblem):
            config_of(table, str)


def test_an_empty_option_selects_no_less_than_none(repository):
    repository.write({"a.py": OLD})
    assert repository.files("--select", "") == ["a.py"]


def test_what_is_excluded_is_not_even_asked_for_its_settings(repository):
    repository.write(
        {"kdoctor.toml": "exclude = ['bad/']\n", "bad/kdoctor.toml": "a =", "a.py": OLD}
    )
    assert repository.files() == ["a.py"]


def test_the_target_command_takes_the_same_settings(repository):
    repository.write({"pyproject.toml": "[tool.kdoctor]\ntarget = 'keras==2.15'\n", "c.toml": ""})
    assert repository.run("target").stdout.startswith("keras 2.15.0 (pyproject.toml:2)")
    for more in (["--isolated"], ["--config", "c.toml"]):
        assert repository.run("target", *more).stdout.startswith("keras 3.15.1 (newest")


def test_patterns_of_an_extended_file_count_from_its_folder_and_mere_names_hold_everywhere(
    repository,
):
    repository.write(
        {
            "shared/base.toml": "exclude = ['/gen/', '*_pb2.py', 'attic/']\n"
            "[per-file-ignores]\n'quiet.py' = ['KD1']\n'app/loud.py' = ['KD1']\n",
            "shared/gen/a.py": OLD,
            "shared/kdoctor.toml": "extend = 'base.toml'\n",
            "attic/app/kdoctor.toml": "extend = '../../shared/base.toml'\n",
            "attic/app/gen/a.py": OLD,
            "attic/app/quiet.py": OLD,
            "attic/app/loud.py": OLD,
            "attic/app/a_pb2.py": OLD,
            "attic/app/in/attic/a.py": OLD,
        }
    )
    assert repository.files() == ["attic/app/gen/a.py", "attic/app/loud.py"]
    assert repository.files("attic/app/in/attic") == ["attic/app/in/attic/a.py"]
    assert repository.files("attic/app/in/attic", "--force-exclude") == []


def test_the_program_itself_in_a_repository_of_two_projects(project):
    project.write(
        {
            ".git/HEAD": "",
            "pyproject.toml": '[tool.kdoctor]\nformat = "concise"\nexclude = ["legacy/"]\n',
            "new/train.py": OLD,
            "legacy/train.py": OLD,
            "old/kdoctor.toml": 'target = "keras==2.15"\n',
            "old/train.py": OLD,
            "notes/pyproject.toml": '[tool.kdoctor]\nextend = "../pyproject.toml"\n'
            '[tool.kdoctor.per-file-ignores]\n"*.md" = ["KD1"]\n',
            "notes/guide.md": f"```python\n{OLD}```\n",
            "notes/book.ipynb": project.notebook(OLD),
        }
    )
    ended = project.kdoctor("scan")
    assert (ended.code, ended.err) == (1, "")
    places = [line.partition(" KD101")[0] for line in ended.out.splitlines()]
    assert places == ["new/train.py:5:12:", "notes/book.ipynb:cell 1:5:12:"]
    committed = ["new/train.py", "legacy/train.py", "old/train.py", "notes/guide.md"]
    ended = project.kdoctor("fix", "--apply", "--force-exclude", *committed)
    assert ended.code == 0, ended
    changed = [path for path in committed if b"ops.sum" in project.read(path)]
    assert changed == ["new/train.py"]


def test_a_configuration_in_utf_16_is_no_configuration_that_is_not_there(tmp_path, monkeypatch):
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "pyproject.toml").write_bytes(
        '[tool.kdoctor]\nselect = ["KD102"]\n'.encode("utf-16")
    )
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["scan", "--no-cache", "."]).exit_code == 0
