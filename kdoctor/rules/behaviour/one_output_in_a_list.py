"""A model created with `outputs=[y]` returns a list of one instead of a tensor.

## What it does
Reports `keras.Model(x, [y])`, and `outputs=[y]`, where the file treats the result of such a model
as a tensor: it calls the model on a symbolic tensor, or reads its `output`, and applies a layer, an
operator or an index to that; or the model precedes other layers in a `Sequential`, or is inside a
`TimeDistributed`. Models and their results are tracked through names, functions and `self`.

## Why it breaks
A list around a single output had no effect in Keras 2. In Keras 3, a model called on symbolic
tensors returns the outputs in the structure it was created with, a list of one, and so does
`model.output`. Layers reject it: `ValueError: Cannot convert '((None, 3), 1)' to a shape`
(`Invalid dtype: tuple` up to 3.12), `AttributeError: 'list' object has no attribute 'shape'`. Some
misinterpret it: `GlobalAveragePooling2D` returns two tensors, `model(a) + model(b)` is a list of
two, `Activation` adds a batch axis of one, `Model(z, [model(z)])` predicts a list. With values,
`model(images)`, `predict` and `fit` return and accept tensors as before.

## What to write instead
The output without a list, `keras.Model(x, y)`. `fit`, `predict`, `compile` and `outputs` stay the
same, even with `loss=[…]`, `metrics=[[…]]` and targets in a list of one. `model(x)[0]` and
`model.output[0]` on a symbolic tensor then mean the first sample of the batch.

## How we know
Run with all Keras layers on 3.15.1, with fewer on ten releases from 3.0 to 3.14, and on tf_keras
2.21 for the old results. A dict of one is a dict in both; a tuple of one was one in Keras 2, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger, calls_that_make, word
from kdoctor.model import (
    Confidence,
    Edit,
    Finding,
    Fix,
    Hole,
    NoFix,
    Precedence,
    Severity,
)
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rules.behaviour._list_uses import UseOfList, uses_of_lists
from kdoctor.rules.behaviour._single_item_lists import SingleItemLists, models_with_one_in_a_list
from kdoctor.rules.behaviour._visible_model_uses import counts_on_no_list
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts

_MAX_QUOTED_LENGTH = 60  # of code that is quoted


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such list by which something breaks."""
    made = dict(models_with_one_in_a_list(module, facts))
    if not made:
        return
    lists = SingleItemLists(module, frozenset(made))
    found: dict[cst.Call, list[UseOfList]] = {}
    for use in uses_of_lists(module, facts, lists):
        for model in use.models:
            found.setdefault(model, []).append(use)
    for model, outputs in made.items():
        if model in found:
            uses = sorted(found[model], key=lambda each: module.span(each.node))
            yield _finding(module, model, outputs, uses)


def _finding(
    module: Module,
    model: cst.Call,
    outputs: cst.List,
    uses: Sequence[UseOfList],
) -> Finding:
    errors = [each for each in uses if each.severity is Severity.ERROR]
    first = (errors or uses)[0]
    more = len({each.node for each in uses}) - 1
    fix = _fix(module, model, outputs)
    return rule.finding(
        module.place(outputs),
        f"the output is in a list, so {_quoted(module, first)} {first.how} a list of one, not a "
        f"tensor as in Keras 2: {first.what}" + (f" (and {more} more)" if more else ""),
        symbol="keras.Model(outputs)",
        confidence=Confidence.LIKELY,
        severity=first.severity,
        help="Pass the single output without a list.",
        fix=fix or NoFix("there is a comment in the list"),
    )


def _quoted(module: Module, use: UseOfList) -> str:
    place, source = module.place(use.node), " ".join(module.source(use.node).split())
    where = f"line {place.line}" if place.cell is None else f"cell {place.cell}, line {place.line}"
    shown = source if len(source) <= _MAX_QUOTED_LENGTH else f"{source[: _MAX_QUOTED_LENGTH - 1]}…"
    return f"`{shown}` ({where})"


def _fix(module: Module, model: cst.Call, outputs: cst.List) -> Fix | None:
    output = outputs.elements[0].value
    if module.source(outputs).count("#") > module.source(output).count("#"):
        return None
    inner = Hole(module.outer_span(output), Precedence.LAMBDA, precedence_of(output))
    is_safe = counts_on_no_list(module, model)
    return rule.fix(
        "Remove the list around the single output",
        Edit(module.span(outputs), (inner,)),
        unsafe_because=""
        if is_safe
        else "other code uses the model or its result: `[0]` on that now takes the "
        "tensor out of the list, and would then take the first sample of the batch",
    )


