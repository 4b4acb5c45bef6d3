"""`use_ema=True`: the averages begin with the weights after the first step."""

from __future__ import annotations

from kdoctor.analysis.queries import Argument, constructs
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.literals import literal
from kdoctor.value_types import Kind

_USED = constructs(Kind.OPTIMIZER).argument("use_ema", where=lambda form: form is True)


@rule("KD488", severity=Severity.CHANGE, since="3.0", look_for=_USED)
def check(used: Argument) -> Finding | None:
    """Report each optimizer that keeps averages."""
    momentum = used.value("ema_momentum")
    if momentum is not None and literal(momentum) == 0:
        return None  # the averages are the weights
    written = "0.99" if momentum is None else used.source(momentum)
    return used.finding(
        "the averages begin with the weights after the first step, not before it as on Keras 2: "
        f"after `n` steps they differ by `{written} ** n` of that step",
        help="Expect other weights after a short training; after a long one the difference is "
        "gone, unless `ema_overwrite_frequency` puts the averages in place of the weights.",
        fix=NoFix("Keras 3 has no argument for where the averages begin"),
    )
