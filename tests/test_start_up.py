"""What a command imports before it has found anything to do."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What one of these costs is more than a scan of a hundred clean files.
HEAVY = {
    "libcst", "markdown_it", "tensorflow", "keras", "tf_keras", "numpy", "hypothesis",
    "rich.console", "rich.progress", "rich.table", "rich.markdown",
    "multiprocessing.pool", "concurrent.futures.process",
}  # fmt: skip


def imported(code, cwd):
    """Return the names of all modules that are imported once ``code`` ran in its own process."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sorted(sys.modules))"],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


def program(*arguments):
    return f"""
import os, sys
from kdoctor.__main__ import main
os._exit = sys.exit
sys.argv = ["kdoctor", *{arguments!r}]
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
"""


@pytest.mark.parametrize("arguments", [("--help",), ("scan", "--help"), ("--version",)])
def test_help_imports_nothing_that_works(arguments, tmp_path):
    modules = imported(program(*arguments), tmp_path)
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith(("kdoctor.documents", "kdoctor.rules"))}


@pytest.mark.parametrize("format_name", ["text", "json", "sarif", "gitlab", "junit"])
def test_a_scan_of_a_clean_file_imports_nothing_heavy(format_name, tmp_path):
    (tmp_path / "clean.py").write_text("import os\n\nprint(os.sep)\n")
    modules = imported(program("scan", "clean.py", "--format", format_name), tmp_path)
    assert not modules & HEAVY
    assert "kdoctor.engine" in modules
    assert not modules & {"typer", "click", "pydantic"}  # which only read the command line
    of_no_use = {
        "documents.document",
        "keras_api.instances",
        "keras_api.members",
        "suppression.silencing",
        "rules.registry",
        "engine.baseline",
    }
    assert not modules & {"pathspec", *(f"kdoctor.{name}" for name in of_no_use)}
    heavy_rooms = ("kdoctor.syntax.", "kdoctor.rewrite.", "kdoctor.rules.names")
    assert not {name for name in modules if name.startswith(heavy_rooms)}


def test_a_command_does_not_make_the_others(tmp_path):
    modules = imported(program("scan", "--help"), tmp_path)
    assert "kdoctor.cli.scan" in modules
    others = {"fix", "explain", "report", "verify", "reference", "server", "api", "env"}
    assert not modules & {f"kdoctor.cli.{name}" for name in others}


def test_a_scan_imports_nothing_of_what_writes_files(tmp_path):
    (tmp_path / "old.py").write_text("from keras import backend as K\n\nK.sum(1)\n")
    code = program("scan", "old.py").replace("assert end.code == 0", "assert end.code == 1")
    modules = imported(code, tmp_path)
    of_files = (
        "engine.applying",
        "engine.journal",
        "engine.mend",
        "engine.repair",
        "rewrite.imports",
    )
    of_others = ("engine.anchors", "engine.finding_diffs", "engine.hearing", "documents.writing")
    assert not modules & {f"kdoctor.{name}" for name in (*of_files, *of_others)}


def test_import_kdoctor_imports_no_other_module_of_it(tmp_path):
    modules = imported("import kdoctor", tmp_path)
    assert {name for name in modules if name.startswith("kdoctor")} == {"kdoctor"}


def test_what_kdoctor_offers_is_there_when_asked_for(tmp_path):
    code = "import kdoctor\nfor name in kdoctor.__all__: getattr(kdoctor, name)"
    assert "kdoctor.engine" in imported(code, tmp_path)


def test_nodes_are_what_they_are_without_the_methods_that_libcst_throws_away(tmp_path):
    asked = """
import dataclasses
import libcst
from inspect import isfunction
usual = dataclasses.dataclass
kinds = [libcst.Name, libcst.Call, libcst.Module, libcst.Add, libcst.If]
made = [
    (name, value.__module__, value.__qualname__, value.__code__.co_code)
    for kind in kinds for name, value in sorted(vars(kind).items()) if isfunction(value)
]
one, other = libcst.Name("a"), libcst.Name("a")
print(one == other, len({one, other}), repr(one), made, usual.__module__)
"""
    plain, lean = (
        subprocess.run(
            [sys.executable, "-c", begin + asked], cwd=tmp_path, capture_output=True, check=True
        ).stdout
        for begin in ("", "from kdoctor.lean_import import import_libcst; import_libcst()")
    )
    assert b"__eq__" in plain
    assert lean == plain


def test_no_command_needs_a_framework(tmp_path):
    (tmp_path / "old.py").write_text("from keras import backend as K\n\nK.sum(1)\n")
    code = program("scan", "old.py").replace("assert end.code == 0", "assert end.code == 1")
    assert not imported(code, tmp_path) & {"tensorflow", "keras", "tf_keras", "numpy"}


def test_a_project_that_pins_keras_costs_no_parser_of_what_it_does_not_use(tmp_path):
    (tmp_path / "clean.py").write_text("import os\n\nprint(os.sep)\n")
    (tmp_path / "requirements.txt").write_text("numpy>=1.2\nkeras==3.15.1\ntensorflow==2.21.0\n")
    modules = imported(program("scan", "clean.py"), tmp_path)
    assert "kdoctor.project.readers.requirements_txt" in modules
    unused = {"yaml", "tomllib", "configparser", "packaging.requirements", "packaging.specifiers"}
    assert not modules & unused


def test_a_configuration_costs_a_parser_of_toml_and_no_rule(tmp_path):
    (tmp_path / "clean.py").write_text("import os\n\nprint(os.sep)\n")
    (tmp_path / "kdoctor.toml").write_text("ignore = ['KD1']\n[per-file-ignores]\n'a*' = ['KD2']\n")
    modules = imported(program("scan", "clean.py"), tmp_path)
    assert "tomllib" in modules
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith("kdoctor.rules.names")}


def test_a_scan_imports_the_rules_that_a_file_has_words_for(tmp_path):
    (tmp_path / "old.py").write_text("from keras import backend as K\n\nK.sum(1)\n")
    code = program("scan", "old.py").replace("assert end.code == 0", "assert end.code == 1")
    modules = imported(code, tmp_path)
    assert "kdoctor.rules.names.backend_function_gone" in modules
    others = {"saving.load_by_name", "behaviour.decay_is_ignored", "members.optimizer_lr"}
    assert not modules & {f"kdoctor.rules.{name}" for name in others}
