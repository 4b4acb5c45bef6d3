"""What kind of object an expression is that rests on itself, and what is put into lists."""

import pytest

from kdoctor.value_types import Kind
from tests.syntax.test_inference import kind_of_y

LOOP = "x = Input()\nfor i in r:\n    {}\nx.y"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("x = Dense(3)(x)", Kind.TENSOR),
        ("x = x * 2 + 1", Kind.TENSOR),
        ("x += Dense(3)(x)", Kind.TENSOR),
        ("x = k.ops.sum([x, x])", Kind.TENSOR),
        ("y = Dense(3)(x)\n    x = Dense(3)(y)", Kind.TENSOR),
        ("old = x\n    x = Dense(3)(x)\n    x = k.ops.add(x, old)", Kind.TENSOR),
        ("if i: x = Dense(3)(x)", Kind.TENSOR),
        ("if i: x = Dense(3)(x)\n    else: x = -x[0]", Kind.TENSOR),
        ("for j in r:\n        x = Dense(3)(x)\n        if j: x = Dense(3)(x)", Kind.TENSOR),
        ("while x is None:\n        x = Dense(3)(x)\n    x = Dense(3)(x)", Kind.TENSOR),
        ("x = other(x)", None),
        ("x = Dense(3)(x)\n    if i: x = other()", None),
        ("x = Dense(3)(x)\n    if i: x = np.ones(3)", None),
        ("z = Dense(3)(x)\n    x = other(z)", None),
        ("x, z = z, other()", None),
    ],
)
def test_what_goes_round_in_a_loop_is_what_all_in_it_make_of_what_gets_in(parse, body, kind):
    assert kind_of_y(parse, LOOP.format(body)) == kind
    if kind is Kind.TENSOR:
        assert kind_of_y(parse, LOOP.format(body).replace("x = Input()", "x = other()")) is None
        arrays = LOOP.format(body).replace("x = Input()", "x = np.ones(3)")
        assert kind_of_y(parse, arrays) in {Kind.EAGER, None}


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        # Nothing but itself gets in: it was made elsewhere.
        ("class A:\n    def f(self):\n        self.x = Dense(3)(self.x)\n        self.x.y", None),
        (
            (
                "class A:\n    def f(self):\n        self.z = Dense(3)(self.z)\n"
                "        self.x = self.z if c else Input()\n        self.x.y"
            ),
            None,
        ),
        (
            (
                "class A:\n    def f(self):\n        self.x = Input()\n"
                "    def g(self):\n        self.x = Dense(3)(self.x)\n        self.x.y"
            ),
            Kind.TENSOR,
        ),
        # Through a function that is called in the loop.
        (
            (
                "def act(t):\n    return k.ops.relu(t)\nx = Input()\n"
                "for i in r:\n    x = act(Dense(3)(x))\nx.y"
            ),
            Kind.TENSOR,
        ),
        (
            "def act(t):\n    t.y\n    return t\nx = Input()\nfor i in r:\n    x = act(x)",
            Kind.TENSOR,
        ),
        ("def act(t):\n    t.y\n    return t\nx = other()\nfor i in r:\n    x = act(x)", None),
        (
            "def f(t, n):\n    return f(Dense(3)(t), n - 1) if n else t\nf(Input(), 3).y",
            Kind.TENSOR,
        ),
        ("def f(t, n):\n    return f(Dense(3)(t), n - 1)\nf(f(x, 3), 3).y", None),
    ],
)
def test_what_rests_on_itself_needs_something_to_start_from(parse, source, kind):
    assert kind_of_y(parse, source) == kind


LIST = "x = Input()\nxs = {}\n{}\nxs[0].y"


