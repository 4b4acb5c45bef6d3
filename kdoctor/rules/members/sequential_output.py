"""``Sequential.output``, ``Sequential.input``: only ``outputs`` and ``inputs`` are always there.

## What it does
Reports `.output` and `.input` of a `Sequential` that this file makes and nowhere calls on a
symbolic tensor.

## Why it breaks
On Keras 3 a `Sequential` has an `output` only once the model itself was called like a layer:
`AttributeError: The layer sequential has never been called and thus has no defined output.` That it
is built, trained or has an `Input` is not enough. `keras.Model(model.input, layer.output)`, as in
every Grad-CAM, stops there.

## What to write instead
`model.outputs[0]` and `model.inputs[0]`, or `model.layers[-1].output`: those are there as soon as
the model is built.

## How we know
Run on Keras 3.15.1 with models that start with an `Input`, with `input_shape=`, and that were
called on an array. On Keras 2 both forms give the same tensor.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.kinds import Kind
from kdoctor.model import Edit, Finding, Fix, Precedence, Severity
from kdoctor.rules.facts import Facts
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.walk import descendants

_MEMBERS = frozenset({"output", "input"})


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each read on a model that is surely a `Sequential` never called."""
    for use in module.members:
        is_it = use.owner.kind is Kind.MODEL and use.owner.cls == "Sequential"
        if not is_it or use.member not in _MEMBERS or use.owner_defines:
            continue
        if not _is_called(module, use) and not module.is_guarded(use.node):
            yield _finding(module, facts, use)


def _is_called(module: Module, use: MemberUse) -> bool:
    """Say whether something of the same spelling is called, or handed to who may call it."""
    owner = module.source(use.node.value)
    for node in descendants(module.tree):
        match node:
            case cst.Call() if module.source(node.func) == owner:
                return True
            case cst.Arg() if module.source(node.value) == owner:
                return True
    return False


def _finding(module: Module, facts: Facts, use: MemberUse) -> Finding:
    edit = Edit(module.span(use.node.attr), (f"{use.member}s[0]",), Precedence.PRIMARY)
    proof = facts.applicability(*(each for each in INVALID if each.after))
    return rule.finding(
        module.place(use.node),
        f"a `Sequential` has no `{use.member}` before it is called like a layer: AttributeError: "
        f"The layer sequential has never been called and thus has no defined {use.member}.",
        symbol=f"Sequential.{use.member}",
        confidence=use.confidence,
        help=f"`{use.member}s[0]` is there as soon as the model is built.",
        fix=Fix(f"Read `.{use.member}s[0]` instead", (edit,), proof),
    )


rule = Rule(
    code="KD218",
    name="sequential-output",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=_MEMBERS,
    since="3.0",
)

VALID = [
    "import keras\nmodel = keras.applications.VGG16(weights=None)\nmodel.output, model.input",
    "import keras\nmodel = keras.Sequential()\nmodel.outputs, model.inputs",
    "import keras\nmodel = keras.Sequential()\ny = model(keras.Input((4,)))\nmodel.output",
    "import keras\nmodel = keras.Sequential()\nbuild_on(model)\nmodel.output",
    "import keras\nmodel = keras.Sequential()\nmodel.layers[-1].output",
    "import keras\nmodel = keras.models.load_model('a.keras')\nmodel.output",
    "import tf_keras\ntf_keras.Sequential([tf_keras.layers.Dense(2, input_shape=(4,))]).output",
]
_MODEL = (
    "import keras\n\nmodel = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "
    "name='inner'), keras.layers.Dense(2)])\n"
)
INVALID = [
    Example(
        before=f"{_MODEL}both = keras.Model(model.input, [model.get_layer('inner').output, "
        "model.output])",
        after=f"{_MODEL}both = keras.Model(model.inputs[0], [model.get_layer('inner').output, "
        "model.outputs[0]])",
        raises="AttributeError: The layer sequential has never been called and thus has no "
        "defined input.",
        findings=2,
        same="[tuple(each.shape) for each in both.outputs]",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.layers.Dense(3, input_shape=(4,)))\nsize = model.output.shape[1]",
        after="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.layers.Dense(3, input_shape=(4,)))\nsize = model.outputs[0].shape[1]",
        raises="AttributeError: The layer sequential has never been called and thus has no "
        "defined output.",
        same="size",
    ),
]
