"""Optimizers as people write them, and whether KD241 says that Keras 3 refuses their attributes."""

import pytest

from kdoctor.engine import fix, scan

PROGRAM = """\
import {package} as keras
from keras.optimizers import SGD


class Own({base}):
    def __init__(self, rate=0.1, name="own", **kwargs):
        {lines}


own = Own()
"""
REFUSED = {
    "a tuple": ("self.a, self.b = 1, 2", "super().__init__(rate, name=name)"),
    "annotated": ("self.a: int = 1", "super().__init__(rate)"),
    "the old form": ("self.a = [rate]", "super(Own, self).__init__(learning_rate=rate, **kwargs)"),
    "a local name, too": ("self.a = steps = 0.5", "super().__init__(steps)"),
    "in a condition": ("self.a = 1", "if rate:", "    super().__init__(rate)"),
    "on one line": ("self.a = 1; super().__init__(rate)",),
    "behind a docstring": ('"""Make it."""', "self.a = float(rate)", "super().__init__(name=name)"),
    "of a parameter": ("self.a = kwargs.pop('a', 1)", "super().__init__(rate, **kwargs)"),
}
FIXED = {"a tuple", "annotated", "the old form", "behind a docstring"}
ACCEPTED = [
    ("super().__init__(rate)", "self.a = 1"),
    ("a = 1", "super().__init__(rate)", "self.a = a"),
    ("object.__setattr__(self, 'a', 1)", "super().__init__(rate)"),
    ("kwargs['a'] = 1", "super().__init__(rate)"),
]


def program(lines, base="keras.optimizers.SGD", package="keras"):
    return PROGRAM.format(package=package, base=base, lines="\n        ".join(lines))


def reported(source):
    return scan(["-"], stdin=source.encode(), select=["KD241"]).findings


@pytest.mark.frameworks
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_reported_raises_and_what_is_fixed_does_not(name):
    source = program(REFUSED[name])
    (finding,) = reported(source)

    with pytest.raises(RuntimeError, match="you forgot to call") as raised:
        exec(source, {})  # noqa: S102

    assert str(raised.value) in finding.message
    exec(program(REFUSED[name], package="tf_keras"), {})  # noqa: S102 - Keras 2 takes them
    assert (finding.fix is not None) == (name in FIXED)
    if name in FIXED:
        fixed = fix(["-"], stdin=source.encode(), select=["KD241"], unsafe=True).files[0].after
        exec(fixed, {})  # noqa: S102
        assert not reported(fixed.decode())


@pytest.mark.frameworks
@pytest.mark.parametrize("lines", ACCEPTED)
def test_what_keras_accepts_is_left_alone(lines):
    assert not reported(program(lines))
    exec(program(lines), {})  # noqa: S102


@pytest.mark.parametrize("base", ["SGD", "keras.optimizers.Optimizer"])
def test_each_optimizer_is_asked(base):
    assert reported(program(("self.a = 1", "super().__init__(rate)"), base))


@pytest.mark.parametrize("base", ["keras.layers.Layer", "keras.metrics.Mean", "Mixin, SGD", "Mine"])
def test_other_objects_are_left_alone(base):
    assert not reported(program(("self.a = 1", "super().__init__(rate)"), base))
