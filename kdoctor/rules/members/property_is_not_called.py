"""``optimizer.variables()``, ``weight.value()``: they are properties now.

## What it does
Reports calls of an optimizer's `variables` and of a weight's `value` and `read_value`.

## Why it breaks
The value of the property is not callable: `TypeError: 'list' object is not callable`.

## What to write instead
The same without the parentheses; `keras.ops.copy(weight)` if the value is kept while the weight may
change: with TensorFlow, `weight.value` is the variable itself and changes with it.

A user-defined optimizer may have a method of that name: nothing is reported if the model is
compiled with an object of an unknown class.

## How we know
Run on Keras 3.15.1, inside and outside a graph.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.queries import Call, calls
from kdoctor.model import Applicability, Finding, Severity
from kdoctor.rewrite import MemberRewrite, MemberTable, method
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.members._variable_reads import used_at_once
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

ROWS = (
    method("keras.optimizers.Optimizer.variables(self)", "self.variables"),
    method("keras.Variable.value(self)", "self.value", when=used_at_once()),
    method("keras.Variable.value(self)", "keras.ops.copy(self)"),
)
_KINDS = {
    "keras.optimizers.Optimizer": (Kind.OPTIMIZER,),
    "keras.Variable": (Kind.VARIABLE,),
}
_GIVES = {"variables": "list", "value": "ResourceVariable"}


@rule(
    "KD217",
    severity=Severity.ERROR,
    since="3.0",
    look_for=(
        calls("variables", on=Kind.OPTIMIZER).even(hidden=True)
        | calls("value", on=Kind.VARIABLE).even(hidden=True)
    ),
)
def check(call: Call) -> Finding | None:
    """Report each such call."""
    assert call.use is not None
    owner, member = call.use.owner, call.use.member
    if owner.is_tf_variable or _may_be_compiled_with_another(call):
        return None
    table = MemberTable(ROWS, _KINDS, call.facts.signature)
    return call.finding(
        f"`{member}` is a property: TypeError: '{_GIVES[member]}' object is not callable",
        at=call.use.node,
        symbol=symbol(owner, member),
        help="Read it without parentheses.",
        fix=table.attempt(call.module, call.use, _proven),
    )


def _may_be_compiled_with_another(call: Call) -> bool:
    """Say whether the optimizer of a model may be of a class that is not known here.

    So it may be where the file compiles that model with something of which nothing is known.
    """
    assert call.use is not None
    module, optimizer = call.module, call.use.node.value
    if call.leaf != "variables" or call.cls or not isinstance(optimizer, cst.Attribute):
        return False
    model = module.source(optimizer.value)
    compiled = (
        argument(each.called, "optimizer", 0)
        for each in module.members
        if each.member == "compile" and each.called and module.source(each.node.value) == model
    )
    return any(given is not None and not _is_of_keras(module, given.value) for given in compiled)


def _is_of_keras(module: Module, optimizer: cst.BaseExpression) -> bool:
    """Say whether it is an optimizer whose class is known, or the name of one."""
    made = module.type_of(optimizer)
    is_named = isinstance(value_of(module, optimizer), cst.SimpleString)
    return is_named or (made is not None and made.kind is Kind.OPTIMIZER)


def _proven(row: MemberRewrite) -> Applicability:
    return check.applicability(each for each in INVALID if f".{row.member}()" in each.before)


VALID = [
    "import keras\nkeras.optimizers.Adam().variables",
    "import keras\nkeras.layers.Dense(3).kernel.value",
    "import keras\nimport tensorflow as tf\ntf.Variable(1.0).value()",
    "import tf_keras\ntf_keras.optimizers.legacy.Adam().variables()",
    "import keras\nsettings.value(), settings.variables()",
    # Who knows what the optimizer has.
    (
        "import keras\nfrom mine import Compressed\n\nmodel = keras.Sequential()\n"
        "model.compile(optimizer=Compressed(0.1), loss='mse')\nmodel.optimizer.variables()"
    ),
]
INVALID = [
    Example(
        before="import keras\n\noptimizer = keras.optimizers.SGD()\noptimizer.build([])\n"
        "count = len(optimizer.variables())",
        after="import keras\n\noptimizer = keras.optimizers.SGD()\noptimizer.build([])\n"
        "count = len(optimizer.variables)",
        raises="TypeError: 'list' object is not callable",
        check="assert count == 2",
    ),
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(2)\nlayer.build((None, 3))\n"
        "shape = layer.kernel.value().shape",
        after="import keras\n\nlayer = keras.layers.Dense(2)\nlayer.build((None, 3))\n"
        "shape = layer.kernel.value.shape",
        raises="TypeError: 'ResourceVariable' object is not callable",
        check="assert tuple(shape) == (3, 2)",
    ),
    # What was is not what is.
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(1)\nlayer.build((None, 1))\n"
        "before = layer.bias.value()\nlayer.bias.assign_add([1.0])\n"
        "grown = float((layer.bias - before)[0])",
        after="import keras\n\nlayer = keras.layers.Dense(1)\nlayer.build((None, 1))\n"
        "before = keras.ops.copy(layer.bias)\nlayer.bias.assign_add([1.0])\n"
        "grown = float((layer.bias - before)[0])",
        raises="TypeError: 'ResourceVariable' object is not callable",
        check="assert grown == 1.0",
    ),
    # A cast to the type that it has gives the variable itself.
    Example(
        before="import keras\n\nlayer = keras.layers.Dense(1)\nlayer.build((None, 1))\n"
        "before = keras.ops.cast(layer.bias.value(), 'float32')\n"
        "layer.bias.assign_add([1.0])\ngrown = float((layer.bias - before)[0])",
        after="import keras\n\nlayer = keras.layers.Dense(1)\nlayer.build((None, 1))\n"
        "before = keras.ops.cast(keras.ops.copy(layer.bias), 'float32')\n"
        "layer.bias.assign_add([1.0])\ngrown = float((layer.bias - before)[0])",
        raises="TypeError: 'ResourceVariable' object is not callable",
        check="assert grown == 1.0",
    ),
]
