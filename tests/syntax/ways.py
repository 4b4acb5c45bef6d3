"""Ways by which an object gets from where it is made to where `.y` is read of it.

`MADE` makes the object, `CLS` names its class.
"""

from __future__ import annotations

MAKERS = {
    "model": ("Sequential()", "Sequential"),
    "layer": ("Dense(3)", "Dense"),
    "optimizer": ("k.SGD(3)", "k.SGD"),
    "tensor": ("Input()", "k.KerasTensor"),
    "metric": ("k.metrics.Metric()", "k.metrics.Metric"),
}


def _in_a_class(made: str, use: str, more: str = "") -> str:
    return f"class A:\n    def __init__(self):\n        {made}\n{more}    def use(self):\n        {use}\n"


CONTAINERS = {
    "a list that is kept": _in_a_class("self.p = [MADE for _ in r]", "for p in self.p: p.y"),
    "a list that is kept, by index": _in_a_class("self.p = [MADE]", "self.p[i].y"),
    "a list that is kept, sliced": _in_a_class("self.p = [MADE]", "for p in self.p[1:]: p.y"),
    "a list that is kept and filled": _in_a_class(
        "self.p = []\n        for i in r: self.p.append(MADE)", "self.p[0].y"
    ),
    "a list that is filled by a class made from it": (
        "class B:\n    def __init__(self):\n        self.p = []\n"
        "class A(B):\n    def use(self):\n        self.p.append(MADE)\n        self.p[-1].y"
    ),
    "a list of the class, filled": (
        "class A:\n    p = []\n    def use(self):\n        self.p.append(MADE)\n        self.p[0].y"
    ),
    "a list that is kept after it is filled": _in_a_class(
        "p = []\n        p.append(MADE)\n        self.p = p", "for p in self.p: p.y"
    ),
    "a list that is added to": _in_a_class(
        "self.p = []\n        self.p += [MADE]", "for i, p in enumerate(self.p): p.y"
    ),
    "a list beside another": _in_a_class("self.p = [MADE]", "for n, p in zip(r, self.p): p.y"),
    "a list by a star": "xs = [MADE]\nys = [MADE, *xs]\nys[1].y",
    "a list several times over": "xs = [MADE] * 3\nxs[0].y",
    "the rest of a list": "a, *rest = [MADE, MADE]\nrest[0].y",
    "a list of pairs": "for n, p in [('a', MADE), ('b', MADE)]: p.y",
    "a list filled with pairs": "ps = []\nps.append(('a', MADE))\nfor n, p in ps: p.y",
    "a list of zipped pairs": "for n, p in list(zip(r, [MADE])): p.y",
    "pairs that are counted": "for i, (n, p) in enumerate([('a', MADE)]): p.y",
    "a tuple": "t = (1, MADE)\nt[1].y",
    "a tuple from behind": "t = (1, MADE)\nt[-1].y",
    "a tuple in a tuple": "t = (1, ('a', MADE))\na, (b, c) = t\nc.y",
    "a dict": "d = {'n': 3, 'a': MADE}\nd['a'].y",
    "a dict by keywords": "d = dict(a=MADE)\nd['a'].y",
    "a dict with another in it": "d = {'a': MADE}\ne = {'b': MADE, **d}\ne['a'].y",
    "a dict that is filled": "d = {}\nfor n in r: d[n] = MADE\nd[n].y",
    "a dict that is filled with a dict": "d = {}\nd.update({'a': MADE}, b=MADE)\nd['a'].y",
    "a dict that is kept": _in_a_class(
        "self.d = {}", "self.d['a'].y", "    def build(self):\n        self.d['a'] = MADE\n"
    ),
    "a dict by comprehension": "d = {n: MADE for n in r}\nd[n].y",
    "the values of a dict": "d = {'a': MADE}\nfor p in d.values(): p.y",
    "the values of a dict, listed": "d = {'a': MADE}\nlist(d.values())[0].y",
    "the items of a dict": "d = {'a': MADE}\nfor n, p in d.items(): p.y",
    "what a dict gives": "d = {'a': MADE}\nd.get('a').y",
    "what a dict has or gets": "d = {}\nd.setdefault('a', MADE).y",
    "what is taken out": "xs = [MADE]\nxs.pop(0).y",
    "the next": "next(iter([MADE])).y",
    "the greatest": "max([MADE], key=str).y",
    "a set": "for p in {MADE}: p.y",
    "what passes a filter": "for p in filter(None, [MADE]): p.y",
    "a copy": "import copy\ncopy.deepcopy(MADE).y",
}
FUNCTIONS = {
    "a tuple that is returned": "def f():\n    return MADE, 3\np, n = f()\np.y",
    "a tuple that is returned, by index": "def f():\n    return 3, MADE\nf()[1].y",
    "a tuple that is returned by a name": "def f():\n    t = MADE, 3\n    return t\np, n = f()\np.y",
    "a tuple through two functions": (
        "def g():\n    return MADE, 3\ndef f():\n    return g()\np, n = f()\np.y"
    ),
    "a dict that is returned": "def f():\n    return {'p': MADE, 'n': 3}\nf()['p'].y",
    "a generator": "def f():\n    for i in r: yield MADE\nfor p in f(): p.y",
    "a context manager": (
        "import contextlib\n@contextlib.contextmanager\ndef f():\n    yield MADE\n"
        "with f() as p: p.y"
    ),
    "a cached function": "import functools\n@functools.lru_cache()\ndef f():\n    return MADE\nf().y",
    "a function that is registered": "@LAYERS.register('a')\ndef f():\n    return MADE\nf().y",
    "a function with a wrapper": (
        "import functools\ndef timed(g):\n    @functools.wraps(g)\n    def inner(*a):\n"
        "        result = g(*a)\n        return result\n    return inner\n"
        "@timed\ndef f():\n    return MADE\nf().y"
    ),
    "a function that its decorator gives back": (
        "def noted(g):\n    all_of_them.append(g)\n    return g\n"
        "@noted\ndef f():\n    return MADE\nf().y"
    ),
    "a lambda": "f = lambda: MADE\nf().y",
    "a lambda that is kept": _in_a_class("self.f = lambda: MADE", "self.f().y"),
    "another name of a function": "def f():\n    return MADE\ng = f\ng().y",
    "one of two functions": (
        "def f():\n    return MADE\ndef g():\n    return MADE\nh = f if c else g\nh().y"
    ),
    "a partial function": "import functools\ndef f(n): return MADE\nfunctools.partial(f, 3)().y",
    "a partial class": "import functools\nfunctools.partial(CLS)().y",
    "a partial class that is kept": _in_a_class(
        "import functools; self.f = functools.partial(CLS)", "self.f().y"
    ),
    "classes in a dict": "D = {'a': CLS, 'b': CLS}\nD[n]().y",
    "classes in a list": "for C in [CLS, CLS]: C().y",
    "a class, by its configuration": "CLS.from_config(c).y",
    "the class of an object, by its configuration": "p = MADE\np.__class__.from_config(c).y",
    "a class that is returned": "def f(n):\n    return CLS\nf(3)().y",
    "a class that is kept": _in_a_class("self.C = CLS", "self.C().y"),
    "a class of the class": "class A:\n    C = CLS\n    def use(self):\n        self.C().y",
}
CLASSES = {
    "kept by the class, read of it": "class A:\n    p = MADE\nA.p.y",
    "kept by the class, read in a class method": (
        "class A:\n    p = MADE\n    @classmethod\n    def f(cls): cls.p.y"
    ),
    "kept by the class, read by `type`": (
        "class A:\n    p = MADE\n    def f(self): type(self).p.y"
    ),
    "made by a static method": (
        "class A:\n    @staticmethod\n    def f():\n        return MADE\nA.f().y"
    ),
    "made by a class method": (
        "class A:\n    @classmethod\n    def f(cls):\n        return MADE\nA.f().y"
    ),
    "in what a class method makes": (
        "class A:\n    def __init__(self):\n        self.p = MADE\n"
        "    @classmethod\n    def f(cls):\n        return cls()\nA.f().p.y"
    ),
    "by a cached property": (
        "import functools\nclass A:\n    @functools.cached_property\n    def p(self):\n"
        "        return MADE\n    def use(self):\n        self.p.y"
    ),
    "by a property with a setter": (
        "class A:\n    @property\n    def p(self):\n        return MADE\n"
        "    @p.setter\n    def p(self, v):\n        self.q = v\n    def use(self):\n        self.p.y"
    ),
    "kept by the class made from it": (
        "class B:\n    p = None\n    def use(self):\n        self.p.y\n"
        "class A(B):\n    def f(self):\n        self.p = MADE"
    ),
    "kept by a class that is mixed in": (
        "class M:\n    def f(self):\n        self.p = MADE\n"
        "class A(Model, M):\n    def use(self):\n        self.p.y"
    ),
    "kept for a class that is mixed in": (
        "class M:\n    def use(self):\n        self.p.y\n"
        "class A(M, Model):\n    def f(self):\n        self.p = MADE"
    ),
    "made by the class made from it": (
        "class B:\n    def f(self):\n        raise NotImplementedError\n"
        "    def use(self):\n        self.f().y\nclass A(B):\n    def f(self):\n        return MADE"
    ),
    "made by the second base": (
        "class M: pass\nclass B:\n    def f(self):\n        return MADE\n"
        "class A(M, B):\n    def f(self):\n        super().f().y"
    ),
    "entered": ("class A:\n    def __enter__(self):\n        return MADE\nwith A() as p: p.y"),
    "called": "class A:\n    def __call__(self):\n        return MADE\nA()().y",
    "by index of one's own": (
        "class A:\n    def __getitem__(self, i):\n        return MADE\nA()[0].y"
    ),
    "in a loop over one's own": (
        "class A:\n    def __iter__(self):\n        yield MADE\nfor p in A(): p.y"
    ),
    "by `getattr`": _in_a_class("self.p = MADE", "getattr(self, 'p', None).y"),
}
TOLD = {
    "by isinstance": "def f(p):\n    if isinstance(p, CLS):\n        p.y",
    "by isinstance of an attribute": (
        "class A:\n    def f(self):\n        if isinstance(self.p, CLS):\n            self.p.y"
    ),
    "by isinstance in a loop": "for p in q.ps:\n    if isinstance(p, (CLS, CLS)) and p.x:\n        p.y",
    "by isinstance one or the other": (
        "for p in q.ps:\n    if isinstance(p, CLS) or isinstance(p, CLS) or isinstance(p, CLS): p.y"
    ),
    "by isinstance before": "def f(p):\n    return isinstance(p, CLS) and p.y",
    "by isinstance in a comprehension": "[p.y for p in q if isinstance(p, CLS)]",
    "by isinstance where others leave": (
        "def f(p):\n    if not isinstance(p, CLS) or n:\n        raise TypeError\n    p.y"
    ),
    "by isinstance that is asserted": "def f(p):\n    assert isinstance(p, CLS)\n    p.y",
    "by isinstance in an expression": "def f(p):\n    return p.y if isinstance(p, CLS) else p",
    "by a union": "def f(p: Union[CLS, None]): p.y",
    "by a text": "def f(p: 'Optional[CLS]' = None): p.y",
    "by a text of a list": "def f(ps: 'list[CLS]'): ps[0].y",
    "by a dict": "def f(ps: Dict[str, CLS]):\n    for n, p in ps.items(): p.y",
    "by a tuple": "def f(ps: Tuple[int, CLS]): ps[1].y",
    "by a tuple that is returned": "def f() -> Tuple[int, CLS]:\n    return g()\nn, p = f()\np.y",
    "by a class": "def f(C: Type[CLS]): C().y",
}
WAYS = {**CONTAINERS, **FUNCTIONS, **CLASSES, **TOLD}


def program(way: str, kind: str) -> str:
    """Return the program of a way with an object of a kind."""
    made, cls = MAKERS[kind]
    return WAYS[way].replace("MADE", made).replace("CLS", cls)
