"""What is told to do about a kind of file that Keras 3 does not load: each is run, and works."""

import json
import shutil
import sys

import numpy as np
import pytest
import yaml

from kdoctor.keras_api import newest_target, resolve_target
from kdoctor.models import FileKind, Verdict, explained
from kdoctor.models.contents import Weight
from kdoctor.models.of_kind import how_to_load
from tests.frameworks import keras, tf, tf_keras
from tests.models import saved_files
from tests.models.saved_files import TWO, X, code_of, run

TARGET = newest_target()


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """The code of a cure names files as they were named to kdoctor: from here."""
    monkeypatch.chdir(tmp_path)


def looked_at(path):
    from pathlib import Path  # noqa: PLC0415

    return explained(Path(path), TARGET)


def is_loaded(path):
    try:
        keras.models.load_model(path)
    except Exception:  # noqa: BLE001 - whatever it is
        return False
    return True


def cured(path, kind):
    """Return the code of the cures of a file, which Keras 3 does not load as it is."""
    found = looked_at(path)
    assert found.kind is kind
    assert not is_loaded(path)
    stopping = [each for each in found.obstacles if not each.place]
    assert len(stopping) == 1
    return code_of(stopping[0].cure)


@pytest.mark.frameworks
def test_a_saved_model_of_keras_2_predicts_and_is_saved_anew():
    old = saved_files.one_input(tf_keras)
    old.save("old", save_format="tf")
    layer, again = cured("old", FileKind.KERAS_SAVED_MODEL)
    made = run(layer)["model"].predict(X, verbose=0)
    np.testing.assert_allclose(made["b"], old.predict(X, verbose=0), rtol=1e-5)
    run(again)
    assert looked_at("old.h5").verdict is Verdict.LOADS
    loaded = keras.models.load_model("old.h5")
    np.testing.assert_allclose(loaded.predict(X, verbose=0), old.predict(X, verbose=0), rtol=1e-5)


@pytest.mark.frameworks
@pytest.mark.parametrize("way", ["save", "export"])
def test_a_saved_model_of_two_inputs_predicts(way):
    old = saved_files.two_inputs(tf_keras)
    if way == "save":
        old.save("old", save_format="tf")
    else:
        old.export("old")
    kind = FileKind.KERAS_SAVED_MODEL if way == "save" else FileKind.SAVED_MODEL
    model = run(cured("old", kind)[0])["model"]
    (made,) = model.predict(TWO, verbose=0).values()
    np.testing.assert_allclose(made, old.predict(list(TWO.values()), verbose=0), rtol=1e-5)


@pytest.mark.frameworks
def test_what_keras_3_exported_predicts_from_its_file_as_well():
    old = saved_files.one_input(keras)
    old.export("new", verbose=False)
    for path in ("new", "new/saved_model.pb"):
        found = looked_at(path)
        made = run(code_of(found.obstacles[0].cure)[0])["model"].predict(X, verbose=0)
        np.testing.assert_allclose(made["output_0"], old.predict(X, verbose=0), rtol=1e-5)


@pytest.mark.frameworks
def test_a_signature_of_plain_tensorflow_has_its_own_name_and_types():
    class Counted(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int32, name="words")])
        def score(self, ids):
            return {"y": tf.cast(ids, tf.float32) * 2}

    made = Counted()
    tf.saved_model.save(made, "plain", signatures={"score": made.score})
    found = looked_at("plain")
    (signature,) = found.contents.signatures
    assert (signature.name, signature.inputs) == ("score", (Weight("words", (-1, 2), "int32"),))
    model = run(cured("plain", FileKind.SAVED_MODEL)[0])["model"]
    assert model.predict(np.array([[1, 2]], "int32"), verbose=0)["y"].tolist() == [[2.0, 4.0]]


