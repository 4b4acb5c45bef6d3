"""The ways to TensorFlow's own names lead to the same objects, where kdoctor takes them for that."""

import pytest

from kdoctor.keras_api import (
    Presence,
    keras_oracle,
    lookup,
    newest_target,
    resolve_target,
    split_root,
)
from kdoctor.keras_api.lent_modules import LENT
from kdoctor.keras_api.returns import BLOCK_CONTEXTS, LIBRARY_FUNCTIONS
from kdoctor.keras_api.surface import root_spelling, spelled
from kdoctor.keras_api.tensorflow_aliases import (
    FIRST,
    SECOND,
    VARIABLES,
    by_the_short_way,
    version_of,
    ways_also_by_1,
    ways_to,
)
from kdoctor.rules.behaviour import shape_against_list
from kdoctor.rules.idioms import tf_function_on_symbolic_tensor
from kdoctor.rules.saving import weights_filename


def test_a_name_by_a_longer_way_has_a_short_one():
    ways = ways_to("tensorflow.train.Checkpoint")

    assert len(ways) == 1 + len(SECOND)
    assert {by_the_short_way(each) for each in ways} == {"tensorflow.train.Checkpoint"}
    assert by_the_short_way("tensorflow.compat.v1.Session") == "tensorflow.compat.v1.Session"


def test_what_names_make_is_known_by_each_way():
    oracle = keras_oracle.KerasOracle(None)

    for way in ways_to("tensorflow.zeros"):
        assert oracle.result_type(way) == oracle.result_type("tensorflow.zeros") is not None
    for way in ways_also_by_1("tensorflow.GradientTape"):
        assert oracle.block_context(way) is not None


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "names",
    [
        BLOCK_CONTEXTS,
        shape_against_list._TYPES,
        tf_function_on_symbolic_tensor._DECORATORS,
        weights_filename._LATEST,
        ways_also_by_1("tensorflow.Graph"),
        *(
            ways_to(name)
            for name in LIBRARY_FUNCTIONS
            if name.startswith("tensorflow.")
            and "compat" not in name
            and name not in ("tensorflow.random_normal", "tensorflow.random_uniform")
        ),
    ],
)
def test_each_way_leads_to_the_very_same_object(names):
    found = [thing(name) for name in names]

    assert len(found) > len(SECOND)
    assert all(each is found[0] for each in found)


@pytest.mark.frameworks
def test_variables_by_each_way_are_the_same_when_they_are_made_at_once():
    assert len(VARIABLES) == 1 + len(SECOND) + len(FIRST)
    made = {type(thing(name)([1.0], dtype="float64")) for name in VARIABLES}
    assert [each.__name__ for each in made] == ["ResourceVariable"]


@pytest.mark.frameworks
@pytest.mark.parametrize("module", ["tensorflow", "tensorflow.keras"])
def test_each_way_tells_the_same_version(module):
    ways = ways_also_by_1(f"{module}.__version__")

    assert len({thing(way) for way in ways}) == 1
    assert {version_of(way.removesuffix(".__version__")) for way in ways} == {module}


@pytest.mark.frameworks
def test_what_tensorflow_lends_of_keras_is_written_down():
    pytest.importorskip("tensorflow")
    from tools.tensorflow_names import lent  # noqa: PLC0415

    assert lent() == LENT


@pytest.mark.parametrize("lender", ["tensorflow", "tensorflow.compat.v2"])
def test_what_tensorflow_lends_is_of_keras_and_keeps_its_spelling(lender):
    assert split_root(f"{lender}.optimizers.Adam") == ("tf.keras", "optimizers.Adam")
    assert split_root(f"{lender}.optimizers") == ("tf.keras", "optimizers")
    assert root_spelling(f"{lender}.losses.Loss") == lender
    assert spelled(lender, "losses.Loss") == f"{lender}.losses.Loss"
    assert spelled(lender, "layers.Dense") == f"{lender}.keras.layers.Dense"


def test_what_is_missing_there_is_said_in_the_words_of_tensorflow():
    name = "tensorflow.initializers.Gone"

    assert lookup(name, newest_target()).error == (
        "module 'keras._tf_keras.keras.initializers' has no attribute 'Gone'"
    )
    old = resolve_target("tensorflow==1.15", "test")
    assert lookup(name, old).presence is Presence.UNKNOWN


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow.losses.sparse_softmax_cross_entropy",
        "tensorflow.losses.Reduction.SUM",  # of both
        "tensorflow.losses",
        "tensorflow.compat.v1.metrics.MeanSquaredError",
        "tensorflow.layers.Dense",
    ],
)
def test_what_tensorflow_1_called_so_may_be_meant_for_it(name):
    assert split_root(name) is None


def thing(name):
    found = pytest.importorskip("tensorflow")
    for part in name.removeprefix("tensorflow.").split("."):
        found = getattr(found, part)
    return found
