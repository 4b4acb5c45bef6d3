"""Memoize functions per object: results live as long as the object they are about."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast


class Memoizes(Protocol):
    """Base of objects that hold memoized results about themselves."""

    answers: dict[Hashable, object]


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
        key = ask, *others, *named.items()
        if key not in answers:
            answers[key] = ask(about, *others, **named)
        return cast("_T", answers[key])

    return cast("Callable[Concatenate[_K, _P], _T]", asked)
