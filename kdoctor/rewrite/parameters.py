"""The new callable's parameters: where each argument fits, and the defaults."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

from kdoctor.rewrite.pattern import Code, Pattern
from kdoctor.syntax.literals import UNKNOWN, literal


class SignatureText(Protocol):
    """A callable's signature; ``keras_api.Signature`` is one."""

    @property
    def text(self) -> str:
        """The parameters as a person would write them: ``x, axis=None, keepdims=False``."""


SignatureLookup = Callable[[str], SignatureText | None]
"""Gives the signature of a dotted name (under the ``keras`` root); None where it is not known."""

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class NewParameter(Struct, frozen=True):
    """One parameter of the new callable, with its position and keyword."""

    position: int | None
    keyword: str | None
    default: Code | None


class NewParameters:
    """The parameters of a new callable. Of an unknown one nothing is known."""

    def __init__(self, signature: inspect.Signature | None) -> None:
        self.signature = signature
        self._ordered: list[NewParameter] = []
        for index, parameter in enumerate(signature.parameters.values() if signature else ()):
            position = index if parameter.kind in _BY_POSITION else None
            keyword: str | None = parameter.name
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY:
                keyword = None
            default = parameter.default if isinstance(parameter.default, Code) else None
            self._ordered.append(NewParameter(position, keyword, default))

    @classmethod
    def of(cls, name: str, lookup: SignatureLookup) -> NewParameters:
        """Look up what is known of the callable ``name``."""
        found = lookup(name)
        return cls(None if found is None else _parsed(found.text))

    def at(self, position: int) -> NewParameter:
        """Return the slot that a positional argument falls into."""
        found = next((slot for slot in self._ordered if slot.position == position), None)
        return found or NewParameter(position, None, None)

    def named(self, keyword: str) -> NewParameter:
        """Return the slot that a keyword argument falls into."""
        found = next((slot for slot in self._ordered if slot.keyword == keyword), None)
        return found or NewParameter(None, keyword, None)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> inspect.Signature | None:
    return Pattern.parse(f"_({text})").signature


def same_value(one: Code | None, other: Code | None) -> bool:
    """Say whether two defaults are the same value: ``'a'`` and ``"a"`` are, 1 and 1.0 are not."""
    if one is None or other is None:
        return False
    first, second = literal(one.node), literal(other.node)
    if first is UNKNOWN or second is UNKNOWN:
        return ast.dump(one.node) == ast.dump(other.node)
    return repr(first) == repr(second)


def accepts_same_calls(old: inspect.Signature, new: inspect.Signature | None) -> bool:
    """Say whether each call of ``old`` means the same to ``new``.

    ``new`` may have more parameters, as long as they are optional and come after the old ones.
    """
    if new is None:
        return False
    olds, news = list(old.parameters.values()), list(new.parameters.values())
    for before, after in zip(olds, news, strict=False):
        same_default = before.default is after.default or same_value(
            _code(before.default), _code(after.default)
        )
        if (before.name, before.kind) != (after.name, after.kind) or not same_default:
            return False
    return len(olds) <= len(news) and all(
        each.default is not inspect.Parameter.empty
        or each.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        for each in news[len(olds) :]
    )


def _code(default: object) -> Code | None:
    return default if isinstance(default, Code) else None
