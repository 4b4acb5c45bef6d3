"""The architecture of a saved model as code: formatted, with names kept and what is missing marked."""

import subprocess
import sys

import pytest

from kdoctor.errors import UsageProblem
from kdoctor.models.convert import write_code
from tests.models.convert.made import (
    TARGET,
    dense,
    functional,
    hdf5,
    input_layer,
    layer,
    sequential,
)


def code(model, folder):
    path = folder / "model.py"
    made = write_code(hdf5(folder / "old.h5", model), path, TARGET, force=True)
    command = [sys.executable, "-m", "ruff", "format", "--check", "--isolated", "--no-cache", path]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    return path.read_text(), made


def test_only_what_differs_from_the_defaults_is_written(tmp_path):
    zeros = {"class_name": "Zeros", "config": {}}
    ones = {"class_name": "Ones", "config": {}}
    made = dense("d", use_bias=True, activation="relu", bias_initializer=zeros, trainable=True)
    other = dense("e", bias_initializer=ones, kernel_regularizer=None, dtype="float32")
    text, _ = code(sequential(input_layer(), made, other), tmp_path)
    assert 'layers.Dense(units=2, activation="relu", name="d"),' in text
    assert "bias_initializer=keras.initializers.Ones()" in text
    assert 'name="model"' in text


def test_a_layer_that_is_called_twice_is_made_once(tmp_path):
    model = functional(
        (input_layer(), []),
        (dense("d", units=3), [[["x", 0, 0, {}]], [["d", 0, 0, {}]]]),
        inputs=[["x", 0, 0]],
        outputs=[["d", 1, 0]],
    )
    text, _ = code(model, tmp_path)
    assert text.count("layers.Dense(") == 1
    assert "d_1 = d_layer(d)" in text


def test_what_is_written_by_hand_is_marked(tmp_path):
    model = sequential(input_layer(), layer("Lambda", "twice", function=["x", None, None]))
    text, made = code(model, tmp_path)
    assert [each.subject for each in made.by_hand] == ["twice"]
    assert "# TODO: it holds Python code" in text
    assert 'TwiceByHand(name="twice")' in text
    assert 'raise NotImplementedError("twice")' in text


def test_an_argument_that_is_lost_is_marked_at_its_layer(tmp_path):
    model = sequential(input_layer(), layer("LSTM", "l", units=2, time_major=True))
    text, made = code(model, tmp_path)
    assert len(made.by_hand) == 1
    assert "# TODO: model/l: `LSTM` takes no `time_major`" in text


@pytest.mark.parametrize("name", ['"""', "a\nimport os", "class", "1", "é", "x'\"y", "keras"])
def test_hostile_names_stay_texts(name, tmp_path):
    model = functional(
        (input_layer(name), []),
        (dense("d"), [[[name, 0, 0, {}]]]),
        inputs=[[name, 0, 0]],
        outputs=[["d", 0, 0]],
        name=name,
    )
    path = tmp_path / "model.py"
    write_code(hdf5(tmp_path / "old.h5", model), path, TARGET)
    compile(path.read_text(), "model.py", "exec")
    assert "import os" not in path.read_text().splitlines()


def test_only_python_is_written(tmp_path):
    old = hdf5(tmp_path / "old.h5", sequential(input_layer()))
    with pytest.raises(UsageProblem, match=r"call it \.py"):
        write_code(old, tmp_path / "model.txt", TARGET)
