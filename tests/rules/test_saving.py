"""KD6 beyond the rules' examples: what is known of a path, and what a renaming touches."""

import pytest

from kdoctor.analysis.training.loss_names import LONG_NAMES
from kdoctor.engine import fix, scan

MODEL = "import os, pathlib, keras\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"


def findings(source: str, code: str = "KD601"):
    return scan(["-"], stdin=source.encode(), select=[code]).findings


def mended(source: str, code: str = "KD601") -> str:
    result = fix(["-"], stdin=source.encode(), select=[code], unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else source


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("'a.h5'", "'a.weights.h5'"),
        ("'a'", "'a.weights.h5'"),
        ("'dir.v2/a'", "'dir.v2/a.weights.h5'"),
        ("'model.weights.hdf5'", "'model.weights.h5'"),
        ("'weights.{:.2f}'.format(1)", "'weights.{:.2f}.weights.h5'.format(1)"),
        ("'{}_{:.2f}.hdf5'.format(a, b)", "'{}_{:.2f}.weights.h5'.format(a, b)"),
        ("'%s_%05.2f.h5' % (a, b)", "'%s_%05.2f.weights.h5' % (a, b)"),
        ("a + '.h5'", "a + '.weights.h5'"),
        ("os.path.join(a, 'w.h5')", "os.path.join(a, 'w.weights.h5')"),
        ("pathlib.Path(a) / 'w.h5'", "pathlib.Path(a) / 'w.weights.h5'"),
        ("str(pathlib.Path('w.h5'))", "str(pathlib.Path('w.weights.h5'))"),
        ("f'{a}-{b:.2f}.h5'", "f'{a}-{b:.2f}.weights.h5'"),
        ("f'{a}.{b}'", None),
        ("a + b", None),
        ("a or 'x.h5'", None),
    ],
)
def test_a_path_gets_its_new_ending_where_the_old_one_is_known(path: str, new: str | None) -> None:
    source = f"{MODEL}a, b = input(), 1\nmodel.save_weights({path})\n"
    assert len(findings(source)) == (new is not None)
    wanted = source if new is None else f"{MODEL}a, b = input(), 1\nmodel.save_weights({new})\n"
    assert mended(source) == wanted


def test_the_same_path_is_renamed_everywhere_but_in_prose() -> None:
    source = (
        f'"""Writes w.h5."""\n{MODEL}model.save_weights("w.h5")\n'
        'if os.path.exists("w.h5"):\n    model.load_weights("w.h5")\nprint("not w.h5")\n'
    )
    after = mended(source)
    assert after.count('"w.weights.h5"') == 3
    assert '"""Writes w.h5."""' in after
    assert "not w.h5" in after


def test_equal_text_that_is_no_path_stays() -> None:
    source = (
        f'{MODEL}import argparse\n\nconfig = {{"small": 1, "kind": "small"}}\n'
        'options = argparse.ArgumentParser()\noptions.add_argument("--kind", default="small")\n'
        'model.name = "small"\nprint("small", config["small"], config["kind"])\n'
        'os.makedirs("small")\nmodel.save("small")\n'
    )
    assert mended(source, "KD604") == source.replace('save("small")', 'save("small.keras")')


@pytest.mark.parametrize(
    "other",
    [
        'os.getenv("small")',
        'os.environ.get("small")',
        'os.system("small")',
        'os.popen("small")',
        'os.putenv("small", "1")',
        'keras.utils.get_custom_objects().get("small")',
        'readers["all"]("small")',
        'reader()("small")',
        'open("small" + given)',
        'names = {}\nnames[0] = "small"\nload_weights(names[0])',
        'def again(path):\n    return path\n\n\nload_model(again("small"))',
        'import numpy as np\nnp.save("small", 1)',
        'load_weights(os.path.join("small", "a.txt"))',
    ],
)
def test_what_is_no_file_of_that_name_stays(other: str) -> None:
    source = f'{MODEL}{other}\nmodel.save("small")\n'
    assert mended(source, "KD604") == source.replace('save("small")', 'save("small.keras")')


