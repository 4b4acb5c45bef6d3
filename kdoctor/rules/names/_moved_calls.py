"""Whether calls of a moved name mean the same to it as its release before the move."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, zip_longest

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keyword_changes import is_refused, is_taken
from kdoctor.analysis.queries.callables import Callee, callee_of
from kdoctor.keras_api import Parameter, Signature
from kdoctor.syntax.literals import UNKNOWN, literal_in
from kdoctor.value_types import Kind

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

# The same argument under another name: `to_categorical(y)` is `to_categorical(x)` now. Only what
# an example of the rule was run with.
_RENAMED = (("y", "x"), ("alpha", "negative_slope"), ("args", "custom_objects"))

# None and False are the same to these, and 1 is as good as (1, 1) to those.
_SWITCHES = frozenset({"sparse", "ragged"})
_SIZES = frozenset({"padding"})

# What a function makes has the type that this parameter had by default: where it is gone, so is
# the type.
_TYPE_OF_RESULT = frozenset({"dtype"})

# Parameters of which the old default is written at the call where it is another now. An example of
# the rule runs each. Of others it would be refused, or mean something else: the old `hard_sigmoid`
# is another function, and `initial_scale=None` no number.
WRITTEN_OUT = frozenset(
    {"data_format", "dpi", "ema_overwrite_frequency", "pool_size", "reset_after"}
    | {"show_layer_names", "width"}
)

# What every layer and model takes out of `**kwargs`, then and now.
_OF_EVERY_LAYER = frozenset({"dtype", "input_dim", "input_shape", "name", "trainable"})


def means_the_same(
    call: cst.Call | None, old: Signature | None, new: Signature | None, callee: Callee | None
) -> bool:
    """Say whether a call binds the same parameters by both signatures, defaults included.

    None is a use that is no call (a base class, an argument): the object itself is meant, and that
    is the same, unless what it gives has another type, whoever calls it. A keyword that ``callee``,
    which has the new signature, surely refuses is told of by itself (KD303), and raises there: it
    has no other meaning.
    """
    if call is None:
        return not _gone_types(old, new)
    return _means_the_same(call, old, new, callee)


def changed_defaults(
    calls: Sequence[cst.Call | None], old: Signature | None, new: Signature | None
) -> list[str]:
    """Return in words which defaults that the calls rest on are others now, and are not kept."""
    if old is None or new is None:
        return []
    given = [_given(call, old) for call in calls if call is not None]
    handed_on = any(call is None for call in calls)
    partners = _partners(old, new)
    lost = [
        f"`{each.name}` was {each.default} by default, and is gone: the result has another dtype"
        for each in _gone_types(old, new)
        if handed_on or any(names is not None and each.name not in names for names in given)
    ]
    return lost + [
        f"`{each.name}` was {each.default} by default and "
        f"{'must be given' if now is None else f'is {now}'} now"
        for each in old.parameters
        if each.name in partners
        and each.default is not None
        and not _is_written_out(each, new, partners)
        for now in (_default(new, partners[each.name]),)
        if not _same_default(each.name, each.default, now)
        and any(names is not None and each.name not in names for names in given)
    ]


def old_defaults(
    call: cst.Call | None, old: Signature | None, new: Signature | None
) -> tuple[str, ...]:
    """Return the keyword arguments that keep, at a call, the defaults that it rests on."""
    given = None if call is None or old is None else _given(call, old)
    if old is None or new is None or given is None:
        return ()
    partners = _partners(old, new)
    return tuple(
        f"{partners[each.name]}={each.default}"
        for each in old.parameters
        if each.name in partners and each.name not in given and _is_written_out(each, new, partners)
    )


def _is_written_out(parameter: Parameter, new: Signature, partners: Mapping[str, str]) -> bool:
    name = partners[parameter.name]
    return (
        parameter.name in WRITTEN_OUT
        and parameter.default is not None
        and literal_in(parameter.default) is not UNKNOWN
        and not _same_default(parameter.name, parameter.default, _default(new, name))
    )


def misplaced(
    call: cst.Call, old: Signature | None, new: Signature | None
) -> tuple[str, str | None] | None:
    """Return a parameter that a place of a call filled, and what that place fills now, if anything.

    The first place is for what the thing is about, whatever its name.
    """
    if old is None or new is None or any(argument.star for argument in call.args):
        return None
    by_position = sum(argument.keyword is None for argument in call.args)
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in new.parameters):
        return None
    places = zip_longest(_positional(old)[:by_position], _positional(new))
    return next(
        (
            (before, now)
            for before, now in islice(places, 1, by_position)
            if before is not None and before != now and (before, now) not in _RENAMED
        ),
        None,
    )


def refused_keyword(call: cst.Call | None, new: str, facts: TargetFacts) -> str | None:
    """Return a keyword of a call that what it is to call surely refuses."""
    callee = callee_of(new, facts)
    if call is None or callee is None:
        return None
    given = (each.keyword.value for each in call.args if each.keyword is not None)
    refused = (each for each in given if is_refused(callee.leaf, callee.kind, callee.new, each))
    return next(refused, None)


def _means_the_same(
    call: cst.Call, old: Signature | None, new: Signature | None, callee: Callee | None
) -> bool:
    if old is None or new is None:
        return False
    partners = _partners(old, new)
    given = _given(call, old)
    keywords = {each.keyword.value for each in call.args if each.keyword}
    told = {each for each in keywords if _refuses(callee, each)}
    taken = {each for each in keywords - told if _takes(callee, each)}
    known = _passed_on(old, new) | told | taken
    if given is None or not given - known <= partners.keys():
        return False
    by_position = sum(argument.keyword is None for argument in call.args)
    if [partners.get(name) for name in _filled(old, by_position)] != _filled(new, by_position):
        return False
    if any(new.parameter(each) is None and each not in known for each in keywords):
        return False
    if any(each.name not in given for each in _gone_types(old, new)):
        return False
    left_out = [
        parameter
        for parameter in old.parameters
        if parameter.name not in given
        and not (parameter.name in partners and _is_written_out(parameter, new, partners))
    ]
    written = {each.partition("=")[0] for each in old_defaults(call, old, new)}
    filled = {partners.get(name, name) for name in given} | written
    return all(
        _same_default(parameter.name, parameter.default, _default(new, partners[parameter.name]))
        for parameter in left_out
        if parameter.name in partners
    ) and all(
        parameter.default is not None or parameter.name in filled
        for parameter in new.parameters
        if parameter.kind not in _VARIADIC
    )


def _refuses(callee: Callee | None, keyword: str) -> bool:
    return callee is not None and is_refused(callee.leaf, callee.kind, callee.new, keyword)


def _takes(callee: Callee | None, keyword: str) -> bool:
    """Say whether a layer still takes a keyword that is no parameter of it any more."""
    return (
        callee is not None
        and callee.kind is Kind.LAYER
        and is_taken(callee.leaf, callee.kind, keyword) is True
    )


def _gone_types(old: Signature | None, new: Signature | None) -> list[Parameter]:
    """Return the old parameters, now gone, whose default was the type of the result."""
    if old is None or new is None:
        return []
    return [
        each
        for each in old.parameters
        if each.name in _TYPE_OF_RESULT
        and each.default not in (None, "None")
        and new.parameter(each.name) is None
    ]


def _partners(old: Signature, new: Signature) -> dict[str, str]:
    """Map the old parameters to the new ones that take the same argument.

    A parameter keeps its name, and by position also its place; a few have got another name.
    """
    partners = {each.name: each.name for each in old.parameters if new.parameter(each.name)}
    return partners | {
        before: after
        for before, after in _RENAMED
        if old.parameter(before) and new.parameter(after) and not new.parameter(before)
    }


def _passed_on(old: Signature, new: Signature) -> frozenset[str]:
    """Return the keywords that both pass on to `Layer`: they are no parameters of their own."""
    if old.takes_any_keyword and new.takes_any_keyword:
        return frozenset(each for each in _OF_EVERY_LAYER if old.parameter(each) is None)
    return frozenset()


def _given(call: cst.Call, old: Signature) -> set[str] | None:
    """Return which old parameters a call fills, None where its places do not tell."""
    if any(argument.star for argument in call.args):
        return None
    by_position = sum(argument.keyword is None for argument in call.args)
    names = _filled(old, by_position)
    if by_position > len(names):
        return None
    keywords = {argument.keyword.value for argument in call.args if argument.keyword}
    return keywords | set(names)


def _filled(signature: Signature, by_position: int) -> list[str]:
    """Return the parameters that so many arguments fill; one argument may fill ``*args`` alone."""
    names = _positional(signature)
    if not names and by_position == 1:
        names = [
            each.name
            for each in signature.parameters
            if each.kind is inspect.Parameter.VAR_POSITIONAL
        ]
    return names[:by_position]


def _positional(signature: Signature) -> list[str]:
    return [each.name for each in signature.parameters if each.kind in _BY_POSITION]


def _default(signature: Signature, name: str) -> str | None:
    parameter = signature.parameter(name)
    return None if parameter is None else parameter.default


@lru_cache(maxsize=2048)
def _same_default(name: str, one: str | None, other: str | None) -> bool:
    """Say whether two defaults of a parameter mean the same, however they are written."""
    if one == other:
        return True
    if one is None or other is None:
        return False
    old, new = literal_in(one), literal_in(other)
    if old is UNKNOWN or new is UNKNOWN:
        return False
    return repr(old) == repr(new) or _means_no_other(name, old, new)


def _means_no_other(name: str, old: object, new: object) -> bool:
    """Compare what a parameter takes in several forms; each was run in an example of the rule."""
    if name == "name":
        return True  # what has got no name names itself
    if name in _SWITCHES:
        return not old and not new
    if name in _SIZES:
        return set(_flat(old)) == set(_flat(new))
    return name.endswith("_initializer") and str(old).lower() == str(new).lower()


def _flat(size: object) -> Iterator[object]:
    """Yield the numbers of ``((1, 1), (1, 1))``, which mean what ``1`` means where all agree."""
    if isinstance(size, tuple):
        for each in size:
            yield from _flat(each)
    else:
        yield size
