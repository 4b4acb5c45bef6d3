"""`model.optimizer is None`: before `compile` a Keras 3 model has no such attribute.

## What it does
Reports code that checks whether a model has an optimizer: `if model.optimizer is None:`,
`if not model.optimizer:`. Nothing is reported if the model is compiled earlier, nor for `self` in
methods of models and callbacks, which run during training.

## Why it breaks
On Keras 2 it was None until `compile`. On Keras 3 `compile` creates the attribute; before it, the
check itself raises: `AttributeError: 'Sequential' object has no attribute 'optimizer'`.

## What to write instead
`getattr(model, "optimizer", None)`, which works on both.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with a `Sequential`, a functional model and a class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

import libcst as cst

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.analysis.dataflow.points_to import points_to_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import member_of_self
from kdoctor.analysis.triggers import Trigger, member_of
from kdoctor.model import Edit, Finding, Hole, NoFix, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.ast_walk import nodes_in
from kdoctor.syntax.fallback_helpers import handles_only_attribute_error
from kdoctor.syntax.quick_facts import QuickFacts
from kdoctor.value_types import Kind

_OPTIMIZER = "optimizer"
_COMPILE = "compile"
_CONDITIONS = (ast.If, ast.While, ast.IfExp, ast.Assert)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:  # noqa: ARG001
    """Report each such question."""
    for use in module.members:
        if use.owner.kind is not Kind.MODEL or use.member != _OPTIMIZER or use.owner_defines:
            continue
        if not isinstance(use.node.value, cst.Name) or not _is_asked(module, use.node):
            continue
        if module.is_guarded(use.node) or _is_caught(module, use.node):
            continue
        if not (_is_trained_meanwhile(module, use.node) or _is_compiled_above(module, use)):
            yield _finding(module, use)


def _is_asked(module: Module, node: cst.Attribute) -> bool:
    """Say whether it is compared with None, or (a part of) a condition itself."""
    match module.parent(node):
        case cst.Comparison(
            left=left,
            comparisons=[
                cst.ComparisonTarget(
                    operator=cst.Is() | cst.IsNot() | cst.Equal() | cst.NotEqual(),
                    comparator=cst.Name(value="None"),
                )
            ],
        ):
            return left is node
    inner: cst.CSTNode = node
    for each in module.ancestors(node):
        match each:
            case cst.UnaryOperation(operator=cst.Not()) | cst.BooleanOperation():
                inner = each
            case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test):
                return test is inner
            case cst.Assert(test=test):
                return test is inner
            case _:
                return False
    return False


def _is_trained_meanwhile(module: Module, node: cst.Attribute) -> bool:
    """Say whether it is of the object that a method is called on."""
    points_to = points_to_of(module)
    function = points_to.function_around(node)
    if function is None or points_to.class_around(function) is None:
        return False
    return member_of_self(node, function) is not None


def _is_caught(module: Module, node: cst.CSTNode) -> bool:
    """Say whether a handler around it waits for attributes that are lacking."""
    return any(
        isinstance(each, cst.Try) and any(map(handles_only_attribute_error, each.handlers))
        for each in module.ancestors(node)
    )


def _is_compiled_above(module: Module, use: MemberUse) -> bool:
    """Say whether a model of that name is, or may be, compiled above it in the same function."""
    assert isinstance(use.node.value, cst.Name)
    name, place = use.node.value.value, module.span(use.node).start
    around = points_to_of(module).function_around
    return any(
        each.member == _COMPILE
        and isinstance(each.node.value, cst.Name)
        and each.node.value.value == name
        and module.span(each.node).start < place
        and around(each.node) is around(use.node)
        for each in module.members
    )


def _finding(module: Module, use: MemberUse) -> Finding:
    model = module.span(use.node.value)
    is_free = has_builtin(module, use.node, "getattr")
    cls = use.owner.cls or "Functional"  # as models of inputs and outputs are
    return rule.finding(
        module.place(use.node),
        "before `compile` a model has no optimizer, not even None: AttributeError: "
        f"'{cls}' object has no attribute 'optimizer'",
        symbol="Model.optimizer",
        confidence=use.confidence,
        help='Write `getattr(model, "optimizer", None)`.',
        fix=rule.fix(
            "Read the optimizer with `getattr`",
            Edit(module.outer_span(use.node), ("getattr(", Hole(model), ', "optimizer", None)')),
        )
        if is_free
        else NoFix(hidden_builtin("getattr")),
    )


def _may_ask(quick: QuickFacts, _: TargetFacts) -> bool:
    nodes = quick.nodes
    tests = (each.test for kind in _CONDITIONS for each in nodes.get(kind, ()))
    compared = (each.left for each in nodes.get(ast.Compare, ()))
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == _OPTIMIZER
        and isinstance(each.value, ast.Name)
        for each in chain(compared, chain.from_iterable(map(nodes_in, tests)))
    )


rule = Rule(
    code="KD235",
    name="optimizer-before-compile",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_ask) & member_of({Kind.MODEL}, _OPTIMIZER),
    since="3.0",
)

_FUNCTIONAL = (
    "import keras\n\nx = keras.Input((2,))\nmodel = keras.Model(x, keras.layers.Dense(1)(x))\n"
)
_SEQUENTIAL = "from tensorflow import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
_TRAINS = (
    "import keras\n\n\ndef train(model, x, y):\n    {}:\n        model.compile('sgd', 'mse')\n"
    "    model.fit(x, y, verbose=0)\n    return model\n\n\n"
    "model = train(keras.Sequential([keras.layers.Dense(1)]), data, data)\n"
)
_DATA = "import numpy as np\n\ndata = np.ones((2, 1))\n"

VALID = [
    _FUNCTIONAL + "model.compile('sgd', 'mse')\nassert model.optimizer is not None",
    _FUNCTIONAL + "is_compiled = getattr(model, 'optimizer', None) is not None",
    _FUNCTIONAL + "if hasattr(model, 'optimizer') and model.optimizer is not None:\n    pass",
    _FUNCTIONAL + "try:\n    ready = model.optimizer is not None\nexcept AttributeError:\n"
    "    ready = False",
    # It is read, and nobody asks whether it is there.
    _FUNCTIONAL + "rate = model.optimizer.learning_rate",
    # While it is trained, it has one.
    (
        "import keras\n\n\nclass Mine(keras.callbacks.Callback):\n"
        "    def on_epoch_end(self, epoch, logs=None):\n"
        "        if self.model.optimizer is not None:\n            print(epoch)"
    ),
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    def train_step(self, data):\n"
        "        assert self.optimizer is not None"
    ),
    # A class of one's own that has it.
    (
        "import keras\n\n\nclass Mine(keras.Model):\n    optimizer = None\n\n\n"
        "assert not Mine().optimizer"
    ),
    "def train(model):\n    if model.optimizer is None:\n        model.prepare()",
    (_FUNCTIONAL + "if model.optimizer is None:\n    pass").replace("keras", "tf_keras"),
]
INVALID = [
    Example(
        before=_TRAINS.format("if model.optimizer is None"),
        after=_TRAINS.format('if getattr(model, "optimizer", None) is None'),
        prelude=_DATA,
        raises="AttributeError: 'Sequential' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="type(model.optimizer).__name__",
    ),
    Example(
        before=_TRAINS.format("if not (model.optimizer)"),
        after=_TRAINS.format('if not getattr(model, "optimizer", None)'),
        prelude=_DATA,
        raises="AttributeError: 'Sequential' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="type(model.optimizer).__name__",
    ),
    Example(
        before=_SEQUENTIAL + "ready = model.optimizer != None\n",
        after=_SEQUENTIAL + 'ready = getattr(model, "optimizer", None) != None\n',
        raises="AttributeError: 'Sequential' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="ready",
    ),
    Example(
        before=_FUNCTIONAL + "how = 'trained' if x is None or model.optimizer else 'new'\n",
        after=_FUNCTIONAL
        + "how = 'trained' if x is None or getattr(model, \"optimizer\", None) else 'new'\n",
        raises="AttributeError: 'Functional' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="how",
    ),
    Example(
        before="import keras\n\n\nclass Mine(keras.Model):\n    pass\n\n\n"
        "model = Mine()\nassert model.optimizer is None\n",
        after="import keras\n\n\nclass Mine(keras.Model):\n    pass\n\n\n"
        'model = Mine()\nassert getattr(model, "optimizer", None) is None\n',
        raises="AttributeError: 'Mine' object has no attribute 'optimizer'",
        on_keras_2=True,
        same="1",
    ),
]
