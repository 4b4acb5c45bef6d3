"""KD301 beyond its examples: where the input goes, and where nothing is touched."""

import pytest

from kdoctor.engine import fix, scan


def mended(source: str, *rules: str) -> str:
    result = fix(["-"], stdin=source.encode(), select=rules or ["KD301"], unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else source


def findings(source: str):
    return scan(["-"], stdin=source.encode(), select=["KD301"]).findings


def test_a_comment_beside_the_argument_is_not_lost() -> None:
    source = (
        "import keras\nkeras.Sequential([\n    keras.layers.Dense(\n        3,\n"
        "        input_shape=(4,),  # RGBA\n    ),\n])\n"
    )
    assert "# RGBA" in mended(source)


def test_the_shape_keeps_its_own_edits_and_parentheses() -> None:
    source = "import keras\nkeras.Sequential([keras.layers.Dense(3, input_shape=((2 * 2),))])"
    assert "keras.Input(shape=((2 * 2),)), keras.layers.Dense(3)" in mended(source)


@pytest.mark.parametrize(
    "source",
    [
        (
            "import keras\nm = keras.Sequential()\nm.add(first)\n"
            "m.add(keras.layers.Dense(3, input_shape=(4,)))"
        ),
        (
            "import keras\nm = keras.Sequential()\nfor n in sizes:\n"
            "    m.add(keras.layers.Dense(n, input_shape=(4,)))"
        ),
        "import keras\nm = make()\nm.add(keras.layers.Dense(3, input_shape=(4,)))",
        "import keras\nkeras.Sequential([first, keras.layers.Dense(3, input_shape=(4,))])",
        (
            "import keras\nkeras.Sequential([keras.layers.Bidirectional("
            "keras.layers.LSTM(3, input_shape=(5, 4)))])"
        ),
        "import keras\nm = make()\nm.add(keras.layers.LSTM(3, input_dim=4))",
        "import keras\nkeras.Sequential([keras.layers.Dense(3, input_dim=4, input_length=5)])",
    ],
)
def test_only_what_is_plainly_the_first_layer_is_changed(source: str) -> None:
    (found,) = findings(source)
    assert found.severity == "legacy"
    assert found.no_fix_because
    assert mended(source) == source


def test_an_embedding_keeps_its_own_input_dim() -> None:
    source = "import keras\nkeras.Sequential([keras.layers.Embedding(9, 3, input_shape=(5,))])"
    assert "keras.Input(shape=(5,)), keras.layers.Embedding(9, 3)" in mended(source)
    assert not findings("import keras\nkeras.layers.Embedding(input_dim=9, output_dim=3)")


def test_in_a_function_the_indent_is_kept() -> None:
    source = (
        "import keras\n\n\ndef build():\n    model = keras.Sequential()\n"
        "    model.add(keras.layers.Dense(3, input_shape=(4,)))\n    return model\n"
    )
    assert (
        "    model.add(keras.Input(shape=(4,)))\n    model.add(keras.layers.Dense(3))\n"
        in mended(source)
    )


def test_a_line_break_behind_it_is_kept() -> None:
    source = (
        "import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.layers.Conv2D(8, 3, input_shape=(9, 9, 1),\n"
        "                              padding='same'))\n"
    )
    assert mended(source).endswith(
        "model.add(keras.layers.Conv2D(8, 3,\n                              padding='same'))\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Dense(input_dim=4, batch_size=2, units=3)", "Dense(units=3)"),
        ("Dense(batch_size=2, units=3, input_dim=4)", "Dense(units=3)"),
        ("Dense(3, input_dim=4, batch_size=2)", "Dense(3)"),
        ("Dense(batch_size=2, input_dim=4)", "Dense()"),
        ("Dense(batch_size=2, input_dim=4,)", "Dense()"),
    ],
)
def test_the_size_of_a_batch_moves_with_the_shape(before, after):
    head = "from keras import Input, Sequential\nfrom keras.layers import Dense\n\n"
    source = f"{head}model = Sequential([{before}])\n"
    for code in ("KD301", "KD303"):
        [file] = fix(["-"], stdin=source.encode(), unsafe=True, select=[code]).files
        moved = f"Input(shape=(4,), batch_size=2), {after}"
        assert file.after.decode() == f"{head}model = Sequential([{moved}])\n"


def test_it_goes_together_with_the_names_of_keras_1() -> None:
    source = (
        "from keras.models import Sequential\nfrom keras.layers import Convolution1D, LSTM\n\n"
        "model = Sequential()\n"
        "model.add(Convolution1D(\n    input_dim=4, input_length=100,\n    nb_filter=8,  # motifs\n"
        "    filter_length=5, border_mode='valid',\n))\n"
        "other = Sequential([LSTM(output_dim=8, input_dim=4, batch_size=2)])\n"
    )
    assert mended(source, "KD301", "KD303", "KD310") == (
        "from keras.models import Sequential\nfrom keras.layers import Convolution1D, LSTM\n"
        "from keras import Input\n\n"
        "model = Sequential()\nmodel.add(Input(shape=(100, 4)))\n"
        "model.add(Convolution1D(\n    filters=8,  # motifs\n"
        "    kernel_size=5, padding='valid',\n))\n"
        "other = Sequential([Input(shape=(None, 4), batch_size=2), LSTM(units=8)])\n"
    )
