"""Rules of a project's own: loaded if they are trusted, and then like kdoctor's."""

from __future__ import annotations

import json

import pytest

from tests.cli.own_rules import FIXED, FOLDER, RULE, SETTINGS, TRAIN, page_block, rule_text, written

TRUST = "--trust-rules"
LIBRARY = page_block("acme_nn/__init__.py")
NOT_LOADED = (
    "kdoctor: pyproject.toml:2: the rules in tools/kdoctor_rules were not loaded, for they are "
    "code of the project: --trust-rules loads them\n"
)


def codes(ended):
    return [each["code"] for each in ended.json["findings"]]


def test_nothing_is_imported_without_trust_and_one_sentence_says_so(project):
    written(project, spy="open('it-ran', 'w')\n")

    ended = project.kdoctor("scan")

    assert (ended.code, ended.err) == (0, NOT_LOADED)
    assert "Nothing to report." in ended.out
    assert project.kdoctor("fix").err.startswith(NOT_LOADED)
    assert NOT_LOADED in project.kdoctor("rules").err
    assert not (project.folder / "it-ran").exists()
    project.kdoctor("scan", TRUST)
    assert (project.folder / "it-ran").exists()


def test_a_project_cannot_trust_its_own_rules(project):
    written(project).write({"pyproject.toml": SETTINGS + "trust-rules = true\n"})

    ended = project.kdoctor("scan")

    assert ended.code == 2
    assert "unknown setting 'trust-rules'" in ended.err


def test_it_is_found_and_fixed_like_one_of_kdoctor(project):
    written(project)

    ended = project.kdoctor("scan", "train.py", TRUST, "--format", "concise")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith("train.py:3:32: ACME001 dense_block() got an unexpected")
    fixed = project.kdoctor("fix", "train.py", TRUST, "--apply", "--unsafe")
    assert fixed.code == 0
    assert project.read("train.py").decode() == FIXED
    assert project.kdoctor("scan", "train.py", TRUST).code == 0


@pytest.mark.parametrize("form", ["json", "jsonl", "sarif", "github", "gitlab", "junit", "text"])
def test_each_format_tells_it_and_links_no_page_of_kdoctor(project, form):
    written(project)

    ended = project.kdoctor("scan", "train.py", TRUST, "--format", form)

    assert ended.code == 1
    assert "ACME001" in ended.out
    assert "rules/ACME001" not in ended.out


def test_sarif_has_its_documentation(project):
    written(project)
    run = project.kdoctor("scan", "train.py", TRUST, "--format", "sarif").json["runs"][0]

    (rule,) = [each for each in run["tool"]["driver"]["rules"] if each["id"] == "ACME001"]
    assert rule["shortDescription"]["text"] == "`dense_block` takes `width`, not `units`."
    assert rule["properties"]["family"] == "own"


def test_it_is_found_in_a_notebook_a_page_and_standard_input(project):
    written(project).write({"a.ipynb": project.notebook(TRAIN), "b.md": f"```python\n{TRAIN}```\n"})

    ended = project.kdoctor("scan", "a.ipynb", "b.md", TRUST, "--format", "json")
    assert [each["path"] for each in ended.json["findings"]] == ["a.ipynb", "b.md"]
    piped = project.kdoctor("scan", "-", TRUST, "--format", "json", stdin=TRAIN.encode())
    assert codes(piped) == ["ACME001"]


def test_it_is_listed_and_shown(project):
    written(project)

    listed = project.kdoctor("rules", TRUST, "--json").json["rules"]
    assert [each["code"] for each in listed if each["family"] == "own"] == ["ACME001"]
    assert len(listed) == len(project.kdoctor("rules", "--json").json["rules"]) + 1
    page = project.kdoctor("rules", TRUST, "units-of-dense-block").out
    assert page.startswith("ACME001 units-of-dense-block [error]\n")
    assert "After (fix; no run is recorded):" in page
    assert project.kdoctor("rules", "ACME001").code == 2


@pytest.mark.parametrize(
    "how",
    [
        ("--ignore", "ACME"),
        ("--ignore", "units-of-dense-block"),
        ("--select", "KD1"),
    ],
)
def test_options_leave_it_out(project, how):
    written(project)
    assert project.kdoctor("scan", "train.py", TRUST, *how).code == 0


