"""The hand-stated tables of KD102 against release data and the installed Keras."""

import importlib
import re

import pytest

from kdoctor import keras_api
from kdoctor.keras_api import Presence
from kdoctor.rules.names._missing_names import PRIVATE
from kdoctor.rules.names._successors import BY_HAND, IN_TF_KERAS, SUCCESSORS, UNLIKE

TARGET = keras_api.newest_target()
# Names of Keras 1, of which there is no release data, and names that were never public.
OLDER = {
    "layers.convolutional.Conv",
    "layers.convolutional.base_conv.Conv",
    "layers.merging.base_merge._Merge",
    "engine.merge",
    "engine.topology.Merge",
    "initializations",
    "layers.Concat",
    "optimizers.clip_norm",
    "regularizers.activity_l1",
    "regularizers.activity_l2",
    "regularizers.l1l2",
    "utils.np_utils.conv_output_length",
    "utils.visualize_util.model_to_dot",
    "utils.visualize_util.plot",
    "layers.core.Merge",
    "layers.core.TimeDistributedDense",
    "utils.layer_utils.layer_from_config",
    "utils.generic_utils.object_list_uid",
    "utils.DeterministicRandomTestTool",  # of tf.compat.v1
    "utils.get_or_create_layer",
    "utils.track_tf1_style_variables",
    "layers.Highway",
    "layers.TimeDistributedDense",
    "metrics.fbeta_score",
    "metrics.fmeasure",
    "metrics.precision",
    "metrics.recall",
}


def left(row) -> str:
    return row.left.partition("(")[0].removeprefix("keras.")


NAMES = sorted({*BY_HAND, *IN_TF_KERAS, *UNLIKE, *(left(each.row) for each in SUCCESSORS)})


@pytest.mark.parametrize("name", NAMES)
def test_a_name_with_a_successor_is_gone_and_was_there(name: str) -> None:
    under = [keras_api.lookup(f"{root}.{name}", TARGET) for root in ("keras", "tensorflow.keras")]
    is_private = any(part.startswith("_") for part in name.split("."))
    assert is_private or under[0].presence is Presence.MISSING
    if not is_private and name not in OLDER and name.partition(".")[0] not in OLDER:
        assert any(each.periods for each in under) or any(
            keras_api.lookup(f"keras.{name}", keras_api.resolve_target(old, "")).presence
            is Presence.EXISTS
            for old in ("keras==2.1", "keras==2.3", "keras==2.10", "keras==2.12")
        )


@pytest.mark.parametrize("row", [each.row for each in SUCCESSORS], ids=lambda row: row.id[:80])
def test_what_a_name_is_rewritten_to_is_there(row) -> None:
    for name in re.findall(r"\bkeras(?:\.\w+)+", row.right):
        if not name.startswith("keras.src."):
            assert keras_api.lookup(name, TARGET).presence is Presence.EXISTS


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("keras.layers.CuDNNLSTM", "keras==2.12"),
        ("keras.layers.CuDNNGRU", "keras==2.12"),
        ("keras.models.model_from_config", "keras==2.15"),
        ("keras.utils.layer_utils.count_params", "keras==2.12"),
        ("keras.utils.conv_utils.normalize_data_format", "keras==2.12"),
    ],
)
def test_an_old_signature_is_that_of_its_release(name: str, release: str) -> None:
    rows = [each.row for each in SUCCESSORS if each.row.left.startswith(f"{name}(")]
    known = keras_api.signature(name, keras_api.resolve_target(release, ""))
    assert known is not None
    assert {row.left for row in rows} == {f"{name}({known.text})"}


def test_the_merge_function_has_the_signature_of_its_last_release() -> None:
    rows = [each.row for each in SUCCESSORS if each.row.left.startswith("keras.layers.merge(")]
    known = keras_api.signature(
        "keras.legacy.layers.merge", keras_api.resolve_target("keras==2.0", "")
    )
    assert known is not None
    assert {row.left for row in rows} == {f"keras.layers.merge({known.text})"}


@pytest.mark.frameworks
def test_a_private_name_that_is_written_is_there() -> None:
    for row in (each.row for each in SUCCESSORS):
        for name in re.findall(r"\bkeras\.src(?:\.\w+)+", row.right):
            module, _, leaf = name.rpartition(".")
            assert hasattr(importlib.import_module(module), leaf), name


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(PRIVATE))
def test_a_private_name_is_really_gone(name: str) -> None:
    parent, _, leaf = name.rpartition(".")
    module = importlib.import_module(f"keras.{parent}".rstrip("."))
    assert not hasattr(module, leaf)
