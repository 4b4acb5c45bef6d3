"""``Sequential.output``, ``Sequential.input``: only ``outputs`` and ``inputs`` always exist.

## What it does
Reports `.output` and `.input` of a `Sequential` that this file creates and never calls on a
symbolic tensor. For a model parameter of a function, it reports them as a change if each call in
the file passes a `Sequential`, because code elsewhere may have called that.

## Why it breaks
On Keras 3 a `Sequential` has an `output` only after the model itself was called like a layer:
`AttributeError: The layer sequential has never been called and thus has no defined output.`
Building it, training it or starting with an `Input` is not enough. `keras.Model(model.input,
layer.output)`, as in every Grad-CAM, fails.

## What to write instead
`model.outputs[0]` and `model.inputs[0]`, or `model.layers[-1].output`: those exist as soon as the
model is built.

## How we know
Run on Keras 3.15.1 with models that start with an `Input`, with `input_shape=`, and that were
called on an array. On Keras 2 both forms return the same tensor.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import binding_of, is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.tensors.symbolic import is_symbolic
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Edit, Finding, NoFix, Precedence, Severity
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
from kdoctor.syntax.scopes import Binding
from kdoctor.value_types import Kind

_MEMBERS = frozenset({"output", "input"})
_ASK_FOR_A_LIST = frozenset({"isinstance", "len", "zip", "enumerate", "list", "tuple", "type"})


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each read on a model that is surely a `Sequential` never called."""
    for use in module.members:
        if use.owner.kind is not Kind.MODEL or use.member not in _MEMBERS or use.owner_defines:
            continue
        if module.is_guarded(use.node):
            continue
        told = _is_told_by_calls(module, use)
        if use.owner.cls == "Sequential" and not told and not _is_called(module, use):
            yield _finding(module, use)
        elif told and _is_sequential(facts, use) and not _is_made_a_tensor(module, use):
            yield _of_any_model(module, use)


def _is_told_by_calls(module: Module, use: MemberUse) -> bool:
    """Say whether it is a parameter for which each call passes such a model."""
    parameter = _parameter(module, use.node.value)
    return parameter is not None and module.is_inferred_from_calls(parameter)


def _is_sequential(facts: TargetFacts, use: MemberUse) -> bool:
    """Say whether it is a `Sequential` of Keras 3: any other model may be a functional one."""
    return use.owner.cls == "Sequential" and is_keras_3(facts, use.owner.qualified)


def _parameter(module: Module, model: cst.BaseExpression) -> Binding | None:
    bound = binding_of(module, model)
    return bound if bound is not None and isinstance(bound.node, cst.Param) else None


def _is_made_a_tensor(module: Module, use: MemberUse) -> bool:
    """Say whether the function calls the model on a symbolic tensor."""
    owner = module.source(use.node.value)
    return any(
        module.source(call.func) == owner
        for call in module.nodes(cst.Call)
        if is_symbolic(module, call)
    )


def _is_called(module: Module, use: MemberUse) -> bool:
    """Say whether something of the same spelling is called, or handed to who may call it."""
    owner = module.source(use.node.value)
    called = (call.func for call in module.nodes(cst.Call))
    given = (argument.value for argument in module.nodes(cst.Arg))
    return any(module.source(each) == owner for each in (*called, *given))


def _finding(module: Module, use: MemberUse) -> Finding:
    edit = Edit(module.span(use.node.attr), (f"{use.member}s[0]",), Precedence.PRIMARY)
    return rule.finding(
        module.place(use.node),
        f"a `Sequential` has no `{use.member}` before it is called like a layer: AttributeError: "
        f"The layer sequential has never been called and thus has no defined {use.member}.",
        symbol=f"Sequential.{use.member}",
        confidence=use.confidence,
        help=f"`{use.member}s[0]` exists as soon as the model is built.",
        fix=rule.fix(f"Read `.{use.member}s[0]` instead", edit),
    )


def _of_any_model(module: Module, use: MemberUse) -> Finding:
    several = _may_be_several(module, use.node)
    edit = Edit(module.span(use.node.attr), (f"{use.member}s[0]",), Precedence.PRIMARY)
    fix = rule.fix(
        f"Read `.{use.member}s[0]` instead",
        edit,
        unsafe_because=f"for a model with several {use.member}s it is the first, not a list",
    )
    return rule.finding(
        module.place(use.node),
        f"a `Sequential` has no `{use.member}` before it is called like a layer; other models do",
        symbol=f"Model.{use.member}",
        confidence=use.confidence,
        severity=Severity.CHANGE,
        help=f"Every built model has `{use.member}s`, a list of tensors: for a single one write "
        f"`{use.member}s[0]`.",
        fix=NoFix(f"the model may have several {use.member}s") if several else fix,
    )


def _may_be_several(module: Module, read: cst.BaseExpression) -> bool:
    """Say whether the code is ready for a list of them."""
    match module.parent(read):
        case cst.Arg() as given:
            call = module.parent(given)
            return isinstance(call, cst.Call) and module.source(call.func) in _ASK_FOR_A_LIST
        case cst.For() | cst.CompFor():
            return True
    return False


rule = Rule(
    code="KD218",
    name="sequential-output",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.MODEL}, *_MEMBERS),
    since="3.0",
)

_PASSED = (
    "import keras\n\n\ndef features_of(model):\n    return {}\n\n\n"
    "net = keras.Sequential([keras.layers.Dense(1)])\nnet(keras.layers.Input((2,)))\n"
    "features = features_of(net)\n"
)
VALID = [
    # What is passed is a functional model.
    (
        "import keras\n\n\ndef features(model):\n    return model.output\n\n\n"
        "x = keras.Input((2,))\nfeatures(keras.Model(x, keras.layers.Dense(1)(x)))\n"
    ),
    "import keras\nmodel = keras.applications.VGG16(weights=None)\nmodel.output, model.input",
    "import keras\nmodel = keras.Sequential()\nmodel.outputs, model.inputs",
    "import keras\nmodel = keras.Sequential()\ny = model(keras.Input((4,)))\nmodel.output",
    "import keras\nmodel = keras.Sequential()\nbuild_on(model)\nmodel.output",
    "import keras\nmodel = keras.Sequential()\nmodel.layers[-1].output",
    "import keras\nmodel = keras.models.load_model('a.keras')\nmodel.output",
    "import tf_keras\ndef f(model: tf_keras.Model):\n    return model.output",
    # It may well be a functional one.
    "import keras\ndef f(model: keras.Model):\n    return keras.Model(model.input, model.output)",
    "def f(model):\n    return model.output",
    "import keras\ndef f(model: keras.Model):\n    return model(keras.Input((4,))), model.output",
    "import tf_keras\ntf_keras.Sequential([tf_keras.layers.Dense(2, input_shape=(4,))]).output",
]
_MODEL = (
    "import keras\n\nmodel = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "
    "name='inner'), keras.layers.Dense(2)])\n"
)
INVALID = [
    # A `Sequential` is passed; whether it was called, nobody knows here.
    Example(
        before=_PASSED.format("model.output"),
        after=_PASSED.format("model.outputs[0]"),
        unsafe=True,
        check="assert features.shape == (None, 1)",
    ),
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
    Example(
        before=_PASSED.format("isinstance(model.output, list)"),
        check="assert features is False",
    ),
]