@pytest.mark.parametrize("how", ["ACME001", "acme0", "ACME", "units-of-dense-block", "ALL"])
def test_options_select_it(project, how):
    written(project)
    assert codes(
        project.kdoctor("scan", "train.py", TRUST, "--select", how, "--format", "json")
    ) == ["ACME001"]


def test_naming_one_that_is_not_loaded_says_how_it_is(project):
    written(project)

    ended = project.kdoctor("scan", "--select", "ACME001")

    assert ended.code == 2
    assert ended.err.startswith("kdoctor: there is no rule 'ACME001' (pyproject.toml:2: the rules")


@pytest.mark.parametrize(
    "settings",
    [
        'ignore = ["ACME001"]\n',
        'per-file-ignores = { "train.py" = ["units-of-dense-block"] }\n',
        'select = ["KD1", "KD9"]\n',
    ],
)
def test_settings_leave_it_out_and_hold_for_who_does_not_load_it(project, settings):
    written(project).write({"pyproject.toml": SETTINGS + settings})

    assert project.kdoctor("scan", "train.py", TRUST).code == 0
    ended = project.kdoctor("scan", "train.py")
    assert (ended.code, ended.err) == (0, NOT_LOADED)


def test_a_slip_in_a_code_of_kdoctor_is_told_all_the_same(project):
    written(project).write({"pyproject.toml": SETTINGS + 'ignore = ["KD1O1"]\n'})
    assert "there is no rule 'KD1O1'; did you mean KD101?" in project.kdoctor("scan").err


@pytest.mark.parametrize(
    "comment",
    ["ignore[ACME001] later", "ignore[units-of-dense-block]", "ignore[ACME]", "ignore"],
)
def test_a_comment_suppresses_it_and_is_no_fault_without_it(project, comment):
    text = TRAIN.replace("units=64)", f"units=64)  # kdoctor: {comment}")
    written(project).write({"train.py": text})

    ended = project.kdoctor("scan", "train.py", TRUST, "--format", "json")
    assert (ended.code, ended.json["suppressed"]) == (0, 1)
    if comment != "ignore":  # a blanket one silences nothing that is there
        assert project.kdoctor("scan", "train.py").code == 0


def test_a_comment_that_suppresses_nothing_of_it_is_told(project):
    written(project).write({"train.py": f"{FIXED}x = 1  # kdoctor: ignore[ACME001]\n"})
    ended = project.kdoctor("scan", "train.py", TRUST, "--format", "json")
    assert codes(ended) == ["KD901"]


def test_comments_are_added_for_it(project):
    written(project)

    project.kdoctor("fix", "train.py", TRUST, "--apply", "--add-ignores")

    assert b"units=64)  # kdoctor: ignore[ACME001]\n" in project.read("train.py")
    assert project.kdoctor("scan", "train.py", TRUST).code == 0


def test_a_baseline_accepts_it(project):
    written(project)

    assert project.kdoctor("baseline", "write", "train.py", TRUST).code == 0
    known = (TRUST, "--baseline", ".kdoctor-baseline.json")
    assert project.kdoctor("scan", "train.py", *known).code == 0
    # Who does not load the rule has not seen that it is cured.
    assert project.kdoctor("baseline", "write", "train.py").code == 0
    assert project.kdoctor("scan", "train.py", *known).code == 0
    project.write({"train.py": FIXED})
    project.kdoctor("baseline", "write", "train.py", TRUST)
    assert b"ACME001" not in project.read(".kdoctor-baseline.json")


@pytest.fixture
def cached(monkeypatch):
    """Let runs keep what they find, as they do unless they are told not to."""
    monkeypatch.delenv("KDOCTOR_NO_CACHE")


