"""Missing names, asked for in every spelling that messages have."""

from __future__ import annotations

import pytest

from kdoctor import explain
from kdoctor.diagnose import Fault, StepKind

LOG = """\
2026-11-21 10:00:00.000000: I tensorflow/core/util/port.cc:153] oneDNN custom operations are on.
Traceback (most recent call last):
  File "/home/me/train.py", line 7, in <module>
    f(1)
  File "/home/me/train.py", line 5, in f
    return K.mean(K.square(x - 1))
           ^^^^^^
AttributeError: module 'keras.backend' has no attribute 'mean'
"""


def test_the_line_of_a_traceback_comes_back_mended_whole():
    found = explain(LOG, target="keras==3.15.1")
    assert found.fault is Fault.YOUR_CODE
    assert str(found.place) == "/home/me/train.py:5"
    assert found.rule == "KD101"
    (diff,) = [step.text for step in found.steps if step.kind is StepKind.DIFF]
    assert "-return K.mean(K.square(x - 1))" in diff
    assert "+return ops.mean(ops.square(x - 1))" in diff


def test_the_file_is_asked_where_it_can_be_read():
    source = b"import keras\nfrom keras import backend as K\n\ndef f(x):\n    return K.mean(K.square(x - 1))\n"
    found = explain(LOG, target="keras==3.15.1", read=lambda _: source)
    (diff,) = [step.text for step in found.steps if step.kind is StepKind.DIFF]
    assert "+from keras import ops" in diff
    assert "+    return ops.mean(ops.square(x - 1))" in diff


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("module 'keras._tf_keras.keras.layers' has no attribute 'DenseFeatures'", "2.15.0"),
        ("module 'keras.api._v2.keras.layers' has no attribute 'foo'", "no known release"),
        ("No module named 'keras.layers.core'", "2.12.0"),
        ("cannot import name 'adam' from 'keras.optimizers' (/x/keras/optimizers.py)", "2.12.0"),
        ("module 'tensorflow' has no attribute 'Session'", "TensorFlow 1"),
    ],
)
def test_a_bare_message_is_enough(message, told):
    found = explain(message)
    assert found.is_known
    assert told in found.meaning


def test_a_compiled_file_of_no_package_is_no_package_without_a_name() -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "train.py", line 1, in <module>\n    import losses\n'
        '  File "losses.pyx", line 3, in init losses\n'
        "AttributeError: module 'keras.backend' has no attribute 'sum'\n"
    )
    found = explain(log, target="keras==3.15.1")
    assert (found.fault, found.package) == (Fault.YOUR_CODE, "")
    assert [step.text for step in found.steps] == [
        "Write `keras.ops.sum` instead of `keras.backend.sum`."
    ]


def test_lines_end_where_python_ends_them_a_form_feed_is_none() -> None:
    source = b'"""Fit.\x0c\xe2\x80\xa8"""\nimport keras\nmean = keras.backend.mean\n'
    log = (
        'Traceback (most recent call last):\n  File "fit.py", line 3, in <module>\n'
        "    mean = keras.backend.mean\n"
        "AttributeError: module 'keras.backend' has no attribute 'mean'\n"
    )
    found = explain(log, target="keras==3.15.1", read=lambda _: source)
    (diff,) = [step.text for step in found.steps if step.kind is StepKind.DIFF]
    assert diff.startswith("--- a/fit.py\n")
    assert "+mean = keras.ops.mean" in diff
