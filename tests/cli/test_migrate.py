"""``kdoctor migrate`` tells what to do for a project, in which order. It writes nothing."""

from __future__ import annotations

import pytest

from tests.cli.html_pages import Parsed, assert_readable

OLD = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x)\n"
STOPS = "from keras.layers.core import Dense\n"
UNSAFE = "import keras\n\nmodel = keras.Sequential()\nmodel.fit(1, 2, workers=4)\n"
BY_HAND = "from keras import backend as K\n\n\ndef f():\n    return K.get_session()\n"
FILES = {
    "requirements.txt": "keras==2.2.4\n",
    "old.py": OLD,
    "core.py": STOPS,
    "train.py": f"import core\n{UNSAFE}",
    "hand.py": BY_HAND,
    "weights/a.h5": b"\x89HDF",
    "model/saved_model.pb": b"",
    ".venv/pyvenv.cfg": "",
    ".venv/b.h5": b"",
}
ORDER = ["pins", "imports", "safe fixes", "fixes to be judged", "saved models", "by hand"]


@pytest.fixture
def old(project):
    return project.write(FILES).committed()


def test_the_steps_come_in_order_with_their_commands(old):
    done = old.kdoctor("migrate")
    assert done.code == 1
    assert done.out.startswith("kdoctor 0.1.0: from keras 2.2.4 (requirements.txt:1")
    titles = [line for line in done.out.splitlines() if line[:1].isdigit()]
    assert [each[0] for each in titles] == list("123456")
    assert "   requirements.txt:1: keras==2.2.4 -> keras==" in done.out
    assert "   core.py:1:31 stops 2 files: " in done.out
    assert "\n     fix (safe): Import `keras.layers.Dense` instead of" in done.out
    assert "   $ kdoctor fix --apply\n" in done.out
    assert "   $ kdoctor fix --interactive\n" in done.out
    assert "   weights/a.h5\n" in done.out
    assert "   model/saved_model.pb\n" in done.out
    assert ".venv" not in done.out


def test_the_json_has_what_the_text_has(old):
    told = old.kdoctor("migrate", "--json").json
    assert [each["kind"] for each in told["steps"]] == ORDER
    assert told["now"]["version"] == "2.2.4"
    assert told["then"]["version"].startswith("3.")
    assert told["pins"][0]["requirement"] == "keras==2.2.4"
    assert [each["stopped"] for each in told["stops"]] == [["core.py", "train.py"]]
    assert told["models"] == ["model/saved_model.pb", "weights/a.h5"]
    counted = {each["kind"]: each["places"] for each in told["steps"]}
    for effort, kind in (("safe", ORDER[2]), ("unsafe", ORDER[3]), ("by_hand", ORDER[5])):
        assert sum(each[effort] for each in told["rules"]) == counted[kind]


def test_the_counts_are_those_of_a_scan(old):
    told = old.kdoctor("migrate", "--json").json
    target = f"keras=={told['then']['version']}"
    # Pins are a step of their own.
    scan = ("scan", "--format", "json", "--target", target, "--ignore", "KD712")
    findings = old.kdoctor(*scan).json["findings"]
    efforts = [(each["fix"] or {}).get("applicability", "by hand") for each in findings]
    counted = {each["kind"]: each["places"] for each in told["steps"]}
    assert counted["safe fixes"] == efforts.count("safe") > 0
    assert counted["fixes to be judged"] == efforts.count("unsafe") > 0
    assert counted["by hand"] == efforts.count("by hand") > 0


def test_the_commands_have_the_paths_and_options_of_the_call(old):
    out = old.kdoctor("migrate", "old.py", "--target", "keras==3.10.0").out
    assert "   $ kdoctor fix --apply old.py --target keras==3.10.0\n" in out


def test_following_the_plan_leaves_less_to_do(old):
    before = old.kdoctor("migrate", "--json").json
    (old.folder / "requirements.txt").write_text(before["pins"][0]["instead"] + "\n")
    assert old.kdoctor("fix", "--apply").code == 1
    after = old.kdoctor("migrate", "--json").json
    assert [each["kind"] for each in after["steps"]] == ["imports", *ORDER[3:]]
    assert after["files"]["done"] > before["files"]["done"]


def test_the_page_has_the_steps_with_their_places_and_commands(old):
    done = old.kdoctor("migrate", "--html", "plan.html", "--target", "keras==3.15.1")
    assert done.err == "kdoctor: wrote plan.html\n"
    page = Parsed.of(old.read("plan.html").decode())
    assert_readable(page.elements)
    assert not {"script", "link", "img"} & {tag for tag, _ in page.elements}
    told = [line for line in done.out.splitlines() if line[:1].isdigit()]
    assert [each.partition(":")[0] in page.text for each in told] == [True] * len(ORDER)
    assert "requirements.txt:1 keras==2.2.4 keras==3.15.1" in page.text
    assert "It stops 2 files: this one and those that import it" in page.text
    assert "kdoctor fix core.py --select KD102 --target keras==3.15.1" in page.text
    assert "Next: kdoctor fix --apply --target keras==3.15.1" in page.text
    assert "weights/a.h5" in page.text


