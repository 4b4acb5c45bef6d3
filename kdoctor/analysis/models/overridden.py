"""Members that a class of the user's own has under a name that a fix would write."""

from __future__ import annotations

import libcst as cst

from kdoctor.lazy_regex import pattern
from kdoctor.model import Edit
from kdoctor.syntax import Module

_MEMBER = pattern(r"(?:^|\.)([^\W\d]\w*)")


def has_own(module: Module, owner: cst.BaseExpression, member: str) -> bool:
    """Say whether the class of an object has, or may have, a member in its own body.

    ``self.predict_generator`` in a ``predict`` of one's own would call itself as ``self.predict``.
    """
    own = module.inference.value(owner).own
    return own is not None and own.may_override(member)


def own_among(module: Module, owner: cst.BaseExpression, edits: tuple[Edit, ...]) -> str:
    """Return the first member that edits write and the class of an object has, "" for none."""
    texts = (part for each in edits for part in each.parts if isinstance(part, str))
    written = (name for text in texts for name in _MEMBER.findall(text))
    return next((each for each in written if has_own(module, owner, each)), "")
