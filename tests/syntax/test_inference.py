"""What kind of object an expression is."""

import pytest

from kdoctor.value_types import Kind
from tests.syntax.inferred import kind_of_y


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("Model().y", Kind.MODEL),
        ("k.layers.Dense(3).y", Kind.LAYER),
        ("m = load('x')\nm.y", Kind.MODEL),
        ("M = Model\nm = M()\nm.y", Kind.MODEL),
        ("from functools import partial\nD = partial(Dense, 3)\nD().y", Kind.LAYER),
        ("import functools as f\nD = f.partial(Dense, n=3)\nD(3)(Input()).y", Kind.TENSOR),
        ("from mine import partial\nD = partial(Dense, 3)\nD().y", None),
        ("from functools import partial\nD = partial(**Dense)\nD().y", None),
        ("m = n = Model()\nm.y", Kind.MODEL),
        ("m, d = Model(), Dense(3)\nd.y", Kind.LAYER),
        ("if (m := Model()): m.y", Kind.MODEL),
        ("with Model() as m: m.y", Kind.MODEL),
        ("m = Model() if x else Sequential()\nm.y", Kind.MODEL),
        ("m = Model() or None\nm.y", Kind.MODEL),
        ("m = None\nif x: m = Model()\nm.y", Kind.MODEL),
        ("if x: m = Model()\nelse: m = Sequential()\nm.y", Kind.MODEL),
        ("x = Input()\nx = Dense(3)(x)\nx.y", Kind.TENSOR),
        ("x = Input()\nx = Dense(3)\nx.y", Kind.LAYER),
        ("Dense(3)(Input()).y", Kind.TENSOR),
        ("Model()([Input(), Input()]).y", Kind.TENSOR),
        ("Dense(3)(np.ones(3)).y", Kind.EAGER),
        ("a, (b, c) = Layer()(np.ones(3))\nc.y", None),
        ("a, b = k.clone()(np.ones(3))\nb.y", Kind.EAGER),
        ("a, b = Dense(3)(np.ones(3))\nb.y", None),
        ("x = Input()\n(x[0] * 2 + 1).y", Kind.TENSOR),
        ("x = Input()\n(x < 1).y", Kind.TENSOR),
        ("x = Input()\n(1 <= x).y", Kind.TENSOR),
        ("x = Input()\n(x > x).y", Kind.TENSOR),
        ("x = Input()\n(~(x[0] >= 1)).y", Kind.TENSOR),
        ("x = Input()\n(x != 1).y", Kind.TENSOR),
        ("(-np.ones(3) * 2).y", Kind.EAGER),
        ("Input()._history.y", Kind.KERAS_HISTORY),
        ("Model().fit(x).y", Kind.HISTORY),
        ("Model().optimizer.y", Kind.OPTIMIZER),
        ("Model().get_layer('x').y", Kind.LAYER),
        ("Model().layers[0].y", Kind.LAYER),
        ("Model().layers.pop().y", Kind.LAYER),
        ("Model().layers.pop.y", None),
        ("Model().layers[1:][0].y", Kind.LAYER),
        ("for d in Model().layers: d.y", Kind.LAYER),
        ("for i, d in enumerate(Model().layers): d.y", Kind.LAYER),
        ("for a, d in zip(x, reversed(Model().layers)): d.y", Kind.LAYER),
        ("[d.y for d in Model().layers]", Kind.LAYER),
        ("ds = [Dense(i) for i in x]\nds[0].y", Kind.LAYER),
        ("ds = [Dense(1), Layer()]\nfor d in ds: d.y", Kind.LAYER),
        ("a, b = Model().layers\na.y", Kind.LAYER),
        ("def f(m: k.Model): m.y", Kind.MODEL),
        ("def f(m: 'k.Model'): m.y", Kind.MODEL),
        # As docstrings give types: Google's, NumPy's and Sphinx' way.
        ('def f(m):\n    """F.\n\n    Args:\n        m (k.Model): it.\n    """\n    m.y', Kind.MODEL),
        ('def f(m):\n    """F.\n\n    m : Model, optional\n        It.\n    """\n    m.y', Kind.MODEL),
        ('def f(m):\n    """F.\n\n    :type m: ~k.Model\n    """\n    m.y', Kind.MODEL),
        ('def f(m):\n    """F.\n\n    :param k.Model m: it\n    """\n    m.y', Kind.MODEL),
        ('def f(m):\n    """F.\n\n    m (Other): it.\n    """\n    m.y', None),
        ('def f(m):\n    """F.\n\n    n (k.Model): it.\n    """\n    m.y', None),
        ('def f(m: int):\n    """F.\n\n    m (k.Model): it.\n    """\n    m.y', None),
        ('def f(m):\n    """F.\n\n    m (k.keras.Model): it.\n    """\n    m.y', None),
        ("def f(m: 'Model' = None): m.y", Kind.MODEL),
        ("def f(m: Optional[Model]): m.y", Kind.MODEL),
        ("def f(m: Model | None): m.y", Kind.MODEL),
        ("def f(ds: list[Layer]): ds[0].y", Kind.LAYER),
        ("def f(ds: tuple[Layer, ...]): ds[0].y", Kind.LAYER),
        ("def f(ds: tuple[Layer, Dense]): ds[0].y", Kind.LAYER),
        ("def f(ds: tuple[Layer, int]): ds[0].y", Kind.LAYER),
        ("def f(ds: tuple[Layer, int]): ds[1].y", None),
        ("def f(ds: list[tuple[Layer, Model]]):\n    for d, m in ds: m.y", Kind.MODEL),
        ("m: Model = build()\nm.y", Kind.MODEL),
        ("def f(): return Model()\nf().y", Kind.MODEL),
        ("def f():\n    if x: return None\n    return Model()\nf().y", Kind.MODEL),
        ("def f() -> Model: return build()\nf().y", Kind.MODEL),
        ("def f():\n    m.y\nm = Model()", Kind.MODEL),
        ("class A(Model): pass\nA().y", Kind.MODEL),
        ("class A(Model): pass\nclass B(A): pass\nB().y", Kind.MODEL),
        ("class A(Layer):\n    def call(self, x): self.y", Kind.LAYER),
        ("class A(Layer):\n    def f(me):\n        def g(): me.y", Kind.LAYER),
        ("class A(Layer):\n    def f(self): super().y", Kind.LAYER),
        ("class A(Layer):\n    def f(self): super(A, self).y", Kind.LAYER),
        ("class A:\n    def f(self): self.m = Model()\n    def g(self): self.m.y", Kind.MODEL),
        ("class A:\n    m = Model()\n    def g(self): self.m.y", Kind.MODEL),
        ("class A:\n    def f(self): self.a, self.m = 1, Model()\n    def g(self): self.m.y",
         Kind.MODEL),
        ("class A:\n    def __init__(self, m: Model): self.m = m\n    def g(self): self.m.y",
         Kind.MODEL),
        ("class A:\n    m: Model\n    def g(self): self.m.y", Kind.MODEL),
        ("class A:\n    @property\n    def m(self): return Model()\n    def g(self): self.m.y",
         Kind.MODEL),
        ("class A:\n    def m(self): return Model()\n    def g(self): self.m().y", Kind.MODEL),
        ("class A:\n    def f(self): self.m = Model()\nclass B(A):\n    def g(self): self.m.y",
         Kind.MODEL),
        ("class A:\n    def f(self): self.m = Model()\nA().m.y", Kind.MODEL),
        (("class A(Layer):\n    def build(self, s): self.w = self.add_weight()\n"
         "    def call(self, x): self.w.y"), Kind.VARIABLE),
        (("class A(Layer):\n    def __init__(self): self.d = Dense(3)\n"
         "    def f(self): self.d(Input()).y"), Kind.TENSOR),
        ("class A(Layer):\n    def __call__(self, x): super().__call__(x).y", None),
        ("Dense(3).__call__(Input()).y", Kind.TENSOR),
        ("Dense(3).__call__(np.ones(3)).y", Kind.EAGER),
        ("class A(Model): pass\nfor d in A().layers: d.y", Kind.LAYER),
        ("def f(m):\n    m.compile(loss=3)\n    m.y", Kind.MODEL),
        ("m = make()\ndef f(): m.y\nm.compile(loss=3)", Kind.MODEL),
        ("for m in make():\n    m.compile(loss=3)\n    m.y", Kind.MODEL),
        ("def f(m):\n    m.compile(k.SGD(3), 'mse', *a)\n    m.y", Kind.MODEL),
        ("o = k.SGD(3)\ndef f(m):\n    m.compile(o, 'mse')\n    m.y", Kind.MODEL),
        ("def f(m):\n    m.compile(loss=3)\n    m.layers[0].y", Kind.LAYER),
        (("class A:\n    def f(self, m):\n        self.m = m\n        self.m.compile(loss=3)\n"
         "    def g(self): self.m.y"), Kind.MODEL),
        ("class A(B):\n    def f(self): self.m.compile(loss=3)\n    def g(self): self.m.y",
         Kind.MODEL),
        ("def f():\n    return 3, Model()\na, m = f()\nm.y", Kind.MODEL),
        ("def f():\n    if x: return Dense(3), None\n    return Dense(4), 3\nd, _ = f()\nd.y",
         Kind.LAYER),
        (("class A:\n    def f(self): return Model(), 3\n    def g(self):\n"
         "        m, n = self.f()\n        m.y"), Kind.MODEL),
    ],
)  # fmt: skip
def test_the_kind_is_inferred(parse, source, kind):
    assert kind_of_y(parse, source) is kind


