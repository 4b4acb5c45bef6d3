"""The verdict says that a file converts exactly where `convert` writes it."""

import pytest

from kdoctor.models import Verdict, explained
from kdoctor.models.convert import convert, refusals_of
from kdoctor.models.reading import read_contents
from tests.frameworks import tf_keras
from tests.models.convert.made import TARGET

KINDS = {
    "dense": lambda layers: layers.Dense(2),
    "renamed": lambda layers: layers.ThresholdedReLU(0.5),
    "gone": lambda layers: layers.RandomHeight(0.1),
    "local": lambda layers: layers.LocallyConnected1D(2, 2),
    "gone in part": lambda layers: layers.LocallyConnected1D(2, 2, implementation=2),
    "argument": lambda layers: layers.GRU(2),
    "code": lambda layers: layers.Lambda(lambda x: x * 2),
}
SHAPES = {"gone": (4, 4, 3)}


@pytest.mark.frameworks
@pytest.mark.parametrize("ending", [".h5", ".keras"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_to_convert_is_what_converts(tmp_path, kind, ending):
    path = tmp_path / f"old{ending}"
    start = tf_keras.Input(SHAPES.get(kind, (4, 3)))
    tf_keras.Model(start, KINDS[kind](tf_keras.layers)(start)).save(path)
    found = explained(path, TARGET)
    made = convert(path, tmp_path / "new.keras", TARGET)
    if found.verdict is Verdict.CONVERTS:
        assert made.refusals == ()
    elif found.verdict is Verdict.BY_HAND:
        assert made.refusals
    assert (tmp_path / "new.keras").exists() is not bool(made.refusals)
    assert refusals_of(read_contents(path), TARGET) == made.refusals


@pytest.mark.frameworks
def test_the_reasons_why_a_part_does_not_convert_are_told_beside_the_rest(tmp_path):
    path = tmp_path / "old.keras"
    start = tf_keras.Input((4, 3))
    middle = tf_keras.layers.GRU(2, return_sequences=True)(start)
    local = tf_keras.layers.LocallyConnected1D(2, 2, implementation=3, name="local")(middle)
    tf_keras.Model(start, local).save(path)
    found = explained(path, TARGET)
    assert found.verdict is Verdict.BY_HAND
    assert any("local" in each.place for each in found.obstacles)
    assert any("time_major" in each.cause for each in found.obstacles)


@pytest.mark.frameworks
def test_nothing_is_asked_of_what_is_never_converted(tmp_path):
    path = tmp_path / "saved"
    tf_keras.Sequential([tf_keras.Input((3,)), tf_keras.layers.Dense(2)]).save(
        path, save_format="tf"
    )
    assert refusals_of(read_contents(path), TARGET) is None
