"""Functions of ``keras.backend`` that draw random numbers.

A fixed seed means something else in Keras 3: ``keras.random.normal(shape, seed=1)`` gives the same
numbers at every call, ``K.random_normal(shape, seed=1)`` the next ones.
"""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, not_none, one_of
from kdoctor.rules.names._backend.value_guards import somewhere

_NO_SEED = equals("seed", None)
_WHOLE = ("int32", "int64")

REWRITES = (
    rewrite(
        "keras.backend.random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None)",
        "keras.random.normal(shape, mean=mean, stddev=stddev, dtype=dtype)",
        when=_NO_SEED,
    ),
    rewrite(
        "keras.backend.random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None)",
        "keras.random.uniform(shape, minval=minval, maxval=maxval)",
        when=_NO_SEED & equals("dtype", None),
    ),
    # keras.random.uniform refuses whole numbers.
    rewrite(
        "keras.backend.random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None)",
        "keras.random.randint(shape, minval, maxval, dtype=dtype)",
        when=_NO_SEED & one_of("dtype", *_WHOLE),
    ),
    rewrite(
        "keras.backend.truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None)",
        "keras.random.truncated_normal(shape, mean=mean, stddev=stddev, dtype=dtype)",
        when=_NO_SEED,
    ),
    rewrite(
        "keras.backend.dropout(x, level, noise_shape=None, seed=None)",
        "keras.random.dropout(x, level)",
        when=_NO_SEED & equals("noise_shape", None),
    ),
    # Keras 1 called the deviation so.
    rewrite(
        "keras.backend.random_normal(shape, mean=0.0, std=1.0, dtype=None, seed=None)",
        "keras.random.normal(shape, mean=mean, stddev=std, dtype=dtype)",
        when=_NO_SEED & somewhere(),
    ),
    rewrite(
        "keras.backend.random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None)",
        "keras.random.randint(shape, minval, maxval, dtype=dtype, seed=seed)",
        when=one_of("dtype", *_WHOLE) & somewhere(),
    ),
    # An int seed gives the same numbers at every call.
    rewrite(
        "keras.backend.random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None)",
        "keras.random.normal(shape, mean=mean, stddev=stddev, dtype=dtype, seed=seed)",
        when=somewhere(),
    ),
    rewrite(
        "keras.backend.random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None)",
        "keras.random.uniform(shape, minval=minval, maxval=maxval, dtype=dtype, seed=seed)",
        when=somewhere(),
    ),
    rewrite(
        "keras.backend.truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None)",
        "keras.random.truncated_normal(shape, mean=mean, stddev=stddev, dtype=dtype, seed=seed)",
        when=somewhere(),
    ),
    rewrite(
        "keras.backend.dropout(x, level, noise_shape=None, seed=None)",
        "keras.random.dropout(x, level, noise_shape=noise_shape, seed=seed)",
        when=somewhere(),
    ),
    # As Keras 2 drew it. keras.random.binomial has no kernel for XLA on TensorFlow.
    *(
        rewrite(
            f"keras.backend.random_{name}(shape, p=0.0, dtype=None, seed=None)",
            f"keras.ops.cast(keras.random.uniform({drawn}) <= p, {dtype})",
            when=guard,
        )
        for name in ("bernoulli", "binomial")
        for drawn, dtype, guard in (
            ("shape", "keras.config.floatx()", _NO_SEED & equals("dtype", None)),
            ("shape, dtype=dtype", "dtype", _NO_SEED & not_none("dtype")),
            ("shape, seed=seed", "keras.config.floatx()", equals("dtype", None) & somewhere()),
            ("shape, seed=seed", "dtype", somewhere()),  # None is floatx for `cast`, too
        )
    ),
)

_SEED = (
    "for a seed, keep a keras.random.SeedGenerator(seed) and pass it as seed=: an int gives the "
    "same numbers at every call"
)
_BERNOULLI = (
    "write keras.ops.cast(keras.random.uniform(shape) <= p, dtype); note that p was 0.0 by default"
)

BY_HAND = {
    "random_normal": f"write keras.random.normal(shape, mean, stddev); {_SEED}",
    "random_uniform": "write keras.random.uniform(shape, minval, maxval), keras.random.randint for "
    f"integers; {_SEED}",
    "truncated_normal": f"write keras.random.truncated_normal(shape, mean, stddev); {_SEED}",
    "dropout": f"write keras.random.dropout(x, level); {_SEED}",
    "random_bernoulli": _BERNOULLI,
    "random_binomial": _BERNOULLI,
    "random_normal_variable": "write keras.Variable(keras.random.normal(shape, mean, scale)), or "
    "self.add_weight in a layer",
    "random_uniform_variable": "write keras.Variable(keras.random.uniform(shape, low, high)), or "
    "self.add_weight in a layer",
}
