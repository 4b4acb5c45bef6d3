"""Tracebacks in all the forms in which people paste them."""

from __future__ import annotations

import pytest

from kdoctor import explain
from kdoctor.diagnose import FrameOrigin, read_exceptions
from kdoctor.diagnose.frames import TracebackFrame
from tests.diagnose.pasted_tracebacks import (
    CHAIN,
    CUT,
    DOCKER,
    GITHUB_ACTIONS,
    GROUP,
    IN_USER_CODE,
    IPYTHON_7,
    IPYTHON_8,
    IPYTHON_FILE,
    KERAS_2_CALLING,
    KERAS_3_CALLING,
    LOGGED,
    MEAN,
    PYTEST,
    PYTEST_COLLECTING,
    PYTEST_SHORT,
    PYTHON_3_6,
    PYTHON_3_13,
    PYTHON_3_14_IN_COLOUR,
    WINDOWS,
    WITHOUT_HEAD,
)


@pytest.mark.parametrize(
    ("text", "type_", "path", "line", "source"),
    [
        pytest.param(
            IPYTHON_8,
            "AttributeError",
            "Cell In[3]",
            2,
            "return K.mean(K.square(a - b))",
            id="ipython_8",
        ),
        pytest.param(
            IPYTHON_7,
            "ModuleNotFoundError",
            "<ipython-input-5-0d0a6a5c7f5e>",
            2,
            "from keras.layers.core import Dense",
            id="ipython_7",
        ),
        pytest.param(
            IPYTHON_FILE,
            "AttributeError",
            "~/work/train.py",
            12,
            "model.fit_generator(data())",
            id="ipython_file",
        ),
        pytest.param(
            WINDOWS,
            "ImportError",
            "C:\\Users\\me\\project\\train.py",
            3,
            "from keras.utils import np_utils",
            id="windows",
        ),
        pytest.param(
            PYTEST,
            "AttributeError",
            "tests/test_train.py",
            7,
            "model.fit_generator(range(3))",
            id="pytest",
        ),
        pytest.param(
            PYTEST_COLLECTING,
            "ModuleNotFoundError",
            "tests/test_train.py",
            2,
            "from keras.layers.core import Dense",
            id="pytest_collecting",
        ),
        pytest.param(
            IN_USER_CODE,
            "AttributeError",
            "/home/me/losses.py",
            8,
            "return K.summ(a * b)",
            id="in_user_code",
        ),
        pytest.param(
            DOCKER,
            "ModuleNotFoundError",
            "/app/serve.py",
            3,
            "from keras.engine.topology import Layer",
            id="docker",
        ),
        pytest.param(
            GITHUB_ACTIONS,
            "ModuleNotFoundError",
            "/app/serve.py",
            3,
            "from keras.engine.topology import Layer",
            id="github_actions",
        ),
        pytest.param(
            PYTHON_3_6,
            "ImportError",
            "train.py",
            3,
            "from keras.layers import Dnse",
            id="python_3_6",
        ),
        pytest.param(
            WITHOUT_HEAD,
            "AttributeError",
            "",
            None,
            "return K.mean(K.square(x - 1))",
            id="without_head",
        ),
        pytest.param(
            CUT, "AttributeError", "/opt/train.py", 5, "return K.mean(K.square(x - 1))", id="cut"
        ),
        pytest.param(
            PYTHON_3_13,
            "AttributeError",
            "/home/me/train.py",
            5,
            "return K.mean(",
            id="python_3_13",
        ),
        pytest.param(
            PYTHON_3_14_IN_COLOUR,
            "AttributeError",
            "/home/me/train.py",
            5,
            "K.mean(1)",
            id="python_3_14_in_colour",
        ),
        pytest.param(
            KERAS_3_CALLING,
            "AttributeError",
            "/home/me/train.py",
            5,
            "return K.relu(x)",
            id="keras_3_calling",
        ),
        pytest.param(
            KERAS_2_CALLING,
            "AttributeError",
            "/home/me/train.py",
            5,
            "return K.reluu(x)",
            id="keras_2_calling",
        ),
        pytest.param(
            LOGGED,
            "ModuleNotFoundError",
            "/home/me/train.py",
            5,
            "from keras.wrappers.scikit_learn import KerasClassifier",
            id="logged",
        ),
    ],
)
def test_the_line_of_the_user_is_found(text, type_, path, line, source):
    error = read_exceptions(text)[-1]
    assert error.type == type_
    frame = [each for each in error.frames if each.origin is FrameOrigin.USER][-1]
    assert (frame.path, frame.line, frame.source) == (path, line, source)
    found = explain(text, read=lambda _: None)
    assert found.is_known
    assert found.place == frame
    assert found.steps


