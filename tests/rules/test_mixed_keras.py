"""KD703 on targets where the two roots are, or are not, one Keras."""

import pytest

from kdoctor.engine import scan

MIXED = "import keras\nimport tensorflow as tf\nkeras.Sequential([tf.keras.layers.Dense(2)])"


@pytest.mark.parametrize(
    ("target", "number"),
    [
        ("keras==3.15.1", 0),
        ("tensorflow==2.21", 0),
        ("tensorflow==2.10", 0),
        ("tf_keras==2.21", 1),
        ("keras==2.3", 1),
    ],
)
def test_the_target_says_whether_the_roots_are_one_keras(target: str, number: int) -> None:
    found = scan(["-"], stdin=MIXED.encode(), select=["KD703"], target=target).findings
    assert len(found) == number


def test_a_layer_of_ones_own_is_of_the_keras_of_its_base() -> None:
    source = (
        "import keras\nimport tf_keras\n\n\nclass Mine(tf_keras.layers.Layer):\n    pass\n\n\n"
        "keras.Sequential([Mine()])"
    )
    (found,) = scan(["-"], stdin=source.encode(), select=["KD703"]).findings
    assert found.place.line == 9


def test_the_message_is_that_of_the_targets_keras() -> None:
    (found,) = scan(["-"], stdin=MIXED.encode(), select=["KD703"], target="keras==2.3").findings
    assert "TypeError: The added layer must be an instance of class Layer" in found.message


def test_of_a_keras_from_elsewhere_nothing_is_said_where_tf_keras_is_the_target(tmp_path) -> None:
    train = (
        "\n\ndef train():\n    model = keras.Sequential()\n"
        "    model.compile(loss='mse', optimizer='sgd', metrics=['accuracy'])\n"
        "    model.fit(model.input.get_shape().as_list(), 3)\n    model.fit_generator(data)\n"
    )
    tmp_path.joinpath("unknown.py").write_text(f"from compat import keras\n{train}")
    tmp_path.joinpath("known.py").write_text(
        f"import tensorflow as tf\n\nkeras = tf.keras\n{train}"
    )

    def reported(*requirements: str) -> set[str]:
        tmp_path.joinpath("requirements.txt").write_text("\n".join(requirements))
        return {each.place.path.rpartition("/")[2] for each in scan([tmp_path]).findings}

    assert reported("tf_keras") == {"known.py"}
    assert reported("keras>=3") == {"known.py", "unknown.py"}


def test_nothing_is_mixed_where_it_is_open_which_keras_is_imported() -> None:
    source = (
        "import os\nfrom mine import version\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n"
        "major = version()\nif major == 1:\n    from keras.models import Sequential\n"
        "else:\n    from tensorflow.keras.models import Sequential\n"
        "from tensorflow.keras.layers import Dense\nSequential([Dense(2)])\n"
    )
    assert not scan(["-"], stdin=source.encode(), select=["KD703"]).findings
