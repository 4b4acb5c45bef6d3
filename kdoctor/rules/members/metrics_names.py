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

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import add_keyword, argument, is_hidden, passed, value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite import MemberTable, attribute
from kdoctor.rules.members._error_owner import symbol
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import MemberUse, Module
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


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each read that the user's own model does not define."""
    table = MemberTable(ROWS, {"keras.Model": (Kind.MODEL,)}, facts.signature)
    for use in module.members:
        is_it = use.owner.kind is Kind.MODEL and use.member == "metrics_names"
        if not is_it or use.owner_defines or module.is_guarded(use.node):
            continue
        if _has_metrics_of_its_own(module, use):
            continue
        attempt: Fix | NoFix
        if isinstance(module.parent(use.node), cst.Attribute):
            attempt = NoFix("appending to it changes a temporary list")
        elif (by_name := _asked_by_name(module, use)) is not None:
            attempt = by_name
        elif not _has_one_output(module, use):
            attempt = NoFix(_ORDER)
        else:
            attempt = table.attempt(module, use, lambda _: _proven())
        yield rule.finding(
            module.place(use.node),
            "`metrics_names` has a single entry, `compile_metrics`, for all metrics of `compile`",
            symbol=symbol(use.owner, use.member),
            confidence=use.confidence,
            help="Get the values by name: `model.evaluate(x, y, return_dict=True)`.",
            fix=attempt,
        )


def _proven() -> Applicability:
    return rule.applicability(each for each in INVALID if each.after)


def _asked_by_name(module: Module, use: MemberUse) -> Fix | None:
    """Return the fix of ``dict(zip(model.metrics_names, model.evaluate(…)))``."""
    zipped = _called_with(module, use.node, "zip", 2)
    whole = None if zipped is None else _called_with(module, zipped, "dict", 1)
    if zipped is None or whole is None or zipped.args[0].value is not use.node:
        return None
    match zipped.args[1].value:
        case cst.Call(func=cst.Attribute(value=model, attr=method)) as call if (
            method.value in _GIVE_VALUES
            and module.source(model) == module.source(use.node.value)
            and not is_hidden(call)
            and argument(call, "return_dict", _FURTHER) is None
        ):
            kept, around = module.outer_span(call), module.span(whole)
        case _:
            return None
    left, right = Span(around.start, kept.start), Span(kept.end, around.end)
    if "#" in module.text[left.start : left.end] + module.text[right.start : right.end]:
        return None
    return rule.fix(
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


def _has_one_output(module: Module, use: MemberUse) -> bool:
    """Say whether it is a ``Sequential``, or made here of one tensor as its output."""
    if use.owner.cls == "Sequential":
        return True
    made = value_of(module, use.node.value)
    if use.owner.cls != "Functional" or not isinstance(made, cst.Call):
        return False
    given = passed(made, "outputs", 1)
    output = None if given is None else module.type_of(given)
    return output is not None and output.kind is Kind.TENSOR and output.cls is not None


def _has_metrics_of_its_own(module: Module, use: MemberUse) -> bool:
    """Say whether the model is of a class that sees to its metrics itself: they have their names.

    What the class updates on its own are metrics of the model, each by its name.
    """
    around = next((x for x in module.ancestors(use.node) if isinstance(x, cst.ClassDef)), None)
    for each in module.nodes(cst.ClassDef):
        is_its = each.name.value == use.owner.cls or each is around
        if is_its and any(
            isinstance(part, cst.FunctionDef) and part.name.value in _OWN for part in each.body.body
        ):
            return True
    return False


rule = Rule(
    code="KD216",
    name="metrics-names",
    family="members",
    severity=Severity.CHANGE,
    check=check,
    triggers=member_of({Kind.MODEL}, "metrics_names"),
    since="3.0",
)

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
