"""Calls of the methods that Keras gives its models."""

from __future__ import annotations

from collections.abc import Container, Iterator

import libcst as cst

from kdoctor.syntax import Module
from kdoctor.syntax.members import MemberUse
from kdoctor.value_types import Kind


def model_method_calls(
    module: Module, methods: Container[str]
) -> Iterator[tuple[MemberUse, cst.Call]]:
    """Yield the calls of these methods on a model, where the target gets to them.

    None of a method that the user's own class defines, or may define.
    """
    for use in module.members:
        call = use.called
        if use.member not in methods or use.owner.kind is not Kind.MODEL or call is None:
            continue
        if not use.owner_defines and not module.is_guarded(call):
            yield use, call
