"""Rules of one's own that are wrong, and settings that name none: one sentence each."""

from __future__ import annotations

import os
import re

import pytest

from tests.cli.own_rules import FOLDER, RULE, SETTINGS, TRAIN, rule_text, written

TRUST = "--trust-rules"
OTHERS = "; the other rules are asked all the same\n"
ANOTHER = {"ACME001": "ACME002", "units-of-dense-block": "another-rule"}
LOOP = "    for use in module.references:\n"


def another(**changes):
    """Return a second rule with something wrong in it."""
    return rule_text(**{**ANOTHER, **changes})


def scanned(project, **files):
    """Scan with the rule of the page and some beside it, which must not cost its finding."""
    written(project, **files)
    ended = project.kdoctor("scan", "train.py", TRUST, "--format", "json")
    assert ended.json["findings"]
    assert ended.code == 2
    return ended


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('"""x"""\ndef (:\n', "half.py:2: it is no Python: invalid syntax"),
        (
            b'"""x"""\nname = "\xff"\n',
            (
                "half.py:2: it is no Python: (unicode error) 'utf-8' codec can't decode byte 0xff in "
                "position 0: invalid start byte"
            ),
        ),
        (b"x = 1\0", "half.py: it is no Python: source code string cannot contain null bytes"),
        (
            '"""x"""\n\nimport nowhere\n',
            "half.py:3: it cannot be imported: ModuleNotFoundError: No module named 'nowhere'",
        ),
        ("import sys\n\nsys.exit('no')\n", "half.py:3: it cannot be imported: SystemExit: no"),
        (
            "from . import missing\n",
            "half.py:1: it cannot be imported: ImportError: cannot import name 'missing' from",
        ),
        (
            '"""x"""\n',
            "half.py: it has no rule: make one by @rule(…) of kdoctor.rule, or begin its",
        ),
        (
            another() + "\nother = Rule(code='A', name='b', severity=1, check=check)\n",
            "half.py: it has 2 rules: write one in a file",
        ),
        (
            another(ACME001="KD999"),
            (
                "half.py: the code 'KD999' is not letters of your own and a number, as ACME001; KD is "
                "ours"
            ),
        ),
        (another(ACME001="acme"), "half.py: the code 'acme' is not letters of your own"),
        (
            rule_text(ACME001="ACME002"),
            (
                "units_of_dense_block.py: the name units-of-dense-block is that of "
                "tools/kdoctor_rules/half.py; choose another"
            ),
        ),
        (
            rule_text(**{"units-of-dense-block": "another-rule"}),
            (
                "units_of_dense_block.py: the code ACME001 is that of tools/kdoctor_rules/half.py; "
                "choose another"
            ),
        ),
        (
            rule_text(**ANOTHER | {"units-of-dense-block": "missing-name"}),
            "half.py: the name missing-name is one of kdoctor's own; choose another",
        ),
        (
            rule_text(**ANOTHER | {"units-of-dense-block": "rate-is-an-int"}),
            "half.py: the name rate-is-an-int is one of kdoctor's own; choose another",
        ),
        (another(**{"Severity.ERROR": '"error!"'}), "half.py: the severity is none of Severity"),
        (
            another(**{'triggers=named("acme_nn.dense_block")': 'triggers="units"'}),
            "half.py: triggers are a set of identifiers, or made by kdoctor.rule",
        ),
        (
            another(**{"check=check,": 'check=check, since="three",'}),
            "half.py: since 'three' is no version of Keras: write it as '3.0'",
        ),
        (another(**{'LIBRARIES = ["acme_nn"]': 'LIBRARIES = "acme_nn"'}), "half.py: LIBRARIES is"),
        (another() + "\nVALID = 'x'\n", "half.py: VALID is no list of texts"),
        (another() + "\nINVALID = ['x']\n", "half.py: INVALID is no list of Example(…)"),
        (another() + "\nINVALID = [Example('', 3)]\n", "half.py:61: it cannot be imported: "),
        (another() + "\n__doc__ = ''\n", "half.py: it has no docstring: its first line says"),
    ],
)
def test_a_file_without_a_rule_that_can_be_used_is_named(project, text, sentence):
    ended = scanned(project, half=text)

    assert ended.err.startswith(f"kdoctor: {FOLDER}/{sentence}")
    assert ended.err.endswith(OTHERS)
    assert ended.err.count("\n") == 1


