"""Memoize functions per object: results live as long as the object they are about."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar, cast


class Memoizes(Protocol):
    """Base of objects that hold memoized results about themselves."""

    answers: dict[Hashable, object]


_UNKNOWN: Final = object()
_K = TypeVar("_K", bound=Memoizes)
_P = ParamSpec("_P")
_T = TypeVar("_T")


def once(ask: Callable[Concatenate[_K, _P], _T]) -> Callable[Concatenate[_K, _P], _T]:
    """Memoize a function by its first argument, and by each further argument.

    An ``lru_cache`` would keep the last few objects alive.
    """

    @wraps(ask)
    def asked(about: _K, /, *others: _P.args, **named: _P.kwargs) -> _T:
        answers = about.answers
        key = (ask, *others, *named.items()) if named else (ask, *others)
        found = answers.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            found = answers[key] = ask(about, *others, **named)
        return found  # type: ignore[return-value] # what ``ask`` gave

    return cast("Callable[Concatenate[_K, _P], _T]", asked)


def unowned(about: _T) -> _T:
    """Return a weak proxy of an object, for what is memoized about it: no ring keeps it alive."""
    if type(about) is weakref.ProxyType:
        return about
    return cast("_T", weakref.proxy(about))
