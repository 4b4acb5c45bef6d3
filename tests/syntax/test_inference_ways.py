"""What kind of object gets to a place by way of containers, functions, classes and tests."""

import ast

import pytest

from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.syntax import Module
from kdoctor.syntax.may_types import MayTypes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.symbol_table import SymbolTable
from kdoctor.value_types import Kind
from tests.syntax.conftest import World
from tests.syntax.inferred import HEAD, kind_of_y
from tests.syntax.ways import MAKERS, WAYS, program


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("way", WAYS)
def test_an_object_is_known_by_whatever_way_it_comes(parse, way, kind):
    assert kind_of_y(parse, program(way, kind)) == kind


@pytest.mark.parametrize("way", WAYS)
def test_what_is_known_by_a_way_is_possible_in_the_prefilter(way):
    source = HEAD + program(way, "layer")
    world = World()
    quick = QuickFacts(ast.parse(source), "code.py", None, world.star_names)
    possible = MayTypes(SymbolTable(quick.scopes), quick, world)
    kinds = {each.kind for place in possible.reads(("y",)) for each in possible.owner(place)}
    assert Kind.LAYER in kinds


IN_A_LIST = "class A:\n    def __init__(self):\n        self.p = [Dense(3)]\n{}    def use(self):\n        self.p[0].y\n{}"


@pytest.mark.parametrize(
    ("method", "outside"),
    [
        ("    def f(self, x):\n        self.p.append(x)\n", ""),
        ("    def f(self, x):\n        self.p[0] = x\n", ""),
        ("    def f(self, x):\n        self.p += x\n", ""),
        ("    def f(self, x):\n        q = self.p\n        q.append(x)\n", ""),
        ("    def f(self, x):\n        self.p = x\n", ""),
        ("    def f(self, x):\n        self.p = [x]\n", ""),
        ("    def f(self, x):\n        self.p = []\n        self.p.append(x)\n", ""),
        ("", "a = A()\na.p.append(3)"),
        ("", "def f(a):\n    a.p.append(3)"),
        ("", "def f(a, x):\n    a.p = x"),
        ("", "class B(A):\n    def f(self, x):\n        self.p.extend(x)"),
        ("", "class B(A):\n    def f(self, x):\n        self.p = x"),
        ("    def f(self, x):\n        setattr(self, 'p', x)\n", ""),
        ("", "def fill(xs):\n    xs.append(3)\nfill(A().p)"),
    ],
)
def test_a_list_that_is_kept_is_of_what_any_code_puts_into_it(parse, method, outside):
    assert kind_of_y(parse, IN_A_LIST.format("", "")) is Kind.LAYER
    assert kind_of_y(parse, IN_A_LIST.format(method, outside)) is None


@pytest.mark.parametrize(
    "unrelated",
    [
        "class B:\n    def f(self, x):\n        self.p.append(x)",
        "class B:\n    def f(self, x):\n        self.p = x",
        "class B: pass\nb = B()\nb.p = 3",
        "import q\nq.p = 3",
        "Dense(3).p = 3",
    ],
)
def test_what_another_class_keeps_under_that_name_is_another_thing(parse, unrelated):
    assert kind_of_y(parse, IN_A_LIST.format("", unrelated)) is Kind.LAYER