@pytest.mark.parametrize(
    ("made", "filled", "kind"),
    [
        ("[]", "xs.append(x)", Kind.TENSOR),
        ("list()", "xs.insert(0, x)", Kind.TENSOR),
        ("[]", "for i in r:\n    x = Dense(3)(x)\n    xs.append(x)", Kind.TENSOR),
        ("[]", "xs.extend([x, x])", Kind.TENSOR),
        ("[]", "xs += [x, x]", Kind.TENSOR),
        ("[x]", "xs = xs + [x]", Kind.TENSOR),
        ("[]", "xs.append(Dense(3))", Kind.LAYER),
        ("[None] * 3", "xs[0] = x", None),
        ("[]", "def f():\n    xs.append(x)", Kind.TENSOR),
        ("[]", "xs.append(x)\nn = len(xs) or xs\nxs = xs[::-1]", Kind.TENSOR),
        ("[]", "xs.append(x)\nz = Model()(xs)", Kind.TENSOR),
        ("[]", "xs.append(x)\nz = k.ops.sum([*xs])", Kind.TENSOR),
        ("[]", "xs.append(x)\nz = k.ops.sum(xs if c else xs[0])", Kind.TENSOR),
        ("[]", "xs.append(x)\nz = xs\nfor i in z: pass", Kind.TENSOR),
        ("[]", "def f(ys):\n    return len(ys)\nxs.append(x)\nf(xs)", Kind.TENSOR),
        ("[]", "def f(ys, n):\n    return f(ys, n - 1)\nxs.append(x)\nf(n=3, ys=xs)", Kind.TENSOR),
        ("[]", "", None),
        ("[]", "xs.append(x)\nif c: xs.append(other())", None),
        ("[]", "xs.append(x)\nif c: xs.append(np.ones(3))", None),
        ("[]", "xs.append(*x)", None),
        ("[]", "xs.append(x)\nother(xs)", None),
        ("[]", "xs.append(x)\nother((xs, 1))", None),
        ("[]", "xs.append(x)\nput = xs.append", None),
        ("[]", "xs.append(x)\nz = xs\nz.append(1)", None),
        ("[]", "xs.append(x)\na, xs[0] = 1, 2", None),
        ("[]", "xs.append(x)\nfor xs[0] in r: pass", None),
        ("[]", "xs.append(x)\nxs[0] += other()", None),
        ("[]", "xs.append(x)\nxs[:1] = other()", None),
        ("[]", "xs.append(x)\nself.xs = xs", None),
        ("[]", "xs.append(x)\ndef f():\n    return xs", None),
        ("[]", "def f(ys):\n    ys.append(3)\nxs.append(x)\nf(xs)", None),
        ("[]", "def f(*ys):\n    return len(ys)\nxs.append(x)\nf(xs)", None),
        ("zs = []", "xs.append(x)", None),
        ("[x]", "z = xs\nz.append(other())", None),
        ("[x]", "def f(ys):\n    ys.append(3)\nf(xs)", None),
        ("[x]", "xs[0] = np.ones(3)", None),
        ("[x]", "xs.append(other())", None),
        ("[x]", "xs.append(x)\nother(xs)", Kind.TENSOR),
    ],
)
def test_a_list_is_of_what_all_code_puts_into_it(parse, made, filled, kind):
    assert kind_of_y(parse, LIST.format(made, filled)) == kind


@pytest.mark.parametrize(
    "use",
    [
        "for t in xs: t.y",
        "xs.pop().y",
        "for i, t in enumerate(xs): xs[i] = Dense(3)(t)\nxs[0].y",
        "ps = []\nfor t in xs: ps.append((t, Dense(3)(t)))\nfor a, b in ps: b.y",
        "[t.y for t in reversed(xs)]",
        "Dense(3)(xs).y",
        "a, b = xs\na.y",
        "def f(ts):\n    ts[0].y\nf(xs)",
        "def f():\n    ys = []\n    for i in r: ys.append(x)\n    return ys\nf()[0].y",
    ],
)
def test_a_list_that_was_filled_is_a_list(parse, use):
    assert kind_of_y(parse, f"x = Input()\nxs = []\nfor i in r: xs.append(x)\n{use}") is Kind.TENSOR


def test_what_a_function_puts_into_a_list_that_it_gets_counts_in_it(parse):
    source = "def f(xs, z):\n    xs.append({})\n    xs[-1].y\nf([Input()], Input())\nxs = []\n"
    assert kind_of_y(parse, source.format("z")) is Kind.TENSOR
    assert kind_of_y(parse, source.format("other()")) is None


def test_a_list_of_a_parameter_is_what_the_parameter_turns_out_to_be(parse):
    source = "def f(x):\n    xs = [x]\n    xs.append(x)\n    xs[0].y\nf({})\n"
    assert kind_of_y(parse, source.format("Input()")) is Kind.TENSOR
    assert kind_of_y(parse, source.format("Model()")) is Kind.MODEL
    assert kind_of_y(parse, source.format("other()")) is None
