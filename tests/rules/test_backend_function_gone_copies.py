"""What `K.get_value` and `K.identity` gave stays what it was: on Keras 2, and on Keras 3 after fix."""

from __future__ import annotations

import pytest

from .before_and_after import HEAD, check_that_it_keeps_its_meaning, fixed

# A learning-rate finder, as people write it: the first rate is kept, the current one grows.
FINDER = """
rate = K.variable(0.01)


class Finder:
    def start(self):
        self.init = K.get_value(rate)
        self.cur = self.init
        self.rates = []

    def batch(self):
        self.rates.append(self.cur)
        self.cur *= 2
        K.set_value(rate, self.cur)

    def end(self):
        K.set_value(rate, self.init)


finder = Finder()
finder.start()
for _ in range(3):
    finder.batch()
finder.end()
"""
SAFE = {
    "a rate that grows": (
        FINDER,
        "[[round(float(each), 6) for each in finder.rates], round(float(K.get_value(rate)), 6)]",
        [[0.01, 0.02, 0.04], 0.01],
    ),
    "each use of a number": (
        "x = K.constant([2.5, 0.5])\nn = K.eval(K.sum(x))\nsome = {n: 1}\n",
        (
            "[type(n).__name__, bool(np.isscalar(n)), some[n], float(round(n, 1)), "
            "type(K.get_value(K.constant([1.0]))).__name__, 'ab' * int(n)]"
        ),
        ["float32", True, 1, 3.0, "ndarray", "ababab"],
    ),
    "a whole number that repeats": (
        "n = K.get_value(K.variable(2, dtype='int32'))\n",
        "['ab' * n, [0] * n, type(n).__name__]",
        ["abab", [0, 0], "int32"],
    ),
    "numbers of a list": (
        "a, b = K.batch_get_value([K.variable(2.0), K.variable([1.0, 2.0])])\nc = a\nc += 1\n",
        "[float(a), type(a).__name__, b.tolist()]",
        [2.0, "float32", [1.0, 2.0]],
    ),
    "a number at once": (
        "n = float(K.get_value(K.variable(2.0)))\n",
        "[n, type(n).__name__]",
        [2.0, "float"],
    ),
    "a copy of a variable": (
        "w = K.variable([1.0, 2.0])\nold = K.identity(w)\nK.update(w, w * 3)\nmoved = w - old\n",
        "K.eval(moved)",
        [2.0, 4.0],
    ),
    "a copy of a variable in a function": (
        (
            "def moved(w):\n    old = K.identity(w)\n    K.update_add(w, K.ones_like(w))\n"
            "    return w - old\n\n\ntotal = moved(K.variable([1.0, 2.0]))\n"
        ),
        "K.eval(total)",
        [1.0, 1.0],
    ),
}
KEEPS = "[K.eval(a).tolist(), K.eval(w).tolist()]"


@pytest.mark.frameworks
@pytest.mark.parametrize("name", SAFE)
def test_a_safe_fix_leaves_a_program_its_meaning(name):
    check_that_it_keeps_its_meaning(*SAFE[name])


def test_a_variable_that_keeps_its_type_is_itself_after_a_cast():
    """Keras 2 gave the variable; `keras.ops.cast` gives its value of now: no safe fix."""
    body = "w = K.variable([1.0, 2.0])\na = K.cast(w, 'float32')\n"
    assert "K.cast(w, 'float32')" in fixed(HEAD + body)
    assert "ops.cast(w, 'float32')" in fixed(HEAD + body, unsafe=True)
    assert "ops.cast(w, 'float32') + 1" in fixed(HEAD + body.replace("32')", "32') + 1"))
    assert "ops.cast(x, 'float32')" in fixed(HEAD + "def f(x):\n    return K.cast(x, 'float32')\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n = K.get_value(x)", "n = ops.convert_to_numpy(x)[()]"),
        ("n = float(K.get_value(x))", "n = float(ops.convert_to_numpy(x))"),
        ("a = np.ones(3)\nb = K.get_value(a)", "a = np.ones(3)\nb = K.get_value(a)"),
        ("y = K.identity(x)", "y = ops.copy(x)"),
        ("y = K.identity(K.abs(x))", "y = ops.abs(x)"),
        ("y = K.ndim(x)", "y = len(x.shape)"),
    ],
)
def test_what_is_written_is_the_least_that_is_the_same(before, after):
    source = f"{HEAD}\ndef f(x):\n    {{}}\n    return x\n"
    text = fixed(source.format(before.replace("\n", "\n    ")))
    assert after.replace("\n", "\n    ") in text
