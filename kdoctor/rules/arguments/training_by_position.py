"""`self.norm(x, training)`: arguments that are not tensors must be passed by keyword.

## What it does
Reports calls of layers and models that pass True or False by position: as a literal, or as a
parameter that holds one, such as `training` in the `call` of a layer. This includes
`super().__call__(x, training)` in a user-defined class. Also reports literal numbers and strings
after the input, lists of them, and the counter of a `range`.

## Why it breaks
Keras 2 passed on any argument. Keras 3 accepts only tensors by position: `ValueError: Only input
tensors may be passed as positional arguments. The following argument value should be passed as a
keyword argument: True`. If `training` is None, the call works, and fails in `fit`. Functional
models, including those of `keras.applications`, fail with another message: `TypeError:
Functional.call() got multiple values for argument 'training'`. So does a layer with a custom
`__call__` in such a model, in `fit` and `predict`.

## What to write instead
`self.norm(x, training=training)`, which means the same on Keras 2 and 3.

## How we know
The layers of Keras that have `training` next to their input were called on Keras 3.15.1 and on
tf_keras 2.21, as were user-defined layers and models; the check has been in `Layer.__call__` since
3.0. Functional models were called on eleven releases of Keras from 3.3.3 to 3.15.1.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.calls import is_builtin, is_call_of_super, is_keras_3, literal
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.models.user_classes import (
    class_around,
    holds_original_argument,
    kind_of_class,
    only_base,
)
from kdoctor.analysis.triggers import Trigger, may_be_of
from kdoctor.model import Confidence, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rules.arguments._layers_in_lists import may_be_in_list, type_in_list
from kdoctor.rules.arguments._positional_arguments import (
    CALL,
    FUNCTIONAL,
    KINDS,
    TRAINING,
    parameters,
    parameters_of_super,
)
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickCall, QuickFacts
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Type

_ERROR = "ValueError: Only input tensors may be passed as positional arguments."
_TWICE = "TypeError: Functional.call() got multiple values for argument 'training'"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each call that passes by position what is no tensor."""
    for call in module.nodes(cst.Call):
        given = _by_position(call)
        first = next((n for n, each in enumerate(given) if n and _is_plain(module, each)), None)
        owner = None if first is None else _called(module, call)
        if first is None or owner is None or not is_keras_3(facts, owner.qualified):
            continue
        names = (
            parameters_of_super(module, facts, owner)
            if is_call_of_super(call, CALL)
            else parameters(module, facts, owner)
        )
        if names is None or module.is_guarded(call):
            continue
        yield rule.finding(
            module.place(given[first]),
            f"only tensors may be passed to `{owner.cls}` by position: "
            f"{_TWICE if owner.cls == FUNCTIONAL else _ERROR}",
            symbol=f"{owner.cls}.__call__",
            confidence=Confidence.LIKELY,
            help=f"Pass it by keyword: `{(*names[first:], TRAINING)[0]}=…`.",
            fix=_fix(module, given[first:], names[first:]),
        )


def _called(module: Module, call: cst.Call) -> Type | None:
    if is_call_of_super(call, CALL):
        return _own_class(module, call)
    return module.type_of(call.func) or type_in_list(module, call.func)


def _own_class(module: Module, node: cst.CSTNode) -> Type | None:
    """Return the class of one's own around a node, where it has one base, which is of Keras."""
    cls = class_around(module, node)
    only = None if cls is None or cls.keywords else only_base(module, cls)
    if cls is None or only is None:
        return None
    name = module.qualified(only)
    base = module.oracle.class_type(name) if name is not None else None
    return None if base is None else Type(base.kind, cls.name.value, base.qualified)


def _by_position(call: cst.Call) -> Sequence[cst.Arg]:
    """Return what is passed by position, nothing where ``*args`` hides which is which."""
    if any(each.star == "*" for each in call.args):
        return ()
    return [each for each in call.args if each.keyword is None and not each.star]


def _is_plain(module: Module, argument: cst.Arg) -> bool:
    """Say whether it is a bool, a number or a text, or a list of such."""
    value = argument.value
    if not isinstance(value, cst.Name):
        found = literal(value)
        several = found if isinstance(found, list | tuple) else [found]
        return bool(several) and all(isinstance(each, int | float | str) for each in several)
    is_bool = isinstance(literal(value), bool) or _holds_a_bool(module, value)
    return is_bool or _counts(module, value)


def _counts(module: Module, name: cst.Name) -> bool:
    """Say whether it is what a loop over Python's `range` counts with."""
    bindings = module.bindings_at(name)
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.LOOP:
        return False
    match bindings[0].value:
        case cst.Call(func=cst.Name(value="range") as function):
            return is_builtin(module, function)
    return False


