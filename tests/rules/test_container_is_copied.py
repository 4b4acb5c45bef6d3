"""Attributes that are containers, as KD486 says that Keras keeps or copies them, on both releases."""

import itertools

import pytest

from kdoctor.engine import fix, scan

CONTAINERS = {
    "collections.defaultdict(list)": True,
    "collections.Counter('aab')": True,
    "collections.OrderedDict(a=1)": False,
    "collections.deque([1])": False,
    "collections.ChainMap({})": False,
    "collections.UserDict(a=1)": False,
    "Pair(1, 2)": False,
    "Options(a=1)": True,
    "Steps([1])": True,
    "Names({1})": True,
    "Ordered(a=1)": True,
    "Inner(a=1)": True,
    "frozenset([1])": False,
}
OWNERS = {
    "layers.Layer": True,
    "Model": True,
    "metrics.Mean": True,
    "optimizers.SGD": True,
    "callbacks.Callback": False,
    "losses.Loss": False,
    "initializers.Initializer": False,
    "constraints.Constraint": False,
}
CASES = [
    pytest.param(owner, value, copied and tracks, id=f"{owner} {value}")
    for (owner, tracks), (value, copied) in itertools.product(OWNERS.items(), CONTAINERS.items())
]
PROGRAM = """\
import collections
import {package} as keras

Pair = collections.namedtuple("Pair", "a b")


class Options(dict):
    def last(self):
        return 1


class Steps(list):
    last = 1


class Names(set):
    def __init__(self, values):
        super().__init__(values)
        self.last = 1


class Ordered(collections.OrderedDict):
    def last(self):
        return 1


class Inner(Options):
    pass


class Own(keras.{owner}):
    def __init__(self):
        super().__init__()
        self.kept = {value}


own = Own()
"""


def run(source):
    scope = {}
    exec(source, scope)  # noqa: S102
    return type(scope["own"].kept).__name__, list(scope["own"].kept)


@pytest.mark.frameworks
@pytest.mark.parametrize(("owner", "value", "is_copied"), CASES)
def test_a_container_that_is_copied_is_reported_and_kept_by_the_fix(owner, value, is_copied):
    source = PROGRAM.format(package="keras", owner=owner, value=value)
    found = scan(["-"], stdin=source.encode(), select=["KD486"]).findings
    before, now = run(PROGRAM.format(package="tf_keras", owner=owner, value=value)), run(source)

    assert len(found) == is_copied
    # An `OrderedDict` is wrapped by both, and keeps its order.
    assert (before != now) == is_copied or "OrderedDict(" in value
    if is_copied:
        fixed = fix(["-"], stdin=source.encode(), select=["KD486"], unsafe=True)
        assert run(fixed.files[0].after.decode()) == before


def findings(body, head="", target=None):
    source = (
        "import collections\nfrom collections import Counter, defaultdict, OrderedDict\n"
        f"import keras\n{head}\n\n"
        f"class Own(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n{body}"
    )
    return scan(["-"], stdin=source.encode(), select=["KD486"], target=target).findings


@pytest.mark.parametrize(
    "body",
    [
        "        self.a, self.b = Counter(), 1\n",
        "        self.a = self.b = 1\n        self.a = Counter()\n",
        "        self.a: dict[str, list] = defaultdict(list)\n",
        "    def build(self, shape):\n        counts = Counter()\n        self.a = counts\n",
        "        self.a = made()\n",
        "        self.a = [Counter() for _ in range(3)]\n",
        "        self.a = {k: Counter() for k in 'ab'}\n",
        "        self.a = Typed[str]()\n",
        "        self.reset()\n    def reset(self):\n        self.a = collections.defaultdict(int)\n",
    ],
)
def test_it_is_found_however_it_is_assigned(body):
    head = (
        "from typing import Generic, TypeVar\nT = TypeVar('T')\n"
        "class Typed(dict, Generic[T]):\n    def last(self):\n        return 1\n"
        "def made():\n    return Counter()\n"
    )
    assert len(findings(body, head)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "        self.a = dict(Counter())\n",
        "        self.a = Counter().most_common(1)\n",
        "        self.a = Counter()['b']\n",
        "        a = Counter()\n",
        "        self.a['b'] = Counter()\n",
        "        self.a.append(Counter())\n",
        "        self.a = OrderedDict()\n",
        "        object.__setattr__(self, 'a', Counter())\n",
        "        self.__dict__['a'] = Counter()\n",
        "        self.a = lambda: Counter()\n",
        "        self.a = Counter() if asked else None\n",
        "        self.a = Counter()\n    def __setattr__(self, *given):\n        super(*given)\n",
        "        self.a = Counter()\n    @property\n    def a(self):\n        return self._a\n",
    ],
)
def test_what_keeps_its_class_is_left_alone(body):
    assert not findings(body)


@pytest.mark.parametrize(
    "where", ["        self.a = Counter()\n", "        pass\nmade = Own()\nmade.a = Counter()\n"]
)
@pytest.mark.parametrize(
    "base",
    [
        "class Base:\n    def __setattr__(self, *given):\n        mine(*given)\n",
        "class Base:\n    @property\n    def a(self):\n        return self._a\n",
        "class First:\n    def __setattr__(self, *given):\n        mine(*given)\nclass Base(First):\n    pass\n",
    ],
)
def test_a_base_may_take_the_value_before_keras_does(base, where):
    source = (
        f"import keras\nfrom collections import Counter\n{base}"
        "class Own(Base, keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
    )
    without = (source + where).replace("(Base, ", "(")

    assert scan(["-"], stdin=without.encode(), select=["KD486"]).findings
    assert not scan(["-"], stdin=(source + where).encode(), select=["KD486"]).findings


def test_an_ordered_dict_lost_its_order_methods_before_keras_3_14():
    body = "        self.a = OrderedDict()\n        self.a.move_to_end('b')\n"

    (found,) = findings(body, target="keras==3.13.0")

    assert "'TrackedDict' object has no attribute 'move_to_end'" in found.message
    assert not findings(body, target="keras==3.14.0")


def test_the_error_is_told_where_the_file_shows_the_use():
    body = "        self.a = Counter()\n%s"
    for use, severity in {
        "        self.a['b'] += 1\n": "error",
        "    def top(self):\n        return self.a.most_common()\n": "error",
        "        self.a['b'] = 1\n": "change",
        "        self.a.clear()\n": "change",
        "        other.a['b'] += 1\n": "change",
    }.items():
        (found,) = findings(body % use)
        assert found.severity == severity, use


@pytest.mark.parametrize(
    ("later", "is_safe"),
    [
        ("self.a['n'].append(float(x))", True),
        ("self.a['n'] = [1, 'a', f'{x}', (x.shape, None)]", True),
        ("self.a['n'] += 1", True),
        ("self.a.update({'n': 1})", False),
        ("self.a['x'] = keras.layers.Dense(3)", False),
        ("self.a['x'].append(x)", False),
        ("self.a.setdefault('x', [x])", False),
        ("parts = self.a\n        parts['x'] = keras.layers.Dense(3)", False),
    ],
)
def test_what_may_put_a_layer_into_it_makes_the_fix_unsafe(later, is_safe):
    # Code that is written on Keras 3 trains the layer; not tracked, it would train no more.
    (found,) = findings(
        f"        self.a = defaultdict(list)\n    def add(self, x):\n        {later}\n"
    )
    assert found.fix.applicability == ("safe" if is_safe else "unsafe")
