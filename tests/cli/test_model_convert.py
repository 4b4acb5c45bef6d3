"""``kdoctor model --convert``, ``--verify`` and ``--code`` from end to end."""

import base64
import json
import marshal

import numpy as np
import pytest

from kdoctor.verify.saved_models import Pythons, compare_saved_models
from kdoctor.verify.user.running import Limits
from tests.models.convert.made import dense, hdf5, input_layer, layer, of_dense, sequential


def cell(**config):
    return layer("LSTM", "l", units=2, **config)


@pytest.fixture
def old(project):
    weights = {
        f"l/lstm_cell/{name}:0": np.full(shape, 0.5, "float32")
        for name, shape in (("kernel", (3, 8)), ("recurrent_kernel", (2, 8)), ("bias", (8,)))
    }
    path = project.folder / "old.h5"
    model = sequential(input_layer(shape=(None, None, 3)), cell(time_major=False), dense("d"))
    return hdf5(path, model, {"l": weights, **of_dense("d", (2, 2))})


@pytest.mark.usefixtures("old")
def test_what_was_changed_is_listed(project):
    ended = project.kdoctor("model", "old.h5", "--convert", "new.keras")
    assert (ended.code, ended.err) == (0, "")
    first, *rest = ended.out.splitlines()
    assert first.startswith("old.h5: converted to new.keras, which keras 3.")
    assert "  model/l: `LSTM` no longer takes `time_major=False`: dropped" in rest
    assert (project.folder / "new.keras").is_file()


