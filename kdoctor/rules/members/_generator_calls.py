"""`fit_generator(data, **options)`, and what `fit_generator(data, 2000)` counted."""

from __future__ import annotations

from typing import Final

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Applicability, Edit, Fix
from kdoctor.rules.arguments._keras_1_dialect import speaks_keras_1
from kdoctor.syntax import MemberUse, Module

_METHODS: Final = {f"{name}_generator": name for name in ("fit", "evaluate", "predict")}
_COUNT: Final = (
    "the file passes Keras 1 keywords, which counted samples: `{}` is a number of batches here, as "
    "in Keras 2; divide it by the batch size if it counts samples"
)
_QUEUE: Final = frozenset({"workers", "use_multiprocessing", "max_queue_size"})


def generator_fix(module: Module, use: MemberUse) -> Fix | None:
    """Return the fix where ``**`` hides arguments; None where it does not, or where it cannot be.

    By keyword the arguments are called as they were, but for ``generator=``.
    """
    call, method = use.called, _METHODS.get(use.member)
    if call is None or method is None or not any(each.star == "**" for each in call.args):
        return None
    keywords = [each.keyword for each in call.args if each.keyword is not None]
    by_position = _by_position(call)
    if any(each.star == "*" for each in call.args) or len(by_position) > 1:
        return None
    if any(each.value in _QUEUE for each in keywords):
        return None
    data = [Edit(module.span(each), ("x",)) for each in keywords if each.value == "generator"]
    if len(data) + len(by_position) != 1:
        return None
    hidden = next(each for each in call.args if each.star == "**")
    return Fix(
        f"Write `.{method}(…)` instead of `.{use.member}(…)`",
        (Edit(module.span(use.node.attr), (method,)), *data),
        Applicability.UNSAFE,
        unsafe_because=f"`**{_shown(module, hidden.value)}` may hold `workers`, "
        "`use_multiprocessing` or `max_queue_size`, which are no longer accepted",
    )


def may_count_samples(module: Module, facts: TargetFacts, use: MemberUse, fix: Fix) -> Fix:
    """Return the fix as it is, or, in a file of Keras 1, one that is not safe for its count.

    By position Keras 1 took a number of samples, and Keras 2.0 to 2.3, which renamed its keywords,
    one of batches.
    """
    counts = [] if use.called is None else _by_position(use.called)[1:2]
    if use.member not in _METHODS or not counts or not speaks_keras_1(module, facts):
        return fix
    reason = _COUNT.format(module.source(counts[0].value))
    return replace(
        fix,
        applicability=Applicability.UNSAFE,
        unsafe_because="; ".join(each for each in (fix.unsafe_because, reason) if each),
    )


def _by_position(call: cst.Call) -> list[cst.Arg]:
    return [each for each in call.args if each.keyword is None and not each.star]


def _shown(module: Module, value: cst.BaseExpression) -> str:
    return module.source(value) if isinstance(value, cst.Name | cst.Attribute) else "…"