@pytest.mark.parametrize(
    "source",
    [
        # What is put in may be anything.
        "xs = []\nxs.append(('a', Dense(3)))\nxs.append(other())\nfor n, x in xs: x.y",
        "d = {'a': Dense(3)}\nd['a'] = other()\nd['a'].y",
        "d = {'a': Dense(3)}\nd[n] = other()\nd['a'].y",
        "d = {'a': Dense(3)}\nd.update(other())\nd['a'].y",
        "d = {'a': Dense(3)}\nd |= other()\nd['a'].y",
        "d = {'a': Dense(3)}\nfill(d)\nd['a'].y",
        "d = {'a': Dense(3), **more}\nd['a'].y",
        "d = {'a': [Dense(3)]}\nd['a'].append(other())\nd['a'][0].y",
        "d = {'a': {'b': Dense(3)}}\nd['a']['b'] = other()\nd['a']['b'].y",
        "class A:\n    def f(self, x):\n        self.p = []\n        self.p.append(Dense(3))\n        if x: self.p = x\n    def use(self): self.p[0].y",
        "class A:\n    def f(self, x):\n        self.p = Input()\n        self.p += x\n    def use(self): self.p.y",
        # Another part of it is read.
        "d = {'a': Dense(3)}\nd['b'].y",
        "d = {'a': Dense(3), 'b': 3}\nd[n].y",
        "d = {'a': Dense(3), 'b': 3}\nfor x in d.values(): x.y",
        "d = {'a': Dense(3)}\nfor n in d: n.y",
        "d = {'a': Dense(3)}\nfor n, x in d.items(): n.y",
        "d = {'a': Dense(3)}\nd.get('a', n).y",
        "t = (1, Dense(3))\nt[0].y",
        "t = (1, Dense(3))\nt[n].y",
        "for i, x in enumerate([Dense(3)]): i.y",
        "for a, b in zip([Dense(3)], r): b.y",
        "for a, b in zip(*r, [Dense(3)]): b.y",
        "for n, x in [('a', Dense(3)), ('b', 3)]: x.y",
        "def f():\n    if c: return Dense(3), 3\n    return 3, Dense(3)\na, b = f()\na.y",
        "([Input()] * n)[0].y",
        # It is a class or a function, no object.
        "C = Dense\nC.y",
        "for C in [Dense]: C.y",
        "for C in [Dense, other]: C().y",
        "Cs = [Dense]\nCs.append(other)\nfor C in Cs: C().y",
        "f = lambda x: x\nf(Dense(3)).y",
        "class A:\n    def f(self):\n        return Dense(3)\nA.f.y",
        "class A(Layer):\n    @classmethod\n    def from_config(cls, c): return other()\nA.from_config(c).y",
        # What a decorator leaves is not known.
        "def noted(f):\n    def g(*a):\n        return [f(*a)]\n    return g\n@noted\ndef f(): return Dense(3)\nf().y",
        "def noted(f):\n    def g(*a):\n        if a: return 3\n        return f(*a)\n    return g\n@noted\ndef f(): return Dense(3)\nf().y",
        "def noted(f):\n    f = other\n    return f\n@noted\ndef f(): return Dense(3)\nf().y",
        "def f():\n    yield Dense(3)\nf().y",
        "def f():\n    yield Dense(3)\n    yield from other()\nfor x in f(): x.y",
        "import contextlib\n@contextlib.contextmanager\ndef f():\n    yield Dense(3)\nf().y",
        # Another class of one's own decides.
        "class A:\n    def f(self): return Dense(3)\n    def use(self): self.f().y\nclass B(A):\n    def f(self): return other()",
        "class A:\n    def f(self, x): self.p = x\nclass B(A):\n    def __init__(self): self.p = Dense(3)\n    def use(self): self.p.y",
        "class Z:\n    def f(self): return Dense(3)\nclass B(Z): pass\nclass C(Z):\n    def f(self): return other()\nclass A(B, C): pass\nA().f().y",
        "class A(Layer):\n    def __call__(self, x): return other()\nA()(Input()).y",
        "class A(list):\n    def __getitem__(self, i): return other()\nA()[0].y",
        "class A(Model):\n    def use(self): self.fit().y\nclass B(A):\n    def fit(self): return Dense(3)",
        "class A:\n    def f(self): return Dense(3)\n    def use(self): self.f().y\n"
        + "\n".join(f"class A{n}(A):\n    def f(self): return other()" for n in range(12)),
        # The answer of `isinstance` does not hold there.
        "def f(p):\n    if isinstance(p, Dense):\n        p = other()\n        p.y",
        "def f(p):\n    if isinstance(p, Dense):\n        pass\n    else:\n        p.y",
        "def f(p):\n    if isinstance(p, Dense) or n:\n        p.y",
        "def f(p):\n    if isinstance(p, Dense) or isinstance(q, Dense):\n        p.y",
        "def f(p):\n    if isinstance(p, Dense) or isinstance(p, Other):\n        p.y",
        "def f(p):\n    if n or isinstance(p, Dense) or isinstance(p, Dense):\n        p.y",
        "def f(p):\n    if not isinstance(p, Dense):\n        p.y",
        "def f(p):\n    if not isinstance(p, Dense) and n:\n        return\n    p.y",
        "def f(p):\n    if not isinstance(p, Dense):\n        print(p)\n    p.y",
        "def f(p):\n    if isinstance(p, Dense):\n        p = 3\n    p.y",
        "def f(p):\n    if isinstance(p, (Dense, Other)):\n        p.y",
        "def f(p):\n    if isinstance(p, (Dense, k.SGD)):\n        p.y",
        "def isinstance(a, b): pass\ndef f(p):\n    if isinstance(p, Dense):\n        p.y",
        "def f(p, q):\n    if isinstance(p, Dense):\n        q.y",
        "def f(p):\n    while isinstance(p, Dense):\n        if n: p = other()\n        p.y",
        "def f(p):\n    assert isinstance(p, Dense)\n    p = g(p)\n    p.y",
        "class A:\n    def f(self):\n        if isinstance(self.p, Dense):\n            self.p = other()\n            self.p.y",
        # The annotation leaves it open, or says otherwise.
        "def f(p: Union[Dense, int]): p.y",
        "def f(p: 'Dense | int'): p.y",
        "def f(p: 'Dense['): p.y",
        "def f(ps: Dict[str, Dense]):\n    for p in ps: p.y",
        "def f(p: Callable[..., Dense]): p.y",
        "class A(Layer):\n    def call(self, xs: Tuple[k.KerasTensor, int]): xs[0].y",
    ],
)  # fmt: skip
def test_what_may_be_anything_else_is_not_known(parse, source):
    assert kind_of_y(parse, source) is None


