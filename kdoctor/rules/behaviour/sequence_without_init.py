"""A `Sequence` subclass whose `__init__` does not call `super().__init__()`."""

from __future__ import annotations

from kdoctor.analysis.dataflow.statements import insert_at_body_start
from kdoctor.analysis.models.user_classes import only_base
from kdoctor.analysis.queries import Method, methods
from kdoctor.model import Confidence, Finding, NoFix, Severity
from kdoctor.rules.rule import rule

_SEQUENCES = ("utils.Sequence", "utils.PyDataset")


@rule(
    "KD418",
    severity=Severity.LEGACY,
    since="3.0",
    only_alone=True,
    look_for=methods(
        "__init__", of=_SEQUENCES, body=lambda inside: "__init__" not in inside.attributes
    ),
)
def check(init: Method) -> Finding | None:
    """Report each such class that derives from nothing else."""
    if only_base(init.module, init.owner.node) is None:
        return None
    edit = insert_at_body_start(init.module, init.node, "super().__init__()")
    return init.finding(
        "Keras warns: Your `PyDataset` class should call `super().__init__(**kwargs)` in its "
        "constructor.",
        at=init.node.name,
        symbol=init.owner.symbol,
        confidence=Confidence.CERTAIN,
        help="Call `super().__init__()`; `workers=` goes there too.",
        fix=init.fix("Call `super().__init__()` first", edit)
        if edit
        else NoFix("the body is on the same line as `def`"),
    )