@pytest.mark.parametrize(
    "source",
    [
        "Model.y",
        "k.layers.y",
        "x.y",
        "Model().unheard_of.y",
        "m = Model()\nm = f(m)\nm.y",
        "if x: m = Model()\nelse: m = Dense(3)\nm.y",
        "m = Model()\nif x: m = f()\nm.y",
        "def f(m): m.y",
        "def f(m=Model()): m.y",
        "def f(*m: Model): m.y",
        "def f(m: Model | Dense): m.y",
        "m = Model()\ndef f():\n    global m\n    m = g()\nm.y",
        "Dense(3)(x).y",
        (
            "class A(Layer):\n    def build(self, s): self.w = self.add_weight()\n"
            "    def call(self, x): self.w[:2].y"
        ),
        "def f():\n    yield Model()\nf().y",
        "async def f(): return Model()\nf().y",
        "@wrapped\ndef f(): return Model()\nf().y",
        "def f():\n    if x: return Model()\n    return Dense(3)\nf().y",
        "class A(Model):\n    layers = 3\nA().layers.y",
        "class A(Model):\n    def fit(self): return 3\nA().fit().y",
        "class A(Unknown): pass\nA().y",
        "class A(Layer):\n    @staticmethod\n    def f(x): x.y",
        "class A(Layer):\n    @classmethod\n    def f(cls): cls.y",
        "class A:\n    def f(self): self.m = Model()\n    def g(self): self.m = 3; self.m.y",
        "for m in [Model(), Dense(3)]: m.y",
        "for i, m in Model().layers: m.y",
        "m = Model()\nfor m in range(3): m.y",
        "m = Model()\ndel m\nm.y",
        "m = Model()\nm += 1\nm.y",
        "(x + np.ones(3)).y",
        "def f(n): return f(n - 1)\nf(3).y",
        "x = x\nx.y",
        "x = Input()\n(x == 1).y",
        "x = Input()\n(x is 1).y",
        "x = Input()\n(x in [1]).y",
        "x = Input()\n(0 < x < 1).y",
        "(3 > np.ones(3)).y",
        "class A(A): pass\nA().y",
        "def f(m):\n    m.compile(optimizer=3)\n    m.y",
        "def f(m):\n    m.compile(k.SGD(3))\n    m.y",
        "def f(m):\n    m.compile(*a, k.SGD(3), 'mse')\n    m.y",
        "def f(m, o):\n    m.compile(o, 'mse')\n    m.y",
        "o = k.SGD(3) if x else make()\ndef f(m):\n    m.compile(o, 'mse')\n    m.y",
        # Another object under the same name.
        "m = make()\nm.compile(loss=3)\nm = forest()\nm.y",
        (
            "class A:\n    def f(self):\n        self.m = make()\n        self.m.compile(loss=3)\n"
            "        self.m = forest()\n        self.m.y"
        ),
        "class W: pass\nm = W()\nm.compile(loss=3)\nm.y",
        "np.compile(loss=3)\nnp.y",
        "def f():\n    if x: return 3, Model()\n    return make()\na, m = f()\nm.y",
        "def f():\n    yield 3, Model()\na, m = f()\nm.y",
        "@pytest.mark.parametrize('c', [Dense, make])\ndef f(c): c(3).y",
        "@pytest.mark.parametrize('c', [Dense, Model])\ndef f(c): c(3).y",
        "@pytest.mark.parametrize('c', all_of_them)\ndef f(c): c(3).y",
        "@pytest.mark.parametrize('c', [Dense])\ndef f(c):\n    c = make\n    c(3).y",
        "@pytest.mark.parametrize('c, n', [(Dense, 3), case])\ndef f(c, n): c(3).y",
        "@mark.parametrize('c', [Dense])\ndef f(c): c(3).y",
    ],
)
def test_what_is_not_certain_has_no_kind(parse, source):
    assert kind_of_y(parse, source) is None