def test_a_file_that_python_cannot_import_by_its_name_is_named(project):
    ended = scanned(project, **{"half-a-rule": another()})
    assert ended.err == (
        f"kdoctor: {FOLDER}/half-a-rule.py: its name is none that Python can import; write it with "
        f"underscores{OTHERS}"
    )


def of_file(ended):
    """Return why a rule could not look at the file."""
    (problem,) = ended.json["files"]["unreadable"]
    assert problem["path"] == "train.py"
    return problem["why"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({LOOP: f"    1 / 0\n{LOOP}"}, r"half\.py:\d+: ZeroDivisionError: division by zero"),
        (
            {LOOP: f"    check2()\n{LOOP}", "def check(": "def check2():\n    return check2()\n\n\ndef check("},
            r"half\.py:\d+: RecursionError: maximum recursion depth exceeded",
        ),
        (
            {LOOP: f"    raise Rude\n{LOOP}", "def check(": "class Rude(Exception):\n    def __str__(self):\n        raise OSError\n\n\ndef check("},
            r"half\.py:\d+: Rude",
        ),
        ({LOOP: f"    raise SystemExit\n{LOOP}"}, r"half\.py:\d+: SystemExit"),
        (
            {"def check(module, facts):": "def check(module, facts):\n    pass\n\n\ndef other(module, facts):"},
            r"half\.py: TypeError: check returned None: it must yield findings",
        ),
        (
            {'named("acme_nn.dense_block")': "Trigger(lambda *_: {}[1])", "import Edit": "import Trigger, Edit"},
            r"half\.py:\d+: KeyError: 1",
        ),
        (
            {"module.place(given),": "module.unit.place(Span(9999, 99999)),", "import Edit": "import Span, Edit"},
            r"half\.py:\d+: it reports a place outside of the file: make it by module\.place\(node\)",
        ),
        (
            {"module.place(given),": "None,"},
            r"half\.py:\d+: it reports a place outside of the file: make it by module\.place\(node\)",
        ),
        (
            {"module.span(given.keyword)": "Span(-3, 2)", "import Edit": "import Span, Edit"},
            r"half\.py:\d+: it edits a place outside of the file: make it by module\.span\(node\)",
        ),
        (
            {"(edit,)": '(edit, Edit(module.span(given), ("other=1",)))'},
            r"half\.py:\d+: two edits of its fix overlap, and neither lies in a hole of the other",
        ),
        ({'("width",)': "(3,)"}, r"half\.py:\d+: the parts of an edit are texts and holes"),
        ({"yield rule": "yield 'x'\n        yield rule"}, r"half\.py:\d+: it yields str, and must"),
        ({"use.confidence": "'sure'"}, r"half\.py:\d+: the severity is one of Severity, the conf"),
        (
            {"fix=Fix(": "fix=NoFix(1) or Fix(", "import Edit": "import NoFix, Edit"},
            r"half\.py:\d+: message, symbol, help and no_fix_because are texts",
        ),
        ({"fix=Fix(": "other=Fix("}, r"half\.py:\d+: TypeError: .*unexpected keyword"),
        ({"            fix=Fix(": "            #"}, r"half\.py:\d+: TypeError: .*required keyword-only argument: 'fix'"),
    ],
)  # fmt: skip
def test_a_rule_that_fails_is_named_and_the_others_look_at_the_file(project, changes, sentence):
    ended = scanned(project, half=another(**changes))

    assert ended.err == ""
    why = of_file(ended)
    assert why.endswith("(in rule ACME002)")
    assert re.match(rf"tools/kdoctor_rules/{sentence}", why), why
    text = project.kdoctor("scan", "train.py", TRUST).out
    assert f"train.py: not checked: {why}" in text