@pytest.mark.frameworks
def test_a_saved_model_without_signatures_is_loaded_by_tensorflow():
    class Doubled(tf.Module):
        @tf.function
        def __call__(self, x):
            return x * 2

    made = Doubled()
    made(tf.ones((1, 2)))
    tf.saved_model.save(made, "plain")
    loaded = run(cured("plain", FileKind.SAVED_MODEL)[0])["loaded"]
    assert loaded(tf.ones((1, 2))).numpy().tolist() == [[2.0, 2.0]]


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "named", ["folder", "folder/w", "folder/w.index", "folder/w.data-00000-of-00001"]
)
def test_a_checkpoint_of_keras_2_is_saved_anew(named):
    old, new = saved_files.one_input(tf_keras), saved_files.one_input(keras)
    old.save_weights("folder/w")
    anew = saved_files.one_input(tf_keras)
    run(cured(named, FileKind.CHECKPOINT)[0], model=anew)
    run(looked_call("w.h5"), model=new)
    np.testing.assert_allclose(new.predict(X, verbose=0), old.predict(X, verbose=0), rtol=1e-5)


def looked_call(path):
    found = looked_at(path)
    assert not found.is_known
    return how_to_load(found.contents)


@pytest.mark.frameworks
def test_a_checkpoint_of_tensorflow_is_restored():
    old, new = saved_files.one_input(keras), saved_files.one_input(keras)
    tf.train.Checkpoint(model=old).save("folder/c")
    run(cured("folder", FileKind.CHECKPOINT)[1], model=new, tf=tf)
    np.testing.assert_allclose(new.predict(X, verbose=0), old.predict(X, verbose=0), rtol=1e-5)


@pytest.mark.frameworks
def test_a_frozen_graph_is_called_by_its_real_names(tmp_path):
    old = saved_files.one_input(tf_keras)
    saved_files.frozen(old, tmp_path / "frozen.pb")
    predict = run(cured("frozen.pb", FileKind.FROZEN_GRAPH)[0])["predict"]
    (made,) = predict(tf.constant(X))
    np.testing.assert_allclose(made, old.predict(X, verbose=0), rtol=1e-5)


@pytest.mark.frameworks
def test_tensorflow_lite_runs_by_its_interpreter(tmp_path):
    old = saved_files.one_input(tf_keras)
    saved_files.lite(old, tmp_path / "old.tflite")
    predict = run(cured("old.tflite", FileKind.TFLITE)[0])["predict"]
    (name,) = predict.get_input_details()
    (made,) = predict(**{name: X[:1]}).values()
    np.testing.assert_allclose(made, old.predict(X[:1], verbose=0), rtol=1e-4)


@pytest.mark.frameworks
@pytest.mark.parametrize("make", [saved_files.one_input, saved_files.two_inputs])
def test_a_model_of_tensorflow_js_is_made_of_its_configuration(tmp_path, make):
    old = make(tf_keras)
    saved_files.of_tensorflow_js(old, tmp_path / "js")
    model = run(cured("js/model.json", FileKind.TFJS)[0])["model"]
    model.set_weights(saved_files.weights_of_tensorflow_js(tmp_path / "js" / "model.json"))
    x = X if make is saved_files.one_input else list(TWO.values())
    np.testing.assert_allclose(model.predict(x, verbose=0), old.predict(x, verbose=0), rtol=1e-5)


@pytest.mark.frameworks
@pytest.mark.parametrize("make", [saved_files.one_input, saved_files.two_inputs])
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_configuration_of_keras_2_is_made_into_a_model(tmp_path, make, form):
    old = make(tf_keras)
    text = old.to_json()
    with pytest.raises(TypeError, match="Could not locate class"):
        keras.models.model_from_json(text)
    if form == "yaml":  # as `to_yaml` wrote it until Keras 2.5
        text = yaml.dump(json.loads(text))
    (tmp_path / "old").write_text(text)
    kind = FileKind.CONFIG if form == "json" else FileKind.YAML_CONFIG
    model = run(cured("old", kind)[0])["model"]
    assert [each.shape for each in model.get_weights()] == [
        each.shape for each in old.get_weights()
    ]


@pytest.mark.frameworks
def test_a_configuration_of_keras_3_is_read_as_told(tmp_path):
    (tmp_path / "new.json").write_text(saved_files.one_input(keras).to_json())
    found = looked_at("new.json")
    assert found.verdict is Verdict.LOADS
    assert run(f"model = {how_to_load(found.contents)}", keras=keras)["model"].count_params() == 23


