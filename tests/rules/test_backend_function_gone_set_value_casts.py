"""`K.set_value` cast what it was given: a safe fix assigns only what is taken without."""

import pytest

from .before_and_after import HEAD, check_that_it_keeps_its_meaning, fixed

TF = "import tensorflow as tf\n"
SAFE = (
    f"{TF}a, b, c = tf.Variable(1), tf.Variable(1, dtype='int64'), tf.Variable(0.0)\n"
    "d, e = K.variable(1, dtype='int32'), tf.Variable([1.5, 2.5])\n"
    "K.set_value(a, -3)\nK.set_value(b, np.array(3.7))\nK.set_value(c, 3)\n"
    "K.set_value(d, 3.7)\nK.set_value(e, [3, 4.5])\n"
)
CAST = {
    "a float": "v = tf.Variable(1)\nK.set_value(v, 3.7)\n",
    "what may be a float": (
        "v = tf.Variable(0, dtype=tf.int64)\n\n\ndef f(step):\n    K.set_value(v, step)\n"
    ),
    "floats in a list": "v = tf.Variable([1, 2])\nK.set_value(v, [1.5, 2.5])\n",
    "a tensor": "v = tf.Variable(0.0)\nK.set_value(v, tf.constant(3))\n",
    "a number for a truth value": "v = tf.Variable(True)\nK.set_value(v, 0)\n",
    "a number for a comparison": "v = tf.Variable(np.ones(2) > 1)\nK.set_value(v, [1.0, 0.0])\n",
    "one of several at once": "v, w = tf.Variable(1), tf.Variable(0.0)\nK.set_value(v, 3.7)\n",
    "a variable kept in an attribute": (
        "class C:\n    def __init__(self):\n        self.v = tf.Variable(1)\n\n"
        "    def f(self, n):\n        K.set_value(self.v, n / 2)\n"
    ),
}


@pytest.mark.frameworks
def test_what_is_assigned_by_a_safe_fix_is_what_was_set():
    shown = "[K.get_value(v).tolist() for v in (a, b, c, d, e)]"
    check_that_it_keeps_its_meaning(SAFE, shown, [-3, 3, 3.0, 3, [3.0, 4.5]])


@pytest.mark.parametrize("program", CAST.values(), ids=CAST)
def test_no_value_that_was_cast_is_assigned_by_a_safe_fix(program):
    source = f"{HEAD}{TF}{program}"
    assert fixed(source) == source
    assert ".assign(" in fixed(source, unsafe=True)