def test_each_rule_that_fails_in_a_file_is_named(project):
    broken = {LOOP: f"    1 / 0\n{LOOP}"}
    third = {"ACME001": "ACME003", "units-of-dense-block": "third-rule"}
    ended = scanned(project, half=another(**broken), third=rule_text(**third, **broken))
    assert re.findall(r"in rule (\w+)", of_file(ended)) == ["ACME002", "ACME003"]


def test_what_a_rule_prints_is_no_part_of_the_report(project):
    noisy = {LOOP: f"    print('noise')\n{LOOP}", "LIBRARIES =": "print('early')\nLIBRARIES ="}
    written(project, half=another(**noisy))

    ended = project.kdoctor("scan", "train.py", TRUST, "--format", "json")

    assert len(ended.json["findings"]) == 2
    assert ended.err == "early\nnoise\n"


def test_a_fix_that_gives_no_python_is_not_written(project):
    bad = another(**{'("width",)': '("a b",)', "rule.applicability()": "Applicability.UNSAFE", "import Edit": "import Applicability, Edit"})  # fmt: skip
    written(project, half=bad)

    ended = project.kdoctor("fix", "train.py", TRUST, "--apply", "--unsafe", "--select", "ACME002")

    assert ended.code == 2
    assert project.read("train.py").decode() == TRAIN


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ('"tools/kdoctor_rules"', 'rules must be a list of strings, as in rules = ["tools/kdoct'),
        ("[1]", "rules must be a list of strings"),
        ('["nowhere"]', "rules: there is no folder nowhere; make it, or name another"),
        (f'["{RULE}"]', f"rules: {RULE} is a file; name the folder that it lies in"),
        ('["../outside"]', "rules: ../outside is no folder within the project"),
        ('["/etc"]', "rules: /etc is no folder within the project"),
        ('["."]', "rules: . is no folder within the project"),
        ('[""]', "rules: '' is no folder within the project"),
        ('["linked"]', "rules: linked is a link, which may lead anywhere; name the folder itself"),
        ('["linked/below"]', "rules: linked is a link, which may lead anywhere"),
    ],
)  # fmt: skip
def test_settings_that_name_no_folder_of_the_project_are_refused(project, rules, sentence):
    spy = "open('it-ran', 'w')\n"
    written(project).write(
        {
            "pyproject.toml": f"[tool.kdoctor]\nrules = {rules}\n",
            "real/below/spy.py": spy,
            "real/spy.py": spy,
        }
    )
    (project.folder / "linked").symlink_to("real", target_is_directory=True)

    ended = project.kdoctor("scan", TRUST)

    assert ended.code == 2
    assert ended.err.startswith(f"kdoctor: pyproject.toml:2: {sentence}"), ended.err
    assert ended.err.count("\n") == 1
    assert not (project.folder / "it-ran").exists()


