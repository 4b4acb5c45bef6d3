"""KD423 beyond the rule's examples: what may be trained, and what surely is not."""

import pytest

from kdoctor.engine import scan

HEAD = (
    "import keras\n\nbase = keras.applications.ResNet50()\nx = keras.Input((200, 200, 3))\n\n\n"
    "def made(self):\n    y = base(x, training=False)\n"
)


def is_reported(body: str) -> bool:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return bool(scan(["-"], stdin=f"{HEAD}{lines}".encode(), select=["KD423"]).findings)


@pytest.mark.parametrize(
    "body",
    [
        "return keras.Model(x, y)",
        "return y",
        "m = keras.Model(x, y)",
        "m = keras.Model(x, y)\ntrain(m)",
        "self.y = y",
        "self.m = keras.Model(x, y)",
        "m = keras.Model(x, y)\nm.predict(data)\nm.fit(data)",
        "m = keras.Model(x, y)\nkeras.Sequential([m]).fit(data)",
        "m = keras.Model(x, y)\nm.predict(data)\nm(keras.Input((200, 200, 3)))",
        "m = keras.Model(x, y)\nm.predict(data)\nm(data, training=True)",
        "keras.Model(x, y).predict(data)\nouts.append(y)",
        "keras.Model(x, y).predict(data)\nmade(y)",
        "keras.Model(x, y).predict(data)\n\ndef inner():\n    return keras.Model(x, y)",
    ],
)
def test_a_model_that_may_come_to_training_is_reported(body: str) -> None:
    assert is_reported(body)


@pytest.mark.parametrize(
    "body",
    [
        "keras.Model(x, y).predict(data)",
        "z = keras.layers.Dense(2)(y)\nm = keras.Model(x, [y, z])\nm.summary()\nm.export(path)",
        "m = keras.Model(x, y)\nreturn m.predict(data)",
        "m = keras.Model(x, y)\ntf.lite.TFLiteConverter.from_keras_model(m)",
        "m = keras.Model(x, y)\nm(data)\nm(data, training=False)",
        "base.fit(data)\nm = keras.Model(x, y)\nkeras.models.save_model(m, path)",
    ],
)
def test_a_model_that_only_infers_is_not(body: str) -> None:
    assert not is_reported(body)