@pytest.mark.parametrize(
    "source",
    [
        "k.ops.sum(Input()).y",
        "k.ops.concat([np.a, Input()]).y",
        # What every call of the function passes.
        "def f(x): x.y\nf(Input())",
        "def f(x: tf.Tensor): x.y\nf(Input())",
        "def f(x: 'tf.Tensor', n: int = 3): x.y\nf(Input(), 4)",
        "def f(x: Optional[Any] = None): x.y\nf(Input())",
        "def f(x: np.ndarray): Dense(3)(x).y",
        "def f(n, x=None): x.y\nf(3)\nf(4, x=Input())",
        "def f(x): return Dense(3)(x)\nx = f(Input())\nx = f(x)\nx = f(x)\nx.y",
        "def g(z): z.y\ndef f(x): g(x)\nf(Input())",
        "def f(x, n):\n    x.y\n    return f(x, n - 1) if n else x\nf(Input(), 2)",
        "def f(xs): xs[0].y\nf([Input(), Input()])",
        # A method that only its own class calls.
        "class A:\n    def f(self, x): x.y\n    def g(self): self.f(Input())",
        "class A(Model):\n    def f(self, n, x): x.y\n    def g(me): me.f(3, x=Input())",
        "class A:\n    def f(self, x): return x\n    def g(self): self.f(Input()).y",
        (
            "class A:\n    def f(self, x): x.y\n    def g(self): self.f(Input())\n"
            "class B:\n    def f(self, x): pass\n    def g(self): self.f(3)"
        ),
        # Layers with weights are made on the spot: that builds a model.
        "def f(x):\n    x.y\n    x = Dense(3)(x)\n    return x",
        "def f(x):\n    x = Dense(3)(x)\n    x.y",
        "def g(z): z.y\ndef f(x):\n    x = Dense(3)(x)\n    return g(x)",
        # What is bound anew on the way is what another layer made of it.
        "def f(x, b):\n    x.y\n    if b:\n        x = Layer()(x)\n    return Dense(3)(x)",
        "def f(x):\n    z = Layer()(x)\n    z = Layer()(z)\n    x.y\n    return Dense(3)(z)",
    ],
)
def test_a_functions_parameter_is_symbolic_if_all_that_is_passed_for_it_is(parse, source):
    assert kind_of_y(parse, source) is Kind.TENSOR


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f(m): m.y\nf(Model())", Kind.MODEL),
        ("def f(n, m=None): m.y\nf(3)\nf(4, m=Model())", Kind.MODEL),
        ("def f(d): d.y\nf(Dense(3))\nf(Dense(4))", Kind.LAYER),
        ("def g(z): z.y\ndef f(m): g(m)\nf(Model())", Kind.MODEL),
        ("class A:\n    def f(self):\n        def g(m): m.y\n        g(Model())", Kind.MODEL),
        ("def f(m): return m\nf(Model()).y", Kind.MODEL),
        ("class A(Model): pass\ndef f(m): m.y\nf(A())", Kind.MODEL),
        ("class A:\n    def f(self, m): m.y\n    def g(self): self.f(Model())", Kind.MODEL),
        # Not each call is known to pass one, or they pass several kinds.
        ("def f(m): m.y\nf(Model())\nf(a)", None),
        ("def f(m): m.y\nf(Model())\nf(Dense(3))", None),
        ("def f(m): m.y\nf(*[Model()])", None),
        ("def f(m): m.y\nf(Model())\ng(f)", None),
        ("def f(*m): m.y\nf(Model())", None),
        ("def f(m=None): m.y\nf()", None),
        ("def f(m: int): m.y\nf(Model())", None),
        ("def f(m: 'float'): m.y\nf(Model())", None),
        ("def f(m: int | None): m.y\nf(Model())", None),
        # The class of a library may be how people call it.
        ("def f(m: tf.Module): m.y\nf(Model())", Kind.MODEL),
        ("def f(m: object): m.y\nf(Model())", Kind.MODEL),
        ("class A:\n    def f(self, m): m.y\nA().f(Model())", Kind.MODEL),
        ("class A:\n    def f(self, m): m.y\nA().f(Model())\na.f(3)", None),
    ],
)
def test_a_functions_parameter_is_what_every_call_passes(parse, source, kind):
    assert kind_of_y(parse, source) is kind


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): x.y\nf(Input())\nf(a)",
        "def f(x): x.y\nf(Input())\nf(*a)",
        "def f(x): x.y\nf(Input())\ng(f)",
        "@wrapped\ndef f(x): x.y\nf(Input())",
        "def f(*x): x.y\nf(Input())",
        "def f(x): x.y\ndef g(z): f(z)\ng(Input())\ng(a)",
        "def f(x): x.y\ndef f2(z): f(z)",
        "def f(x): x.y\nf(Input())\nclass A(Layer):\n    def call(self, x): return f(x)",
        "class A(Layer):\n    def f(self, x):\n        x.y\n        return Dense(3)(x)",
        # Methods that may be called with something else, by whomever.
        "class A:\n    def f(self, x): x.y\n    def g(self, z): self.f(Input()), self.f(z)",
        "class A:\n    def f(self, x): x.y\n    def g(self): self.f(Input())\nA().f(3)",
        "class A:\n    def f(self, x): x.y\n    def g(self): self.f(Input()), self.f(*a)",
        "class A:\n    def f(self, x): x.y\n    def g(self): self.f(Input()), h(self.f)",
        "class A:\n    @h\n    def f(self, x): x.y\n    def g(self): self.f(Input())",
        (
            "class A:\n    def f(self, x): x.y\n    def g(self): self.f(Input())\n"
            "class B(A):\n    def h(self): self.f(3)"
        ),
        (
            "class A:\n    def f(self, x): x.y\n    def g(self): self.f(Input())\n"
            "class B(A):\n    def f(self, x): super().f(3)"
        ),
        "class A(Layer):\n    def f(self, x): x.y\n    def call(self, x): return self.f(x)",
        "def f(x):\n    x.y\n    return Layer()(x)",
        "def f(x):\n    x.y\n    return Dense(3)(x)\nf(np.ones(3))",
        # What comes before the layer with weights may make anything of anything.
        "def f(x):\n    x.y\n    x = a(3)(x)\n    return Dense(3)(x)",
        "def f(x, b):\n    x.y\n    if b:\n        x = g(x)\n    return Dense(3)(x)",
        "def f(x, b):\n    x.y\n    z = 1\n    if b:\n        z = Layer()(x)\n    return Dense(3)(z)",
        "def f(x, z):\n    x.y\n    if z:\n        x = Layer()(z)\n    return Dense(3)(x)",
        "def f(x):\n    x.y\n    return Dense(3)(x)\nk.layers.Lambda(f)",
        "def f(d, x):\n    x.y\n    return d(x)",
        # Nobody calls them but they themselves.
        "i = Input()\ndef f(x):\n    x.y\n    return f(x)",
        "i = Input()\ndef g(z): return f(z)\ndef f(x):\n    x.y\n    return g(x)",
    ],
)
def test_a_parameter_that_may_be_anything_else_is_not(parse, source):
    assert kind_of_y(parse, source) is None