@pytest.mark.parametrize(
    "other",
    [
        'keras.callbacks.ModelCheckpoint("kept")',
        'keras.callbacks.CSVLogger(filename="kept")',
        'keras.models.save_model(model, "kept")',
        'store.load_model(model_path="kept")',
        'store.load_weights(checkpoint_path="kept")',
        'store.load_weights(path="kept")',
        'store.load_weights(filepath="kept")',
        'open(pathlib.Path(given) / "kept")',
        'flags.DEFINE_string("out_file", "kept", "where it is")\nopen(FLAGS.out_file)',
        'click.option("--out-file", default="kept")\nopen(given.out_file)',
        'store.upload_file(client, "kept")',
        'open("kept")',
        'open(file="kept")',
        'places = dict(best="kept")\nstore.load_model(places["best"])',
        'places = {}\nplaces["best"] = "kept"\nstore.load_model(places.get("best"))',
        'where: str = "kept"\nstore.load_model(where)',
        'store.load_model(os.path.realpath("kept"))',
        'store.load_model(str("kept"))',
        'store.load_model(given or "kept")',
        'store.load_model("kept" if given else "other")',
        "def again(*, path):\n    return store.load_model(path)\n\n\nagain(path='kept')",
        "class Net:\n    def restore(self, path):\n        open(path)\n\n\nNet().restore('kept')",
        # Each is held by the other.
        'one = "kept"\nfor each in range(3):\n    other = one\n    one = other\nopen(one)',
    ],
)
def test_what_is_surely_taken_for_a_path_is_renamed(other: str) -> None:
    source = f'{MODEL}{other}\nmodel.save("kept")\n'
    after = source.replace('"kept"', '"kept.keras"').replace("'kept'", "'kept.keras'")
    assert mended(source, "KD604") == after


def test_a_path_that_is_handed_round_is_found_out_in_time() -> None:
    handed = "".join(
        f"    def m{number}(self, other):\n        self.path = other.path if other else self.path\n"
        for number in range(200)
    )
    source = (
        f'{MODEL}class Kept:\n    def __init__(self):\n        self.path = "kept"\n{handed}\n'
        'model.save("kept")\n'
    )
    assert mended(source, "KD604") == source.replace('save("kept")', 'save("kept.keras")')


def test_text_that_comes_to_a_path_by_a_name_a_parameter_or_an_option_is_renamed() -> None:
    source = (
        f"{MODEL}import argparse\n\nfrom keras.models import load_model\n\n"
        'options = argparse.ArgumentParser()\noptions.add_argument("--out-file", default="kept")\n'
        'PATH = "kept"\nplaces = {"model": "kept"}\n\n\n'
        'def again(size, path="kept"):\n    return load_model(path)\n\n\n'
        'class Kept:\n    def __init__(self):\n        self.path = "kept"\n\n'
        "    def load(self):\n        return load_model(self.path)\n\n\n"
        'load_model(PATH), load_model(options.parse_args().out_file), load_model(places["model"])\n'
        'again(1, "kept"), os.path.exists("kept"), os.remove(os.path.join(".", "kept"))\n'
        'model.save("kept")\n'
    )
    assert mended(source, "KD604") == source.replace('"kept"', '"kept.keras"')


@pytest.mark.parametrize(
    "reader",
    [
        "trt.TrtGraphConverterV2(input_saved_model_dir='served')",
        "tf.lite.TFLiteConverter.from_saved_model('served')",
        "keras.layers.TFSMLayer('served', call_endpoint='serving_default')",
        "tf.saved_model.load(export_dir='served')",
    ],
)
def test_what_a_saved_model_is_read_from_is_exported(reader: str) -> None:
    head = f"{MODEL}import tensorflow as tf\nimport tf_trt as trt\n"
    source = f"{head}model.save('served')\n{reader}\n"
    assert mended(source, "KD604") == source.replace("save(", "export(")


def test_a_path_that_is_put_together_alike_is_read_as_a_saved_model() -> None:
    source = (
        f"{MODEL}import tensorflow as tf\n\n\ndef convert(folder):\n"
        "    model.save(f'{folder}/model')\n"
        "    return tf.lite.TFLiteConverter.from_saved_model(f'{folder}/model')\n"
    )
    assert mended(source, "KD604") == source.replace("save(", "export(")


def test_what_a_function_of_the_file_reads_a_saved_model_from_is_exported() -> None:
    source = (
        f"{MODEL}import tensorflow as tf\n\n\ndef again(size, path):\n"
        "    return tf.saved_model.load(path)\n\n\nmodel.save('kept')\nagain(1, 'kept')\n"
    )
    assert mended(source, "KD604") == source.replace("save(", "export(")


