"""``model.metrics_names``: on Keras 3 it has a single entry for all metrics of `compile`.

## What it does
Reports reads of `.metrics_names` of a model.

## Why it breaks
It does not raise, but `['loss', 'accuracy']` on Keras 2 is `['loss', 'compile_metrics']` on Keras
3: values zipped with the result of `evaluate`, or looked up in it, get wrong names or are cut off.

## What to write instead
`model.evaluate(x, y, return_dict=True)`, which returns the values by name: this is what the fix
writes for `dict(zip(model.metrics_names, model.evaluate(x, y)))`. The names alone are
`list(model.get_metrics_result())`, once the model has been trained or evaluated.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, after `evaluate`: on Keras 3 the new form returns the names
that the old one returned on Keras 2, in the order of the values of `evaluate`. Before the first
batch there are no names, so the fix needs `--unsafe`. With several outputs the order is not that of
`evaluate`, and zipped values would get each other's names; so there is a fix only if the model
certainly has one output.
"""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden, value_of
from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite import MemberTable, attribute
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

ROWS = (
    attribute(
        "keras.Model.metrics_names",
        "list(self.get_metrics_result())",
        unsafe_because="it is empty before the first batch",
    ),
)
_ORDER = (
    "the model has, or may have, several outputs, and then no list has the names in the order of "
    "`evaluate`"
)
_GIVE_VALUES = frozenset({"evaluate", "test_on_batch", "train_on_batch"})
_FURTHER = 3  # From here on they disagree on the places: `test_on_batch` takes `return_dict`.

# A class that has one of these may well update metrics that no `compile` was told of.
_OWN = frozenset({"compute_metrics", "metrics", "train_step"})


@rule(
    "KD216", severity=Severity.CHANGE, since="3.0", look_for=reads("metrics_names", on=Kind.MODEL)
)
def check(read: Read) -> Finding | None:
    """Report each read that the user's own model does not define."""
    if _has_metrics_of_its_own(read):
        return None
    return read.finding(
        "`metrics_names` has a single entry, `compile_metrics`, for all metrics of `compile`",
        symbol=symbol(read.owner, read.member),
        help="Get the values by name: `model.evaluate(x, y, return_dict=True)`.",
        fix=_fix(read),
    )


def _fix(read: Read) -> Fix | NoFix:
    if isinstance(read.module.parent(read.node), cst.Attribute):
        return NoFix("appending to it changes a temporary list")
    by_name = _asked_by_name(read)
    if by_name is not None:
        return by_name
    if not _has_one_output(read):
        return NoFix(_ORDER)
    table = MemberTable(ROWS, {"keras.Model": (Kind.MODEL,)}, read.facts.signature)
    return table.attempt(read.module, read.use, lambda _: check.applicability())


def _asked_by_name(read: Read) -> Fix | NoFix | None:
    """Return the fix of ``dict(zip(model.metrics_names, model.evaluate(…)))``."""
    module = read.module
    zipped = _called_with(module, read.node, "zip", 2)
    whole = None if zipped is None else _called_with(module, zipped, "dict", 1)
    if zipped is None or whole is None or zipped.args[0].value is not read.node:
        return None
    match zipped.args[1].value:
        case cst.Call(func=cst.Attribute(value=model, attr=method)) as call if (
            method.value in _GIVE_VALUES
            and module.source(model) == module.source(read.node.value)
            and not is_hidden(call)
            and argument(call, "return_dict", _FURTHER) is None
        ):
            kept, around = module.outer_span(call), module.span(whole)
        case _:
            return None
    left, right = Span(around.start, kept.start), Span(kept.end, around.end)
    if "#" in module.text[left.start : left.end] + module.text[right.start : right.end]:
        return None
    return read.fix(
        "Get the values by name: `return_dict=True`",
        Edit(left, ()),
        add_keyword(module, call, "return_dict=True"),
        Edit(right, ()),
        unsafe_because="the dict has another order",
    )


