"""``kdoctor scan`` from end to end."""

from __future__ import annotations

import os
import re
import shlex

import msgspec
import pytest

# A use of a name that Keras 3 has no more, with a fix that the proofs call safe, and one without.
SAFE = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x, axis=-1)\n"
BY_HAND = "from keras import backend as K\n\nK.get_session()\n"
CLEAN = "import os\n\nprint(os.sep)\n"

TARGET = ("--target", "keras==3.15.1")


class Target(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    version: str
    source: str


class TargetUse(Target, forbid_unknown_fields=True):
    files: int


class Edit(msgspec.Struct, forbid_unknown_fields=True):
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Fix(msgspec.Struct, forbid_unknown_fields=True):
    applicability: str
    title: str
    diff: str
    edits: list[Edit]


class Finding(msgspec.Struct, forbid_unknown_fields=True):
    code: str
    name: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None
    severity: str
    confidence: str
    message: str
    symbol: str
    fix: Fix | None
    no_fix_because: str | None
    url: str | None


class Unreadable(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    why: str


class Files(msgspec.Struct, forbid_unknown_fields=True):
    read: int
    skipped: int
    saved_models: int
    unreadable: list[Unreadable]


class Report(msgspec.Struct, forbid_unknown_fields=True):
    kdoctor: str
    target: Target
    targets: list[TargetUse]
    findings: list[Finding]
    suppressed: int
    files: Files
    conflicts: list[str]
    remarks: list[str]
    own_targets: list[dict[str, str | bool]]


def scanned(project, *arguments, **how):
    ended = project.kdoctor("scan", "--format", "json", *TARGET, *arguments, **how)
    return msgspec.json.decode(ended.out, type=Report)


def test_the_json_report_keeps_its_contract(project):
    project.write({"old.py": SAFE, "hand.py": BY_HAND, "broken.py": "import keras\ndef f(:\n"})
    report = scanned(project)
    assert report.target == Target("keras", "3.15.1", "--target")
    assert [(use.version, use.files) for use in report.targets] == [("3.15.1", 3)]
    assert report.files.read == 3
    assert report.files.skipped == 0
    assert [file.path for file in report.files.unreadable] == ["broken.py"]
    fixable = next(finding for finding in report.findings if finding.path == "old.py")
    assert (fixable.line, fixable.column, fixable.end_line, fixable.cell) == (5, 12, 5, None)
    assert fixable.symbol == "keras.backend.sum"
    assert fixable.severity == "error"
    assert fixable.confidence == "certain"
    assert fixable.no_fix_because is None
    assert fixable.fix is not None
    assert fixable.fix.diff.startswith("--- a/old.py\n+++ b/old.py\n@@ -1,5 +1,5 @@\n")
    assert fixable.fix.edits[-1] == Edit(5, 12, 5, 13, "ops")
    by_hand = next(finding for finding in report.findings if finding.path == "hand.py")
    assert by_hand.fix is None
    assert by_hand.no_fix_because


def test_the_text_report_begins_with_the_target_and_why(project):
    project.write({"old.py": SAFE})
    given = project.kdoctor("scan", *TARGET, "old.py")
    assert given.out.split("\n")[0].endswith("checking for keras 3.15.1 (--target)")
    newest = project.kdoctor("scan", "old.py")
    assert "checking for keras 3." in newest.out.split("\n")[0]
    assert "newest" in newest.out.split("\n")[0]


def test_the_text_report_marks_the_span_and_says_what_to_type_next(project):
    ended = project.write({"old.py": SAFE}).kdoctor("scan", "old.py")
    assert ended.code == 1
    assert "old.py:5:12: KD101 [error] " in ended.out
    assert "  5 |     return K.sum(x, axis=-1)\n    |            ^^^^^\n" in ended.out
    assert "kdoctor fix old.py" in ended.out
    assert ended.err == ""


def test_nothing_found_ends_with_zero(project):
    ended = project.write({"clean.py": CLEAN}).kdoctor("scan")
    assert ended.code == 0
    assert "Nothing to report. (1 file read)" in ended.out


def test_a_file_that_cannot_be_parsed_is_named_and_the_others_go_on(project):
    project.write(
        {"a.py": "import keras\nprint 'two'\n", "b.py": SAFE, "c.py": b"# keras\nx = '\xff'\n"}
    )
    ended = project.kdoctor("scan")
    assert ended.code == 2
    assert "a.py: not checked: " in ended.out
    assert "line 2" in ended.out
    assert "b.py:5:12: KD101" in ended.out
    assert "c.py: not checked: " in ended.out


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_file_as_some_shells_write_it_is_no_file_without_keras(project, encoding):
    ended = project.write({"a.py": SAFE.encode(encoding)}).kdoctor("scan")
    assert ended.code == 2
    assert f"a.py: not checked: encoded in {encoding.upper()}; save it as UTF-8" in ended.out
    ended = project.write({"a.py": CLEAN.encode(encoding)}).kdoctor("scan")
    assert ended.code == 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_file_that_may_not_be_read_is_named(project):
    project.write({"a.py": SAFE, "b.py": SAFE})
    (project.folder / "a.py").chmod(0)
    ended = project.kdoctor("scan")
    assert ended.code == 2
    assert "a.py: not checked: cannot be read: Permission denied" in ended.out
    assert "b.py:5:12" in ended.out


def test_a_broken_file_that_does_not_concern_keras_is_no_news(project):
    ended = project.write({"two.py": "print 'two'\n", "b.md": "# A\n"}).kdoctor("scan")
    assert ended.code == 0


def test_a_finding_in_a_notebook_has_its_cell_and_the_place_in_it(project):
    imports = "%matplotlib inline\nfrom keras import backend as K"
    cells = project.notebook(("markdown", "# Title"), imports, "x = 1\ny = K.sum(x)")
    project.write({"nb.ipynb": cells})
    report = scanned(project)
    assert [(each.cell, each.line, each.column) for each in report.findings] == [(3, 2, 5)]
    assert report.findings[0].fix is not None
    assert "+++ b/nb.ipynb:cell 3\t\n" in report.findings[0].fix.diff
    assert "nb.ipynb:cell 3:2:5: KD101" in project.kdoctor("scan", "nb.ipynb").out


def test_a_finding_in_markdown_stands_at_its_line_of_the_document(project):
    fence = "# Title\n\n- a list:\n\n  ```python\n  from keras import backend as K\n  y = K.sum(1)\n  ```\n"
    project.write({"README.md": fence})
    report = scanned(project)
    assert [(each.line, each.column, each.cell) for each in report.findings] == [(7, 7, None)]
    assert report.findings[0].fix is not None
    assert "-  y = K.sum(1)\n" in report.findings[0].fix.diff


def test_fences_that_are_no_python_are_skipped_and_counted(project):
    project.write({"README.md": "```python\nimport keras\n$ pip install\n```\n"})
    assert scanned(project).files.skipped == 1
    ended = project.kdoctor("scan", "-v")
    assert ended.code == 0
    assert "1 code block skipped" in ended.out
    assert "README.md:3: skipped: " in ended.out


def test_any_file_can_be_read_as_a_named_kind(project):
    project.write({"notes.txt": f"```python\n{SAFE}```\n"})
    report = scanned(project, "notes.txt", "--as", "markdown")
    assert [finding.line for finding in report.findings] == [6]
    assert project.kdoctor("scan", "notes.txt").code == 2


def test_standard_input_is_read_for_a_dash(project):
    report = scanned(project, "-", stdin=SAFE.encode())
    assert [(finding.path, finding.line) for finding in report.findings] == [("-", 5)]


def test_standard_input_and_files_go_together(project):
    project.write({"old.py": SAFE})
    report = scanned(project, "-", "old.py", stdin=SAFE.encode())
    assert [finding.path for finding in report.findings] == ["-", "old.py"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nowhere.py",), "nowhere.py"),
        (("--select", "KD999"), "there is no rule 'KD999'"),
        (("--ignore", "KD1O1"), "did you mean KD101?"),
        (("--target", "torch==2"), "torch"),
        (("--format", "yaml"), "choose one of: concise, github, gitlab, json"),
        (("--jobs", "0"), "--jobs"),
        (("--as", "word"), "markdown"),
    ],
)
def test_a_wrong_call_ends_with_a_sentence_and_two(project, arguments, sentence):
    ended = project.write({"old.py": SAFE}).kdoctor("scan", *arguments)
    assert ended.code == 2
    assert sentence in ended.err
    assert ended.out == ""


def test_rules_are_selected_and_ignored_by_code_prefix_and_name(project):
    project.write({"old.py": SAFE})
    names = {finding.name for finding in scanned(project).findings}
    (name,) = names
    for chosen in ("KD101", "kd1", name, "ALL"):
        assert project.kdoctor("scan", "--select", chosen).code == 1
        assert project.kdoctor("scan", "--ignore", chosen).code == 0
    assert project.kdoctor("scan", "--select", "KD2,KD3").code == 0


def test_folders_are_excluded_by_patterns_and_gitignore(project):
    project.write({"a/old.py": SAFE, "b/old.py": SAFE, "c/old.py": SAFE, ".gitignore": "b/\n"})
    paths = {finding.path for finding in scanned(project, "--exclude", "a").findings}
    assert paths == {"c/old.py"}


def test_what_is_found_does_not_depend_on_the_order_of_paths_or_on_processes(project):
    # Large enough for several processes, which bytes decide; lines would only take time to parse.
    filler = f"# {'filler ' * 7000}\n"
    files = {f"m{number}.py": SAFE + filler for number in range(12)}
    project.write(files | {"z.py": BY_HAND})
    first = project.kdoctor("scan", *sorted(files), "z.py", "--jobs", "1", "--format", "json")
    second = project.kdoctor(
        "scan", "z.py", *sorted(files, reverse=True), "--jobs", "4", "--format", "json"
    )
    assert first.json["findings"]
    assert first.out == second.out


def test_a_file_named_twice_counts_once(project):
    project.write({"old.py": SAFE})
    assert scanned(project, "old.py", "./old.py", ".").files.read == 1


def test_the_gate_changes_nothing_of_what_is_reported(project):
    project.write(
        {
            "old.py": SAFE,
            "two.py": "print 'two'\n",
            "comment.py": "# keras\nprint('no')\n",
            "broken.py": "import keras\nprint 'two'\n",
            "latin.py": b"x = '\xff'\n",
            "pkg/__init__.py": "",
            "pkg/compat.py": "from keras import backend as K\n",
            "pkg/use.py": "from .compat import K\n\nK.sum(1)\n",
            "README.md": "```python\n$ ls\n```\n",
            "b.ipynb": b"{",
        }
    )
    gated = project.kdoctor("scan", "--format", "json", "-v")
    assert gated.out == project.kdoctor("scan", "--format", "json", "-v", "--no-gate").out
    paths = {finding["path"] for finding in gated.json["findings"]}
    assert paths == {"old.py", "pkg/use.py"}
    unread = {file["path"] for file in gated.json["files"]["unreadable"]}
    assert unread == {"broken.py", "b.ipynb"}


def test_a_bug_in_a_rule_names_the_file_and_costs_no_other(project):
    project.write({"a.py": SAFE, "b.py": SAFE})
    bug = (
        "import msgspec, sys\n"
        "from kdoctor.rules.index import entry_of, rule_index\n"
        "from kdoctor.cli.app import main\n"
        "def fails(module, facts):\n"
        "    if module.path == 'a.py': raise LookupError('oh\\nno')\n"
        "    return iter(())\n"
        "known = rule_index()\n"
        "rule = known[0].load()\n"
        "rule = msgspec.structs.replace(rule, code='KD199', triggers=(), check=fails)\n"
        "import kdoctor.engine.examine as e\n"
        "e.rule_index = lambda: (*known, entry_of(rule))\n"
        "sys.argv = ['kdoctor', 'scan']\n"
        "main()\n"
    )
    ended = project.python(bug)
    assert ended.code == 2
    assert "a.py: not checked: internal error: LookupError: oh no (in rule KD199)" in ended.out
    assert "a.py:5:12: KD101" in ended.out
    assert "also: b.py:5:12" in ended.out


def test_colour_is_for_terminals_or_for_the_asking(project):
    project.write({"old.py": SAFE})
    plain = project.kdoctor("scan")
    assert "\x1b" not in plain.out
    assert "\x1b[" in project.kdoctor("scan", "--color", "always").out
    assert "\x1b[" in project.kdoctor("scan", env={"FORCE_COLOR": "1"}).out
    assert project.kdoctor("scan", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out == plain.out
    assert project.kdoctor("scan", "--color", "never", env={"FORCE_COLOR": "1"}).out == plain.out


def test_quiet_shows_findings_only(project):
    ended = project.write({"old.py": SAFE}).kdoctor("scan", "-q")
    assert ended.out.startswith("old.py:5:12: KD101")
    assert "Found" not in ended.out


def test_the_report_survives_a_terminal_without_unicode(project):
    ended = project.write({"old.py": SAFE + "# K.sum ü\nK.mean('ü')\n"}).kdoctor(
        "scan", env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    )
    assert ended.code == 1
    assert "K.mean('ü')" in ended.out


def test_scanning_writes_nothing(project):
    project.write({"old.py": SAFE, "nb.ipynb": project.notebook(SAFE)})
    before = {path.name: path.read_bytes() for path in project.folder.iterdir()}
    project.kdoctor("scan")
    assert {path.name: path.read_bytes() for path in project.folder.iterdir()} == before


def test_a_finding_through_modules_of_the_project_is_found_for_one_file_alone(project):
    project.write(
        {
            "pkg/__init__.py": "",
            "pkg/compat.py": "from keras import backend as K\n",
            "pkg/use.py": "from .compat import K\n\nK.sum(1)\n",
        }
    )
    assert [finding.line for finding in scanned(project, "pkg/use.py").findings] == [3]


def test_standard_input_is_taken_for_the_file_that_it_is_called(project):
    project.write(
        {
            "pyproject.toml": "[project]\n",
            "new/requirements.txt": "keras==3.15.1\n",
            "old/requirements.txt": "keras==2.10.0\n",
            "new/backends.py": "from keras import backend as K\n",
        }
    )
    source = b"from backends import K\n\n\ndef total(x):\n    return K.sum(x)\n"

    def found(name):
        report = scanned(project, "--stdin-filename", name, stdin=source)
        return [(each.path, each.line) for each in report.findings]

    assert found("./new/train.py") == [("new/train.py", 5)]
    assert found(project.folder / "new/train.py") == [("new/train.py", 5)]
    assert found("old/train.py") == []


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [("a.ipynb", None, 5), ("a.md", f"# Text\n\n```python\n{SAFE}```\n", 8), ("new", None, None)],
)
def test_the_name_of_standard_input_tells_what_kind_it_is(project, name, content, line):
    text = project.notebook(SAFE) if content is None else content.encode()
    ended = project.kdoctor("scan", "-", "--stdin-filename", name, "--format", "json", stdin=text)
    if line is None:
        assert ended.code == 2
    else:
        assert [finding["line"] for finding in ended.json["findings"]] == [line]


def test_what_is_excluded_is_read_where_it_is_named_unless_that_is_forced(project):
    project.write({"gone/old.py": SAFE, "build/old.py": SAFE, ".gitignore": "kept.py\n"})
    project.write({"kept.py": SAFE})
    named = ["gone/old.py", "build/old.py", "kept.py", "--exclude", "gone"]
    assert len(scanned(project, *named).findings) == 3
    assert [each.path for each in scanned(project, *named, "--force-exclude").findings] == [
        "kept.py"
    ]
    piped = ["--stdin-filename", "gone/new.py", "--exclude", "gone"]
    assert len(scanned(project, *piped, stdin=SAFE.encode()).findings) == 1
    assert project.kdoctor("scan", *piped, "--force-exclude", stdin=SAFE.encode()).code == 0


def test_named_standard_input_goes_alone(project):
    ended = project.write({"a.py": SAFE}).kdoctor("scan", "a.py", "--stdin-filename", "b.py")
    assert ended.code == 2
    assert "allows no path other than -" in ended.err


def test_the_next_command_of_a_path_that_looks_like_an_option_can_be_copied(project):
    project.write({"-a.py": SAFE})
    done = project.kdoctor("scan", "--ignore", "KD2", "--", "-a.py")
    assert "Next: `kdoctor fix --ignore KD2 -- -a.py` shows the fixes" in done.out
    assert project.kdoctor("fix", "--ignore", "KD2", "--", "-a.py").code == 1


MANY = "from keras import backend as K\n\n\ndef f(x):\n" + "    K.sum(x)\n" * 11
OPTIONS = [
    ("--target", "keras==3.10.0"), ("--namespace", "keras"), ("--select", "KD1", "--select", "KD2"),
    ("--ignore", "KD5,KD6"), ("--preview",), ("--no-preview",), ("--exclude", "b c.py"),
    ("--force-exclude",), ("--isolated",), ("--as", "python"), ("--project-types",), ("--no-project",),
    ("--config", "own.toml"), ("--trust-rules",),
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_each_command_that_is_named_takes_the_options_of_this_one(project, options):
    project.write({"my a.py": MANY, "own.toml": ""})
    done = project.kdoctor("scan", "my a.py", *options)
    named = re.findall(r"`kdoctor ([^`]*)`", done.out)
    assert [each.split()[0] for each in named] == ["fix", "migrate"]
    for each in named:
        words = shlex.split(each)
        assert all(word in words for word in options)
        assert project.kdoctor(*words).code == 1


def test_no_plan_is_offered_for_standard_input(project):
    done = project.kdoctor("scan", "-", stdin=MANY.encode())
    assert "findings  rule" in done.out
    assert "kdoctor migrate" not in done.out
