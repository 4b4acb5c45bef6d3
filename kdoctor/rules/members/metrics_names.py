"""``model.metrics_names``: on Keras 3 it has one name for all the metrics of `compile`.

## What it does
Reports reads of `.metrics_names` of a model.

## Why it breaks
It does not raise. But `['loss', 'accuracy']` of Keras 2 is `['loss', 'compile_metrics']` on Keras
3: what is zipped with the result of `evaluate`, or looked for in it, comes out under wrong names,
or is cut off.

## What to write instead
`model.evaluate(x, y, return_dict=True)`, which gives the values by name. The names alone are
`list(model.get_metrics_result())`, once the model was trained or evaluated.

## How we know
Run on Keras 3.15.1 and tf_keras 2.21, after `evaluate`: the new form gives on Keras 3 the names
that the old one gave on Keras 2. For models with several outputs the order is another one, and
before the first batch there is nothing to be told: so the fix asks for `--unsafe`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.kinds import Kind
from kdoctor.model import Finding, Fix, Severity
from kdoctor.rewrite import MemberTable, Refusal, attribute
from kdoctor.rules.facts import Facts
from kdoctor.rules.members._owners import symbol
from kdoctor.rules.rule import Example, Rule
from kdoctor.rules.triggers import member_of
from kdoctor.syntax import MemberUse, Module

ROWS = (
    attribute(
        "keras.Model.metrics_names",
        "list(self.get_metrics_result())",
        unsafe_because="before the first batch, and with several outputs, it tells something else",
    ),
)

# A class that has one of these may well update metrics that no `compile` was told of.
_OWN = frozenset({"compute_metrics", "metrics", "train_step"})


def check(module: Module, facts: Facts) -> Iterator[Finding]:
    """Report each read that the user's own model does not define."""
    table = MemberTable(ROWS, {"keras.Model": (Kind.MODEL,)}, facts.signature)
    for use in module.members:
        is_it = use.owner.kind is Kind.MODEL and use.member == "metrics_names"
        if not is_it or use.owner_defines or module.is_guarded(use.node):
            continue
        if _has_metrics_of_its_own(module, use):
            continue
        attempt = table.attempt(
            module, use, lambda _: facts.applicability(*(each for each in INVALID if each.after))
        )
        if isinstance(module.parent(use.node), cst.Attribute):
            attempt = Refusal("what is added to it is added to a list that nobody keeps")
        yield rule.finding(
            module.place(use.node),
            "`metrics_names` has one name, `compile_metrics`, for all the metrics of `compile`",
            symbol=symbol(use.owner, use.member),
            confidence=use.confidence,
            help="Ask for values by name: `model.evaluate(x, y, return_dict=True)`.",
            fix=attempt if isinstance(attempt, Fix) else None,
            no_fix_because=None if isinstance(attempt, Fix) else attempt.reason,
        )


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
        before=f"{_MODEL}model.metrics_names.append('mine')",
        check="assert model.metrics_names == ['loss', 'compile_metrics']",
    ),
]