def _called_with(module: Module, node: cst.CSTNode, builtin: str, count: int) -> cst.Call | None:
    """Return the call of a builtin that takes a value among so many, each by its place."""
    passed = module.parent(node)
    match call := None if passed is None else module.parent(passed):
        case cst.Call(func=cst.Name(value=name) as function, args=args) if (
            name == builtin
            and len(args) == count
            and not module.bindings_at(function)
            and not any(each.star or each.keyword for each in args)
        ):
            return call
    return None


def _has_one_output(read: Read) -> bool:
    """Say whether it is a ``Sequential``, or made here of one tensor as its output."""
    if read.owner.cls == "Sequential":
        return True
    made = value_of(read.module, read.node.value)
    if read.owner.cls != "Functional" or not isinstance(made, cst.Call):
        return False
    given = argument(made, "outputs", 1)
    output = None if given is None else read.module.type_of(given.value)
    return output is not None and output.kind is Kind.TENSOR and output.cls is not None


def _has_metrics_of_its_own(read: Read) -> bool:
    """Say whether the model is of a class that sees to its metrics itself: they have their names.

    What the class updates on its own are metrics of the model, each by its name.
    """
    ancestors = read.module.ancestors(read.node)
    around = next((each for each in ancestors if isinstance(each, cst.ClassDef)), None)
    for each in read.module.nodes(cst.ClassDef):
        is_its = each.name.value == read.owner.cls or each is around
        if is_its and any(
            isinstance(part, cst.FunctionDef) and part.name.value in _OWN for part in each.body.body
        ):
            return True
    return False


VALID = [
    "import keras\nmodel = keras.Sequential()\nmodel.evaluate(x, y, return_dict=True)",
    "import tf_keras\ntf_keras.Sequential().metrics_names",
    "import keras\nrun.metrics_names",
    (
        "import keras\n\n\nclass Mine(keras.Model):\n"
        "    def train_step(self, data):\n"
        "        at = self.metrics_names.index('mine')\n"
        "        self.metrics[at].update_state(data)\n        return {}"
    ),
]
_MODEL = (
    "import keras\nimport numpy as np\n\nx, y = np.ones((4, 3)), np.ones((4, 1))\n"
    "model = keras.Sequential([keras.layers.Dense(1)])\n"
    "model.compile('sgd', 'mse', metrics=['mse', 'mae'])\nmodel.evaluate(x, y, verbose=0)\n"
)
_OUTPUTS = (
    "import keras\nimport numpy as np\n\n"
    "x, y = np.ones((4, 3)), [np.ones((4, 1)), np.zeros((4, 1))]\n"
    "data = keras.layers.Input((3,))\n"
    "b = keras.layers.Dense(1, kernel_initializer='ones', name='b')(data)\n"
    "a = keras.layers.Dense(1, kernel_initializer='ones', name='a')(data)\n"
    "model = keras.Model(data, [b, a])\n"
    "model.compile('sgd', ['mse', 'mse'], metrics=[['mae'], ['mse']])\n"
    "model.evaluate(x, y, verbose=0)\n"
)
INVALID = [
    Example(
        before=f"{_MODEL}names = model.metrics_names",
        after=f"{_MODEL}names = list(model.get_metrics_result())",
        same="names",
        check="assert names == ['loss', 'mse', 'mae']",
        on_keras_2=True,
        unsafe=True,
    ),
    Example(
        before=f"{_OUTPUTS}logs = dict(zip(model.metrics_names, model.evaluate(x, y, verbose=0)))",
        after=f"{_OUTPUTS}logs = model.evaluate(x, y, verbose=0, return_dict=True)",
        same="{name: round(value, 4) for name, value in sorted(logs.items())}",
        on_keras_2=True,
        unsafe=True,
    ),
    # Zipped with what `get_metrics_result` tells, the values would get names of others.
    Example(
        before=f"{_OUTPUTS}for name, value in zip(model.metrics_names, model.evaluate(x, y)):\n"
        "    print(name, value)\n",
        check="values = model.evaluate(x, y, return_dict=True)\n"
        "named = dict(zip(model.get_metrics_result(), model.evaluate(x, y)))\n"
        "assert values != named and values.keys() == named.keys()",
    ),
    Example(
        before=f"{_MODEL}model.metrics_names.append('mine')",
        check="assert model.metrics_names == ['loss', 'compile_metrics']",
    ),
]
