"""Tracebacks in all the forms in which people paste them: of shells, notebooks, test runs and logs."""

from __future__ import annotations

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
