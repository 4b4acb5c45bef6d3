"""`evaluate` returns the metrics of several outputs in a different order.

## What it does
Reports `evaluate`, `test_on_batch` and `train_on_batch` of a model with several outputs if a metric
of an output is read by position and the output names are not in alphabetical order.

## Why it breaks
Keras 2 returned the metrics in the order of the outputs. Keras 3 sorts them by output name, whether
`metrics` is a dict or a list. The losses keep their positions. Nothing raises.

## What to write instead
`results = model.evaluate(x, y, return_dict=True)` and `results["out_mae"]`. TensorFlow supports it
since 2.2.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21 with two outputs, with dicts and lists of metrics.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.dataflow.uses import index_read
from kdoctor.analysis.models.output_names import names_of_outputs
from kdoctor.analysis.queries import Call, Instance, calls, constructs
from kdoctor.analysis.queries.conditions import keyword
from kdoctor.analysis.queries.forms import is_sequence_of_several
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants
from kdoctor.value_types import Kind

_GIVE_RESULTS = frozenset({"evaluate", "test_on_batch", "train_on_batch"})


@rule(
    "KD426",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=calls(*_GIVE_RESULTS, on=Kind.MODEL)
    .without("return_dict")
    .beside(
        keyword("metrics"),
        constructs(Instance(Kind.MODEL, "Functional")).passing(
            "outputs", place=1, where=is_sequence_of_several
        ),
    ),
)
def check(call: Call) -> Finding | None:
    """Report each such call."""
    module, model = call.module, call.node.func
    assert isinstance(model, cst.Attribute)
    names = _names_of_outputs(module, model)
    if list(names) == sorted(names) or not _measures_several(module, model):
        return None
    if not _reads_a_metric(module, call.node, 1 + len(names)):
        return None
    first = min(names)
    return call.finding(
        f"the metrics are sorted by output name: those of `{first}` come first, in Keras 2 those "
        f"of `{names[0]}`",
        symbol=call.name.removeprefix("keras."),
        help=f'Pass `return_dict=True` and read the results by name: `results["{names[0]}_…"]`.',
        fix=NoFix("everything that reads the results must read them by name"),
    )


def _names_of_outputs(module: Module, method: cst.Attribute) -> Sequence[str]:
    """Return the names of the outputs in their order, nothing where one is not written out."""
    made = value_of(module, method.value)
    found = module.type_of(made) if isinstance(made, cst.Call) else None
    if not isinstance(made, cst.Call) or found is None or found.cls != "Functional":
        return []
    given = argument(made, "outputs", 1)
    return names_of_outputs(module, None if given is None else given.value)


def _measures_several(module: Module, method: cst.Attribute) -> bool:
    """Say whether all that compiles the model gives metrics to several outputs."""
    model = module.source(method.value)
    compiled = [
        each.called
        for each in module.members
        if each.member == "compile"
        and each.called is not None
        and module.source(each.node.value) == model
        and module.scope_of(each.node) is module.scope_of(method)
    ]
    return bool(compiled) and all(_has_several(module, each) for each in compiled)


def _has_several(module: Module, compiling: cst.Call) -> bool:
    given = argument(compiling, "metrics")
    metrics = None if given is None else value_of(module, given.value)
    if not isinstance(metrics, cst.Dict | cst.List | cst.Tuple):
        return False
    return len(metrics.elements) > 1 and not any(
        isinstance(each, cst.StarredDictElement | cst.StarredElement)
        or (isinstance(each.value, cst.Name) and each.value.value == "None")
        for each in metrics.elements
    )


def _reads_a_metric(module: Module, call: cst.Call, losses: int) -> bool:
    """Say whether one of the results behind the losses is read by its position."""
    parent = module.parent(call)
    if isinstance(parent, cst.Assign):
        target = parent.targets[0].target
        if isinstance(target, cst.Tuple | cst.List):
            return len(target.elements) > losses
    around = [parent] if isinstance(parent, cst.Subscript) else []
    owner = module.scope_of(call).node
    reads = (
        each
        for each in descendants(owner)
        if isinstance(each, cst.Subscript)
        and isinstance(each.value, cst.Name)
        and value_of(module, each.value) is call
    )
    places = map(index_read, (*around, *reads))
    return any(place is not None and place >= losses for place in places)


_HEAD = "import keras\nimport numpy as np\n\nx = keras.layers.Input((2,))\n"
_OUTPUTS = (
    "out = keras.layers.Dense(1, kernel_initializer='zeros', name='{}')(x)\n"
    "aux = keras.layers.Dense(1, kernel_initializer='zeros', name='{}')(x)\n"
    "model = keras.Model(x, [out, aux])\n"
)
_OUT_FIRST, _SORTED = _OUTPUTS.format("out", "aux"), _OUTPUTS.format("a", "b")
_BY_NAME = "model.compile('sgd', 'mse', metrics={'out': 'mae', 'aux': 'mse'})\n"
_IN_LISTS = "model.compile('sgd', 'mse', metrics=[['mae'], ['mse']])\n"
_DATA = "np.ones((4, 2)), [np.zeros((4, 1)), np.ones((4, 1)) * 2]"
_RESULTS = f"results = model.evaluate({_DATA}, verbose=0)\n"

VALID = [
    # In the order of the alphabet, and without metrics of several outputs.
    _HEAD + _SORTED + _IN_LISTS + _RESULTS + "error = results[3]",
    _HEAD + _OUT_FIRST + "model.compile('sgd', 'mse', metrics={'out': 'mae'})\n" + _RESULTS
    + "error = results[3]",
    # Read by name, and what comes before the metrics.
    _HEAD + _OUT_FIRST + _BY_NAME
    + f"results = model.evaluate({_DATA}, return_dict=True)\nerror = results['out_mae']",
    _HEAD + _OUT_FIRST + _BY_NAME + _RESULTS + "loss, of_out = results[0], results[1]",
    _HEAD.replace("import keras\n", "import tf_keras as keras\n") + _OUT_FIRST + _BY_NAME
    + _RESULTS + "error = results[3]",
]  # fmt: skip
INVALID = [
    Example(
        before=_HEAD + _OUT_FIRST + _BY_NAME + _RESULTS + "error = results[3]\n",
        check="assert error == 0",
        on_keras_2=True,
    ),
    Example(
        before=_HEAD + _OUT_FIRST + _IN_LISTS
        + f"error = model.evaluate({_DATA}, verbose=0)[3]\n",
        check="assert error == 0",
        on_keras_2=True,
    ),
    Example(
        before=_HEAD + _OUT_FIRST + _IN_LISTS
        + f"loss, _, _, error, _ = model.test_on_batch({_DATA})\n",
        check="assert error == 0",
        on_keras_2=True,
    ),
]  # fmt: skip
