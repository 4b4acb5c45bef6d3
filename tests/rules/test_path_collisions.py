"""No fix lets two files have one name, and none renames a model that is then not loaded."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix, scan

MODEL = "import keras\nimport os\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
MEETING = [
    ("model.save('net')", "model.save('net.keras')"),
    ("model.save('net')", "model.save('net.ckpt')"),
    ("model.save('net/')", "model.save('./net.model')"),
    ("model.save('net', save_format='tf')", "model.save('net.keras')"),
    ("model.save(os.path.join(d, 'net'))", "model.save(os.path.join(d, 'net.tf'))"),
    ("model.save(f'{d}/net.tf')", "model.save(f'{d}/net.model')"),
    ("model.save_weights('net.h5')", "model.save_weights('net.ckpt')"),
    ("model.save_weights('net.h5')", "model.save_weights('net.weights.h5')"),
    ("model.save_weights('net.h5')", "copy('net.weights.h5')"),
    (
        "keras.callbacks.ModelCheckpoint('best.hdf5')",
        "keras.callbacks.ModelCheckpoint('best.ckpt')",
    ),
    ("keras.callbacks.ModelCheckpoint('best.hdf5')", "model.save('best')"),
    (
        "keras.callbacks.ModelCheckpoint('w.h5', save_weights_only=True)",
        "model.save_weights('w.hdf5')",
    ),
]


def renamings(source, **options):
    found = scan(["-"], stdin=source.encode(), select=["KD6"], **options).findings
    return [each.fix for each in found if each.fix is not None]


@pytest.mark.parametrize(("one", "two"), MEETING)
def test_two_files_are_never_given_one_name(one, two):
    source = f"{MODEL}{one}\n{two}\n"
    found = scan(["-"], stdin=source.encode(), select=["KD6"]).findings
    assert found
    # One of both may be renamed, where the other keeps its name.
    assert len(renamings(source)) < 2
    assert any("would be called" in (each.no_fix_because or "") for each in found)
    after = fix(["-"], stdin=source.encode(), select=["KD6"], unsafe=True).files
    assert len(renamings(after[0].after.decode() if after else source)) == 0
    # Each alone has a fix.
    assert renamings(f"{MODEL}{one}\n")


APART = [
    ("model.save('net')", "model.save('other.keras')"),
    ("model.save('net')", "model.save_weights('net.h5')"),
    ("model.save('net')", "model.save('net')"),
    ("model.save('net')", "keras.models.load_model('net')"),
    ("model.save('net')", "model.save('net.h5')"),  # that one keeps its name
    ("model.save_weights('net.h5')", "model.load_weights('./net.h5')"),
    ("model.save_weights('net.h5')", "model.save('net.keras')"),
]


@pytest.mark.parametrize(("one", "two"), APART)
def test_paths_that_stay_apart_are_renamed(one, two):
    assert renamings(f"{MODEL}{one}\n{two}\n")


def test_of_a_folder_and_an_h5_file_the_one_that_fails_is_renamed():
    source = f"{MODEL}model.save('net')\nmodel.save('net.h5')\nagain = keras.models.load_model('net.h5')\n"
    after = fix(["-"], stdin=source.encode(), unsafe=True, select=["KD6"]).files[0].after.decode()
    assert after == source.replace("'net')", "'net.keras')")


@pytest.mark.parametrize("there", ["net.keras", "pkg/net.keras"])
def test_a_file_that_is_there_is_not_overwritten(tmp_path, there):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "pkg").mkdir()
    script = tmp_path / "pkg/train.py"
    script.write_text(f"{MODEL}model.save('net')\n")
    assert scan([script], select=["KD604"]).findings[0].fix is not None
    (tmp_path / there).write_bytes(b"")
    [finding] = scan([script], select=["KD604"]).findings
    assert "like an existing file" in finding.no_fix_because


def test_a_cached_answer_is_given_up_when_such_a_file_comes_or_goes(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    script = tmp_path / "train.py"
    script.write_text(f"{MODEL}model.save('net')\n")

    def has_fix():
        [finding] = scan([script], select=["KD604"], cache=True).findings
        return finding.fix is not None

    assert has_fix()
    (tmp_path / "net.keras").write_bytes(b"")
    assert not has_fix()
    (tmp_path / "net.keras").unlink()
    assert has_fix()


H5 = (
    "import keras\n\n\ndef mine(y, p):\n    return keras.ops.mean(y - p)\n\n\n"
    "def weighted(w):\n    def inner(y, p):\n        return w * mean(y - p)\n\n    return inner\n\n\n"
    "class Own(keras.losses.Loss):\n    pass\n\n\n"
    "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile({})\n"
    "model.save('net.h5')\nagain = keras.models.load_model('net.h5'{})\n"
)
LACKING = [
    ("'sgd', mine", "", "mine"),
    ("'sgd', 'mse', metrics=[mine]", "", "mine"),
    ("'sgd', loss={'out': mine}", "", "mine"),
    ("'sgd', weighted(2)", "", "inner"),
    ("'sgd', Own()", "", "Own"),
    ("'sgd', lambda y, p: y", "", "a lambda"),
    ("'sgd', mine, metrics=[Own()]", ", custom_objects={'mine': mine}", "Own"),
]


@pytest.mark.parametrize(("compiled", "loaded", "name"), LACKING)
def test_a_model_whose_own_loss_is_not_found_keeps_its_format(compiled, loaded, name):
    [finding] = scan(["-"], stdin=H5.format(compiled, loaded).encode(), select=["KD619"]).findings
    assert finding.fix is None
    assert f"{name}" in finding.no_fix_because
    assert "custom_objects" in finding.no_fix_because


FOUND = [
    ("'sgd', 'mse'", ""),
    ("'sgd', keras.losses.MeanSquaredError(), metrics=[keras.metrics.mean_squared_error]", ""),
    ("'sgd', mine", ", compile=False"),
    ("'sgd', mine", ", custom_objects={'mine': mine}"),
    ("'sgd', weighted(2)", ", {'inner': weighted(2)}"),
]


@pytest.mark.parametrize(("compiled", "loaded"), FOUND)
def test_a_model_that_is_found_whole_moves_to_the_new_format(compiled, loaded):
    [finding] = scan(["-"], stdin=H5.format(compiled, loaded).encode(), select=["KD619"]).findings
    assert finding.fix is not None


def test_a_registered_loss_is_found():
    source = H5.replace("class Own", "@keras.saving.register_keras_serializable()\nclass Own")
    [finding] = scan(
        ["-"], stdin=source.format("'sgd', Own()", "").encode(), select=["KD619"]
    ).findings
    assert finding.fix is not None


@pytest.mark.frameworks
def test_keras_loads_the_one_and_not_the_other(tmp_path):
    keras = pytest.importorskip("keras")

    def my_metric(y, p):
        return keras.ops.mean(keras.ops.abs(y - p))

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", keras.losses.mean_squared_error, metrics=[my_metric])
    model.save(tmp_path / "a.h5")
    model.save(tmp_path / "a.keras")
    assert keras.models.load_model(tmp_path / "a.h5").compiled
    with pytest.raises(TypeError, match="Could not locate function 'my_metric'"):
        keras.models.load_model(tmp_path / "a.keras")
