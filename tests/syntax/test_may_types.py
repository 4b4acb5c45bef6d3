"""All that inference says of a source is possible by one look at it; and little else is."""

from __future__ import annotations

import ast
import textwrap

import pytest

from kdoctor.modules.exports import ProjectPackage
from kdoctor.syntax.may_types import MayTypes
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.symbol_table import SymbolTable
from kdoctor.value_types import Kind
from tests.syntax.conftest import World


@pytest.fixture
def package(tmp_path):
    """The modules that a file may import from, and the path of that file."""
    (tmp_path / "nets.py").write_text(
        "import k\n\n\nclass Net(k.Model):\n    pass\n\n\nclass Plain:\n    pass\n\n\nBase = k.Model\n"
    )
    return ProjectPackage(World().star_names), str(tmp_path / "code.py")


def possible_of(source, package):
    known, path = package
    quick = QuickFacts(ast.parse(textwrap.dedent(source)), path, known, known.stars)
    return MayTypes(SymbolTable(quick.scopes), quick, World())


def possible_in(source, package, member="it"):
    possible = possible_of(source, package)
    places = [*possible.reads((member,)), *possible.writes((member,))]
    return {each for place in places for each in possible.owner(place)}


def kinds_in(source, package):
    return {each.kind for each in possible_in(source, package)}


