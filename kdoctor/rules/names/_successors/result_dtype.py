"""Functions that moved and give another type of number since: their results are converted back.

A move by release data alone is not safe for them.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from kdoctor.analysis.tensors.eager_arguments import may_be_eager_tensor
from kdoctor.rewrite import Rewrite, rewrite
from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question, UseSite


def _array(parameter: str) -> Guard:
    """The argument is no tensor: of one, a tensor is given back, which has no ``astype``."""

    def answer(use_site: UseSite) -> GuardAnswer:
        node = use_site.value(parameter)
        may_be = node is None or may_be_eager_tensor(use_site.module, node)
        return GuardAnswer.UNKNOWN if may_be else GuardAnswer.YES

    return Question(
        f"array({parameter!r})",
        f"`{parameter}` may be a tensor",
        answer,
        parameters=frozenset({parameter}),
    )


class FixedDtype(Struct, frozen=True):
    """The parameters that a function had, and what gives the old result.

    ``proven_by`` is the group of examples of KD102 that ran it.
    """

    parameters: str
    right: str
    when: Guard
    proven_by: str

    def row(self, old: str) -> Rewrite:
        """Return the rewrite of the function's old name."""
        return rewrite(f"{old}({self.parameters})", self.right, self.when)


HELD: Final = {
    "keras.utils.to_categorical": FixedDtype(
        "y, num_classes=None, dtype='float32'",
        "keras.utils.to_categorical(y, num_classes).astype(dtype)",
        _array("y"),
        "result-dtype",
    )
}
"""By the name of today."""