def _may_be_in_a_list(quick: QuickFacts, facts: TargetFacts) -> bool:
    return any(
        isinstance(outputs := called.argument("outputs", 1), ast.List) and len(outputs.elts) == 1
        for _, called in calls_that_make(quick, facts, cls="Functional")
    )


rule = Rule(
    code="KD450",
    name="one-output-in-a-list",
    family="behaviour",
    severity=Severity.ERROR,
    check=check,
    triggers=word("Model", "Functional", "Network", "Container") & Trigger(_may_be_in_a_list),
    since="3.0",
)

_X = (
    "import keras\n\nx, z = keras.layers.Input((4,)), keras.layers.Input((4,))\n"
    "y = keras.layers.Dense(4)(x)\n"
)
_BASE = _X + "base = keras.Model(x, [y])\n"
_MENDED = _X + "base = keras.Model(x, y)\n"
_STEPS = (
    "import keras\n\nx = keras.layers.Input((6, 4))\ny = keras.layers.Conv1D(3, 2)(x)\n"
    "base = keras.Model(x, {})\nout = keras.layers.GlobalAveragePooling1D()(base.output)\n"
)
_DATA = "import numpy as np\n"
_PREDICTED = "whole.predict(np.ones((2, 4)), verbose=0)"
_BUILT = (
    "import keras\n\n\ndef build(size):\n    x = keras.layers.Input((size,))\n"
    "    return keras.Model(x, {})\n\n\nbase = build(4)\n"
)


def _mended(
    use: str, raises: str | None = None, same: str = "tuple(out.shape)", prelude: str = ""
) -> Example:
    return Example(
        before=_BASE + use,
        after=_MENDED + use,
        raises=raises,
        on_keras_2=True,
        same=same,
        prelude=prelude,
    )


