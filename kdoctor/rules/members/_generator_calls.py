"""`fit_generator(data, **options)`: what is hidden stays hidden, only the names are changed."""

from __future__ import annotations

from typing import Final

import libcst as cst

from kdoctor.model import Applicability, Edit, Fix
from kdoctor.syntax import MemberUse, Module

_METHODS: Final = {f"{name}_generator": name for name in ("fit", "evaluate", "predict")}
_QUEUE: Final = frozenset({"workers", "use_multiprocessing", "max_queue_size"})


def generator_fix(module: Module, use: MemberUse) -> Fix | None:
    """Return the fix where ``**`` hides arguments; None where it does not, or where it cannot be.

    By keyword the arguments are called as they were, but for ``generator=``.
    """
    call, method = use.called, _METHODS.get(use.member)
    if call is None or method is None or not any(each.star == "**" for each in call.args):
        return None
    keywords = [each.keyword for each in call.args if each.keyword is not None]
    by_position = [each for each in call.args if each.keyword is None and not each.star]
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
        "`use_multiprocessing` or `max_queue_size`, which are not taken any more",
    )


def _shown(module: Module, value: cst.BaseExpression) -> str:
    return module.source(value) if isinstance(value, cst.Name | cst.Attribute) else "…"