@pytest.mark.usefixtures("cached")
def test_an_edited_rule_counts_at_once_whatever_is_cached(project):
    written(project, _shared='WORDS = "got an unexpected"\n')
    project.write(
        {
            RULE: rule_text(
                **{
                    "LIBRARIES =": "from . import _shared\n\nLIBRARIES =",
                    "\"dense_block() got an unexpected keyword argument 'units'\",\n            symbol": (
                        "_shared.WORDS,\n            symbol"
                    ),
                }
            )
        }
    )

    def told():
        return project.kdoctor("scan", "train.py", TRUST, "--format", "json").json["findings"]

    (first,) = told()
    assert first["message"] == "got an unexpected"
    assert told() == [first]
    # Of the same size, within the same second: what Python's bytecode would not see.
    project.write({f"{FOLDER}/_shared.py": 'WORDS = "GOT an unexpected"\n'})
    assert told()[0]["message"] == "GOT an unexpected"
    assert project.kdoctor("scan", "train.py").code == 0
    (project.folder / RULE).unlink()
    assert told() == []
    assert list((project.folder / ".kdoctor_cache" / "scan").glob("*-*-*"))
    assert not (project.folder / FOLDER / "__pycache__").exists()


@pytest.mark.usefixtures("cached")
def test_edited_rules_do_not_fill_the_cache(project):
    written(project)
    for number in range(7):
        project.write({f"{FOLDER}/_shared.py": f"NUMBER = {number}\n"})
        project.kdoctor("scan", "train.py", TRUST)
    kept = list((project.folder / ".kdoctor_cache" / "scan").glob("*-*-*"))
    assert 0 < len(kept) <= 5


def test_it_is_asked_in_worker_processes(project):
    written(project)
    filler = "".join(f"x{number} = {number}\n" for number in range(30_000))
    project.write({f"more/{name}.py": TRAIN + filler for name in "abc"})

    ended = project.kdoctor("scan", "more", TRUST, "--jobs", 3, "--format", "json")

    assert codes(ended) == ["ACME001"] * 3


def test_workers_that_were_not_forked_load_it_themselves(project):
    written(project)
    ended = project.python(
        "import multiprocessing as m\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "import kdoctor\n"
        "if __name__ == '__main__':\n"
        "    with ProcessPoolExecutor(1, m.get_context('spawn')) as pool:\n"
        "        found = kdoctor.scan('train.py', executor=pool, trust_rules=True).findings\n"
        "    print([each.code for each in found])\n"
    )
    assert ended.out == "['ACME001']\n", ended.err


def test_rules_that_change_while_workers_load_them_end_the_run(project):
    written(project)
    ended = project.python(
        "import multiprocessing as m\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "import kdoctor\n"
        "class Late(ProcessPoolExecutor):\n"
        "    def submit(self, *work):\n"
        f"        open('{RULE}', 'a').write('# later')\n"
        "        return super().submit(*work)\n"
        "if __name__ == '__main__':\n"
        "    with Late(1, m.get_context('spawn')) as pool:\n"
        "        try:\n"
        "            kdoctor.scan('train.py', executor=pool, trust_rules=True)\n"
        "        except kdoctor.UsageProblem as problem:\n"
        "            print(problem)\n"
    )
    assert ended.out == (
        "the files of the project's own rules changed meanwhile; run it again\n"
    ), ended.err


def test_the_gate_changes_nothing(project):
    written(project).write(
        {
            "blocks.py": "from acme_nn import dense_block\n",
            "through.py": "from blocks import dense_block\n\ndense_block(x, units=3)\n",
            "two.py": "import acme_nn as a\nimport tf_keras\n\na.dense_block(x, units=3)\n",
            "none.py": "def dense_block(x, units): ...\n\n\ndense_block(1, units=3)\n",
        }
    )
    gated = project.kdoctor("scan", TRUST, "--format", "concise").out
    assert [line.partition(":")[0] for line in gated.splitlines()] == [
        "through.py",
        "train.py",
        "two.py",
    ]
    assert project.kdoctor("scan", TRUST, "--no-gate", "--format", "concise").out == gated


def test_a_folder_that_is_named_twice_counts_once(project):
    twice = f'rules = ["{FOLDER}", "{FOLDER}/"]\n'
    written(project).write({"pyproject.toml": f"[tool.kdoctor]\n{twice}"})
    ended = project.kdoctor("scan", "train.py", TRUST, "--format", "json")
    assert (codes(ended), ended.err) == (["ACME001"], "")