# Each reads `.it` from something that inference knows.
KNOWN = {
    "made here": "k.Sequential().it",
    "by a name": "m = k.Sequential()\nm.it",
    "by a chain of names": "a = k.Sequential()\nb = a\nc = b\nc.it",
    "by an alias of the class": "M = k.Sequential\nM().it",
    "through a branch": "m = k.Sequential() if f() else k.Model()\nm.it",
    "through `or`": "m = None or k.Sequential()\nm.it",
    "in both branches": "if f():\n    m = k.Sequential()\nelse:\n    m = k.Model()\nm.it",
    "by unpacking": "m, n = k.Sequential(), 1\nm.it",
    "by unpacking in depth": "(_, (m, n)), *rest = (1, (k.Sequential(), 2)), 3\nm.it",
    "by unpacking a list": "m, n = k.Sequential().layers\nm.it",
    "by unpacking a comprehension": "a, b = [k.Sequential() for _ in r]\nb.it",
    "by a walrus": "if (m := k.Sequential()):\n    m.it",
    "by a walrus in a comprehension": "[m for _ in r if (m := k.Sequential())]\nm.it",
    "by what is passed": "def f(m): m.it\nf(k.Sequential())",
    "by what is passed on": "def g(z): z.it\ndef f(m): g(m)\nf(k.Sequential())",
    "by what two calls pass": "def f(m): m.it\nf(k.Sequential())\nf(m=k.Model())",
    "in a loop": "for m in [k.Sequential()]:\n    m.it",
    "in a loop over pairs of models": "for a, b in [(k.Sequential(), k.Model())]:\n    b.it",
    "in a loop over members": "for layer in k.Sequential().layers:\n    layer.it",
    "in an enumeration": "for i, m in enumerate([k.Sequential()]):\n    m.it",
    "in a zip": "for x, m in zip(r, reversed([k.Sequential()]), strict=True):\n    m.it",
    "in an enumerated zip": "for i, (x, m) in enumerate(zip(r, [k.Sequential()])):\n    m.it",
    "in a comprehension": "[m.it for m in (k.Sequential(), k.Sequential())]",
    "in a generator of lists": "for m in list(k.Sequential() for _ in r):\n    m.it",
    "in a nested comprehension": "[m.it for ms in [[k.Sequential()]] for m in ms]",
    "by an index": "[k.Sequential()][0].it",
    "by a slice": "k.Sequential().layers[1:][0].it",
    "as entered": "with k.Sequential() as m:\n    m.it",
    "asynchronously": "async def g():\n    for m in [k.Sequential()]:\n        m.it",
    "as a global": "def make():\n    global m\n    m = k.Sequential()\nm.it",
    "as a global elsewhere": (
        "def make():\n    global m\n    m = k.Sequential()\ndef use():\n    return m.it"
    ),
    "as a name of the function around": (
        "def f():\n    m = None\n    def g():\n        nonlocal m\n        m = k.Sequential()\n    m.it"
    ),
    "in a lambda": "m = k.Sequential()\nf = lambda x: m.it",
    "after `del`": "m = 1\ndel m\nm = k.Sequential()\nm.it",
    "deleted": "m = k.Sequential()\ndel m.it",
    "updated": "m = k.Sequential()\nm.it += 1",
    "assigned": "m = k.Sequential()\nm.it, x = 1, 2",
    "returned": "def make():\n    return k.Sequential()\nmake().it",
    "returned below": "def use():\n    make().it\ndef make():\n    return k.Sequential()",
    "returned in a pair": "def make():\n    return 1, k.Sequential()\n_, m = make()\nm.it",
    "returned by a method": (
        "class A:\n    def make(self):\n        return k.Sequential()\n"
        "    def use(self):\n        self.make().it"
    ),
    "returned in a pair by a method": (
        "class A:\n    def make(self):\n        return k.Sequential(), 1\n"
        "    def use(self):\n        m, n = self.make()\n        m.it"
    ),
    "returned by annotation": "def make() -> k.Model:\n    return other()\nmake().it",
    "by a property": (
        "class A:\n    @property\n    def m(self):\n        return k.Sequential()\n"
        "    def use(self):\n        self.m.it"
    ),
    "kept by another method": (
        "class A:\n    def build(self):\n        self.m = k.Sequential()\n"
        "    def use(self):\n        self.m.it"
    ),
    "kept in the class": "class A:\n    m = k.Sequential()\n    def use(self):\n        self.m.it",
    "kept by a base": (
        "class A:\n    def __init__(self):\n        self.a, self.m = 1, k.Sequential()\n"
        "class B(A):\n    def use(self):\n        self.m.it"
    ),
    "declared in the class": "class A:\n    m: k.Model\n    def use(self):\n        self.m.it",
    "the class itself": "class A(k.Model):\n    def use(self):\n        self.it",
    "the class, by another name": "class A(k.Model):\n    def use(me):\n        me.it",
    "the class, in a function inside": (
        "class A(k.Model):\n    def use(self):\n        def inner():\n            self.it"
    ),
    "a class of a class": "class A(k.Model):\n    pass\nclass B(A):\n    def use(self):\n        self.it",
    "a class below": "def f():\n    A().it\nclass A(k.Model):\n    pass",
    "a class by an alias": "class A(k.Model):\n    pass\nC = A\nC().it",
    "what a class is made from": (
        "class A(k.Model):\n    def use(self):\n        super().it\n        super(A, self).it"
    ),
    "a call that is written out": "k.layers.Dense(3).__call__(k.Input()).it",
    "a class of the tree": "from nets import Net\nNet().it",
    "a base of the tree": "from nets import Net\nclass A(Net):\n    def use(self):\n        self.it",
    "an alias of the tree": "import nets\nclass A(nets.Base):\n    def use(self):\n        self.it",
    "by a star import": "from k.layers import *\nDense().it",
    "by a star import of the tree": "from nets import *\nNet().it",
    "annotated": "def f(m: k.Model):\n    m.it",
    "annotated as text": "def f(m: 'k.Model'):\n    m.it",
    "annotated as perhaps": "from typing import Optional\ndef f(m: Optional[k.Model]):\n    m.it",
    "annotated as one or none": "def f(*, m: k.Model | None = None):\n    m.it",
    "annotated as a list": "def f(ms: list[k.Model]):\n    for m in ms:\n        m.it",
    "annotated as a class of one's own": "class A(k.Model): ...\ndef f(m: A):\n    m.it",
    "annotated where it is assigned": "m: k.Model = other()\nm.it",
    "told by the docstring": (
        'def f(m):\n    """Do.\n\n    Args:\n        m (k.Model): it.\n    """\n    m.it'
    ),
    "told by a call": "def f(m):\n    m.compile('sgd', loss='mse')\n    m.it",
    "told by a class that is passed": (
        "def f(m, d):\n    if d:\n        o = k.SGD(1)\n    else:\n        o = k.SGD(2)\n"
        "    m.compile(o, 'mse')\n    m.it"
    ),
    "told by an alias of a class that is passed": (
        "S = k.SGD\ndef f(m):\n    m.compile(S(), loss(), m=[1])\n    m.it"
    ),
    "told by a call of an attribute": (
        "class A:\n    def f(self):\n        self.m.compile(loss=1)\n    def g(self):\n        self.m.it"
    ),
    "passed by a test": (
        "import pytest\n@pytest.mark.parametrize('cls', [k.Sequential, k.Model])\n"
        "def test(cls):\n    cls().it"
    ),
    "what a layer makes of a tensor": "x = k.Input()\nk.layers.Dense(3)(x).it",
    "what a kept layer makes of a tensor": (
        "class A:\n    def f(self):\n        self.d = k.layers.Dense(1)\n"
        "        x = k.Input()\n        self.d(x).it"
    ),
    "what a function makes of a tensor": "x = k.Input()\nk.ops.sum([x, x]).it",
    "an operation": "x = k.Input()\n(-x * 2 + 1)[:, 0].it",
    "a comparison": "x = k.Input()\n(~(0 != x) * (x[0] > 3)).it",
    "a tensor that is passed": "def f(x):\n    x.it\nf(k.Input())",
    "a tensor that is passed by keyword": "def f(a, x=None):\n    x.it\nf(1, x=k.Input())",
    "a tensor that is passed on": (
        "def f(x):\n    return k.layers.Dense(3)(x)\ndef g(y):\n    f(y).it\ng(k.Input())"
    ),
    "a tensor that is passed to a method": (
        "class A:\n    def f(self, a, x):\n        x.it\n"
        "    def g(self):\n        self.f(1, k.Input())"
    ),
    "a model that is passed to a method by keyword": (
        "class A:\n    def f(self, m):\n        m.it\n"
        "    def g(self):\n        self.f(m=k.Sequential())"
    ),
    "what a partial makes": "import functools\nD = functools.partial(k.layers.Dense, n=3)\nD().it",
    "what a partial makes, by an alias": (
        "from functools import partial as p\nx = k.Input()\nD = p(k.layers.Dense)\nD(3)(x).it"
    ),
    "a list of tensors that is passed": (
        "def f(xs):\n    for x in xs:\n        x.it\nf([k.Input(), k.Input()])"
    ),
    "a tensor by the layers made for it": (
        "def f(x):\n    y = k.layers.Dense(3)(x)\n    y.it\n    x.it\n    return y"
    ),
    "a tensor in a loop": "x = k.Input()\nfor i in r:\n    x = k.layers.Dense(3)(x)\nx.it",
    "a tensor that is added to": "x = k.Input()\nx += 1\nx.it",
    "a list that is filled": "def f():\n    x = []\n    x.append(k.Sequential())\n    x[0].it",
    "a list that is filled by a function": (
        "xs = []\ndef f():\n    xs.insert(0, k.Sequential())\nfor x in xs:\n    x.it"
    ),
    "a list that is filled by a list": "x = list()\nx.extend([k.Sequential()])\nx[0].it",
    "a list that is added to": "x = []\nx += [k.Sequential()]\nx[0].it",
    "lists that are added": "x = [k.Sequential()] + [k.Sequential()]\nx.pop().it",
    "an element that is set": "x = [k.Sequential()]\nx[0] = k.Model()\nx[0].it",
    "a filled list of tensors that is passed": (
        "def f(xs):\n    xs[0].it\nx = []\nx.append(k.Input())\nf(x)"
    ),
    "a tensor of a function in a loop": (
        "def f(t):\n    t.it\n    return t\nx = k.Input()\nfor i in r:\n    x = f(x)"
    ),
    "a weight": "k.layers.Dense(3).add_weight().it",
    "what fit gives": "h = k.Sequential().fit()\nh.it",
}