def _holds_a_bool(module: Module, name: cst.Name) -> bool:
    """Say whether it is a parameter that is a bool by default, or ``training`` of a ``call``."""
    for each in module.ancestors(name):
        if not isinstance(each, cst.FunctionDef):
            continue
        for parameter in (*each.params.params, *each.params.kwonly_params):
            if parameter.name.value == name.value:
                is_bool = isinstance(literal(parameter.default), bool) or (
                    name.value == TRAINING and _is_call_of_keras(module, each)
                )
                return is_bool and holds_original_argument(module, name, parameter)
    return False


def _is_call_of_keras(module: Module, function: cst.FunctionDef) -> bool:
    """Say whether it is how a layer or model is called: Keras gives it a bool when it trains."""
    owner = next(iter(each for each in module.ancestors(function) if _is_definition(each)), None)
    return (
        function.name.value in {"call", CALL}
        and isinstance(owner, cst.ClassDef)
        and kind_of_class(module, owner) in KINDS
    )


def _is_definition(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.ClassDef | cst.FunctionDef)


def _fix(module: Module, given: Sequence[cst.Arg], names: Sequence[str]) -> Fix | NoFix:
    if len(given) > len(names):
        return NoFix("the name of its parameter is not known here")
    edits = []
    for each, name in zip(given, names, strict=False):
        start = module.outer_span(each.value).start
        edits.append(Edit(Span(start, start), (f"{name}=",)))
    return rule.fix(f"Pass `{names[0]}` by keyword", *edits)


def _may_pass_one(quick: QuickFacts, facts: TargetFacts) -> bool:
    several = [each for each in quick.calls if each.places > 1]
    functions = quick.nodes.get(ast.FunctionDef, ()) if several else ()
    flags = {each.arg for function in functions for each in _flags(function.args)}
    flags |= {*_counters(quick)} if several else set()
    passing = [each for each in several if _passes_one(each, flags)]
    if any(each.leaf == CALL for each in passing):
        return True  # `super().__call__(x, True)`
    asked = [(each.node, each.node.func) for each in passing]
    return may_be_in_list(quick, [function for _, function in asked]) or (
        bool(asked) and may_be_of(quick, facts, asked, KINDS)
    )


def _flags(given: ast.arguments) -> Iterator[ast.arg]:
    """Yield the parameters that may hold a bool."""
    named = [*given.posonlyargs, *given.args]
    defaults = [*given.defaults]
    with_default = zip(named[len(named) - len(defaults) :], defaults, strict=True)
    for each, default in (*with_default, *zip(given.kwonlyargs, given.kw_defaults, strict=True)):
        if isinstance(default, ast.Constant) and isinstance(default.value, bool):
            yield each
    yield from (each for each in (*named, *given.kwonlyargs) if each.arg == TRAINING)


def _passes_one(called: QuickCall, flags: set[str]) -> bool:
    return any(
        isinstance(each, ast.Constant | ast.UnaryOp | ast.BinOp | ast.List | ast.Tuple)
        or (isinstance(each, ast.Name) and each.id in flags)
        for each in called.node.args[1:]
    )


def _counters(quick: QuickFacts) -> Iterator[str]:
    """Yield the names with which loops over `range` may count."""
    for each in (*quick.nodes.get(ast.For, ()), *quick.nodes.get(ast.comprehension, ())):
        if isinstance(each.target, ast.Name) and isinstance(each.iter, ast.Call):
            yield each.target.id


rule = Rule(
    code="KD315",
    name="training-by-position",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_pass_one),
    since="3.0",
)