VALID = [
    _BASE + "base.compile('sgd', ['mse'], metrics=[['mae']])\nbase.fit(a, [b])\n"
    "best = base.predict(a)[0]",
    _MENDED + "out = keras.layers.Dense(2)(base(z))",
    # As Keras 3 gives it.
    _BASE + "out = keras.layers.Dense(2)(base(z)[0])",
    _BASE + "(out,) = base(z)\nout = keras.layers.Dense(2)(out)",
    _BASE + "out = keras.layers.Dense(2)(base.outputs[0])\nall_of_it = base.output + [out]",
    _BASE + "out = base.output\nif isinstance(out, list):\n    out = out[0]\nprint(out.shape)",
    _BASE + "out = base.output\nout = out[0] if type(out) is list else out\nprint(out.shape)",
    _BASE + "try:\n    out = keras.layers.Dense(2)(base(z))\nexcept ValueError:\n    out = None",
    # With values, it gives the tensor; inside of a layer, too.
    _BASE + "import numpy as np\nout = base(np.ones((2, 4)))[:, 0]",
    (
        _BASE + "\n\nclass Own(keras.layers.Layer):\n    def call(self, inputs):\n"
        "        return base(inputs) * 2"
    ),
    # A model takes a list of one, dropout hands it on.
    _BASE + "whole = keras.Model(z, base(z))\nout = keras.Model(x, y)(base(z))",
    _BASE + "out = keras.layers.Dropout(0.1)(base(z))",
    # Two outputs, or perhaps; one that may be several.
    _X + "base = keras.Model(x, [y, y])\nout = base.output[0].shape",
    _X + "base = keras.Model(x, [*several])\nout = base.output.shape",
    _X + "base = keras.Model(x, [given])\nout = base.output.shape",
    _X + "base = keras.Model(x, y if one else [y])\nout = base.output.shape",
    _BASE + "if one:\n    base = keras.Model(x, y)\nout = base.output.shape",
    _BASE + "if other:\n    base = load(other)\nout = base.output.shape",
    # A tuple of one was one in Keras 2 already.
    _X + "base = keras.Model(x, (y,))\nout = base.output[0]",
    "import tf_keras\n" + _BASE.replace("keras.", "tf_keras.") + "out = base(z) + 1",
    _BASE + "model = keras.Sequential([base])",
    _BASE + "model = keras.Sequential([base, keras.Model(x, y)])",
]
INVALID = [
    _mended("out = keras.layers.Dense(2)(base(z))\n", "ValueError: Cannot convert '(("),
    Example(
        before=_X + "base = keras.Model(inputs=[x], outputs=[\n    y,\n], name='base')\n"
        "features = base.output\nfeatures = keras.layers.Dropout(0.1)(features)\n"
        "out = keras.layers.Flatten()(features)\n",
        after=_X + "base = keras.Model(inputs=[x], outputs=y, name='base')\n"
        "features = base.output\nfeatures = keras.layers.Dropout(0.1)(features)\n"
        "out = keras.layers.Flatten()(features)\n",
        raises="AttributeError: Exception encountered when calling Flatten.call()",
        on_keras_2=True,
        same="tuple(out.shape)",
    ),
    _mended(
        "size = base.output.shape[1]\n",
        "AttributeError: 'list' object has no attribute 'shape'",
        same="size",
    ),
    _mended(
        "out = base(z)[:, :2]\n",
        "TypeError: list indices must be integers or slices, not tuple",
    ),
    _mended(
        "out = keras.layers.Add()([base(x), base(z)])\n",
        "AttributeError: Exception encountered when calling Add.call()",
    ),
    _mended("out = base(z) + 1\n", 'TypeError: can only concatenate list (not "int") to list'),
    _mended("out = 1.0 - base(z)\n", "TypeError: unsupported operand type(s)"),
    _mended(
        "out = base(z) * 0.5\n", "TypeError: can't multiply sequence by non-int of type 'float'"
    ),
    _mended("out = y * base(x)\n", "ValueError: Invalid dtype: list"),
    _mended("out = -base(z)\n", "TypeError: bad operand type for unary -: 'list'"),
    _mended(
        "out = keras.layers.TimeDistributed(base)(keras.layers.Input((5, 4)))\n",
        "ValueError: Exception encountered when calling TimeDistributed.call()",
    ),
    _mended(
        "model = keras.Sequential([base, keras.layers.Dense(2)])\nmodel.build((None, 4))\n",
        "ValueError: Cannot convert '((",
        same="model.output_shape",
    ),
    _mended(
        "model = keras.Sequential()\nmodel.add(base)\nmodel.add(keras.layers.Dense(2))\n"
        "model.build((None, 4))\n",
        "ValueError: Cannot convert '((",
        same="model.output_shape",
    ),
    # What raises nowhere, and is something else.
    _mended("out = base(x) + base(z)\n", same="hasattr(out, 'shape')"),
    _mended("out = base(z) * 2\n", same="hasattr(out, 'shape')"),
    Example(
        before=_STEPS.format("[y]"),
        after=_STEPS.format("y"),
        on_keras_2=True,
        same="hasattr(out, 'shape')",
    ),
    _mended(
        "whole = keras.Model(z, keras.layers.Activation('relu')(base(z)))\n",
        same=f"{_PREDICTED}.shape",
        prelude=_DATA,
    ),
    _mended(
        "whole = keras.Model(z, [base(z)])\n", same=f"type({_PREDICTED}).__name__", prelude=_DATA
    ),
    # Who calls the function may take the tensor out of the list.
    Example(
        before=_BUILT.format("[keras.layers.Dense(3)(x)]")
        + "out = keras.layers.Dense(2)(base(keras.layers.Input((4,))))\n",
        after=_BUILT.format("keras.layers.Dense(3)(x)")
        + "out = keras.layers.Dense(2)(base(keras.layers.Input((4,))))\n",
        raises="ValueError: Cannot convert '((",
        unsafe=True,
        on_keras_2=True,
        same="tuple(out.shape)",
    ),
    Example(
        before=_BASE + "first = base(x)[0]\nout = keras.layers.Dense(2)(base(z))\n",
        after=_MENDED + "first = base(x)[0]\nout = keras.layers.Dense(2)(base(z))\n",
        raises="ValueError: Cannot convert '((",
        unsafe=True,
        on_keras_2=True,
        same="tuple(out.shape)",
    ),
    # A comment stands in the list.
    Example(
        before=_X + "base = keras.Model(x, [\n    y,  # scores\n])\nbase.output.shape\n",
        raises="AttributeError: 'list' object has no attribute 'shape'",
        on_keras_2=True,
    ),
]