@pytest.mark.parametrize("what", KNOWN)
def test_what_inference_knows_is_possible(what, package, parse):
    source = f"import k\nimport numpy as np\n{KNOWN[what]}\n"
    module = parse(source, path=package[1], package=package[0])
    uses = [each for each in (*module.members, *module.member_stores) if each.member == "it"]
    assert uses
    possible = possible_in(source, package)
    for use in uses:
        same = {each for each in possible if each.kind is use.owner.kind}
        # Of alternatives, inference tells what they have in common.
        assert use.owner in same or len(same) > 1


# Each reads `.it` from something that can be nothing of `k`, beside things of `k`.
OTHER = {
    "a parameter": "def f(m):\n    m.it",
    "a parameter beside an annotated one": "def f(m, n: k.Model):\n    m.it",
    "a class without a base": "class A:\n    def f(self):\n        self.it",
    "a class beside one with a base": (
        "class A(k.Model):\n    def f(self):\n        pass\n"
        "class B:\n    def f(self):\n        self.it"
    ),
    "a class of the tree without a base": "from nets import Plain\nPlain().it",
    "what others made": "m = other.load()\nm.it",
    "a literal": "m = 'text'\nm.it\n{}.it\nset().it",
    "an array": "m = np.ones\nm.it\nnp.zeros(3).it",
    "a name of another function": "def f():\n    m = k.Sequential()\ndef g(m):\n    m.it",
    "a local name of another function": "def f():\n    m = k.Sequential()\ndef g():\n    m = 1\n    m.it",
    "a key of a dict": "for n in {'m': 3}:\n    n.it\nd = {'m': 3}\nd['m'].it",
    "a class in a dict": "d = {'m': k.Sequential}\nd['m'].it",
    "an array that is passed": "def f(x):\n    x.it\nf(other())",
    "an array that a layer of no weights gets": "def f(x):\n    k.layers.Layer()(x)\n    x.it",
    "what a call of another gives": "def f(m):\n    m.compile('sgd', 'mse')\n    m.it",
    "a class method's class": "class A(k.Model):\n    pass\nA.it",
}


