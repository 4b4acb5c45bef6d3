"""Answers that are found once and kept with what they are about, and no longer than it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast


class Memoizes(Protocol):
    """What questions are asked about: a module, whose tree is too large to outlive its file."""

    answers: dict[Hashable, object]


_K = TypeVar("_K", bound=Memoizes)
_P = ParamSpec("_P")
_T = TypeVar("_T")


def once(ask: Callable[Concatenate[_K, _P], _T]) -> Callable[Concatenate[_K, _P], _T]:
    """Ask a function once for each object, and each further argument.

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