def test_what_is_in_the_way_is_listed_and_nothing_written(project):
    model = sequential(input_layer(shape=(None, 4, 3)), cell(time_major=True))
    hdf5(project.folder / "old.h5", model)
    ended = project.kdoctor("model", "old.h5", "--convert", "new.keras", "--json")
    assert ended.code == 1
    told = json.loads(ended.out)["conversion"]
    assert not told["is_written"]
    assert [each["subject"] for each in told["refusals"]] == ["time_major"]
    assert [each.name for each in project.folder.iterdir()] == ["old.h5"]


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--verify",), "add it"),
        (("--trust",), "add it"),
        (("--convert", "new.keras", "--trust"), "add --verify"),
        (("--convert", "new.keras", "--old-python", "python"), "add --verify"),
        (
            ("--convert", "new.keras", "--verify", "--old-python", "nowhere/python"),
            "no such Python",
        ),
        (("--force",), "add --convert or --code"),
        (("--source", "train.py"), "add --convert or --code"),
        (("--convert", "new.keras", "--no-sandbox"), "add --verify"),
        (("--convert", "old.h5"), "name another one"),
        (("--convert", "new.bin"), "call it .keras"),
        (("--convert", "nowhere/new.keras"), "there is no folder nowhere"),
        (("--convert", "new.keras", "--target", "keras==2.15.0"), "for Keras 3, and not for"),
        (("--convert", "new.keras", "--format", "sarif"), "text or JSON"),
        (("old.h5", "--convert", "new.keras"), "takes one saved model"),
    ],
)
def test_options_that_do_not_go_together_are_refused(project, arguments, said):
    ended = project.kdoctor("model", "old.h5", *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert not (project.folder / "new.keras").exists()


def test_a_damaged_file_is_one_sentence(project, old):
    data = old.read_bytes()
    old.write_bytes(data[: len(data) - 900])
    ended = project.kdoctor("model", "old.h5", "--convert", "new.keras")
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert [each.name for each in project.folder.iterdir()] == ["old.h5"]


def test_a_kind_that_is_not_converted_is_told_with_the_command_that_has_its_cure(project):
    folder = project.folder / "served model"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(b"\x08\x01\x12\x00")
    (project.folder / "other").mkdir()
    (project.folder / "graph.onnx").write_bytes(b"\x08\x07\x12\x07pytorch:\x02\n\x00B\x02\x10\x0d")
    for path, said in (
        ("served model", "TensorFlow SavedModel: --convert reads HDF5 and .keras files; "),
        ("other", "--convert takes one saved model, and other is a folder: name a file in it"),
        ("graph.onnx", "`kdoctor model graph.onnx` says what to do with it"),
    ):
        ended = project.kdoctor("model", path, "--convert", "new.keras")
        assert ended.code == 2
        assert said in ended.err
    assert (
        "`kdoctor model 'served model'` says"
        in project.kdoctor("model", "served model", "--convert", "new.keras").err
    )


@pytest.mark.usefixtures("old")
def test_code_is_written_beside_a_conversion(project):
    ended = project.kdoctor("model", "old.h5", "--convert", "new.keras", "--code", "model.py")
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "old.h5: written as code to model.py"
    assert "layers.LSTM(units=2, " in (project.folder / "model.py").read_text()


@pytest.mark.frameworks
@pytest.mark.usefixtures("old")
def test_both_files_are_run_and_compared(project):
    ended = project.kdoctor("model", "old.h5", "--convert", "new.keras", "--verify")
    assert (ended.code, ended.err) == (0, "")
    assert "  equal: 5 weights, and the outputs for 2 inputs to 1e-5 (" in ended.out


def test_code_in_a_file_is_not_run_unless_it_is_trusted(project):
    mine = layer("Mine", "m", by=2)
    hdf5(project.folder / "old.h5", sequential(input_layer(shape=(None, 3)), mine))
    ended = project.kdoctor("model", "old.h5", "--convert", "new.keras", "--verify")
    assert ended.code == 2
    assert "not compared: old.h5 holds code" in ended.out
    assert "(the class `Mine` at model/m); nothing was run" in ended.out
    assert ended.out.rstrip().endswith("add --trust")
    assert (project.folder / "new.keras").is_file()


@pytest.mark.frameworks
def test_a_file_with_other_weights_is_unlike(project, old):
    other = of_dense("d", (2, 2))
    other["d"]["d/kernel:0"] += 0.01
    model = sequential(input_layer(shape=(None, 2)), dense("d"))
    first = hdf5(project.folder / "first.h5", model, of_dense("d", (2, 2)))
    second = hdf5(project.folder / "second.h5", model, other)
    del old
    project.kdoctor("model", str(second), "--convert", "new.keras")
    found = compare_saved_models(first, project.folder / "new.keras", Pythons(), Limits())
    assert not found.is_equal
    assert any("differs by" in each for each in found.unlike), found
    assert any(each.startswith("weight ") for each in found.unlike)


SOURCE = """
import tensorflow as tf

raise SystemExit("never run")
model = keras.Sequential([
    Lambda(lambda x: x / 127.5 - 1, name="scale"),
    Lambda(lambda x: tf.where(x > 0, x, 0.1 * x), name="leak"),
])
"""


def encoded(function):
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode()
    return {"function": [code, None, None], "function_type": "lambda"}


@pytest.fixture
def lambdas(project):
    scale = layer("Lambda", "scale", **encoded(lambda x: x / 127.5 - 1))
    leak = layer("Lambda", "leak", **encoded(lambda x: tf.where(x > 0, x, 0.1 * x)))  # noqa: F821
    project.write({"train.py": SOURCE})
    return hdf5(project.folder / "old.h5", sequential(input_layer(), scale, leak))


@pytest.mark.usefixtures("lambdas")
def test_the_functions_of_lambdas_are_read_from_their_source(project):
    asked = ("model", "old.h5", "--convert", "new.keras", "--source", "train.py")
    ended = project.kdoctor(*asked)
    assert ended.code == 1
    assert "  layer model/leak: its function at train.py:7 is no operation of Keras" in ended.out
    assert "Add `--code FILE.py`" in ended.out
    ended = project.kdoctor(*asked, "--code", "code.py")
    assert (ended.code, ended.err) == (0, "")
    first, *rest = ended.out.splitlines()
    assert first.endswith("loads, once code.py is imported")
    scaled = (
        "  model/scale: its function, from train.py:6, is `true_divide`, `subtract` of `keras.ops`"
    )
    assert scaled in rest
    assert "  model/leak: its function is `leak`, from train.py:7" in rest
    assert "def leak(x):\n    return tf.where" in (project.folder / "code.py").read_text()


@pytest.mark.usefixtures("lambdas")
def test_nothing_is_written_where_the_code_cannot_be(project):
    project.write({"code.py": "mine = 1"})
    asked = ("--convert", "new.keras", "--source", "train.py", "--code", "code.py")
    ended = project.kdoctor("model", "old.h5", *asked)
    assert ended.code == 2
    assert "--force replaces it" in ended.err
    assert not (project.folder / "new.keras").exists()
    assert (project.folder / "code.py").read_text() == "mine = 1"


def test_what_loading_takes_is_listed_for_programs(project):
    model = sequential(input_layer(), layer("Mine", "m"), dense("d"))
    hdf5(project.folder / "mine.h5", model, of_dense("d"))
    ended = project.kdoctor("model", "mine.h5", "--convert", "new.keras", "--json")
    assert ended.code == 0
    told = json.loads(ended.out)["conversion"]
    assert told["load_arguments"] == {"custom_objects": '{"Mine": Mine}'}
    assert [each["subject"] for each in told["needed"]] == ["Mine"]
