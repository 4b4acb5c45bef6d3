"""A custom optimizer with `_build_learning_rate` and `_index_dict`, the protocol of `tf.keras` 2.11 to 2.15."""  # noqa: E501 - as on its page

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import arguments
from kdoctor.analysis.models.user_classes import OF_2_11, SLOT_OF_2_11, member_of_self
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import attribute, keyword
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.idioms._optimizers.constructor import RATES
from kdoctor.rules.idioms._optimizers.protocols import OldOptimizer, init_of_base
from kdoctor.rules.idioms._optimizers.whole import plans_of
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import descendants

_HELP = (
    "Pass `learning_rate=` to `super().__init__`; take it as the third parameter of "
    "`update_step(self, gradient, variable, learning_rate)`; create variables with "
    "`self.add_variable_from_reference(variable, name=…, initializer=…)` and find them with "
    "`self._get_variable_index(variable)`. `kdoctor explain KD524` lists the replacements."
)


@rule(
    "KD524",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(attribute(*OF_2_11) | keyword(*SLOT_OF_2_11)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such class."""
    for optimizer, plan in plans_of(file.module, file.facts):
        name = optimizer.node.name.value
        yield check.finding(
            file.module.place(optimizer.node.name),
            f"`{name}` is an optimizer for TensorFlow 2.11 to 2.15: {_error(optimizer)}",
            symbol=name,
            confidence=Confidence.LIKELY,
            help=_HELP,
            fix=NoFix(f"not understood: {plan.obstacles()}")
            if plan.stops
            else plan.rated(check, f"Rewrite `{name}` as a Keras 3 optimizer"),
        )


def _error(optimizer: OldOptimizer) -> str:
    """Return what Keras 3 raises first."""
    name = optimizer.node.name.value
    start = optimizer.methods.get("__init__")
    inside = [] if start is None else list(descendants(start.body))
    above = next((each for node in inside if (each := init_of_base(node))), None)
    if optimizer.base is not None and above and not _tells_the_rate(above):
        first = next(iter(arguments(above)), None)
        if first is not None and first.keyword is None and not first.star:
            return "ValueError: Argument `learning_rate` should be float"  # it is the name
        return "TypeError: BaseOptimizer.__init__() missing 1 required positional argument"
    for function in optimizer.methods.values():
        for node in descendants(function.body):
            member = member_of_self(node, function)
            if member in OF_2_11:
                return f"AttributeError: '{name}' object has no attribute '{member}'"
    passed = next(
        each.keyword.value
        for each in descendants(optimizer.node.body)
        if isinstance(each, cst.Arg) and each.keyword and each.keyword.value in SLOT_OF_2_11
    )
    method = "TFOptimizer.add_variable_from_reference()"
    return f"TypeError: {method} got an unexpected keyword argument '{passed}'"


def _tells_the_rate(call: cst.Call) -> bool:
    return any(each.keyword and each.keyword.value in RATES for each in call.args)
