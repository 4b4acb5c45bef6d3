"""Products of ``keras.backend`` that go over one axis of two tensors in batches."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, given, one_of
from kdoctor.rules.names._backend.value_guards import both_of_rank, somewhere
from kdoctor.rules.rule import Example

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

_HEAD = "import numpy as np\n{}\nx = np.arange(24, dtype='float32').reshape(2, 3, 4)\n"
_GONE = "AttributeError: module 'keras.backend' has no attribute 'batch_dot'"


def _example(before: str, after: str, same: str) -> Example:
    return Example(
        before=_HEAD.format("from keras import backend as K\n") + before,
        after=_HEAD.format("from keras import layers\n") + after,
        raises=_GONE,
        unsafe=True,
        findings=before.count("K."),
        same=f"[np.array(each).tolist() for each in {same}]",
    )


EXAMPLES = (
    # Whatever the number of axes.
    _example(
        "y = K.batch_dot(x, x[:, :, :, None], axes=(2, 2))\n"
        "z = K.batch_dot(x[:, 0], x[:, 1], axes=1)\nw = K.batch_dot(x[:, 0], x, axes=(1, 2))\n",
        "y = layers.dot([x, x[:, :, :, None]], axes=(2, 2))\n"
        "z = layers.dot([x[:, 0], x[:, 1]], axes=1)\nw = layers.dot([x[:, 0], x], axes=(1, 2))\n",
        "(y, z, w)",
    ),
    _example(
        "y = K.batch_dot(x, x.transpose(0, 2, 1))\n"
        "z = K.batch_dot(x, x.transpose(0, 2, 1)[:, None], axes=[-1, 2])\n"
        "w = K.batch_dot(x, x[:, 0])\n",
        "y = layers.dot([x, x.transpose(0, 2, 1)], axes=(-1, 1))\n"
        "z = layers.dot([x, x.transpose(0, 2, 1)[:, None]], axes=[-1, 2])\n"
        "w = layers.dot([x, x[:, 0]], axes=(-1, 1))\n",
        "(y, w)",
    ),
)
