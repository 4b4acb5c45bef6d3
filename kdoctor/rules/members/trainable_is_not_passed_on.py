"""``base.trainable = True`` on a model that is already trainable: frozen layers stay frozen.

## What it does
Reports `model.trainable = True` after a loop that froze layers of that model one by one, or after a
part of it was frozen, as a whole (`base.trainable = False`) or in a loop. It is reported only if
nothing in the file sets `trainable` of the model itself to another value, no later loop unfreezes
the layers, and the part is not unfrozen separately.

## Why it breaks
Keras 2 passed the value on to all layers. So does Keras 3, but with TensorFlow, setting an
attribute to the value it already has does nothing: the model's own `trainable` was True all along,
so its layers stay frozen, and fine-tuning trains none of them. Nothing raises.

## What to write instead
Unfreeze the layers the way they were frozen:

    for layer in base.layers:
        layer.trainable = True

## How we know
Run on Keras 3.15.1 and tf_keras 2.21: which layers are trainable afterwards. TensorFlow's
`AutoTrackable.__setattr__` ignores the assignment.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import assigns
from kdoctor.analysis.queries.forms import is_true
from kdoctor.analysis.training.freezing import Freezing, Setting
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rewrite.source_lines import margin
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import BindingKind
from kdoctor.value_types import Kind

_NAMES = ("layer", "inner_layer", "thawed_layer")


@rule(
    "KD233",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files(
        assigns("trainable", where=is_true),
        assigns("trainable", where=lambda form: not is_true(form)),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such assignment."""
    module, freezing = file.module, Freezing(file.module)
    if freezing.is_too_much or freezing.has_too_many:
        return
    frozen = [each for each in freezing.settings if each.value is False]
    for setting in freezing.settings:
        if setting.value is not True or not setting.is_whole or isinstance(setting.node, cst.Call):
            continue
        if module.is_guarded(setting.node) or not freezing.is_model(setting.model):
            continue
        places = [
            each.node if each.is_whole else _loop(module, each)
            for each in frozen
            if _is_frozen_in(freezing, each, setting)
        ]
        if not any(freezing.is_after(setting.node, each, None) for each in places):
            continue
        if not _may_be_set_otherwise(freezing, setting):
            yield _finding(file, setting)


def _is_frozen_in(freezing: Freezing, frozen: Setting, setting: Setting) -> bool:
    """Say whether layers of the model are frozen, or a part of it, and nothing thaws that part."""
    if freezing.is_same(frozen.model, setting.model):
        return not frozen.is_whole
    others = (each for each in freezing.settings if each.value is not False)
    if not freezing.is_model(frozen.model):
        return False
    is_thawed = any(freezing.is_same(each.model, frozen.model) for each in others)
    return not is_thawed and freezing.is_in(frozen.model, setting.model)


def _loop(module: Module, setting: Setting) -> cst.CSTNode:
    """Return the loop that sets layers, or the call of a function that does."""
    around = (each for each in module.ancestors(setting.node) if isinstance(each, cst.For))
    return setting.node if isinstance(setting.node, cst.Call) else next(around, setting.node)


def _may_be_set_otherwise(freezing: Freezing, setting: Setting) -> bool:
    """Say whether the model may not have been trainable, or its layers are thawed all the same."""
    for made in freezing.points_to.of(setting.model):
        if argument(made.call, "trainable") is not None:
            return True
    for each in freezing.settings:
        if each.value is True and each.is_whole:
            continue
        is_same = freezing.is_same(each.model, setting.model)
        if each.is_whole and not is_same and freezing.is_in(each.model, setting.model):
            continue
        if each.is_whole and (is_same or not _is_layer(freezing, each.model)):
            return True  # a model that it is in hands on what it is set to
        if not each.is_whole and each.value is not False and is_same:
            return True
    return False


def _is_layer(freezing: Freezing, node: cst.BaseExpression) -> bool:
    found = freezing.module.type_of(node)
    return found is not None and found.kind is Kind.LAYER


def _finding(file: File, setting: Setting) -> Finding:
    name = file.source(setting.model)
    return file.finding(
        f"`{name}.trainable` is already True, and Keras 3 with TensorFlow ignores setting it "
        "again: its frozen layers stay frozen",
        at=setting.node,
        symbol="Model.trainable",
        help=f"Write `for layer in {name}.layers: layer.trainable = True`.",
        fix=_thawing(file, setting),
    )


def _thawing(file: File, setting: Setting) -> Fix | NoFix:
    """Return the fix that writes the loop in place of the assignment."""
    module, why_not = file.module, NoFix("there is no place for a loop here")
    assign = next((e for e in module.ancestors(setting.node) if isinstance(e, cst.Assign)), None)
    line = None if assign is None else module.parent(assign)
    if assign is None or len(assign.targets) > 1 or not isinstance(line, cst.SimpleStatementLine):
        return why_not
    scope = module.scope_of(setting.node)
    name = next(
        (
            each
            for each in _NAMES
            if (owner := scope.owner(each)) is None
            or all(bound.kind is BindingKind.LOOP for bound in owner.bindings[each])
        ),
        None,
    )
    start = module.span(assign).start
    indent = margin(module.text, start)
    block = module.parent(line)
    if name is None or len(line.body) > 1 or indent.strip() or block is None:
        return why_not
    deeper = f"{indent}{module.tree.default_indent}"
    text = f"for {name} in {module.source(setting.model)}.layers:\n{deeper}{name}.trainable = True"
    return file.fix("Unfreeze layer by layer", Edit(module.span(assign), (text,)))