def test_an_object_in_a_container_keeps_what_its_own_class_defines(parse):
    source = "class A(Layer):\n    own = 1\nfor a in [A()]:\n    a.own\n    a.foreign"
    uses = {use.member: use.owner_defines for use in parse(HEAD + source).members}
    assert uses == {"own": True, "foreign": False}


@pytest.mark.parametrize("annotation", ["list[Layer]", "Dict[str, Layer]", "Tuple[int, Layer]"])
def test_what_a_container_is_declared_to_hold_may_be_of_a_subclass(parse, annotation):
    source = f"class A(Layer):\n    own = 1\ndef f(ps: {annotation}): ps[1].own"
    assert [use.owner_defines for use in parse(HEAD + source).members] == [True]


@pytest.mark.parametrize("step", ["x = (x, x)", "x = [x]", "x = {'a': x, 'b': x}", "x = (x, [x])"])
def test_containers_in_each_other_come_to_an_end(parse, step):
    straight = "\n".join([step] * 60)
    assert kind_of_y(parse, f"x = Dense(3)\n{straight}\nx[0].y") in {None, Kind.LIST}
    assert kind_of_y(parse, f"x = Dense(3)\nwhile c:\n    {step}\nx[0].y") is None


def test_what_is_tested_to_be_a_model_may_be_of_any_class_of_models():
    """A call of `keras.Model` makes a `Functional`; a `Sequential` is one of its instances, too."""
    code = "import keras\ndef f(p): return isinstance(p, keras.Model) and p.y\nkeras.Model(1, 2).y"
    unit = Document.parse(code.encode(), "code.py").units[0]
    module = Module.parse(unit, oracle(newest_target()))
    tested, made = (use.owner for use in module.members if use.member == "y")
    assert (tested.kind, tested.cls) == (Kind.MODEL, None)
    assert (made.kind, made.cls) == (Kind.MODEL, "Functional")


@pytest.mark.parametrize("other", ["{'a': Dense(3)}.values()", "{Dense(3)}"])
def test_a_list_or_something_else_with_the_same_in_it_is_no_list(parse, other):
    given = f"p = [Dense(3)] if c else {other}\n"
    assert kind_of_y(parse, f"{given}p.y") is None
    assert kind_of_y(parse, f"{given}for e in p: e.y") is Kind.LAYER
    assert kind_of_y(parse, "p = [Dense(3)] if c else [Dense(4)]\np.y") is Kind.LIST
