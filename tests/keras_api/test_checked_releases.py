"""What `make api-check` recorded of installed releases: whole, without riddles, and not stale."""

import json

import pytest

from kdoctor.keras_api.surface import Surface
from tools.check_api.__main__ import RECORD, result, roots_of
from tools.check_api.compare import compare, content
from tools.check_api.environments import ENVIRONMENTS, NOT_COMPARED, Root

RECORDED = json.loads(RECORD.read_text())
ROOTS = [
    pytest.param(root, id=f"{name}-{title}")
    for name, environment in RECORDED["environments"].items()
    for title, root in environment["roots"].items()
]


def test_every_environment_is_recorded():
    recorded = {
        (name, title): (root["table"], root["release"])
        for name, environment in RECORDED["environments"].items()
        for title, root in environment["roots"].items()
    }
    assert recorded == {
        (environment.name, root.title): (root.table, root.release)
        for environment in ENVIRONMENTS
        for root in environment.roots
    }
    assert RECORDED["not_compared"] == NOT_COMPARED


@pytest.mark.parametrize("root", ROOTS)
def test_the_table_says_what_it_said_when_it_was_compared(root):
    assert content(Surface(root["table"], root["release"])) == root["content"], (
        "the data of this release has changed: run `make api-check`"
    )


@pytest.mark.parametrize("root", ROOTS)
def test_every_difference_has_a_reason(root):
    assert root["unexplained"] == []
    explained = sum(sum(owners.values()) for owners in root["explained"].values())
    assert explained == sum(root["different"].values())


@pytest.mark.parametrize("root", ROOTS)
def test_enough_was_compared_to_mean_something(root):
    least = {"names": 440, "kinds": 440, "signatures": 350, "members": 2000, "methods": 2000}
    short = {aspect: n for aspect, n in root["compared"].items() if n < least.get(aspect, 0)}
    assert short == {}
    # TensorFlow's private copy and contrib make classes that do not say where they are defined,
    # or train no model any more.
    if root["table"] in {"keras", "tf.keras", "tf_keras"}:
        assert root["instances"] > 170


def test_999_names_of_1000_are_equal_in_every_public_api():
    compared, different = 0, 0
    for root in roots_of(RECORDED):
        if root["table"] != "tensorflow.python.keras":
            compared += root["compared"]["names"]
            different += root["different"].get("names", 0)
    assert compared > 20_000
    assert 1 - different / compared >= 0.999


# The comparison itself, on an answer that is the table's own.

MIRRORED = Root("keras_core", "keras_core", "0.1.7")


def mirror() -> dict:
    surface = Surface(MIRRORED.table, MIRRORED.release)
    names = {name: ["module", name, None, False] for name in surface.names}
    answer = {"names": names, "failed": {}, "members": {}, "attributes": {}}
    return answer | {"problem": "", "instances": 0}


def differing(answer: dict, aspect: str) -> list[tuple[str, str, str]]:
    found = compare(Surface(MIRRORED.table, MIRRORED.release), answer).differences
    return [(each.name, each.table, each.real) for each in found if each.aspect == aspect]


def test_a_name_that_only_the_table_has_is_noticed():
    answer = mirror()
    del answer["names"]["layers.Dense"]
    assert differing(answer, "names") == [("layers.Dense", "there", "")]
    assert any("layers.Dense" in line for line in result(MIRRORED, answer)["unexplained"])


def test_a_name_that_only_the_run_has_is_noticed():
    answer = mirror()
    answer["names"]["layers.Dance"] = ["class", "keras_core.layers.Dance", None, False]
    assert differing(answer, "names") == [("layers.Dance", "", "there")]


def test_a_parameter_or_default_that_differs_is_noticed():
    answer = mirror()
    kind = "POSITIONAL_OR_KEYWORD"
    real = [["x", kind, None], ["axis", kind, ["-1", None]]]
    answer["names"]["ops.squeeze"] = ["function", "keras_core.ops.squeeze", real, False]
    assert differing(answer, "signatures") == [("ops.squeeze", "x, axis=None", "x, axis=-1")]


def test_a_member_that_differs_is_noticed():
    answer = mirror()
    home = "keras_core.src.layers.core.dense.Dense"
    answer["names"]["layers.Dense"] = ["class", home, None, False]
    answer["members"][home] = {"dance": ["method", "keras_core.src.layers.core.dense", [], False]}
    found = differing(answer, "members")
    assert (f"{home}.dance", "", "defined in keras_core.src.layers.core.dense") in found
    assert (f"{home}.build", "there", "") in found


def test_a_module_that_cannot_be_imported_there_is_not_compared():
    answer = mirror()
    answer["failed"]["layers"] = "ModuleNotFoundError: No module named 'theano'"
    answer["names"] = {n: row for n, row in answer["names"].items() if not n.startswith("layers")}
    assert differing(answer, "names") == []
