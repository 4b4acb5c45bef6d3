"""Functions that moved and give another type of number since: their results are converted back.

A move by release data alone is not safe for them.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from kdoctor.analysis.tensors.eager_arguments import may_be_eager_tensor
from kdoctor.rewrite import Rewrite, rewrite
from kdoctor.rewrite.common_guards import Guard, GuardAnswer, Question, UseSite
from kdoctor.rules.rule import Example


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
    """The parameters that a function had, and what gives the old result; ``proofs`` ran it."""

    parameters: str
    right: str
    when: Guard
    proofs: tuple[Example, ...]

    def row(self, old: str) -> Rewrite:
        """Return the rewrite of the function's old name."""
        return rewrite(f"{old}({self.parameters})", self.right, self.when)


_SAME = """
import numpy as np
import tf_keras
old = tf_keras.utils.to_categorical({})
assert type(y) is np.ndarray and (y.dtype, y.shape) == (old.dtype, old.shape), y.dtype
assert y.tolist() == old.tolist()
"""

HELD: Final = {
    "keras.utils.to_categorical": FixedDtype(
        "y, num_classes=None, dtype='float32'",
        "keras.utils.to_categorical(y, num_classes).astype(dtype)",
        _array("y"),
        (
            Example(
                before="from keras.utils import np_utils\n\ny = np_utils.to_categorical([0, 1], 2)",
                after="from keras import utils\n\n"
                "y = utils.to_categorical([0, 1], 2).astype('float32')",
                raises="ImportError: cannot import name 'np_utils' from 'keras.utils'",
                check=_SAME.format("[0, 1], 2"),
            ),
            Example(
                before="import keras.utils.np_utils as u\n\ny = u.to_categorical([[0], [2]])",
                after="from keras import utils\n\n"
                "y = utils.to_categorical([[0], [2]]).astype('float32')",
                raises="ModuleNotFoundError: No module named 'keras.utils.np_utils'",
                check=_SAME.format("[[0], [2]]"),
            ),
            Example(
                before="import numpy as np\nfrom keras.utils.np_utils import to_categorical\n\n"
                "y = to_categorical(np.array([[0, 2]]), dtype='int32', num_classes=4)",
                after="import numpy as np\nfrom keras.utils import to_categorical\n\n"
                "y = to_categorical(np.array([[0, 2]]), num_classes=4).astype('int32')",
                raises="ModuleNotFoundError: No module named 'keras.utils.np_utils'",
                check=_SAME.format("[[0, 2]], 4, 'int32'"),
            ),
        ),
    )
}
"""By the name of today."""
