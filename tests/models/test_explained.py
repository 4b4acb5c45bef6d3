"""What is said of a saved model is what `load_model` of Keras 3 does, and `explain` says it."""

import json
import subprocess
import sys

import pytest

from kdoctor.keras_api import newest_target
from kdoctor.models import explained
from tests.frameworks import keras, tf_keras

TARGET = newest_target()


def loads(path) -> bool:
    try:
        keras.models.load_model(path, compile=False)
    except Exception:  # noqa: BLE001 - whatever it is
        return False
    return True


def small_model(framework, *layers):
    return framework.Sequential([framework.Input((4, 3)), *layers])


def agrees(path) -> bool:
    return explained(path, TARGET).is_known is not loads(path)


@pytest.mark.frameworks
@pytest.mark.parametrize("ending", [".h5", ".hdf5", ".model", ".pb"])
def test_hdf5_is_known_by_its_name(tmp_path, ending) -> None:
    made = tmp_path / "made.h5"
    small_model(tf_keras, tf_keras.layers.Dense(2)).save(made)
    path = made.rename(tmp_path / f"detector{ending}")
    assert agrees(path)
    assert explained(path, TARGET).is_known is (ending not in {".h5", ".hdf5"})


@pytest.mark.frameworks
def test_what_a_layer_inside_a_wrapper_no_longer_takes(tmp_path) -> None:
    path = tmp_path / "old.h5"
    wrapped = tf_keras.layers.Bidirectional(tf_keras.layers.LSTM(2))
    small_model(tf_keras, tf_keras.layers.GRU(3, return_sequences=True), wrapped).save(path)
    found = explained(path, TARGET)
    causes = [each.cause for each in found.obstacles]
    assert any("`LSTM` takes no `time_major`" in each for each in causes)
    assert agrees(path)


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "kind", ["saved_model", "export", "checkpoint", "weights", "pickle", "pointer", "zip", "tflite"]
)
def test_what_holds_no_model_for_keras_3(tmp_path, kind) -> None:
    path = tmp_path / "there"
    match kind:
        case "saved_model":
            small_model(tf_keras, tf_keras.layers.Dense(2)).save(path, save_format="tf")
        case "export":
            small_model(keras, keras.layers.Dense(2)).export(path, verbose=False)
        case "checkpoint":
            small_model(tf_keras, tf_keras.layers.Dense(2)).save_weights(path / "weights")
        case "weights":
            path = tmp_path / "there.weights.h5"
            small_model(keras, keras.layers.Dense(2)).save_weights(path)
        case "pickle":
            path.write_bytes(b"\x80\x04N.")
        case "pointer":
            path = tmp_path / "there.keras"
            path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
        case "zip":
            path = tmp_path / "there.keras"
            path.write_bytes(b"PK\x05\x06" + bytes(18))
        case "tflite":
            path.write_bytes(bytes(4) + b"TFL3" + bytes(40))
    assert not loads(path)
    found = explained(path, TARGET)
    assert found.is_refused is (kind != "weights")
    assert (found.verdict is None) is (kind == "weights")


@pytest.mark.frameworks
def test_what_keras_3_wrote_has_no_obstacle(tmp_path) -> None:
    for ending in (".keras", ".h5"):
        path = tmp_path / f"new{ending}"
        small_model(keras, keras.layers.LSTM(2), keras.layers.Dense(1)).save(path)
        assert explained(path, TARGET).obstacles == ()
        assert loads(path)


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "kdoctor", "explain", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.frameworks
def test_explain_looks_at_the_file(tmp_path) -> None:
    path = tmp_path / "old.h5"
    small_model(tf_keras, tf_keras.layers.LSTM(2, name="read")).save(path)
    done = run(str(path))
    assert done.returncode == 0
    assert "/read: `LSTM` takes no `time_major`" in done.stdout
    told = json.loads(run(str(path), "--json").stdout)
    assert told["obstacles"][0]["place"].endswith("/read")
    assert run(str(path), "--target", "keras==2.15.0").returncode == 1


def test_a_damaged_file_is_one_sentence(tmp_path) -> None:
    path = tmp_path / "cut.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    done = run(str(path))
    assert done.returncode == 2
    assert done.stderr.startswith("kdoctor: ")
    assert done.stderr.count("\n") == 1


def test_a_log_and_a_message_are_texts_as_before(tmp_path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("AttributeError: module 'keras.backend' has no attribute 'sum'\n")
    assert "keras.backend" in run(str(path)).stdout
    assert run("no such file.h5 in a message").returncode in {0, 1}
