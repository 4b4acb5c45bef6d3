"""`weight.name` is `kernel`, no longer `dense/kernel:0`.

## What it does
Reports code that looks for `/` or `:` in the name of a weight: `weight.name.split("/")`,
`"conv1/" in weight.name`, `weight.name == "dense/kernel:0"`.

## Why it breaks
In Keras 2 the name held the layer's, and TensorFlow's `:0`. On Keras 3 it is the last part alone,
and the whole is `weight.path`, without `:0`. Comparisons are false, searches find nothing, and the
first part of a split is `kernel` instead of the layer: weights are left out without a word.

## What to write instead
`weight.path`: `dense/kernel`; with the model's name in front, for a `Sequential` and for models of
your own class (`sequential/dense/kernel`). For its layer, go through `model.layers`.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with a `Sequential`, a functional model and a class. The fix
is unsafe for the model's name in front.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from kdoctor.kinds import Kind
from kdoctor.model import Applicability, Edit, Finding, Fix, Severity
from kdoctor.rules.calls import literal
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import Trigger, member
from kdoctor.syntax import Module
from kdoctor.syntax.glimpse import Glimpse

_METHODS = frozenset({
    *("split", "rsplit", "partition", "rpartition", "replace", "startswith", "endswith", "find"),
    *("index", "rfind", "strip", "rstrip", "removesuffix", "removeprefix", "count"),
})  # fmt: skip


def check(module: Module, facts: Facts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each look for what a name does not hold any more."""
    for use in module.members:
        if use.owner.kind is not Kind.VARIABLE or use.member != "name" or use.owner_defines:
            continue
        wanted = _wanted(module, use.node)
        if wanted is None or module.is_guarded(use.node):
            continue
        with_number = ":" in wanted and wanted not in (":", ":0")
        yield rule.finding(
            module.place(use.node),
            f"the name of a weight holds no `{'/' if '/' in wanted else ':'}` any more: it is "
            "`kernel`, not `dense/kernel:0`",
            symbol="Variable.name",
            confidence=use.confidence,
            help="Write `.path`, and no `:0`: `dense/kernel`.",
            fix=None
            if with_number
            else Fix(
                "Look at `.path` instead of `.name`",
                (Edit(module.span(use.node.attr), ("path",)),),
                Applicability.UNSAFE,
                unsafe_because="a `Sequential` and models of your own class put their own name "
                "in front",
            ),
            no_fix_because="`:0` must go from the text that it is compared with, too"
            if with_number
            else None,
        )


def _wanted(module: Module, name: cst.Attribute) -> str | None:
    """Return the text with ``/`` or ``:`` that is looked for in a name, if any."""
    parent = module.parent(name)
    found: list[cst.BaseExpression] = []
    if isinstance(parent, cst.Attribute) and parent.attr.value in _METHODS:
        call = module.parent(parent)
        if isinstance(call, cst.Call) and call.func is parent:
            found = [each.value for each in call.args[:1] if not each.star]
    elif isinstance(parent, cst.Comparison):
        found = [parent.left, *(each.comparator for each in parent.comparisons)]
    elif isinstance(parent, cst.ComparisonTarget):
        whole = module.parent(parent)
        assert isinstance(whole, cst.Comparison)
        found = [whole.left]
    texts = [literal(each) for each in found]
    return next((t for t in texts if isinstance(t, str) and ("/" in t or ":" in t)), None)


def _may_look(glimpse: Glimpse, _: Facts) -> bool:
    for each in glimpse.nodes.get(ast.Compare, ()):
        sides = (each.left, *each.comparators)
        if any(map(_is_name, sides)) and any(map(_is_wanted, sides)):
            return True
    return any(
        isinstance(called.node.func, ast.Attribute)
        and _is_name(called.node.func.value)
        and any(map(_is_wanted, called.values))
        for method in _METHODS
        for called in glimpse.calls_by_leaf.get(method, ())
    )


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "name"


def _is_wanted(node: ast.expr) -> bool:
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and ("/" in text or ":" in text)


rule = Rule(
    code="KD412",
    name="weight-name",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=member("name") & Trigger(_may_look),
    since="3.0",
)

_MODEL = (
    "import keras\n\nx = keras.layers.Input((2,))\n"
    "model = keras.Model(x, keras.layers.Dense(1, name='top')(x))\n"
)

VALID = [
    _MODEL + "[w for w in model.weights if 'kernel' in w.name]",
    _MODEL + "[w for w in model.weights if w.path.startswith('top/')]",
    _MODEL + "[layer for layer in model.layers if layer.name.split('/')[0]]",
    "import keras\n\ndef kernels(weights):\n    return [w for w in weights if '/' in w.name]",
]
INVALID = [
    Example(
        before=_MODEL + "found = [w for w in model.weights if w.name.startswith('top/')]\n",
        after=_MODEL + "found = [w for w in model.weights if w.path.startswith('top/')]\n",
        unsafe=True,
        on_keras_2=True,
        same="len(found)",
    ),
    Example(
        before=_MODEL + "layers = {w.name.split('/')[0] for w in model.trainable_weights}\n",
        after=_MODEL + "layers = {w.path.split('/')[0] for w in model.trainable_weights}\n",
        unsafe=True,
        on_keras_2=True,
        same="layers",
    ),
    Example(
        before=_MODEL + "found = [w for w in model.weights if w.name == 'top/kernel:0']\n",
        check="assert not found",
    ),
]
