"""`{w.name: w for w in model.weights}`: weight names are no longer unique.

## What it does
Reports dicts keyed by the names of a model's weights: `{w.name: w for w in model.weights}`,
`dict((w.name, w) for …)`, `dict(zip([w.name for …], model.get_weights()))`, and `kept[w.name] = w`
in a loop over them.

## Why it breaks
In Keras 2 a weight was called `dense/kernel:0`, a name that was unique in the model. On Keras 3 it
is called `kernel`, like that of every other layer: only one entry is left, the last. Anything
stored, compared or loaded with it covers a single layer, with no warning.

## What to write instead
`w.path`, which contains the layer's name: `dense/kernel`. It has no `:0` suffix, and is prefixed
with the name of a `Sequential` or a subclassed model. A dict saved by a Keras 2 program has
different keys, which need to be translated.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with a `Sequential`, a functional model and a class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, attribute, member
from kdoctor.model import Edit, Finding, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.syntax.scopes import Binding, BindingKind
from kdoctor.value_types import Kind

_WEIGHTS: Final = frozenset(
    f"{which}{what}" for which in ("", "trainable_", "non_trainable_")
    for what in ("weights", "variables")
)  # fmt: skip
_NAME: Final = "name"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such key."""
    for use in module.members:
        if use.owner.kind is not Kind.VARIABLE or use.member != _NAME or use.owner_defines:
            continue
        if not _is_key(module, use.node) or module.is_guarded(use.node):
            continue
        if _is_of_a_model(module, use.node):
            yield _finding(module, use)


def _is_key(module: Module, name: cst.Attribute) -> bool:
    parent = module.parent(name)
    match parent:
        case cst.DictComp():
            return parent.key is name
        case cst.Index():
            held = module.parent(module.parent(parent) or parent)
            target = module.parent(held) if isinstance(held, cst.Subscript) else None
            return isinstance(target, cst.AssignTarget)
        case cst.Element():
            pair = module.parent(parent)
            if not isinstance(pair, cst.Tuple) or pair.elements[0] is not parent:
                return False
            made = module.parent(pair)
            return _is_gone_through(made, pair) and _is_given_to(module, made, "dict")
        case cst.GeneratorExp() | cst.ListComp() if parent.elt is name:
            zipped = module.parent(module.parent(parent) or parent)
            return (
                _is_given_to(module, parent, "zip")
                and zipped is not None
                and _is_given_to(module, zipped, "dict")
            )
    return False


def _is_gone_through(made: cst.CSTNode | None, element: cst.CSTNode) -> bool:
    return isinstance(made, cst.GeneratorExp | cst.ListComp) and made.elt is element


def _is_given_to(module: Module, given: cst.CSTNode | None, function: str) -> bool:
    """Say whether it is the first that a builtin gets."""
    argument = None if given is None else module.parent(given)
    call = None if argument is None else module.parent(argument)
    return (
        isinstance(call, cst.Call)
        and call.args[0] is argument
        and isinstance(call.func, cst.Name)
        and call.func.value == function
        and is_builtin(module, call.func)
    )


def _is_of_a_model(module: Module, name: cst.Attribute) -> bool:
    """Say whether it is the name of each weight of a model: a loop goes through them."""
    if not isinstance(name.value, cst.Name):
        return False
    match module.bindings_at(name.value):
        case [
            Binding(kind=BindingKind.LOOP, path=(), value=cst.Attribute(attr=attr, value=owner))
        ] if attr.value in _WEIGHTS:
            found = module.type_of(owner)
            return found is not None and found.kind is Kind.MODEL
    return False


def _finding(module: Module, use: MemberUse) -> Finding:
    return rule.finding(
        module.place(use.node),
        "weight names are no longer unique: every layer has a `kernel` and a `bias`, and only "
        "the last of each is kept",
        symbol="Variable.name",
        confidence=use.confidence,
        help="Use `.path`: `dense/kernel`.",
        fix=rule.fix(
            "Use `.path` as the key",
            Edit(module.span(use.node.attr), ("path",)),
            unsafe_because="the keys differ from Keras 2: `dense/kernel`, prefixed with the name "
            "of a `Sequential` or subclassed model, and without `:0`",
        ),
    )


def _may_be_keys(quick: QuickFacts, _: TargetFacts) -> bool:
    nodes = quick.nodes
    names = {
        each.target.id
        for each in chain(nodes.get(ast.For, ()), nodes.get(ast.comprehension, ()))
        if isinstance(each.target, ast.Name)
        and isinstance(each.iter, ast.Attribute)
        and each.iter.attr in _WEIGHTS
    }
    asked = {each for each in names if (each, (_NAME,)) in quick.chains}
    return bool(asked) and any(
        _is_name(key, asked)
        for node in chain.from_iterable(quick.scopes.values())
        for key in _keys(node)
    )