def test_python_names_rules_and_forgets_them(project):
    written(project).write({"pyproject.toml": ""})
    ended = project.python(
        "import kdoctor\n"
        f"for rules in (None, ['{RULE}'], '{FOLDER}', None):\n"
        "    result = kdoctor.scan('train.py', rules=rules)\n"
        "    print([each.code for each in result.findings])\n"
    )
    assert ended.out == "[]\n['ACME001']\n['ACME001']\n[]\n", ended.err


def test_it_runs_from_another_folder(project):
    written(project).write({"elsewhere/x.txt": ""})
    project.write({"elsewhere/pyproject.toml": "[tool.kdoctor]\n"})
    command = f"cd elsewhere && kdoctor scan ../train.py {TRUST} --format json"

    ended = project.shell(command)

    assert codes(ended) == ["ACME001"]


def test_a_project_further_down_is_named_where_its_rules_do_not_count(project):
    written(project)
    (project.folder / "pyproject.toml").rename(project.folder / "tools/pyproject.toml")
    project.write({"tools/x.py": TRAIN, "tools/pyproject.toml": SETTINGS})

    ended = project.kdoctor("scan", TRUST)

    assert ended.code == 0
    assert (
        "kdoctor: tools/pyproject.toml:2: rules: those of . count in this run; for these, run "
        "kdoctor in tools\n"
    ) in ended.err


def test_a_fix_is_safe_only_by_the_record_beside_the_rules(project):
    claims = rule_text(
        **{
            "rule.applicability()": "Applicability.SAFE",
            "import Edit": "import Applicability, Edit",
        }
    )
    written(project).write({RULE: claims})

    told = project.kdoctor("scan", "train.py", TRUST).out
    assert "fix available (unsafe): Write `width`; unsafe because no run of the rule's own" in told
    project.kdoctor("fix", "train.py", TRUST, "--apply")
    assert project.read("train.py").decode() == TRAIN


@pytest.mark.frameworks
def test_it_is_proven_like_one_of_kdoctor(project):
    written(project).write({"acme_nn/__init__.py": LIBRARY})
    project.write({f"{FOLDER}/proofs.json": "no JSON"})

    ended = project.started("rules", "--test", FOLDER, "--prove")

    assert ended.code == 0, ended.out + ended.err
    assert "ACME001 INVALID[0]  ran as it says (keras 3." in ended.out
    assert ended.out.endswith("3 examples of 1 rule held, and ran as they say.\n")
    record = json.loads(project.read(f"{FOLDER}/proofs.json"))
    assert [each.get("holds") for key, each in record.items() if key != "about"] == [True]
    fix = project.kdoctor("scan", "train.py", TRUST, "--format", "json").json["findings"][0]["fix"]
    assert fix["applicability"] == "safe"
    project.kdoctor("fix", "train.py", TRUST, "--apply")
    assert project.read("train.py").decode() == FIXED
    # To prove one file leaves what the record says of the others, also beside a broken one.
    another = {
        "ACME001": "ACME002",
        "units-of-dense-block": "another-rule",
        "(None, 8)": "(None, 8), 'its shape'",
    }
    project.write({f"{FOLDER}/other.py": rule_text(**another), f"{FOLDER}/half.py": "x = ("})
    beside = project.started("rules", "--test", f"{FOLDER}/other.py", "--prove")
    assert beside.code == 0, beside.out + beside.err
    assert len(json.loads(project.read(f"{FOLDER}/proofs.json"))) == 3
    for name in ("other.py", "half.py"):
        (project.folder / FOLDER / name).unlink()
    # Other code of the example is another one, which was not run.
    project.write({RULE: rule_text(**{"(None, 8)": "(None, 9)"}), "train.py": TRAIN})
    wrong = project.started("rules", "--test", RULE, "--prove")
    assert wrong.code == 1
    assert "    after: it raises AssertionError" in wrong.out
    assert "The fixes of ACME001 stay unsafe: an example did not run as it says." in wrong.out
    assert project.kdoctor("fix", "train.py", TRUST).out == ""