_HEAD = "import keras\nimport numpy as np\n\n\n"
_OWN = _HEAD + (
    "class Own(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "        self.drop = keras.layers.Dropout(0.5)\n\n"
    "    def call(self, x, training=None):\n        return self.drop(x, {})\n\n\n"
)
_FIT = (
    "model = keras.Sequential([keras.Input((2,)), Own(), keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse')\n"
    "model.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0)\n"
)
_TWO = _HEAD + (
    "class Two(keras.Model):\n    def call(self, x, is_training, scale):\n"
    "        return x * scale if is_training else x\n\n\n"
    "made = Two()(np.ones((1, 2), 'float32'), {})\n"
)
_BY_SUPER = _HEAD + (
    "class Own(keras.layers.Layer):\n    def __call__(self, x, training={}):\n"
    "        return super().__call__(x, {})\n\n    def call(self, x, training=None):\n"
    "        return x if training else 2 * x\n\n\nmade = Own()(np.ones((1, 2), 'float32'))\n"
)
_PASSED = _BY_SUPER.replace("'float32'))", "'float32'), training=True)")
_BY_WAY_OF = _TWO.replace(
    "made = Two()(np.ones((1, 2), 'float32'), {})",
    "def run(x, trains=True):\n    return Two()(x, {})\n\n\nmade = run(np.ones((1, 2), 'float32'))",
)
_OF_TENSORS = _HEAD + (
    "x = keras.Input((2,))\nmodel = keras.Model(x, keras.layers.BatchNormalization()(x))\n"
    "z = keras.Input((2,))\nouter = keras.Model(z, keras.layers.Dense(1)(model(z, {})))\n"
    "y = model(np.ones((1, 2), 'float32'), {})\n"
)
_BASE = _HEAD + (
    "base = keras.applications.MobileNet(include_top=False, weights=None, "
    "input_shape=(32, 32, 3))\nx = keras.Input((32, 32, 3))\n"
    "model = keras.Model(x, base(x, {}))\n"
)
_NAMED = _HEAD + (
    "class Head(keras.layers.Layer):\n    def __init__(self, name='head'):\n"
    "        super().__init__(name=name)\n\n"
    "    def call(self, x, training):\n        return x if training else 2 * x\n\n\n"
    "class Body(keras.Model):\n    def __init__(self, **rest):\n"
    "        super().__init__(name='body', **rest)\n        self.head = Head()\n\n"
    "    def call(self, x, training=None):\n        return self.head(x, {})\n\n\n"
    "made = Body()(np.ones((1, 2), 'float32'), {})\n"
)
_PLAIN = _HEAD + "y = keras.layers.BatchNormalization()(np.zeros((2, 3), 'float32'), {})\n"
_LISTED = _OWN.format("training=training") + (
    "class Many(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
    "        self.blocks = {}\n\n"
    "    def call(self, x, training=None):\n        {}\n            x = layer(x, {})\n"
    "        return self.blocks[0](x, {})\n\n\n"
    "model = Many()\nmodel.compile('sgd', 'mse')\n"
    "model.fit(np.ones((2, 2)), np.ones((2, 2)), verbose=0)\n"
)
_STEPS = _HEAD + (
    "class Step(keras.layers.Layer):\n    def call(self, x, step=1, mode='add'):\n"
    "        return x + step if mode == 'add' else x * step\n\n\n"
    "class Steps(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "        self.step = Step()\n\n    def call(self, x):\n        {}\n\n\n"
    "made = Steps()(np.ones((1, 2), 'float32'))\n"
)
_COUNT = "for n in range(3):\n            x = self.step(x, {})\n        return x"
_BLOCKS = "[Own() for _ in range(2)]"
_FOR = "for layer in self.blocks:"
_APPENDED = "[]\n        for _ in range(2):\n            self.blocks.append(Own())"
_COUNTED = "for _, layer in enumerate(self.blocks[:-1]):"