def _keys(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what may be the key of an entry."""
    match node:
        case ast.DictComp(key=key):
            yield key
        case (
            ast.GeneratorExp(elt=ast.Tuple(elts=[key, *_]))
            | ast.ListComp(elt=ast.Tuple(elts=[key, *_]))
        ):
            yield key
        case ast.GeneratorExp(elt=key) | ast.ListComp(elt=key):
            yield key
        case ast.Assign(targets=targets):
            yield from (each.slice for each in targets if isinstance(each, ast.Subscript))


def _is_name(node: ast.expr, owners: set[str]) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == _NAME
        and isinstance(node.value, ast.Name)
        and node.value.id in owners
    )


rule = Rule(
    code="KD475",
    name="weights-by-name",
    family="behaviour",
    severity=Severity.CHANGE,
    check=check,
    triggers=attribute(*_WEIGHTS) & member(_NAME) & Trigger(_may_be_keys),
    since="3.0",
)

_MODEL = (
    "import keras\n\nx = keras.layers.Input((2,))\nmodel = keras.Model(x, keras.layers.Dense(1, "
    "name='top')(keras.layers.Dense(3, name='first')(x)))\n"
)
_LOOP = (
    _MODEL + "kept = {{}}\nfor weight in model.trainable_weights:\n    value = weight.numpy()\n"
    "    kept[weight.{}] = value.shape\n"
)
_SIZES = "sorted(kept.values())"

VALID = [
    _MODEL + "kept = {w.path: w for w in model.weights}",
    # Names of layers, and what is not a key.
    _MODEL + "kept = {layer.name: layer for layer in model.layers}",
    _MODEL + "kept = {layer.name: [w.name for w in layer.weights] for layer in model.layers}",
    _MODEL + "shapes = [(w.name, w.shape) for w in model.weights]\nprint(*(w.name for w in "
    "model.weights))\nkept = {id(w): w.name for w in model.weights}",
    _MODEL + "for w in model.weights:\n    print(w.name, kept[w.name])",
    # In one layer, they are called otherwise than each other.
    _MODEL + "kept = {w.name: w for w in model.layers[-1].weights}\n"
    "dense = keras.layers.Dense(2)\nkept = {w.name: w for w in dense.weights}",
    # Nobody knows whose they are.
    "def kept(net):\n    return {w.name: w for w in net.weights}",
    _MODEL + "kept = {}\nw = model.weights[0]\nkept[w.name] = w",
    _MODEL + "def dict(pairs):\n    return [*pairs]\n\n\n"
    "kept = dict((w.name, w) for w in model.weights)",
    (_MODEL + "kept = {w.name: w for w in model.weights}").replace("keras", "tf_keras"),
]
INVALID = [
    Example(
        before=_MODEL + "kept = {w.name: tuple(w.shape) for w in model.weights}\n",
        after=_MODEL + "kept = {w.path: tuple(w.shape) for w in model.weights}\n",
        unsafe=True,
        on_keras_2=True,
        same=_SIZES,
    ),
    Example(
        before=_LOOP.format("name"),
        after=_LOOP.format("path"),
        unsafe=True,
        on_keras_2=True,
        same=_SIZES,
    ),
    Example(
        before=_MODEL + "kept = dict((w.name, tuple(w.shape)) for w in model.variables)\n",
        after=_MODEL + "kept = dict((w.path, tuple(w.shape)) for w in model.variables)\n",
        unsafe=True,
        on_keras_2=True,
        same=_SIZES,
    ),
    Example(
        before="from tensorflow import keras\n\nmodel = keras.Sequential([keras.Input((2,)), "
        "keras.layers.Dense(2), keras.layers.Dense(1)])\nkept = dict(zip(\n"
        "    [each.name for each in model.weights],  # with the layer's\n"
        "    [each.shape for each in model.get_weights()],\n))\n",
        after="from tensorflow import keras\n\nmodel = keras.Sequential([keras.Input((2,)), "
        "keras.layers.Dense(2), keras.layers.Dense(1)])\nkept = dict(zip(\n"
        "    [each.path for each in model.weights],  # with the layer's\n"
        "    [each.shape for each in model.get_weights()],\n))\n",
        unsafe=True,
        on_keras_2=True,
        same=_SIZES,
    ),
    # One's own class, from within.
    Example(
        before="import keras\n\n\nclass Mine(keras.Model):\n    def __init__(self):\n"
        "        super().__init__()\n        self.first = keras.layers.Dense(2)\n"
        "        self.second = keras.layers.Dense(1)\n\n    def call(self, x):\n"
        "        return self.second(self.first(x))\n\n    def told(self):\n"
        "        return {w.name: tuple(w.shape) for w in self.weights}\n\n\nmine = Mine()\n"
        "mine(data)\nkept = mine.told()\n",
        after="import keras\n\n\nclass Mine(keras.Model):\n    def __init__(self):\n"
        "        super().__init__()\n        self.first = keras.layers.Dense(2)\n"
        "        self.second = keras.layers.Dense(1)\n\n    def call(self, x):\n"
        "        return self.second(self.first(x))\n\n    def told(self):\n"
        "        return {w.path: tuple(w.shape) for w in self.weights}\n\n\nmine = Mine()\n"
        "mine(data)\nkept = mine.told()\n",
        prelude="import numpy as np\n\ndata = np.ones((1, 3))\n",
        unsafe=True,
        on_keras_2=True,
        same=_SIZES,
    ),
]
