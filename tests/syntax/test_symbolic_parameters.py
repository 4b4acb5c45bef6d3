"""Parameters that a function makes layers with weights for, be it after functions of tensors."""

import pytest

from kdoctor.engine import scan

HEAD = "import tensorflow as tf\nfrom tensorflow.keras.layers import Conv2D, ZeroPadding2D\n\n\n"


def lines(source, *, gate=True):
    found = scan(["-"], stdin=f"{HEAD}{source}".encode(), select=["KD503"], gate=gate).findings
    return [each.place.line - HEAD.count("\n") for each in found]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x):\n    y = tf.nn.relu(x)\n    return Conv2D(3, 3)(y)\n", [2]),
        ("def f(x):\n    return Conv2D(3, 3)(tf.nn.relu(x))\n", [2]),
        ("def f(x):\n    x = ZeroPadding2D()(tf.nn.relu(x))\n    return Conv2D(3, 3)(x)\n", [2]),
        ("def f(x):\n    x = tf.nn.relu(x)\n    x = tf.pad(x, p)\n    return Conv2D(3, 3)(x)\n", [2, 3]),
        # A function that makes a tensor of what is none.
        ("def f(x):\n    x = tf.cast(x, 'float32')\n    return Conv2D(3, 3)(tf.nn.relu(x))\n", []),
        # A function of which nothing is known.
        ("def f(x):\n    x = mine.made(x)\n    return Conv2D(3, 3)(tf.nn.relu(x))\n", []),
        # Another parameter of a function, by its name.
        ("def f(x, p):\n    y = tf.pad(paddings=p, tensor=x)\n    return Conv2D(3, 3)(y), tf.abs(p)\n", []),
        # No weights.
        ("def f(x):\n    return ZeroPadding2D()(tf.nn.relu(x))\n", []),
        # It is called with values.
        ("def f(x):\n    return Conv2D(3, 3)(tf.nn.relu(x))\n\n\nf(tf.ones((1, 4, 4, 1)))\n", []),
        # In a method such layers may be those of a `call`.
        ("class A:\n    def f(self, x):\n        return Conv2D(3, 3)(tf.nn.relu(x))\n", []),
    ],
)  # fmt: skip
def test_a_layer_with_weights_tells_what_the_functions_before_it_take(source, expected):
    assert lines(source) == expected


BLOCK = """\
class Block:
    def __call__(self, x):
        x = tf.abs(x)
        return Conv2D(3, 3)(x)


"""
PAIR = """\
class Pair:
    def __call__(self, inputs):
        x, y = inputs
        return tf.abs(x)

    def build(self):
        both = [tf.keras.Input((3,)), tf.keras.Input((3,))]
        return self(both)
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{BLOCK}y = Block()(tf.keras.Input((4, 4, 1)))\n", [3]),
        (f"{BLOCK}block = Block()\ny = block(tf.keras.Input((4, 4, 1)))\n", [3]),
        (f"{BLOCK}block = Block()\ny = block(x=tf.keras.Input((4, 4, 1)))\n", [3]),
        (PAIR, [4]),
        (f"{PAIR}\n    def __init__(self):\n        super(Pair, self).__init__()\n", [4]),
        # It is called with values somewhere.
        (f"{PAIR}\n\nPair()([tf.ones(3), tf.ones(3)])\n", []),
        (f"{BLOCK}block = Block()\nblock(tf.keras.Input((4, 4, 1)))\nblock(tf.ones((1, 4, 4, 1)))\n", []),
        # Nobody knows with what else.
        (f"{BLOCK}block = Block()\nblock(tf.keras.Input((4, 4, 1)))\nprint(block)\n", []),
        (f"{BLOCK}Block()(tf.keras.Input((4, 4, 1)))\nkinds = [Block]\n", []),
        (f"{BLOCK}Block()(tf.keras.Input((4, 4, 1)))\nclass Other(Block): pass\n", []),
        (f"{BLOCK}Block()(tf.keras.Input((4, 4, 1)))\nBlock()(*more)\n", []),
        (f"{BLOCK}Block()(tf.keras.Input((4, 4, 1)))\nthing.block = Block()\n", []),
        (f"{BLOCK}Block()(tf.keras.Input((4, 4, 1)))\nb = Block() if a else c\nb(1)\n", []),
        (f"{BLOCK}Block()(unknown)\n", []),
        (BLOCK, []),
        # A base may call it as well.
        (BLOCK.replace("Block:", "Block(mine.Base):") + "Block()(tf.keras.Input((4, 4, 1)))\n", []),
        # What is called is of another class.
        (f"{BLOCK}class A:\n    def f(self):\n        return self(tf.keras.Input((4, 4, 1)))\n", []),
    ],
)  # fmt: skip
def test_an_object_that_is_called_takes_what_all_its_calls_pass(source, expected):
    assert lines(source) == lines(source, gate=False) == expected


METHOD = """\
class A:
    def f(self, x):
        return tf.nn.relu(x)


class B:
    def f(self, x):
        return x


i = tf.keras.Input((3,))
"""


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("A().f(i)", [3]),
        ("a = A()\na.f(i)", [3]),
        ("a = A()\n\n\ndef g():\n    return a.f(i)", [3]),
        ("A().f(i)\nB().f(tf.ones((1, 3)))", [3]),
        # It is called with values, too.
        ("a = A()\na.f(i)\na.f(tf.ones((1, 3)))", []),
        # What it is called on may be of another class, or is not known.
        ("A().f(i)\nother.f(tf.ones((1, 3)))", []),
        ("a = A()\nif other:\n    a = B()\na.f(i)", []),
        ("for a in (A(), B()):\n    a.f(i)", []),
        ("a, b = A(), 3\na.f(i)", []),
        ("A = mine(A)\nA().f(i)", []),
        # It is handed on.
        ("f = A().f\nf(i)", []),
        ("A().f(*[i])", []),
    ],
)
def test_a_method_takes_what_the_calls_on_objects_of_its_class_pass(use, expected):
    assert lines(f"{METHOD}{use}\n") == expected
