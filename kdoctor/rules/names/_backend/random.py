"""Functions of ``keras.backend`` that draw random numbers.

A fixed seed means something else in Keras 3: ``keras.random.normal(shape, seed=1)`` gives the same
numbers at every call, ``K.random_normal(shape, seed=1)`` the next ones.
"""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.guards import equals
from kdoctor.rules.names._backend.questions import somewhere

_NO_SEED = equals("seed", None)

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
    *(
        rewrite(
            f"keras.backend.random_{name}(shape, p=0.0, dtype=None, seed=None)",
            "keras.random.binomial(shape, 1, p, dtype=dtype, seed=seed)",
            when=somewhere(),
        )
        for name in ("bernoulli", "binomial")
    ),
)

_SEED = (
    "with a seed keep a keras.random.SeedGenerator(seed) and pass it as seed=: an int gives the "
    "same numbers at every call"
)

BY_HAND = {
    "random_normal": f"write keras.random.normal(shape, mean, stddev); {_SEED}",
    "random_uniform": "write keras.random.uniform(shape, minval, maxval), keras.random.randint for "
    f"integers; {_SEED}",
    "truncated_normal": f"write keras.random.truncated_normal(shape, mean, stddev); {_SEED}",
    "dropout": f"write keras.random.dropout(x, level); {_SEED}",
    "random_bernoulli": "write keras.random.binomial(shape, 1, p); mind that p was 0.0 by default",
    "random_binomial": "write keras.random.binomial(shape, 1, p); mind that p was 0.0 by default",
    "random_normal_variable": "write keras.Variable(keras.random.normal(shape, mean, scale)), or "
    "self.add_weight in a layer",
    "random_uniform_variable": "write keras.Variable(keras.random.uniform(shape, low, high)), or "
    "self.add_weight in a layer",
}
