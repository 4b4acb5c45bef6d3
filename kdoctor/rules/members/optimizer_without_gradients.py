"""``optimizer.get_gradients`` and ``optimizer.get_updates``: removed in Keras 3."""

from __future__ import annotations

from kdoctor.analysis.models.user_classes import is_in_old_optimizer
from kdoctor.analysis.queries import Read, reads
from kdoctor.model import Finding, NoFix, Severity
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.names._backend.training_functions import training_with
from kdoctor.rules.rule import rule
from kdoctor.value_types import Kind

_GONE = ("get_gradients", "get_updates", "updates_with_grads")


@rule("KD204", severity=Severity.ERROR, since="3.0", look_for=reads(*_GONE, on=Kind.OPTIMIZER))
def check(read: Read) -> Finding | None:
    """Report each use that the user's own optimizer does not define."""
    if is_in_old_optimizer(read.module, read.node):
        return None  # KD511 and KD512 tell of the class as a whole
    with_function = None if read.called is None else training_with(read.module, read.called)
    return read.finding(
        f"an optimizer has no `{read.member}`: {attribute_error(read.owner, read.member)}",
        symbol=symbol(read.owner, read.member),
        help="To clip gradients pass `clipvalue=` or `clipnorm=` to the optimizer; to compute "
        "them yourself use the backend (`tf.GradientTape`).",
        fix=with_function or NoFix("gradients are computed where the loss is, which is elsewhere"),
    )