@pytest.mark.frameworks
def test_the_folder_of_an_unzipped_archive_is_zipped_for_who_loads_no_folder(tmp_path):
    old = saved_files.one_input(keras)
    old.save("new.keras")
    shutil.unpack_archive("new.keras", tmp_path / "folder", "zip")
    assert looked_at("folder").verdict is Verdict.LOADS
    loaded = keras.models.load_model("folder")
    np.testing.assert_allclose(loaded.predict(X, verbose=0), old.predict(X, verbose=0))
    found = explained(tmp_path / "folder", resolve_target("keras==3.3.3", "--target"))
    run(code_of(found.obstacles[0].cure)[0])
    loaded = keras.models.load_model("folder.keras")
    np.testing.assert_allclose(loaded.predict(X, verbose=0), old.predict(X, verbose=0))


NAMES = ["m.h5", "m.hdf5", "m.keras", "m.model", "m.pb", "m.ckpt", "m", "m.weights.h5"]


@pytest.mark.frameworks
@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "form", ["h5 of Keras 2", "h5 of Keras 3", "archive", "old weights", "weights"]
)
def test_a_name_by_which_keras_3_does_not_know_the_kind_is_told_with_the_right_one(
    tmp_path, form, name
):
    source = {
        "h5 of Keras 2": ("s.h5", tf_keras, "save"),
        "h5 of Keras 3": ("s.h5", keras, "save"),
        "archive": ("s.keras", keras, "save"),
        "old weights": ("s.h5", tf_keras, "save_weights"),
        "weights": ("s.weights.h5", keras, "save_weights"),
    }
    first, framework, method = source[form]
    getattr(saved_files.one_input(framework), method)(first)
    (tmp_path / first).rename(tmp_path / name)
    found = looked_at(name)
    works = works_as_told(found)
    assert works is not found.is_known
    if found.is_known:
        (obstacle,) = found.obstacles
        (tmp_path / name).rename(tmp_path / obstacle.became)
        assert works_as_told(looked_at(obstacle.became))


def works_as_told(found):
    """Say whether the call for this kind of file works, whatever is told of its name."""
    try:
        run(
            f"made = {how_to_load(found.contents)}", keras=keras, model=saved_files.one_input(keras)
        )
    except Exception:  # noqa: BLE001 - whatever it is
        return False
    return True


def test_a_file_that_no_keras_loads_is_told_so_for_keras_2_as_well(tmp_path):
    (tmp_path / "m.tflite").write_bytes(bytes(4) + b"TFL3" + bytes(40))
    (tmp_path / "m.h5").write_bytes(b"")
    old = resolve_target("keras==2.15.0", "--target")
    for name in ("m.tflite", "m.h5"):
        assert explained(tmp_path / name, old).verdict is Verdict.NOT_FOR_KERAS


CURES = {
    "m.h5": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        "git lfs pull --include",
    ),
    "m.keras": (b"<!DOCTYPE html><title>Sign in</title>", "Download the file itself"),
    "empty.h5": (b"", "Copy or download it again"),
    "m.pkl": (b"\x80\x04N.", "open it with the packages that wrote it"),
}


@pytest.mark.parametrize("name", CURES)
def test_what_is_no_model_at_all_says_what_to_do(tmp_path, name):
    data, said = CURES[name]
    (tmp_path / name).write_bytes(data)
    (obstacle,) = looked_at(name).obstacles
    assert said in obstacle.cure


def test_nothing_of_a_framework_is_imported(tmp_path):
    import subprocess  # noqa: PLC0415

    (tmp_path / "m.tflite").write_bytes(bytes(4) + b"TFL3" + bytes(40))
    program = (
        "import sys; from pathlib import Path; from kdoctor.keras_api import newest_target\n"
        "from kdoctor.models.looking import look_at\n"
        "look_at(['m.tflite'], newest_target())\n"
        "print([each for each in ('keras', 'tensorflow', 'tf_keras', 'h5py', 'numpy') if each in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
