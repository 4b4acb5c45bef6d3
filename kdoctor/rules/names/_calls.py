"""Whether calls of a moved name mean the same to it as its release before the move."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable

import libcst as cst

from kdoctor.keras_api import Signature

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def mean_the_same(
    calls: Iterable[cst.Call | None], old: Signature | None, new: Signature | None
) -> bool:
    """Say whether every call binds the same parameters by both signatures, defaults included.

    None among ``calls`` is a use that is no call (a base class, an argument): the object itself is
    meant, and that is the same.
    """
    return all(call is None or _means_the_same(call, old, new) for call in calls)


def _means_the_same(call: cst.Call, old: Signature | None, new: Signature | None) -> bool:
    if old is None or new is None or any(argument.star for argument in call.args):
        return False
    position, given = 0, set[str]()
    olds, news = _positional(old), _positional(new)
    for argument in call.args:
        if argument.keyword is not None:
            name = argument.keyword.value
            if new.parameter(name) is None:
                return False
        elif position < min(len(olds), len(news)) and olds[position] == news[position]:
            name = olds[position]
            position += 1
        else:
            return False
        given.add(name)
    return all(
        _same_default(parameter.default, other.default)
        for parameter in old.parameters
        if parameter.name not in given and (other := new.parameter(parameter.name)) is not None
    ) and all(
        parameter.default is not None or parameter.name in given
        for parameter in new.parameters
        if parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    )


def _positional(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_POSITION]


def _same_default(one: str | None, other: str | None) -> bool:
    if one == other:
        return True
    if one is None or other is None:
        return False
    try:
        return repr(ast.literal_eval(one)) == repr(ast.literal_eval(other))
    except ValueError:
        return False
