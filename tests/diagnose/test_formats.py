"""Tracebacks in all the forms in which people paste them."""

from __future__ import annotations

import pytest

from kdoctor import explain
from kdoctor.diagnose import FrameOrigin, read_exceptions
from kdoctor.diagnose.frames import TracebackFrame

MEAN = "module 'keras.backend' has no attribute 'mean'"

IPYTHON_8 = """\
---------------------------------------------------------------------------
AttributeError                            Traceback (most recent call last)
Cell In[3], line 4
      1 def loss(a, b):
      2     return K.mean(K.square(a - b))
----> 4 loss(1.0, 2.0)

Cell In[3], line 2, in loss(a, b)
      1 def loss(a, b):
----> 2     return K.mean(K.square(a - b))

AttributeError: module 'keras.backend' has no attribute 'mean'
"""
IPYTHON_7 = """\
---------------------------------------------------------------------------
ModuleNotFoundError                       Traceback (most recent call last)
<ipython-input-5-0d0a6a5c7f5e> in <module>
      1 import os
----> 2 from keras.layers.core import Dense
      3 import re

ModuleNotFoundError: No module named 'keras.layers.core'

---------------------------------------------------------------------------
NOTE: If your import is failing due to a missing package, you can
manually install dependencies using either !pip or !apt.
"""
IPYTHON_FILE = """\
AttributeError                            Traceback (most recent call last)
Input In [1], in <cell line: 2>()
      1 import train
----> 2 train.main()

File ~/work/train.py:12, in main()
     10 def main():
     11     model = build()
---> 12     model.fit_generator(data())

AttributeError: 'Sequential' object has no attribute 'fit_generator'
"""
WINDOWS = """\
Traceback (most recent call last):
  File "C:\\Users\\me\\project\\train.py", line 3, in <module>
    from keras.utils import np_utils
ImportError: cannot import name 'np_utils' from 'keras.utils' (C:\\Users\\me\\AppData\\Local\\Programs\\Python\\Python311\\Lib\\site-packages\\keras\\utils\\__init__.py)
"""
PYTEST = """\
=================================== FAILURES ===================================
_______________________________ test_generator _________________________________

    def test_generator():
        model = keras.Sequential([keras.layers.Dense(1)])
>       model.fit_generator(range(3))
E       AttributeError: 'Sequential' object has no attribute 'fit_generator'

tests/test_train.py:7: AttributeError
=========================== short test summary info ============================
FAILED tests/test_train.py::test_generator - AttributeError: 'Sequential' object has no att...
============================== 1 failed in 3.21s ===============================
"""
PYTEST_COLLECTING = """\
==================================== ERRORS ====================================
_____________________ ERROR collecting tests/test_train.py _____________________
ImportError while importing test module '/home/me/tests/test_train.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
tests/test_train.py:2: in <module>
    from keras.layers.core import Dense
E   ModuleNotFoundError: No module named 'keras.layers.core'
=========================== short test summary info ============================
ERROR tests/test_train.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
"""
IN_USER_CODE = """\
Traceback (most recent call last):
  File "train.py", line 20, in <module>
    model.fit(x, y)
  File "/venv/lib/python3.10/site-packages/keras/utils/traceback_utils.py", line 70, in error_handler
    raise e.with_traceback(filtered_tb) from None
  File "/tmp/__autograph_generated_file1o6.py", line 15, in tf__train_function
    retval_ = ag__.converted_call(ag__.ld(step_function), (ag__.ld(self), ag__.ld(iterator)), None, fscope)
AttributeError: in user code:

    File "/venv/lib/python3.10/site-packages/keras/engine/training.py", line 1160, in train_function  *
        return step_function(self, iterator)
    File "/home/me/losses.py", line 8, in dice  *
        return K.summ(a * b)

    AttributeError: module 'keras.api._v2.keras.backend' has no attribute 'summ'
"""
DOCKER = """\
web-1  | 2024-05-01T12:00:00 INFO starting
web-1  | Traceback (most recent call last):
web-1  |   File "/app/serve.py", line 3, in <module>
web-1  |     from keras.engine.topology import Layer
web-1  | ModuleNotFoundError: No module named 'keras.engine'
web-1  | 2024-05-01T12:00:01 INFO bye
"""
GITHUB_ACTIONS = """\
2024-05-01T12:00:00.1234567Z Traceback (most recent call last):
2024-05-01T12:00:00.1234569Z   File "/app/serve.py", line 3, in <module>
2024-05-01T12:00:00.1234579Z     from keras.engine.topology import Layer
2024-05-01T12:00:00.1238567Z ModuleNotFoundError: No module named 'keras.engine'
2024-05-01T12:00:00.2234567Z ##[error]Process completed with exit code 1.
"""
PYTHON_3_6 = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    from keras.layers import Dnse
ImportError: cannot import name 'Dnse'
"""
WITHOUT_HEAD = """\
    return K.mean(K.square(x - 1))
           ^^^^^^