def test_a_link_among_the_rules_is_not_followed(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "spy.py"
    outside.write_text("open('it-ran', 'w')\n", "utf-8")
    written(project)
    (project.folder / FOLDER / "spy.py").symlink_to(outside)

    ended = project.kdoctor("scan", TRUST)

    assert ended.code == 2
    assert ended.err.startswith(
        f"kdoctor: {FOLDER}/spy.py: it is a link, which may lead anywhere; put the file itself "
        "there\n"
    )
    assert not (project.folder / "it-ran").exists()


def test_a_setting_that_a_file_outside_extends_cannot_bring_rules(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "rules").mkdir()
    (outside / "rules" / "spy.py").write_text("open('it-ran', 'w')\n", "utf-8")
    (outside / "kdoctor.toml").write_text('rules = ["rules"]\n', "utf-8")
    extends = os.path.relpath(outside / "kdoctor.toml", project.folder)
    written(project).write({"pyproject.toml": f'[tool.kdoctor]\nextend = "{extends}"\n'})

    ended = project.kdoctor("scan", TRUST)

    assert ended.code == 2
    assert "is no folder within the project" in ended.err
    assert not (project.folder / "it-ran").exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(project):
    written(project, half=another())
    (project.folder / FOLDER / "half.py").chmod(0)
    assert "half.py: it cannot be read: Permission denied" in project.kdoctor("scan", TRUST).err


def test_a_record_that_is_broken_makes_no_fix_safe(project):
    written(project).write({f"{FOLDER}/proofs.json": "{"})
    ended = project.kdoctor("scan", "train.py", TRUST, "--format", "json")
    assert ended.code == 2
    assert ended.err.startswith(f"kdoctor: {FOLDER}/proofs.json: it is no proof record: ")
    assert ended.json["findings"][0]["fix"]["applicability"] == "unsafe"


def test_a_broken_rule_that_settings_name_does_not_end_the_run(project):
    written(project, half="x = (").write(
        {"pyproject.toml": SETTINGS + 'select = ["ACME001", "ACME002"]\n'}
    )
    ended = project.kdoctor("scan", "train.py", TRUST, "--format", "json")
    assert [each["code"] for each in ended.json["findings"]] == ["ACME001"]
    assert ended.err.count("\n") == 1


# -- kdoctor rules --test


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({'CALL.format("width"),\n    #': 'CALL.format("units"),\n    #'}, "    it is not silent: line 4: dense_block()"),
        ({"            continue\n        given": "            return\n        given"}, "    it is found 0 times, not 1"),
        ({'LIBRARIES = ["acme_nn"]': "", "import keras\\nfrom": "from", "keras.Input((4,)), {}": "x, {}"}, "    it is found 0 times, not 1; it speaks neither of Keras"),
        ({'named("acme_nn.dense_block")': '{"nothing_that_is_written"}'}, "    it is found 0 times, not 1; without its triggers it is"),
        ({"yield rule.finding(": "for _ in range(2):\n          yield rule.finding(", "module.place(given),": "module.place(given if _ else use.call),"}, "    it is found 2 times, not 1: line 4"),
        ({'after=CALL.format("width")': 'after=CALL.format("wide")'}, "        -y = dense_block(keras.Input((4,)), wide=8)"),
        ({'("width",)': '("units",)'}, "    its fix gives other code:"),
        ({LOOP: f"    1 / 0\n{LOOP}"}, f"    {RULE}:20: ZeroDivisionError: division by zero (in rule ACME001)"),
        ({"INVALID = [": "NOTHING = ["}, "    there is no example: nothing shows that the rule finds anything. Add an Example(…)"),
    ],
)  # fmt: skip
def test_examples_that_do_not_hold_are_told(project, changes, line):
    written(project).write({RULE: rule_text(**changes)})

    ended = project.kdoctor("rules", "--test", FOLDER)

    assert ended.code == 1
    assert any(each.startswith(line) for each in ended.out.splitlines()), ended.out
    assert " failed" in ended.out.splitlines()[-1]


def test_a_fix_that_goes_on_changing_is_told(project):
    grows = rule_text(
        **{
            '"units")': '"width")',
            '("width",)': '("width=1 + 1, width",)',
            "if given is None": "if given is None or module.text.count('width') > 3",
        }
    )
    written(project).write({RULE: grows})
    ended = project.kdoctor("rules", "--test", RULE)
    assert ended.code == 1


@pytest.mark.parametrize("path", ["nowhere", "train.txt", ""])
def test_a_test_of_nothing_is_wrong_usage(project, path):
    written(project).write({"train.txt": ""})

    ended = project.kdoctor("rules", "--test", path)

    assert ended.code == 2
    assert "there is no such folder, and no such Python file; name the file of a rule" in ended.err


def test_a_test_names_a_file_that_holds_no_rule(project):
    written(project, half="x = (")

    ended = project.kdoctor("rules", "--test", FOLDER)

    assert ended.code == 2
    assert ended.err.startswith(
        f"kdoctor: {FOLDER}/half.py:1: it is no Python: '(' was never closed"
    )
    assert "3 examples of 1 rule held." in ended.out


@pytest.mark.parametrize("how", [("--prove",), ("--test", FOLDER, "KD101"), ("--test", FOLDER, "--json")])  # fmt: skip
def test_options_that_do_not_go_together_are_wrong_usage(project, how):
    written(project)
    assert project.kdoctor("rules", *how).code == 2
