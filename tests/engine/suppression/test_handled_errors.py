"""Errors that the code around a line waits for are no news."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan

HEAD = """\
import contextlib
import inspect
import unittest

import keras
import pytest
from keras import layers

model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
"""
CALL = "layers.LSTM(3, time_major=False)"


def codes(source: str) -> list[str]:
    data = (HEAD + source).encode()
    with_gate = scan(["-"], stdin=data, target="keras==3.15.1").findings
    without = scan(["-"], stdin=data, target="keras==3.15.1", gate=False).findings
    assert with_gate == without
    return [each.code for each in with_gate]


@pytest.mark.parametrize(
    "source",
    [
        f"try:\n    {CALL}\nexcept (TypeError, ValueError):\n    layers.LSTM(3)\n",
        f"try:\n    {CALL}\nexcept ValueError as error:\n    print(error)\n",
        f"try:\n    if model:\n        {CALL}\nexcept ValueError:\n    pass\n",
        "try:\n    model.save('folder')\nexcept ValueError:\n    model.export('folder')\n",
        "try:\n    keras.models.load_model('dir')\nexcept ValueError:\n    pass\n",
        "try:\n    model.load_weights('w.weights.h5', by_name=True)\nexcept ValueError:\n    pass\n",
        (
            "def f(path):\n    try:\n        model.save(path, save_format='tf')\n"
            "    except ValueError:\n        model.export(path)\n"
        ),
        "with contextlib.suppress(AttributeError):\n    keras.backend.sum\n",
        "with contextlib.suppress(KeyError, AttributeError):\n    keras.backend.sum\n",
        f"async def f():\n    async with pytest.raises(ValueError):\n        {CALL}\n",
        "with pytest.raises(AttributeError):\n    keras.backend.sum\n",
        "with pytest.raises(expected_exception=AttributeError):\n    keras.backend.sum\n",
        "with pytest.raises((AttributeError, TypeError), match='x'): keras.backend.sum\n",
        (
            "class T(unittest.TestCase):\n    def test(self):\n        with self.assertRaises(ValueError):\n"
            f"            {CALL}\n"
        ),
        (
            "class T(unittest.TestCase):\n    def test(self):\n"
            f"        with self.assertRaisesRegex(ValueError, 'x'):\n            {CALL}\n"
        ),
    ],
)
def test_who_waits_for_the_error_is_not_told_of_it(source):
    assert codes(source) == []


@pytest.mark.parametrize(
    "source",
    [
        f"try:\n    {CALL}\nexcept KeyError:\n    layers.LSTM(3)\n",
        f"try:\n    {CALL}\nexcept ValueError:\n    raise RuntimeError('no') from None\n",
        f"try:\n    {CALL}\nexcept ValueError:\n    print('no')\n    sys.exit(1)\n",
        f"try:\n    {CALL}\nexcept Exception:\n    pass\n",
        f"with pytest.raises(Exception):\n    {CALL}\n",
        (
            "def f(path):\n    try:\n        model.save(path, save_format='tf')\n"
            "    except TypeError:\n        model.export(path)\n"
        ),
        "try:\n    model.save('a.keras', save_format='keras')\nexcept ValueError:\n    pass\n",
        "try:\n    f(keras.backend.sum)\nexcept AttributeError:\n    pass\n",
        f"try:\n    {CALL}\nexcept Exception:\n    print(1)\nexcept ValueError:\n    pass\n",
        (
            "class T(unittest.TestCase):\n    def test(self):\n"
            f"        try:\n            {CALL}\n        except ValueError:\n"
            "            self.fail('no')\n"
        ),
        f"try:\n    {CALL}\nfinally:\n    pass\n",
        f"try:\n    pass\nexcept ValueError:\n    {CALL}\n",
        f"try:\n    def f():\n        {CALL}\nexcept ValueError:\n    pass\n",
        "with contextlib.suppress(ValueError):\n    keras.backend.sum\n",
        "with pytest.raises(ValueError):\n    keras.backend.sum\n",
        "with pytest.raises(AttributeError):\n    pass\nkeras.backend.sum\n",
        "with open('x') as file:\n    keras.backend.sum\n",
    ],
)
def test_who_waits_for_another_or_gives_up_is_told(source):
    assert len(codes(source)) == 1


def test_a_change_raises_nothing_to_wait_for():
    source = (
        "optimizer = keras.optimizers.SGD(0.1)\n"
        "with pytest.raises(ValueError):\n    optimizer.lr = 0.5\n"
    )
    assert codes(source) == ["KD406"]


def test_many_findings_are_looked_up_in_many_places():
    one = f"try:\n    {CALL}\nexcept ValueError:\n    pass\n"
    other = f"x = [{CALL}] if x else [{CALL}]\n"
    assert len(codes((one + other) * 40)) == 80


ASKED = "keras.metrics.deserialize(n, use_legacy_format=True)"


@pytest.mark.parametrize(
    "source",
    [
        (
            "if 'use_legacy_format' in inspect.signature(keras.metrics.deserialize).parameters:\n"
            f"    {ASKED}\n"
        ),
        (
            "sig = inspect.signature(keras.metrics.deserialize)\n"
            f"if 'use_legacy_format' in sig.parameters:\n    {ASKED}\nelse:\n    pass\n"
        ),
        (
            "names = inspect.getfullargspec(keras.metrics.deserialize).args\n"
            f"if n and 'use_legacy_format' in names:\n    {ASKED}\n"
        ),
        (
            "if not 'use_legacy_format' in inspect.signature(keras.metrics.deserialize).parameters:"
            f"\n    pass\nelse:\n    {ASKED}\n"
        ),
        (f"x = None if 'use_legacy_format' not in inspect.signature(f).parameters else {ASKED}\n"),
        (
            "names = inspect.signature(f).parameters\n"
            f"y = 'éééééééé'; x = {ASKED} if 'use_legacy_format' in names else None\n"
        ),
        (
            "names = inspect.getfullargspec(keras.metrics.deserialize).args\n"
            f"if 'use_legacy_format' not in names:\n    pass\nelse:\n    {ASKED}\n"
        ),
        (
            "sig = inspect.signature(keras.metrics.deserialize)\nnames = sig.parameters\n"
            f"x = {ASKED} if 'use_legacy_format' in names else None\n"
        ),
    ],
)
def test_an_argument_that_the_signature_was_asked_for_is_not_reported(source):
    assert codes(f"n = 'mse'\n{source}") == []


@pytest.mark.parametrize(
    "source",
    [
        f"if 'other' in inspect.signature(f).parameters:\n    {ASKED}\n",
        f"if 'use_legacy_format' in settings:\n    {ASKED}\n",
        f"if n or 'use_legacy_format' in inspect.signature(f).parameters:\n    {ASKED}\n",
        (
            "if n and 'use_legacy_format' not in inspect.signature(f).parameters:\n    pass\n"
            f"else:\n    {ASKED}\n"
        ),
        f"if 'use_legacy_format' in inspect.signature(f).parameters:\n    pass\nelse:\n    {ASKED}\n",
    ],
)
def test_an_argument_that_it_was_not_asked_for_is(source):
    assert "KD303" in codes(f"n = 'mse'\n{source}")