def test_an_exported_model_is_nothing_that_a_hub_layer_calls_whole() -> None:
    source = f"{MODEL}import tensorflow_hub as hub\nmodel.save('a')\nhub.KerasLayer('a')\n"
    (found,) = findings(source, "KD604")
    assert found.fix is None
    assert "export" in (found.no_fix_because or "")


def test_a_whole_model_keeps_its_name() -> None:
    source = (
        f"{MODEL}model.save_weights('m.h5')\nmodel.load_weights('m.h5')\nmodel.save('m.h5')\n"
        "keras.models.load_model('m.h5')\n"
    )
    after = mended(source)
    assert after.count("'m.weights.h5'") == 2
    assert "model.save('m.h5')" in after
    assert "load_model('m.h5')" in after


@pytest.mark.parametrize(
    ("path", "renamed"),
    [
        ("'w/%s_w.h5' % p", "'w/%s_w.weights.h5' % p"),
        ("f'{p}.h5'", "f'{p}.weights.h5'"),
        ("os.path.join(folder, 'w.h5')", "os.path.join(folder, 'w.weights.h5')"),
        ("p + '.h5'", "p + '.weights.h5'"),
    ],
)
def test_a_path_that_is_put_together_is_renamed_where_it_is_loaded(path: str, renamed: str) -> None:
    source = (
        f"{MODEL}def save(p):\n    model.save_weights({{0}})\n\n\n"
        "def load(net, p):\n    path = {0}\n    net.load_weights(path)\n\n\n"
    )
    others = f"read({path})\nmodel.save({path})\n"
    assert mended(source.format(path) + others) == source.format(renamed) + others


def test_a_file_in_this_folder_may_be_written_with_a_dot() -> None:
    source = f"{MODEL}model.save_weights('./w.h5')\nother.load_weights('w.h5')\n"
    assert mended(source) == source.replace("w.h5", "w.weights.h5")


@pytest.mark.parametrize("by_name", ["by_name=True", "True", "by_name=flag"])
@pytest.mark.parametrize("more", ["", ", overwrite=True", ", True"])
def test_weights_that_are_loaded_by_name_keep_the_old_format(by_name: str, more: str) -> None:
    source = f"{MODEL}model.save_weights('./w.h5'{more})\nother.load_weights('w.h5', {by_name})\n"
    (finding,) = findings(source)
    assert finding.fix is not None
    assert finding.fix.unsafe_because
    assert 'save("./w.h5")' in finding.help
    assert mended(source) == source.replace("save_weights", "save")


def test_a_whole_model_has_no_other_format() -> None:
    call = "model.save_weights('w.h5', save_format='h5')"
    (finding, *_) = findings(f"{MODEL}{call}\nother.load_weights('w.h5', by_name=True)\n")
    assert finding.fix is None
    assert "by_name" in finding.no_fix_because


def test_weights_that_are_not_loaded_by_name_are_renamed() -> None:
    source = f"{MODEL}model.save_weights('w.h5')\nmodel.load_weights('w.h5', by_name=False)\n"
    assert "'w.weights.h5', by_name=False" in mended(source)


def test_a_path_that_is_a_parameter_is_not_known() -> None:
    source = f"{MODEL}def save(path='w.h5'):\n    model.save_weights(path)\n"
    assert not findings(source)


def test_a_path_that_is_bound_twice_is_not_known() -> None:
    source = f"{MODEL}path = 'w.h5'\npath = other()\nmodel.save_weights(path)\n"
    assert not findings(source)


def test_a_folder_given_with_a_slash_at_its_end_becomes_a_file() -> None:
    source = f"{MODEL}model.save('out/model/')\n"
    assert "model.save('out/model.keras')" in mended(source, "KD604")


@pytest.mark.frameworks
def test_the_short_names_are_those_that_cannot_be_loaded(tmp_path) -> None:
    import keras  # noqa: PLC0415

    def loads(name: str) -> bool:
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile("sgd", name)
        model.save(tmp_path / "a.h5")
        try:
            keras.models.load_model(tmp_path / "a.h5")
        except ValueError:
            return False
        return True

    for short, long in LONG_NAMES.items():
        assert keras.losses.get(short) is keras.losses.get(long)
        assert not loads(short)
        assert loads(long)
