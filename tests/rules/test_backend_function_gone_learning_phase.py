"""`K.learning_phase` and `K.in_train_phase` where no parameter `training` answers."""

from __future__ import annotations

import pytest

from kdoctor.engine import fix, scan

HEAD = "import keras\nfrom keras import backend as K\n\n\n"


def fixed(source: str) -> str:
    (found,) = fix(["-"], stdin=(HEAD + source).encode(), select=["KD101"], unsafe=True).files
    return found.after.decode()


@pytest.mark.parametrize(
    ("parameters", "now"),
    [
        ("self, x", "self, x, training=None"),
        ("self, x, mask=None", "self, x, mask=None, training=None"),
        ("self, x, *, scale=1", "self, x, training=None, *, scale=1"),
        ("self, x, **kwargs", "self, x, training=None, **kwargs"),
    ],
)
@pytest.mark.parametrize("base", ["keras.layers.Layer", "keras.Model"])
def test_call_gets_a_parameter_training(parameters: str, now: str, base: str) -> None:
    source = (
        f"class Own({base}):\n    def call({parameters}):\n"
        "        y = K.in_train_phase(x * 2, x)\n        return K.in_train_phase(y, x)\n"
    )
    after = fixed(source)
    assert f"    def call({now}):\n        y = x * 2 if training else x\n" in after
    assert "        return y if training else x\n" in after


@pytest.mark.parametrize(
    "source",
    [
        # What is passed by position must not become `training`.
        (
            "class Own(keras.layers.Layer):\n    def call(self, x, *args):\n"
            "        return K.in_train_phase(x * 2, x)\n"
        ),
        # It finds `training` itself.
        (
            "class Own(keras.layers.Layer):\n    def call(self, x, **kwargs):\n"
            "        training = kwargs.get('training')\n        return K.in_train_phase(x * 2, x)\n"
        ),
        # Nothing says that Keras calls it.
        "class Own:\n    def call(self, x):\n        return K.in_train_phase(x * 2, x)\n",
        # A method that `call` calls would have to be passed it.
        (
            "class Own(keras.layers.Layer):\n    def noisy(self, x):\n"
            "        return x if K.learning_phase() else -x\n"
        ),
        # It is set to what is asked for.
        "K.set_learning_phase(1)\nphase = K.learning_phase()\n",
        # It is fed to a function.
        "def inputs(model):\n    return model.inputs + [K.learning_phase()]\n",
    ],
)
def test_there_is_no_fix_where_another_way_is_meant(source: str) -> None:
    found = scan(["-"], stdin=(HEAD + source).encode(), select=["KD101"]).findings
    assert found
    assert [each.fix for each in found] == [None] * len(found)


def test_a_phase_that_nothing_sets_is_0_as_on_tensorflow_2() -> None:
    after = fixed("def rounded(x):\n    return x if K.learning_phase() else x + 1\n")
    assert "    return x if 0 else x + 1\n" in after
