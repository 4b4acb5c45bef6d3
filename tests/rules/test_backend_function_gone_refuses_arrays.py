"""``keras.ops`` refuses some lists and variables of TensorFlow, of which ``K`` made tensors."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from kdoctor.model import Applicability

_HEAD = "import numpy as np\nimport tensorflow as tf\nfrom keras import backend as K\n\n"


def fixes_of(code, name):
    source = f"{_HEAD}{code}\n"
    found = scan(["-"], stdin=source.encode(), select=["KD101"]).findings
    wanted = [each for each in found if each.symbol == f"keras.backend.{name}"]
    return [each.fix and each.fix.applicability for each in wanted]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("permute_dimensions", "K.permute_dimensions([[1, 2], [3, 4]], (1, 0))"),
        ("permute_dimensions", "K.permute_dimensions(x=((1, 2),), pattern=(1, 0))"),
        ("permute_dimensions", "x = [[1.0]] * 3\nK.permute_dimensions(x, (1, 0))"),
        ("permute_dimensions", "K.permute_dimensions(list(x) if y else [y, y], (1, 0))"),
        ("permute_dimensions", "K.permute_dimensions([each for each in x], (1, 0))"),
        ("concatenate", "K.concatenate([[1.0, 2.0], [3.0]], axis=0)"),
        ("concatenate", "def f(x):\n    return K.concatenate([x, [1]], axis=0)"),
        ("concatenate", "def f(x):\n    parts = [x, [1]]\n    return K.concatenate(parts, axis=0)"),
        ("concatenate", "def f(x):\n    return K.concatenate([x, K.int_shape(x)[1:]], axis=0)"),
        ("concatenate", "def f(x):\n    return K.concatenate([[y] for y in x], axis=0)"),
        ("argmax", "K.argmax(tf.Variable([1.0, 2.0]))"),
        ("argmin", "v = tf.compat.v1.Variable([1.0, 2.0])\nK.argmin(v)"),
        ("clip", "K.clip((0.5, 2.0), 0, 1)"),
    ],
)
def test_of_what_is_refused_there_is_no_fix(name, code):
    assert fixes_of(code, name) == [None]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("permute_dimensions", "def f(x=(1, 2)):\n    return K.permute_dimensions(x, (0,))"),
        (
            "concatenate",
            "def f(x, y=None):\n    y = y or [1]\n    return K.concatenate([x, y], axis=0)",
        ),
        (
            "argmax",
            (
                "class A:\n    def __init__(self):\n        self.v = tf.Variable([1.0])\n\n"
                "    def f(self):\n        return K.argmax(self.v)"
            ),
        ),
        ("argmin", "def f(x):\n    v = tf.Variable(x) if x else x\n    return K.argmin(v)"),
    ],
)
def test_of_what_may_be_refused_the_fix_is_unsafe(name, code):
    assert fixes_of(code, name) == [Applicability.UNSAFE]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("permute_dimensions", "def f(x):\n    return K.permute_dimensions(x, [1, 0])"),
        ("permute_dimensions", "x = [[1, 2]]\nx = np.array(x)\nK.permute_dimensions(x, (1, 0))"),
        ("concatenate", "def f(x, y):\n    return K.concatenate([x, y], axis=0)"),
        ("concatenate", "def f(*x):\n    return K.concatenate([*x], axis=0)"),
        ("concatenate", "def f(x):\n    return K.concatenate(x)"),
        ("concatenate", "def f(x):\n    return K.concatenate([K.mean(y) for y in x])"),
        ("argmax", "def f(x):\n    return K.argmax(x)"),
        ("argmin", "K.argmin(tf.Variable([1.0, 2.0]) + 1)"),
    ],
)
def test_of_tensors_it_is_safe(name, code):
    assert fixes_of(code, name) == [Applicability.SAFE]
