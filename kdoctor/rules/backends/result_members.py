"""``keras.ops.top_k(x, k).values``: a tuple without names on JAX and PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from kdoctor.analysis.backends.reach import is_run_by_keras
from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import BACKEND_NAMES
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import ASKS_OTHER_BACKENDS, member
from kdoctor.keras_api import split_root
from kdoctor.model import Edit, Finding, Precedence, Severity, Span
from kdoctor.rules.rule import rule

_PLACES: Final = {
    "ops.top_k": {"values": 0, "indices": 1},
    "ops.nn.top_k": {"values": 0, "indices": 1},
    "ops.math.top_k": {"values": 0, "indices": 1},
}
_MEMBERS: Final = tuple(dict.fromkeys(name for known in _PLACES.values() for name in known))


@rule(
    "KD818",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(ASKS_OTHER_BACKENDS & member(*_MEMBERS)),
)
def check(file: File) -> Iterator[Finding]:
    """Report each read of a part by the name that TensorFlow gives it."""
    module = file.module
    for node in module.attributes:
        name = node.attr.value
        made = value_of(module, node.value) if name in _MEMBERS else None
        if not isinstance(made, cst.Call) or module.is_guarded(node):
            continue
        split = split_root(module.qualified(made.func) or "")
        place = None if split is None else _PLACES.get(split[1], {}).get(name)
        if split is None or place is None or not is_run_by_keras(module, node):
            continue
        span = Span(module.outer_span(node.value).end, module.span(node).end)
        others = " and ".join(BACKEND_NAMES[each] for each in file.facts.backends)
        yield file.finding(
            f"only TensorFlow names the parts of `{split[1]}`, not {others}: AttributeError: "
            f"'tuple' object has no attribute '{name}'",
            at=node,
            symbol=f"keras.{split[1]}.{name}",
            help=f"Write `[{place}]`.",
            fix=file.fix(f"Write `[{place}]`", Edit(span, (f"[{place}]",), Precedence.PRIMARY)),
        )
