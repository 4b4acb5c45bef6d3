"""Functions of ``keras.backend`` that take functions."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import equals, not_none
from kdoctor.rules.names._backend.value_guards import is_tensor, somewhere

REWRITES = (
    rewrite(
        "keras.backend.map_fn(fn, elems, name=None, dtype=None)",
        "keras.ops.map(fn, elems)",
        when=equals("dtype", None) & is_tensor("elems"),
    ),
    rewrite(
        "keras.backend.map_fn(fn, elems, name=None, dtype=None)",
        "keras.ops.map(fn, elems)",
        when=equals("dtype", None) & somewhere(),
    ),
    rewrite(
        "keras.backend.foldl(fn, elems, initializer=None, name=None)",
        "keras.ops.scan(lambda carry, element: (fn(carry, element), carry), initializer, elems)[0]",
        when=not_none("initializer"),
    ),
    rewrite(
        "keras.backend.foldr(fn, elems, initializer=None, name=None)",
        "keras.ops.scan(lambda carry, element: (fn(carry, element), carry), initializer, elems, "
        "reverse=True)[0]",
        when=not_none("initializer"),
    ),
)

BY_HAND = {
    "map_fn": "write keras.ops.map(fn, elems); it has no dtype= and infers it from the result of "
    "fn",
    "foldl": "write keras.ops.scan(lambda carry, element: (fn(carry, element), carry), "
    "initializer, elems)[0] with the initial value spelled out",
    "foldr": "write keras.ops.scan(lambda carry, element: (fn(carry, element), carry), "
    "initializer, elems, reverse=True)[0] with the initial value spelled out",
}
