"""The benchmark of real packages: what is one kind of error."""

import pytest

from benchmarks.migration.kinds import kind
from benchmarks.migration.model import Failure


@pytest.mark.parametrize(
    ("error", "message", "expected"),
    [
        (
            "AttributeError",
            "module 'keras._tf_keras.keras.backend' has no attribute 'in_train_phase'",
            "AttributeError: module 'tf.keras.backend' has no attribute 'in_train_phase'",
        ),
        (
            "AttributeError",
            (
                "Exception encountered when calling Mine.call().\n\n\x1b[1mmodule 'keras.backend' has "
                "no attribute 'dot'\x1b[0m\n\nArguments received by Mine.call():\n  • x=1"
            ),
            "AttributeError: module 'keras.backend' has no attribute 'dot'",
        ),
        (
            "ValueError",
            (
                'in user code:\n\n    File "/x/p/a.py", line 3, in call  *\n        return f(x)\n'
                "    TypeError: Mine.f() got an unexpected keyword argument 'mask'\n"
            ),
            "TypeError: ….f() got an unexpected keyword argument 'mask'",
        ),
        (
            "ValueError",
            "Unrecognized keyword arguments passed to MyDense: {'weights': [array([[1., 2.]])]}",
            "ValueError: Unrecognized keyword arguments passed to …: {'weights'",
        ),
        (
            "ValueError",
            "A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is",
            "ValueError: A KerasTensor cannot be used as input to a TensorFlow function",
        ),
        (
            "ValueError",
            'Input 0 of layer "dense_3" is incompatible with the layer: found shape (None, (2, 3))',
            "ValueError: Input N of layer '…' is incompatible with the layer: found shape …",
        ),
        (
            "AssertionError",
            "assert [1, 2] == [1, 3] At index 1 diff: 2 != 3",
            "AssertionError: assert … == … At index",
        ),
        ("KeyError", "'weights'", "KeyError: '…'"),
        ("NotImplementedError", "", "NotImplementedError"),
    ],
)
def test_a_kind_is_the_error_without_one_programs_names_and_sizes(error, message, expected):
    assert kind(Failure(error, message)) == expected
