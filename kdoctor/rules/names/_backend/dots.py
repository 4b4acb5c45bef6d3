"""Products of ``keras.backend`` that go over one axis of two tensors in batches."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, given, one_of
from kdoctor.rules.names._backend.value_guards import both_of_rank, somewhere

_BATCH_DOT = "keras.backend.batch_dot(x, y, axes=None)"
_OF_THREE_AXES = {
    "bij,bjk->bik": (None, (2, 1), [2, 1]),
    "bij,bkj->bik": (2, (2, 2), [2, 2]),
    "bji,bjk->bik": (1, (1, 1), [1, 1]),
    "bji,bkj->bik": ((1, 2), [1, 2]),
}

REWRITES = (
    *(
        rewrite(
            _BATCH_DOT,
            f'keras.ops.einsum("{equation}", x, y)',
            when=one_of("axes", *axes) & both_of_rank(3, "x", "y"),
        )
        for equation, axes in _OF_THREE_AXES.items()
    ),
    # The layer takes tensors of any rank; of floats it makes those of its policy. The axis of `y`
    # was the second of three, and of two.
    rewrite(
        _BATCH_DOT,
        "keras.layers.dot([x, y], axes=(-1, 1))",
        when=equals("axes", None) & somewhere(),
    ),
    rewrite(
        _BATCH_DOT,
        "keras.layers.dot([x, y], axes=axes)",
        when=given("axes") & somewhere(),
    ),
)

BY_HAND = {
    "batch_dot": "keras.layers.dot([x, y], axes=axes) is the same for any rank, but its result has "
    "the dtype of the layer's policy, usually float32, and axes must be given: the default was "
    "(-1, -2), or (-1, -1) where y has two axes",
}
