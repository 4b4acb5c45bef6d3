"""Properties as people write them, and whether KD240 says that Keras 3 cannot set them."""

import pytest

from kdoctor.engine import scan

PROGRAM = """\
import {package} as keras


class Base:
    pass


class Own(keras.{owner}):
    def __init__(self):
        super().__init__()
        {init}

    @property
    def rate(self):
        {getter}

    @rate.setter
    def rate(self, value):
        self._rate = value


own = Own()
own.rate = 3
"""
RAISING = [
    ("self._rate = None", "if self._rate is None: raise KeyError('rate')\n        return self._rate"),
    ("self._rate = None", "if not self._rate: raise TypeError\n        return self._rate"),
    ("self._rate = None", "if self._rate == None:\n            raise ValueError()\n        return 1"),
    ("pass", "if not hasattr(self, '_rate'): raise IndexError\n        return self._rate"),
    ("pass", "if getattr(self, '_rate', None) is None: raise OSError\n        return self._rate"),
    ("self._rate = None", "if self._rate: return self._rate\n        raise ValueError('unset')"),
    ("self._rate = None", "if self._rate is not None: return 1\n        else: raise NameError('unset')"),
    ("self._rate = None", "value = self._rate\n        assert self._rate, 'unset'\n        return value"),
    ("pass", "try: return self._rate\n        except AttributeError: raise ValueError('unset')"),
]  # fmt: skip
QUIET = [
    ("self._rate = None", "if self._rate is None: raise AttributeError('rate')\n        return 1"),
    ("self._rate = 1", "if self._rate is None: raise KeyError('rate')\n        return self._rate"),
    ("self._rate = 1", "if not hasattr(self, '_rate'): raise KeyError('rate')\n        return 1"),
    ("self._rate = None", "if self._rate is not None: raise KeyError('rate')\n        return 1"),
    ("self._rate = None", "return self._rate"),
    ("self._rate = None", "return 1\n        raise ValueError('unset')"),
    (
        "self._rate = None",
        "if self._rate is None:\n            return 0\n        raise ValueError()",
    ),
    ("pass", "return self._rate"),
]


def reported(owner, init, getter):
    source = PROGRAM.format(package="keras", owner=owner, init=init, getter=getter)
    return scan(["-"], stdin=source.encode(), select=["KD240"]).findings


def run(package, owner, init, getter):
    try:
        exec(PROGRAM.format(package=package, owner=owner, init=init, getter=getter), {})  # noqa: S102
    except Exception as error:  # noqa: BLE001 - whatever the getter raises
        return type(error).__name__
    return ""


@pytest.mark.frameworks
@pytest.mark.parametrize("owner", ["layers.Layer", "Model"])
@pytest.mark.parametrize(("init", "getter"), RAISING)
def test_what_is_reported_raises_so(owner, init, getter):
    (finding,) = reported(owner, init, getter)

    error = run("keras", owner, init, getter)

    assert error
    assert f"{error}: " in finding.message
    assert not run("tf_keras", owner, init, getter)


@pytest.mark.frameworks
@pytest.mark.parametrize(("init", "getter"), QUIET)
def test_what_raises_nothing_is_left_alone(init, getter):
    assert not reported("layers.Layer", init, getter)
    assert not run("keras", "layers.Layer", init, getter)


@pytest.mark.frameworks
@pytest.mark.parametrize("owner", ["metrics.Mean", "losses.Loss", "callbacks.Callback"])
def test_objects_that_are_not_asked_are_left_alone(owner):
    assert not reported(owner, *RAISING[0])
    assert not run("keras", owner, *RAISING[0])


@pytest.mark.parametrize(
    "change",
    [
        ("class Own(", "class Own(Base, "),  # it may set `_rate`
        ("class Own(keras.layers.Layer)", "class Mid(keras.layers.Layer):\n    pass\n\nclass Own(Mid)"),
        ("    @rate.setter", "    def warm(self):\n        self._rate = 1\n\n    @rate.setter"),
        ("    @rate.setter", "    def __setattr__(self, *given):\n        mine(*given)\n\n    @rate.setter"),
    ],
)  # fmt: skip
def test_a_value_that_may_come_from_elsewhere_is_not_guessed(change):
    getter = "if not hasattr(self, '_rate'): raise KeyError('rate')\n        return self._rate"
    source = PROGRAM.format(package="keras", owner="layers.Layer", init="pass", getter=getter)

    assert scan(["-"], stdin=source.encode(), select=["KD240"]).findings
    assert not scan(["-"], stdin=source.replace(*change).encode(), select=["KD240"]).findings


@pytest.mark.parametrize(
    ("body", "count"), [("pass", 1), ("def __setattr__(self, *given): mine(*given)", 0)]
)
def test_a_base_of_several_may_set_attributes_its_own_way(body, count):
    getter = "if self._rate is None: raise KeyError('rate')\n        return self._rate"
    source = PROGRAM.format(
        package="keras", owner="layers.Layer", init="self._rate = None", getter=getter
    )
    source = source.replace("class Own(", f"class Mine:\n    {body}\n\nclass Own(Mine, ")

    assert len(scan(["-"], stdin=source.encode(), select=["KD240"]).findings) == count


@pytest.mark.parametrize(
    "sets",
    [
        "setattr(self, '_rate', 1)",
        "setattr(self, name, 1)",
        "super().__setattr__('_rate', 1)",
        "object.__setattr__(self, '_rate', 1)",
        "self.__dict__['_rate'] = 1",
        "vars(self).update(_rate=1)",
        "self._rate, self._seed = 1, 2",
        "self._seed, (self._other, [self._rate]) = 2, (3, [1])",
    ],
)
@pytest.mark.parametrize("is_in_init", [True, False])
def test_every_way_to_assign_the_attribute_counts(sets, is_in_init):
    getter = "if self._rate is None: raise KeyError('rate')\n        return self._rate"
    names = {"package": "keras", "owner": "layers.Layer", "getter": getter}
    quiet = f"pass\n    _rate = None\n\n    def warm(self, name='_rate'):\n        {sets}"
    if is_in_init:
        quiet = f"self._rate = None\n        name = '_rate'\n        {sets}"
    source = PROGRAM.format(init=quiet, **names)

    assert scan(["-"], stdin=source.replace(sets, "pass").encode(), select=["KD240"]).findings
    assert not scan(["-"], stdin=source.encode(), select=["KD240"]).findings