def test_what_is_found_is_counted_by_owner(project):
    rules = "*.py @all\nhand.py @by-hand\ncore.py\n"
    project.write({**FILES, "CODEOWNERS": rules}).committed()
    done = project.kdoctor("migrate", "--html", "plan.html")
    told = done.out.partition("By owner (CODEOWNERS)\n")[2].partition("\n\n")[0]
    assert told.splitlines() == [
        "   2 places in 2 files: @all",
        "   1 place in 1 file: @by-hand",
        "   1 place in 1 file: nobody",
    ]
    page = Parsed.of(project.read("plan.html").decode())
    assert_readable(page.elements)
    assert "@by-hand 1 1" in page.text
    owners = project.kdoctor("migrate", "--json").json["owners"]
    assert owners["by"] == "CODEOWNERS"
    assert owners["each"][0] == {"owner": "@all", "places": 2, "files": 2}


def test_the_page_says_that_nothing_is_left(project):
    project.write({"a.py": "import keras\n\nkeras.ops.sum(1)\n"})
    assert project.kdoctor("migrate", "--html", "plan.html", "--quiet").err == ""
    assert "Nothing is left to do." in Parsed.of(project.read("plan.html").decode()).text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--html", "no/plan.html"), "there is no folder no"),
        (("--apply", "--html", "no/plan.html"), "there is no folder no"),
        (("--undo", "--html", "plan.html"), "--undo writes no page"),
    ],
)
def test_a_page_that_cannot_be_written_is_told_before_anything_runs(old, arguments, told):
    done = old.kdoctor("migrate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.count("\n") == 1


def test_nothing_is_written(old):
    old.kdoctor("migrate", "--no-cache")
    assert old.git("status", "--porcelain") == ""


def test_a_project_that_is_there_has_nothing_to_do(project):
    project.write({"a.py": "import keras\n\nkeras.ops.sum(1)\n", "requirements.txt": "keras>=3\n"})
    done = project.kdoctor("migrate")
    assert done.code == 0
    assert done.out.endswith("Done: 1 of 1 file with Keras.\nNothing is left to do.\n")


def test_a_project_that_says_nothing_of_its_keras_is_told_so(project):
    project.write({"a.py": OLD})
    assert (
        "no file of the project says which Keras it runs on now" in project.kdoctor("migrate").out
    )


def test_a_file_that_cannot_be_read_is_named(project):
    project.write({"a.py": OLD, "b.py": "import keras\nkeras.(\n"})
    done = project.kdoctor("migrate")
    assert done.code == 2
    assert "b.py: not checked: " in done.out


@pytest.mark.parametrize("arguments", [["-"], ["nowhere"], ["--target", "keras==x"]])
def test_a_wrong_use_is_one_sentence(project, arguments):
    done = project.kdoctor("migrate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1


PINNED = {"a.py": OLD, "requirements.txt": "keras==2.2.4\n"}


def test_a_project_is_not_called_done_while_it_installs_keras_2(project):
    project.write(PINNED)
    told = project.kdoctor("fix", "--target", "keras==3.15.1")
    assert "nothing is left" not in told.err
    target = ("--target", "keras==3.15.1", "--ignore", "KD712")
    kept = "requirements.txt:1 (keras==2.2.4) keeps the project on Keras 2; `kdoctor migrate"
    done = project.kdoctor("fix", "--apply", *target)
    assert "nothing is left" in done.err
    assert kept in done.err
    done = project.kdoctor("scan", *target)
    assert (done.code, "Nothing to report." in done.out) == (0, True)
    assert kept in done.err
    for quiet in (("-q",), ("--format", "json")):
        assert "keeps the project" not in project.kdoctor("scan", *target, *quiet).err
    project.write({"requirements.txt": "keras>=3\n"})
    assert "keeps the project" not in project.kdoctor("scan", *target).err


def test_pins_are_not_told_while_there_is_work_on_the_code(project):
    project.write(PINNED)
    assert "keeps the project" not in project.kdoctor("scan", "--target", "keras==3.15.1").err


@pytest.mark.parametrize(
    "options",
    [("--namespace", "keras"), ("--backend", "jax"), ("--as", "python"), ("--force-exclude",)],
)
def test_each_command_of_the_plan_takes_the_options_of_the_call(old, options):
    told = old.kdoctor("migrate", "old.py", "hand.py", *options, "--json").json
    named = [each["command"] for each in told["steps"] if each["command"]]
    assert named
    for each in named:
        assert old.kdoctor(*each.split()[1:]).code in (0, 1)
