"""Where a line runs."""

import pytest

from kdoctor.value_types import Context

HEAD = "import k, np\nfrom k.layers import Layer, Lambda\n"


@pytest.mark.parametrize(
    ("source", "context"),
    [
        ("class A(Layer):\n    def call(self, x): k.f(x)", Context.CALL),
        ("class B(Layer): pass\nclass A(B):\n    def call(self, x): k.f(x)", Context.CALL),
        ("class A(Layer):\n    def call(self, x):\n        def g(): return k.f(x)", Context.CALL),
        ("class A(Layer):\n    def call(self, x): return [k.f(y) for y in x]", Context.CALL),
        ("class A(k.losses.Loss):\n    def call(self, a, b): k.f(a)", Context.LOSS_OR_METRIC),
        ("class A(k.metrics.Metric):\n    def update_state(self, a): k.f(a)",
         Context.LOSS_OR_METRIC),
        ("def f(y_true, y_pred): k.f(y_true)", Context.LOSS_OR_METRIC),
        ("f = lambda y_true, y_pred: k.f(y_true)", Context.LOSS_OR_METRIC),
        ("def g(n):\n    def f(y_true, y_pred): return k.f(n)", Context.LOSS_OR_METRIC),
        ("def f(a, b): k.f(a)\nm.compile('x', loss=f)", Context.LOSS_OR_METRIC),
        ("def f(a, b): k.f(a)\nm.compile('x', f)", Context.LOSS_OR_METRIC),
        ("def f(a, b): k.f(a)\nm.compile('x', metrics=['x', f])", Context.LOSS_OR_METRIC),
        ("def f(a, b): k.f(a)\nm.compile('x', loss={'out': f})", Context.LOSS_OR_METRIC),
        ("f = lambda a, b: k.f(a)\nm.compile('x', loss=f)", Context.LOSS_OR_METRIC),
        ("Lambda(lambda x: k.f(x))", Context.CALL),
        ("def f(x): k.f(x)\nLambda(f)", Context.CALL),
        ("with k.Tape() as t: k.f(x)", Context.TRAIN_LOOP),
        ("def f(x):\n    with k.Tape(): k.f(x)", Context.TRAIN_LOOP),
        ("x = k.Input()\nk.f(x)", Context.FUNCTIONAL),
        ("x = k.Input()\nk.f([1, x * 2])", Context.FUNCTIONAL),
        ("x = k.Input()\nk.f(k.g(x), y)", Context.FUNCTIONAL),
        ("def build():\n    x = k.Input()\n    return k.f(x)", Context.FUNCTIONAL),
        ("k.f(np.ones(3))", Context.EAGER),
        ("k.f([1, -2.5], 'float32')", Context.EAGER),
        ("k.f(x)", Context.UNKNOWN),
        ("k.f()", Context.UNKNOWN),
        ("k.f(np.ones(3), x)", Context.UNKNOWN),
        ("def f(x): k.f(x)", Context.UNKNOWN),
        ("def f(x): k.f(x)\nm.other('x', loss=f)", Context.UNKNOWN),
        ("def f(x): k.f(x)\nm.compile(loss=f)\nLambda(f)", Context.UNKNOWN),
        ("class A(Layer):\n    def other(self, x): k.f(x)", Context.UNKNOWN),
        ("class A:\n    def call(self, x): k.f(x)", Context.UNKNOWN),
    ],
)  # fmt: skip
def test_the_context_is_known_or_said_to_be_unknown(parse, source, context):
    module = parse(HEAD + source)
    reference = next(ref for ref in module.references if ref.name == "k.f")

    assert module.context_of(reference.node) is context
    assert module.context_of(reference.call) is context
