"""A custom layer casts the `tf.Variable` that it is called with.

## What it does
Reports calls of custom layers with a `tf.Variable` that is known to be float64: created with that
`dtype`, or from a NumPy array (`np.random.uniform(…)`, `np.ones(3)`; also through a function of the
project).

## Why it breaks
A layer casts its inputs to its own dtype, float32. Keras 2 did so for tensors and arrays, but not
for variables; Keras 3 casts them too. The output and its gradient are float32 instead of float64: a
comparison within 1e-7 fails, and so does arithmetic with other float64 tensors.

## What to write instead
`Mine(autocast=False)(variable)`, or `Mine(dtype="float64")`, which makes its weights float64 too.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with layers with and without weights. `Dense`, `Conv2D` and
the like cast variables in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden, is_keras_3, literal, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, may_be_of, word
from kdoctor.keras_api.tensorflow_aliases import VARIABLES
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.arguments._forwarded_keywords import base_that_gets
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.package import KEEP_THE_TYPE
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

FLOAT64: Final = {
    "numpy.random": (
        *("uniform", "normal", "rand", "randn", "random", "random_sample", "standard_normal"),
        *("beta", "exponential", "gamma", "laplace"),
    ),
    "numpy": ("ones", "zeros", "empty", "linspace", "eye"),
}
"""Functions of NumPy that return float64 where no type is asked for."""
_KEYWORD: Final = "autocast"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call with such a variable."""
    for call in module.nodes(cst.Call):
        if len(call.args) != 1 or is_hidden(call) or not _is_float64_variable(module, call.args[0]):
            continue
        made = value_of(module, call.func)
        kind = module.type_of(call.func)
        if kind is None or kind.kind is not Kind.LAYER or not isinstance(made, cst.Call):
            continue
        base = base_that_gets(module, made.func, _KEYWORD)
        if base is None or not is_keras_3(facts, base) or module.is_guarded(call):
            continue
        if argument(made, _KEYWORD) is None and argument(made, "dtype") is None:
            yield _finding(module, facts, call, made)


def _may_be_cast(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether what may be a layer is called with nothing but what may be such a variable."""
    variables = {
        each.node
        for name in VARIABLES
        for each in quick.calls_by_meaning.get(name, ())
        if each.values
    }
    asked = [
        (called.node, called.node.func)
        for called in (quick.calls if variables else ())
        if len(called.values) == 1 and not variables.isdisjoint(quick.values_of(called.values[0]))
    ]
    return bool(asked) and may_be_of(quick, facts, asked, {Kind.LAYER})


def _is_float64_variable(module: Module, given: cst.Arg) -> bool:
    made = value_of(module, given.value)
    if not isinstance(made, cst.Call) or module.qualified(made.func) not in VARIABLES:
        return False
    asked = argument(made, "dtype")
    if asked is not None:
        return "float64" in (literal(asked.value), (module.qualified(asked.value) or "")[-7:])
    return bool(made.args) and _is_float64(module, made.args[0].value)


def _is_float64(module: Module, node: cst.BaseExpression) -> bool:
    made = value_of(module, node)
    if not isinstance(made, cst.Call) or argument(made, "dtype") is not None:
        return False
    name = module.returned_call_in_project(made.func) or module.qualified(made.func) or ""
    parent, _, leaf = name.rpartition(".")
    if parent == "numpy" and leaf in KEEP_THE_TYPE and made.args:
        return _is_float64(module, made.args[0].value)
    return leaf in FLOAT64.get(parent, ())


def _finding(module: Module, facts: TargetFacts, call: cst.Call, made: cst.Call) -> Finding:
    has_keyword = facts.signature("keras.layers.Layer") is not None and not is_hidden(made)
    return rule.finding(
        module.place(call),
        f"`{module.source(made.func)}` casts this float64 variable to float32: Keras 2 did not "
        "cast variables",
        symbol=f"{module.source(made.func)}.{_KEYWORD}",
        confidence=Confidence.LIKELY,
        help='Create the layer with `autocast=False`, or with `dtype="float64"`.',
        fix=rule.fix(
            "Create the layer with `autocast=False`",
            add_keyword(module, made, f"{_KEYWORD}=False"),
            unsafe_because="the layer then casts none of its inputs",
        )
        if has_keyword
        else NoFix("the arguments of the layer are not visible here"),
    )


rule = Rule(
    code="KD432",
    name="variable-is-cast",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=word("Variable") & Trigger(_may_be_cast),
    since="3.0",
)

_HEAD = "import numpy as np\nimport tensorflow as tf\n\n\n"
_LAYER = (
    "class Twice(tf.keras.layers.Layer):\n    def __init__(self, factor=2, **kwargs):\n"
    "        super().__init__(**kwargs)\n        self.factor = factor\n\n"
    "    def call(self, x):\n        return x * self.factor\n\n\n"
)
_X = "x = tf.Variable(np.random.uniform(size=(2, 3)))\n"
_IS_64 = "assert 'float64' in str(y.dtype)"

VALID = [
    # Keras' own layers cast in both; float32; who knows; a tensor; it is said already.
    _HEAD + _X + "y = tf.keras.layers.Dense(2)(x)",
    _HEAD + _LAYER + "y = Twice()(tf.Variable(1.0))\ny = Twice()(tf.Variable(np.float32(3)))",
    _HEAD + _LAYER + "y = Twice()(tf.Variable(np.ones(3, 'float32'), dtype='float32'))",
    _HEAD + _LAYER + "y = Twice()(tf.Variable(np.ones(3, dtype='float32')))",
    _HEAD + _LAYER + "y = Twice()(tf.Variable(start))",
    _HEAD + _LAYER + "y = Twice()(tf.constant(np.ones(3)))\ny = Twice()(np.ones(3))",
    _HEAD + _LAYER + _X + "y = Twice(autocast=False)(x)\ny = Twice(dtype='float64')(x)",
    _HEAD + "def twice():\n    return lambda x: x\n\n\n" + _X + "y = twice()(x)",
    _HEAD + _LAYER.replace("tf.keras", "tf_keras").replace("class", "import tf_keras\nclass", 1)
    + _X + "y = Twice()(x)",
]  # fmt: skip
INVALID = [
    Example(
        before=_HEAD + _LAYER + _X + "y = Twice()(x)\n",
        after=_HEAD + _LAYER + _X + "y = Twice(autocast=False)(x)\n",
        unsafe=True,
        check=_IS_64,
        on_keras_2=True,
    ),
    Example(
        before=_HEAD
        + _LAYER
        + "start = np.reshape(np.linspace(0, 1, 6), (2, 3))\nlayer = Twice(3)\n"
        "y = layer(tf.Variable(start))\n",
        after=_HEAD
        + _LAYER
        + "start = np.reshape(np.linspace(0, 1, 6), (2, 3))\nlayer = Twice(3, autocast=False)\n"
        "y = layer(tf.Variable(start))\n",
        unsafe=True,
        check=_IS_64,
        on_keras_2=True,
    ),
    Example(
        before=_HEAD + _LAYER + "y = Twice()(tf.Variable([1, 2], dtype=tf.float64))\n",
        after=_HEAD + _LAYER + "y = Twice(autocast=False)(tf.Variable([1, 2], dtype=tf.float64))\n",
        unsafe=True,
        check=_IS_64,
        on_keras_2=True,
    ),
]