AttributeError: module 'keras.backend' has no attribute 'mean'
"""
CUT = """\
e 7, in <module>
    f(1)
  File "/opt/train.py", line 5, in f
    return K.mean(K.square(x - 1))
AttributeError: module 'keras.backend' has no attribute 'mea"""
PYTHON_3_13 = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 7, in <module>
    f(
    ~^
      1,
      ^^
    )
    ^
  File "/home/me/train.py", line 5, in f
    return K.mean(
           ^^^^^^
AttributeError: module 'keras.backend' has no attribute 'mean'. Did you mean: 'name'?
"""
PYTHON_3_14_IN_COLOUR = """\
Traceback (most recent call last):
  File \x1b[35m"/home/me/train.py"\x1b[0m, line \x1b[35m5\x1b[0m, in \x1b[35m<module>\x1b[0m
    \x1b[1;31mK.mean\x1b[0m(1)
    \x1b[1;31m^^^^^^\x1b[0m
\x1b[1;35mAttributeError\x1b[0m: \x1b[35mmodule 'keras.backend' has no attribute 'mean'\x1b[0m
"""
KERAS_3_CALLING = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 9, in <module>
    model.predict(x)
  File "/venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
  File "/home/me/train.py", line 5, in call
    return K.relu(x)
AttributeError: Exception encountered when calling Mine.call().

\x1b[1mmodule 'keras.backend' has no attribute 'relu'\x1b[0m

Arguments received by Mine.call():
  • x=tf.Tensor(shape=(2, 3), dtype=float32)
"""
KERAS_2_CALLING = """\
  File "/home/me/train.py", line 9, in <module>
    model.predict(x)
  File "/venv/lib/python3.10/site-packages/keras/utils/traceback_utils.py", line 70, in error_handler
    raise e.with_traceback(filtered_tb) from None
  File "/home/me/train.py", line 5, in call
    return K.reluu(x)
AttributeError: Exception encountered when calling layer "mine" (type Mine).

module 'keras.api._v2.keras.backend' has no attribute 'reluu'

Call arguments received by layer "mine" (type Mine):
  • x=tf.Tensor(shape=(2, 3), dtype=float32)
"""
LOGGED = """\
2026-01-01 10:00:00,123 ERROR worker: job failed
Traceback (most recent call last):
  File "/home/me/train.py", line 5, in run
    from keras.wrappers.scikit_learn import KerasClassifier
ModuleNotFoundError: No module named 'keras.wrappers.scikit_learn'
2026-01-01 10:00:00,124 INFO worker: retry
2026-01-01 10:00:01,124 INFO worker: idle
"""
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/home/me/a.py", line 12, in <module>
  |     asyncio.run(main())
  |   File "/usr/lib/python3.11/asyncio/runners.py", line 190, in run
  |     return runner.run(main)
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/home/me/a.py", line 5, in one
    |     K.sum(x)
    | AttributeError: module 'keras.backend' has no attribute 'sum'
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/home/me/a.py", line 8, in two
    |     raise ValueError(2)
    | ValueError: 2
    +------------------------------------
"""
CHAIN = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 2, in <module>
    from keras.layers.core import Dense
ModuleNotFoundError: No module named 'keras.layers.core'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/me/train.py", line 4, in <module>
    raise RuntimeError("install keras")
RuntimeError: install keras
"""


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


PYTEST_SHORT = """\
=================================== FAILURES ===================================
___________________________________ test_one ___________________________________
test_a.py:5: in test_one
    model.fit_generator(x)
E   AttributeError: 'Sequential' object has no attribute 'fit_generator'
___________________________________ test_two ___________________________________
test_a.py:8: in test_two
    d["b"]
E   KeyError: 'b'
=========================== short test summary info ============================
FAILED test_a.py::test_one - AttributeError: 'Sequential' object has no at...
"""


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
