"""Members that a class of the user's own has under a name that a fix would write."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.models.user_classes import class_of, methods_in
from kdoctor.analysis.models.user_models import subclasses_of
from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit
from kdoctor.syntax import Module
from kdoctor.value_types import Type

_MEMBER = pattern(r"(?:^|\.)([^\W\d]\w*)")


def has_own(module: Module, owner: cst.BaseExpression, member: str) -> bool:
    """Say whether the class of an object, or one below it, has or may have a member in its body.

    ``self.predict_generator`` in a ``predict`` of one's own would call itself as ``self.predict``.
    """
    value = module.inference.value(owner)
    if value.own is None or value.type is None:
        return False
    return value.own.may_override(member) or (
        not value.exact and _is_overridden(module, value.type, member)
    )


def _is_overridden(module: Module, made: Type, member: str) -> bool:
    """Say whether a subclass in the file has a method of its own, or may have."""
    cls = class_of(module, made)
    below = [] if cls is None else subclasses_of(module, cls)
    return below is None or any(member in methods_in(each) for each in below)


def own_among(module: Module, owner: cst.BaseExpression, edits: tuple[Edit, ...]) -> str:
    """Return the first member that edits write and the class of an object has, "" for none."""
    texts = (part for each in edits for part in each.parts if isinstance(part, str))
    written = (name for text in texts for name in _MEMBER.findall(text))
    return next((each for each in written if has_own(module, owner, each)), "")
