"""`validation_data=batches()`: each epoch is validated on different batches of the generator."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from kdoctor.analysis.queries.conditions import keyword
from kdoctor.analysis.queries.generator_feeds import FedCall, calls_fed_by_generators
from kdoctor.analysis.training.generators import has_several_epochs
from kdoctor.lazy_regex import pattern
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.syntax.libcst_walk import own_nodes

_GIVEN: Final = "validation_data"
_AT_RANDOM: Final = pattern(r"rand|shuffle|sample|choice|permut", re.IGNORECASE)


@rule(
    "KD462",
    severity=Severity.CHANGE,
    since="3.7",
    look_for=calls_fed_by_generators(held_out=True).beside(keyword(_GIVEN)),
)
def check(fit: FedCall) -> Finding | None:
    """Report each such generator."""
    feed = fit.feed
    if not has_several_epochs(fit.module, fit.node, fit.leaf) or not _goes_on(feed.function):
        return None
    if _AT_RANDOM.search(fit.source(feed.function)) is not None:
        return None  # one batch is as good as the other
    return fit.finding(
        "each validation starts with the first two batches of the generator and continues "
        "where it stopped: epochs are evaluated on different batches",
        symbol=f"Model.{fit.leaf}({_GIVEN})",
        at=feed.given,
        help="Pass a `keras.utils.PyDataset`, or "
        f"`tf.data.Dataset.from_generator({fit.source(feed.made.func)}, …)`: they restart "
        "each time.",
        fix=NoFix("the generator does not tell the signature of a dataset"),
    )


def _goes_on(function: cst.FunctionDef) -> bool:
    """Say whether a generator function may give batches without an end."""
    return any(isinstance(each, cst.While) for each in own_nodes(function.body))
