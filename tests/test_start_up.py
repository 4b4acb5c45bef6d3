"""What a command imports before it has found anything to do."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

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


def named(modules):
    """Return modules of kdoctor by their whole names; each is there, whatever it was called once."""
    found = {f"kdoctor.{name}" for name in modules}
    assert all(map(find_spec, found))
    return found


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
    assert "msgspec" in modules
    assert "typing_extensions" not in modules
    of_no_use = {
        "documents.document",
        "keras_api.instances",
        "keras_api.members",
        "suppression.match_findings",
        "rules.registry",
        "engine.baseline",
    }
    assert not modules & {"pathspec", "configparser", *named(of_no_use)}
    heavy_rooms = ("kdoctor.syntax.", "kdoctor.rewrite.", "kdoctor.rules.names")
    assert not {name for name in modules if name.startswith(heavy_rooms)}


@pytest.mark.parametrize("rules", ["KD1", "freezing"])
def test_rules_are_selected_without_importing_one(rules, tmp_path):
    (tmp_path / "clean.py").write_text("import os\n")
    modules = imported(program("scan", "clean.py", "--select", rules), tmp_path)
    assert "kdoctor.rules.topics" in modules
    assert "libcst" not in modules
    assert not {name for name in modules if name.startswith("kdoctor.rules.behaviour")}


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
        "engine.fixes.write",
        "engine.fixes.undo_journal",
        "engine.fixes.fixpoint",
        "engine.fixes.apply_edits",
        "rewrite.imports",
    )
    of_others = (
        "engine.identity.finding_identity",
        "engine.fixes.finding_diffs",
        "engine.suppression.unused_and_invalid",
        "documents.writing",
    )
    assert not modules & named((*of_files, *of_others))


def test_import_kdoctor_imports_no_other_module_of_it(tmp_path):
    modules = imported("import kdoctor", tmp_path)
    assert {name for name in modules if name.startswith("kdoctor")} == {"kdoctor"}


def test_what_kdoctor_offers_is_there_when_asked_for(tmp_path):
    code = "import kdoctor\nfor name in kdoctor.__all__: getattr(kdoctor, name)"
    assert "kdoctor.engine" in imported(code, tmp_path)


ABOUT_THE_NODES = """
import copy, dataclasses, pickle
from inspect import signature
import libcst as cst

def kinds(kind):
    yield kind
    for each in sorted(kind.__subclasses__(), key=lambda each: each.__name__):
        yield from kinds(each)

def refused(what, *given):
    try:
        what(*given)
    except Exception as error:
        return type(error).__name__, str(error)

usual = dataclasses.dataclass
told = []
for kind in kinds(cst.CSTNode):
    own = [vars(kind)[name].__qualname__ for name in ("__repr__", "__eq__", "__hash__")]
    init = kind.__init__
    told += [
        kind.__qualname__, kind.__doc__, kind.__match_args__, str(signature(kind)), own,
        [repr(each).split(" at 0x")[0] for each in dataclasses.fields(kind)],
        kind.__dataclass_params__, init.__module__, init.__qualname__, init.__annotations__,
        init.__code__.co_names, init.__code__.co_varnames, init.__code__.co_consts,
        refused(setattr, kind.__new__(kind), "lpar", 1) if not kind.__abstractmethods__ else None,
    ]
one, other = cst.Name("a"), cst.Name("a")
told += [one == other, len({one, other}), one, repr(pickle.loads(pickle.dumps(one)))]
told += [copy.deepcopy(one), one.with_changes(value="b"), dataclasses.replace(one, value="c")]
told += [one.deep_equals(copy.deepcopy(one)), hash(one) == id(one), usual.__module__]
told += [refused(delattr, one, "value"), refused(setattr, one, "value", "b"), refused(cst.Name)]
told += [refused(setattr, one, "other", 1), refused(delattr, one, "other"), refused(cst.Name, "!")]

@usual(frozen=True)
class Own(cst.Name):
    more: int = 1

class Open(cst.Name):
    pass

own, open_one = Own("a"), Open("a")
told += [own, str(signature(Own)), refused(setattr, own, "more", 2), refused(setattr, own, "x", 2)]
told += [refused(setattr, open_one, "other", 1), refused(setattr, open_one, "value", "b")]
told += [dataclasses.replace(own, more=3), refused(usual, type("Thawed", (cst.Name,), {}))]
told += [cst.metadata.PositionProvider, refused(getattr, cst.metadata, "x")]
told += [cst.parse_module("# coding: latin-1\\nx".encode()).encoding, cst.parse_expression("a + b")]
told += [cst._parser.detect_config.convert_to_utf8.__module__]
told += [issubclass(type("V", (cst.BatchableCSTVisitor,), {}), cst.CSTVisitor)]
told += [cst.metadata.MetadataWrapper is cst.MetadataWrapper, cst.PartialParserConfig()]
told += [cst.helpers.ensure_type is cst.ensure_type, [hasattr(cst, each) for each in cst.__all__]]
told += [cst._parser.entrypoints.parse_module is cst.parse_module, refused(getattr, cst, "absent")]
told += [len(cst.MetadataWrapper(cst.parse_module("x")).resolve(cst.metadata.PositionProvider))]
print(*told, sep="\\n")
"""


def test_nodes_are_what_they_always_are_when_libcst_is_imported_lean(tmp_path):
    plain, lean = (
        subprocess.run(
            [sys.executable, "-c", begin + ABOUT_THE_NODES],
            cwd=tmp_path,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for begin in (
            "",
            "from kdoctor.syntax.lowering.libcst_import_patch import import_libcst; import_libcst()",
        )
    )
    assert "cannot delete field 'value'" in plain
    assert lean.splitlines() == plain.splitlines()


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


def test_a_target_that_is_given_costs_no_reader_of_what_could_say_it(tmp_path):
    (tmp_path / "clean.py").write_text("import os\n\nprint(os.sep)\n")
    (tmp_path / "requirements.txt").write_text("keras==3.15.1\n")
    modules = imported(program("scan", "clean.py", "--target", "keras==2.15"), tmp_path)
    assert not {name for name in modules if name.startswith("kdoctor.project.readers")}


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
    assert not modules & {"libcst.metadata.scope_provider", "libcst._parser.wrapped_tokenize"}
    others = {"saving.load_by_name", "behaviour.decay_is_ignored", "members.optimizer_lr"}
    assert not modules & {f"kdoctor.rules.{name}" for name in others}
