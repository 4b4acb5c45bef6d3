"""Random numbers.

On JAX what is drawn in a compiled step wants a generator that the layer holds: a function of
``keras.random`` without one raises there. So the rows are for what is made once.
"""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, not_none, one_of

_GENERATOR = (
    "create `self.seed_generator = keras.random.SeedGenerator(seed)` in __init__, and write "
    "keras.random.{}(…, seed=self.seed_generator)"
)
_FLOATS = ("float16", "float32", "float64")

REWRITES = (
    *(
        rewrite(
            f"tensorflow.random.{name}(shape, mean=0.0, stddev=1.0, dtype='float32', seed=None, "
            "name=None)",
            f"keras.random.{name}(shape, mean, stddev, dtype=dtype)",
            when=equals("seed", None),
        )
        for name in ("normal", "truncated_normal")
    ),
    rewrite(
        "tensorflow.random.uniform(shape, minval=0, maxval=None, dtype='float32', seed=None, "
        "name=None)",
        "keras.random.uniform(shape, minval, dtype=dtype)",
        when=equals("seed", None) & equals("maxval", None) & one_of("minval", 0, 0.0)
        & one_of("dtype", *_FLOATS),
    ),
    rewrite(
        "tensorflow.random.uniform(shape, minval=0, maxval=None, dtype='float32', seed=None, "
        "name=None)",
        "keras.random.uniform(shape, minval, maxval, dtype=dtype)",
        when=equals("seed", None) & not_none("maxval") & one_of("dtype", *_FLOATS),
    ),
)  # fmt: skip

BY_HAND = {
    **{
        f"random.{name}": _GENERATOR.format(name)
        for name in (*("normal", "truncated_normal", "uniform", "categorical", "gamma", "shuffle"),)
    },
    **{
        f"random.stateless_{name}": _GENERATOR.format(name)
        for name in ("normal", "truncated_normal", "uniform", "categorical", "gamma")
    },
    "random.poisson": "keras.random has none: keras.random.binomial with many trials comes near",
    "nn.dropout": _GENERATOR.format("dropout"),
}