VALID = [
    _OWN.format("training=training"),
    _OWN.format("None"),
    _OWN.format("training").replace("self.drop(", "self.work("),
    # It may be a tensor.
    _OWN.format("training").replace("return", "training = keras.ops.equal(x, x)\n        return"),
    _OWN.format("trained").replace("training=None", "trained"),
    _OF_TENSORS.format("training=False", "training=True"),
    _OF_TENSORS.format("x", "z"),  # two tensors, whatever they are for
    _HEAD + "x = keras.Input((2, 2))\nkeras.layers.MultiHeadAttention(2, 2)(x, x)",
    _HEAD + "keras.layers.Dropout(0.5, True)\nkeras.layers.RandomFlip()(np.ones((2, 2, 3)), True)",
    _TWO.format("True, 2.0").replace("def call", "def __call__"),
    _BY_SUPER.format("None", "training=training"),
    _BY_SUPER.format("None", "training").replace("training", "mode"),
    _BY_SUPER.format("True", "training").replace("    def call", "    def run"),
    _BY_SUPER.format("True", "training").replace("keras.layers.Layer", "mine.Layer"),
    _TWO.format("*[True, 2.0]"),
    _LISTED.format(_BLOCKS, _FOR, "training=training", "training=training"),
    _STEPS.format("return self.step(x, step=2, mode='add')"),
    _STEPS.format("return self.step(x, x)"),
    _STEPS.format(_COUNT.format("step=n")),
    _STEPS.format(_COUNT.format("n").replace("range(3)", "keras.ops.unstack(x)")),
    _STEPS.format(_COUNT.format("n").replace("x = self", "n = x + n\n            x = self")),
    _STEPS.format("return self.step(x, [])"),
    # Not of one class for sure.
    _LISTED.format("[Own(), other]", _FOR, "training", "training"),
    _LISTED.format(_BLOCKS + "\n        self.blocks += others", _FOR, "training", "training"),
    _LISTED.format("[]\n        self.blocks.append(others)", _FOR, "training", "training"),
    # Models of inputs and outputs, which take all.
    _NAMED.format("training=training", "True").replace(
        "name='body', **", "inputs=x, outputs=y, **"
    ),
    # A layer that takes all, too.
    _HEAD + "class Own(keras.layers.Hashing):\n    def call(self, x, twice):\n"
    "        return 2 * x if twice else x\n\n\nOwn(num_bins=3)(np.ones((1, 2)), True)",
    "import tf_keras as " + _PLAIN.format("True").removeprefix("import "),
]
INVALID = [
    Example(
        before=_PLAIN.format("True"),
        after=_PLAIN.format("training=True"),
        raises=_ERROR,
        on_keras_2=True,
        same="np.round(np.array(y), 4).tolist()",
    ),
    Example(
        before=_OWN.format("training") + _FIT,
        after=_OWN.format("training=training") + _FIT,
        raises="ValueError",
        on_keras_2=True,
    ),
    Example(
        before=_BY_SUPER.format("True", "training"),
        after=_BY_SUPER.format("True", "training=training"),
        raises=_ERROR,
        on_keras_2=True,
        same="np.array(made).tolist()",
    ),
    Example(
        before=_PASSED.format("None", "training"),
        after=_PASSED.format("None", "training=training"),
        raises=_ERROR,
        on_keras_2=True,
        same="np.array(made).tolist()",
    ),
    Example(
        before=_HEAD + "class Own(keras.layers.Dropout):\n    def __call__(self, x):\n"
        "        return super().__call__(x, False)\n\n\n"
        "made = Own(0.5)(np.ones((1, 2), 'float32'))\n",
        after=_HEAD + "class Own(keras.layers.Dropout):\n    def __call__(self, x):\n"
        "        return super().__call__(x, training=False)\n\n\n"
        "made = Own(0.5)(np.ones((1, 2), 'float32'))\n",
        raises=_ERROR,
        on_keras_2=True,
        same="np.array(made).tolist()",
    ),
    # Models that are made of their inputs and outputs.
    Example(
        before=_OF_TENSORS.format("False", "True"),
        after=_OF_TENSORS.format("training=False", "training=True"),
        raises="TypeError",
        on_keras_2=True,
        findings=2,
        same="np.round(np.array(y), 4).tolist()",
    ),
    Example(
        before=_BASE.format("False"),
        after=_BASE.format("training=False"),
        raises="TypeError",
        on_keras_2=True,
    ),
    Example(
        before=_BY_WAY_OF.format("trains, 2.0"),
        after=_BY_WAY_OF.format("is_training=trains, scale=2.0"),
        raises=_ERROR,
        on_keras_2=True,
        same="np.array(made).tolist()",
    ),
    # A class that tells its base how it is called.
    Example(
        before=_NAMED.format("training", "True"),
        after=_NAMED.format("training=training", "training=True"),
        raises=_ERROR,
        on_keras_2=True,
        findings=2,
        same="np.array(made).tolist()",
    ),
    Example(
        before=_TWO.format("True, 2.0").replace(", scale", ", *scale"),
        raises=_ERROR,
    ),
    # Numbers, texts, and lists of them.
    *(
        Example(
            before=_STEPS.format(before),
            after=_STEPS.format(after),
            raises="ValueError: ",
            on_keras_2=True,
            same="np.array(made).tolist()",
        )
        for before, after in (
            ("return self.step(x, 2)", "return self.step(x, step=2)"),
            ("return self.step(x, -0.5)", "return self.step(x, step=-0.5)"),
            ("return self.step(x, 2, 'add')", "return self.step(x, step=2, mode='add')"),
            ("return self.step(x, [0.5, 2.0])", "return self.step(x, step=[0.5, 2.0])"),
            (_COUNT.format("n"), _COUNT.format("step=n")),
        )
    ),
    # In a list of the object.
    Example(
        before=_LISTED.format(_BLOCKS, _FOR, "training", "training"),
        after=_LISTED.format(_BLOCKS, _FOR, "training=training", "training=training"),
        raises="ValueError",
        on_keras_2=True,
        findings=2,
    ),
    Example(
        before=_LISTED.format(_APPENDED, _COUNTED, "training", "training"),
        after=_LISTED.format(_APPENDED, _COUNTED, "training=training", "training=training"),
        raises="ValueError",
        on_keras_2=True,
        findings=2,
    ),
]