def test_the_summary_of_pytest_alone_is_enough():
    text = f"FAILED tests/test_train.py::test_it - AttributeError: {MEAN}\n1 failed in 3s\n"
    assert explain(text).rule == "KD101"


def test_each_test_of_the_short_style_of_pytest_is_an_error_of_its_own():
    first, second = read_exceptions(PYTEST_SHORT)
    assert (first.name, second.name) == ("AttributeError", "KeyError")
    assert [str(frame) for frame in second.frames] == ["test_a.py:8"]


def test_the_line_style_of_pytest_names_the_place():
    (error,) = read_exceptions(f"/home/me/test_a.py:8: AttributeError: {MEAN}\n")
    assert (error.message, str(error.frames[0])) == (MEAN, "/home/me/test_a.py:8")


def test_of_a_group_the_member_that_is_of_keras_counts():
    assert [error.line for error in read_exceptions(GROUP)][1:] == [
        "AttributeError: module 'keras.backend' has no attribute 'sum'",
        "ValueError: 2",
    ]
    assert explain(GROUP).rule == "KD101"


def test_what_led_to_an_error_is_told_where_the_error_itself_says_nothing():
    found = explain(CHAIN)
    assert found.rule == "KD102"
    assert str(found.place) == "/home/me/train.py:2"


def test_of_several_errors_in_a_log_the_last_counts():
    assert explain(LOGGED + WINDOWS).error.line.startswith(
        "ImportError: cannot import name 'np_utils'"
    )


def test_what_keras_puts_around_a_message_is_taken_off():
    for text in (KERAS_3_CALLING, KERAS_2_CALLING, IN_USER_CODE):
        assert read_exceptions(text)[-1].message.startswith("module 'keras")


@pytest.mark.parametrize(
    ("path", "origin", "package"),
    [
        ("/home/me/train.py", FrameOrigin.USER, ""),
        ("C:\\Users\\me\\train.py", FrameOrigin.USER, ""),
        ("C:\\Python311\\Lib\\site-packages\\keras\\src\\x.py", FrameOrigin.KERAS, "keras"),
        ("C:\\Python311\\Lib\\json\\decoder.py", FrameOrigin.PYTHON, ""),
        ("/usr/lib/python3.11/json/decoder.py", FrameOrigin.PYTHON, ""),
        ("/usr/lib/python3/dist-packages/numpy/x.py", FrameOrigin.PACKAGE, "numpy"),
        (
            "/v/lib/python3.7/site-packages/tensorflow_core/python/keras/x.py",
            FrameOrigin.KERAS,
            "tensorflow_core",
        ),
        (
            "/v/lib/python3.11/site-packages/tensorflow/python/ops/x.py",
            FrameOrigin.TENSORFLOW,
            "tensorflow",
        ),
        (
            "/v/lib/python3.7/site-packages/Keras-2.3.1-py3.7.egg/keras/x.py",
            FrameOrigin.KERAS,
            "keras",
        ),
        ("/v/lib/python3.11/site-packages/six.py", FrameOrigin.PACKAGE, "six"),
        ("<frozen importlib._bootstrap>", FrameOrigin.PYTHON, ""),
        ("<stdin>", FrameOrigin.USER, ""),
        ("/opt/__autograph_generated_file1.py", FrameOrigin.GENERATED, ""),
    ],
)
def test_whose_file_it_is(path, origin, package):
    frame = TracebackFrame(path, 1)
    assert (frame.origin, frame.package) == (origin, package)


@pytest.mark.parametrize("text", ["", "\n\n", "all went well\n" * 3])
def test_a_text_without_an_error_is_not_explained(text):
    assert not explain(text).is_known


@pytest.mark.parametrize(
    "text",
    [
        f"built\nError: {MEAN}\ndone\n",
        f'level=error msg="{MEAN}" job=3\n',
        f"I get {MEAN} when I run it, why?\n\nThanks!\n",
        f"E   AttributeError: {MEAN}",
        f"AttributeError: {MEAN}",
        MEAN,
    ],
)
def test_a_message_is_found_in_whatever_stands_around_it(text):
    assert explain(text).rule == "KD101"