@pytest.mark.parametrize("what", OTHER)
def test_what_can_be_nothing_known_is_not_possible(what, package):
    source = f"import k\nimport numpy as np\n{OTHER[what]}\n"
    assert not possible_in(source, package)


def test_lists_in_lists_come_to_an_end(package):
    source = "import k\nx = [k.Sequential()]\nwhile f():\n    x = [x]\nx[0][0][0][0][0].it"
    assert kinds_in(source, package) >= {Kind.MODEL}


def test_names_in_a_ring_have_what_any_of_them_has(package):
    ring = (
        "import k\ndef f(a, b, c):\n    while g():\n        a = b\n        b = c\n        c = a\n"
    )
    assert not possible_in(f"{ring}    a.it", package)
    for name in "abc":
        source = f"{ring}        {name} = k.Sequential()\n    a.it\n    b.it\n    c.it"
        possible = possible_of(source, package)
        assert all(possible.owner(each) for each in possible.reads(("it",)))


def test_functions_that_call_each_other_give_what_any_of_them_gives(package):
    source = (
        "import k\ndef f(n):\n    return g(n) if n else k.Sequential()\n"
        "def g(n):\n    return f(n - 1)\ng(3).it\nf(3).it"
    )
    possible = possible_of(source, package)
    assert all(possible.owner(each) for each in possible.reads(("it",)))


def test_what_is_too_deep_to_tell_raises_each_time(package):
    steps = "".join(f"x{n + 1} = x{n}\n" for n in range(2000))
    possible = possible_of(f"import k\nx0 = k.Sequential()\n{steps}x2000.it", package)
    for read in (*possible.reads(("it",)), *possible.reads(("it",))):
        with pytest.raises(RecursionError):
            possible.owner(read)


def test_an_attribute_is_assigned_where_it_is_written_so(package):
    possible = possible_of("a.b.it = 1\na.b.it\nc.it\n", package)
    reads = sorted(possible.reads(("it",)), key=lambda each: each[0].lineno)
    assert [possible.is_assigned(each) for each in reads] == [True, False]