_HEAD = (
    "import keras\n\nbase = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), "
    "keras.layers.Dense(4)])\n"
    "model = keras.Sequential([base, keras.layers.Dense(1)])\n"
)
_FREEZE = "for layer in base.layers:\n    layer.trainable = False\n"
_TOP = "model.compile('sgd', 'mse')\n"
_THAW = "base.trainable = True\n"
_LOOP = "for layer in base.layers:\n    layer.trainable = True\n"
_CHECK = "assert sum(len(layer.trainable_weights) for layer in base.layers) == {}"
_TENSORS = (
    "import keras\n\nx = keras.Input((2,))\ny = keras.layers.Dense(3)(x)\n"
    "base = keras.Model(x, keras.layers.Dense(4)(y))\n"
    "model = keras.Model(base.input, keras.layers.Dense(1)(base.output))\n"
)
_FUNCTION = (
    "import keras\n\n\ndef built():\n"
    "    base = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])\n"
    "    for layer in base.layers:\n        layer.trainable = False\n"
    "    return base, keras.Sequential([base, keras.layers.Dense(1)])\n\n\n"
    "base, model = built()\nif len(base.weights) == 2:\n    {}model.compile('sgd', 'mse')\n"
)

VALID = [
    _HEAD + _FREEZE + _TOP + _LOOP,
    # The model itself was frozen, or one that it is in, or it may have been.
    _HEAD + "base.trainable = False\n" + _FREEZE + _TOP + _THAW,
    _HEAD + _FREEZE + "model.trainable = False\n" + _TOP + _THAW,
    _HEAD + "model.trainable = False\nbase.trainable = False\nmodel.trainable = True\n",
    # The part is thawed by itself; it is a part of another; a layer is no part of that sort.
    _HEAD + "base.trainable = False\n" + _TOP + _THAW + "model.trainable = True\n",
    _HEAD + "other = keras.Sequential([keras.layers.Dense(1)])\nother.trainable = False\n"
    "model.trainable = True\n",
    _HEAD + "base.trainable = flag\n" + _TOP + "model.trainable = True\n",
    _HEAD + _FREEZE + _TOP + _LOOP + "model.trainable = True\n",
    _HEAD + _FREEZE + "base.trainable = flag\n" + _TOP + _THAW,
    (_HEAD + _FREEZE + _TOP + _THAW).replace("Dense(4)])", "Dense(4)], trainable=False)"),
    _HEAD + "def freeze(net):\n    net.trainable = False\n    for layer in net.layers:\n"
    "        layer.trainable = False\n\n\nfreeze(base)\n" + _TOP + _THAW,
    # Nothing is frozen before, or another model's layers.
    _HEAD + _THAW + _FREEZE + _TOP,
    _HEAD + _FREEZE.replace("base", "model") + _TOP + _THAW,
    # Each layer is set anew after it.
    _HEAD + _FREEZE + _TOP + _THAW + _LOOP.replace("True", "chosen(layer)"),
    _HEAD + _FREEZE + _TOP + _THAW + _LOOP,
    # It may not be run.
    _HEAD + "if small:\n    for layer in base.layers:\n        layer.trainable = False\n" + _THAW,
    # A layer without others, and another Keras.
    (
        "import keras\n\ndense = keras.layers.Dense(3)\ndense.trainable = False\n"
        "dense.trainable = True\nmodel = keras.Sequential([dense])\n"
        "for layer in model.layers:\n    print(layer)\n"
    ),
    (_HEAD + _FREEZE + _TOP + _THAW).replace("import keras\n", "import tf_keras as keras\n"),
]  # fmt: skip


def _example(before: str, after: str, count: int = 4) -> Example:
    return Example(before=before, after=after, on_keras_2=True, check=_CHECK.format(count))


INVALID = [
    _example(_HEAD + _FREEZE + _TOP + _THAW, _HEAD + _FREEZE + _TOP + _LOOP),
    # Some are frozen again.
    _example(
        _HEAD + _FREEZE + _TOP + _THAW + _FREEZE.replace("layers", "layers[:1]"),
        _HEAD + _FREEZE + _TOP + _LOOP + _FREEZE.replace("layers", "layers[:1]"),
        2,
    ),
    _example(
        _HEAD + _FREEZE.replace("layers", "layers[:-1]") + _TOP + _THAW,
        _HEAD + _FREEZE.replace("layers", "layers[:-1]") + _TOP + _LOOP,
    ),
    _example(
        _FUNCTION.format("base.trainable = True  # all of it\n    "),
        _FUNCTION.format(
            "for layer in base.layers:\n        layer.trainable = True  # all of it\n    "
        ),
        2,
    ),
    # A part of it, in a layer of it or by its tensors.
    _example(
        _HEAD + "base.trainable = False\n" + _TOP + "model.trainable = True\n",
        _HEAD + "base.trainable = False\n" + _TOP + _LOOP.replace("base", "model"),
    ),
    _example(
        _TENSORS + "base.trainable = False\n" + _TOP + "model.trainable = True\n",
        _TENSORS + "base.trainable = False\n" + _TOP + _LOOP.replace("base", "model"),
    ),
    _example(
        _TENSORS + _FREEZE + _TOP + "model.trainable = True\n",
        _TENSORS + _FREEZE + _TOP + _LOOP.replace("base", "model"),
    ),
    # A name that is taken.
    _example(
        _HEAD + _FREEZE + _TOP + "layer = keras.layers.Dense(1)\n" + _THAW,
        _HEAD + _FREEZE + _TOP + "layer = keras.layers.Dense(1)\n"
        + _LOOP.replace("layer ", "inner_layer ").replace("layer.", "inner_layer."),
    ),
    # No loop can stand there.
    Example(
        before=_HEAD + _FREEZE + _TOP + "if model.built: base.trainable = True\n",
        on_keras_2=True,
        check="assert not model.built or len(base.trainable_weights) == 4",
    ),
]  # fmt: skip
