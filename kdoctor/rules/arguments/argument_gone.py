"""Keyword arguments that Keras 2 accepted and the target refuses."""

from __future__ import annotations

import re

import libcst as cst

from kdoctor.analysis.calls import keras_version
from kdoctor.analysis.dataflow.keyword_dicts import HeldKeyword, held_keywords
from kdoctor.analysis.dataflow.possible_values import parameter_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keyword_changes import (
    REFUSALS,
    Change,
    change_of,
    is_refused,
    was_taken,
)
from kdoctor.analysis.queries.bound_calls import Bound, BoundKeyword, bound_keywords
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity, Span
from kdoctor.rewrite import remove_arguments
from kdoctor.rewrite.arguments import lost_with
from kdoctor.rules.arguments._move_input_shape import moved_with_a_size
from kdoctor.rules.arguments._replaced_keywords import Instead, instead_of
from kdoctor.rules.idioms._optimizers.whole import is_rewritten
from kdoctor.rules.rule import Example, rule
from kdoctor.value_types import Kind

# Rules of their own see to these: KD232, KD301, KD311, and saving (KD6).
_ELSEWHERE = frozenset({"input_shape", "input_dim"})
_DEFAULTS = ("workers=1", "sample_weight_mode=None", "time_major=False", "period=1")
_WITHOUT_DECAY = "the optimizer then works, but ignores `decay=`: the learning rate stays constant"
_FLOAT64 = "the result was float32, and becomes float64"
_LOOKUPS = frozenset({"IntegerLookup", "StringLookup"})  # which look at their keywords themselves
_TOLD = frozenset({
    "get_initial_state", "save", "save_model", "save_weights", "load_weights", "load_model",
})  # fmt: skip


def _is_known(callee: Bound) -> bool:
    return callee.is_known and callee.leaf not in _TOLD


def _is_gone(facts: TargetFacts, callee: Bound, keyword: str) -> bool:
    if keyword in _ELSEWHERE and callee.kind is not None:
        return False
    if not is_refused(callee.leaf, callee.kind, callee.new, keyword):
        return False
    if callee.kind is Kind.LAYER and keyword in {"batch_input_shape", "weights"}:
        return False  # KD301, KD311
    return was_taken(callee.leaf, callee.kind, keyword) or any(
        each.parameter(keyword) is not None for each in callee.olds(facts)
    )


@rule(
    "KD303",
    severity=Severity.ERROR,
    since="3.0",
    look_for=bound_keywords(_is_known, _is_gone),
)
def check(gone: BoundKeyword) -> Finding | None:
    """Report each keyword that is gone."""
    call, given = gone.bound, gone.given
    if is_rewritten(gone.module, gone.facts, call.call):
        return None  # KD524
    change = change_of(call.leaf, call.kind, gone.keyword, keras_version(gone.facts))
    return gone.finding(
        f"`{call.leaf}` no longer accepts `{gone.keyword}=`: {_error(gone)}",
        at=given.key if isinstance(given, HeldKeyword) else given,
        symbol=f"{call.name}({gone.keyword})",
        help=change.help,
        fix=_renamed_in_the_dict(gone, given, change)
        if isinstance(given, HeldKeyword)
        else _fix(gone, given, change),
    )


def _error(gone: BoundKeyword) -> str:
    call, keyword = gone.bound, gone.keyword
    value = gone.source(gone.value) if isinstance(gone.value, cst.BaseNumber) else "…"
    passed = f"{{'{keyword}': {value}}}"
    if call.leaf in _LOOKUPS:
        return f"ValueError: Unrecognized keyword argument(s): {passed}"
    if call.new.takes_any_keyword and call.leaf in REFUSALS:
        return f"{REFUSALS[call.leaf]} {passed}"
    if call.new.takes_any_keyword and call.kind is Kind.LAYER:
        return f"ValueError: Unrecognized keyword arguments passed to {call.made}: {passed}"
    if call.new.takes_any_keyword and call.kind is Kind.OPTIMIZER:
        return f"ValueError: Argument(s) not recognized: {passed}"
    return f"TypeError: {call.written} got an unexpected keyword argument '{keyword}'"


def _fix(gone: BoundKeyword, given: cst.Arg, change: Change) -> Fix | NoFix:
    module, call, keyword = gone.module, gone.bound, gone.keyword
    if change.renamed:
        return _renamed(gone, given, change.renamed)
    if (place := _place_of_another_name(gone)) is not None:
        return _by_position(gone, given, place)
    if keyword == "batch_size" and call.reference is not None:
        proof = check.applicability(check.group("moved-with-the-shape"))
        moved = moved_with_a_size(module, gone.facts, call.reference, proof)
        if moved is not None:
            return moved
    is_harmless = gone.source(gone.value) in change.harmless
    stays = call.is_partial or is_harmless
    instead = None if stays else instead_of(module, call, given)
    if instead is not None:
        return _written(gone, instead)
    default = is_harmless or _has_its_default(gone)
    handed_on = "" if default else _harmless_default(gone, change)
    if not change.drop and not default and not handed_on:
        return NoFix(change.no_fix_because)
    edits = remove_arguments(module, call.call, [given])
    if edits is None:
        return NoFix("there is a comment or an assignment inside it")
    lost = "" if default and not change.loses_default else change.loses or handed_on
    if not default:
        lost = "; ".join(filter(None, (lost, lost_with([gone.value]))))
    return gone.fix(
        f"Leave out `{keyword}={_shown(gone)}`",
        *edits,
        unsafe_because=lost,
        proven_by=_examples_of_defaults() if default else _examples_of(keyword),
    )


def _renamed(gone: BoundKeyword, given: cst.Arg, name: str) -> Fix | NoFix:
    call, keyword = gone.bound, gone.keyword
    if call.keyword(name) is not None:
        return NoFix(f"`{name}=` is also passed")
    if (instead := instead_of(gone.module, call, given)) is not None:
        return _written(gone, instead)
    assert given.keyword is not None
    edit = Edit(gone.module.span(given.keyword), (name,))
    title = f"Write `{name}=` instead of `{keyword}=`"
    if _stays_ignored(gone):
        return gone.fix(title, edit, unsafe_because=_WITHOUT_DECAY)
    if call.is_partial and call.leaf == "to_categorical":
        return gone.fix(title, edit, unsafe_because=_FLOAT64)
    return gone.fix(title, edit, proven_by=_examples_of(keyword))


def _place_of_another_name(gone: BoundKeyword) -> int | None:
    """Return the position of a parameter that kept its place and got another name.

    Both it and what stands there now must be passed, and all else that must be is.
    """
    call = gone.bound
    if not call.method or any(each.star for each in call.args):
        return None
    for old in call.olds(gone.facts):
        names = [each.name for each in old.parameters]
        if gone.keyword not in names:
            continue
        place = names.index(gone.keyword)
        by_position = sum(each.keyword is None for each in call.args)
        wanted = {position for name, position in call.required if call.keyword(name) is None}
        is_wanted = old.parameters[place].default is None and place in wanted
        is_new = is_wanted and call.new.parameters[place].name not in names
        return place if is_new and wanted - set(range(by_position)) == {place} else None
    return None


def _by_position(gone: BoundKeyword, given: cst.Arg, place: int) -> Fix | NoFix:
    """Pass it by position, where what comes before it is so passed; else by its new name."""
    assert given.keyword is not None
    written = gone.module.span(given.keyword)
    before = gone.bound.args[:place]
    if (
        gone.bound.args[place:]
        and given is gone.bound.args[place]
        and not any(each.keyword for each in before)
    ):
        edit = Edit(Span(written.start, gone.module.outer_span(given.value).start), ("",))
        return gone.fix(
            f"Pass `{gone.keyword}` by position", edit, proven_by=_examples_of(gone.keyword)
        )
    name = gone.bound.new.parameters[place].name
    if not name.strip("_"):
        return NoFix("it must be passed by position, and something stands before it")
    edit = Edit(written, (name,))
    title = f"Write `{name}=` instead of `{gone.keyword}=`"
    return gone.fix(title, edit, proven_by=_examples_of(gone.keyword))


def _written(gone: BoundKeyword, instead: Instead) -> Fix | NoFix:
    return gone.fix(
        instead.title,
        *instead.edits,
        imports=instead.imports,
        unsafe_because=instead.unsafe_because,
        proven_by=_examples_of(instead.gone or gone.keyword),
    )


def _renamed_in_the_dict(gone: BoundKeyword, held: HeldKeyword, change: Change) -> Fix | NoFix:
    name, call = change.renamed, gone.bound
    if not name:
        return NoFix(change.no_fix_because)
    if not held.is_alone:
        return NoFix("the dict is also used elsewhere")
    others = {each.keyword for each in held_keywords(gone.module, call.call)}
    by_position = any(each.keyword is None and each.star != "**" for each in call.args)
    if call.keyword(name) is not None or name in others or by_position:
        return NoFix(f"`{name}=` may also be passed")
    title = f"Write `{name}` instead of `{held.keyword}`"
    edit = held.renamed(gone.module, name)
    return gone.fix(title, edit, proven_by=_examples_of(held.keyword))


def _harmless_default(gone: BoundKeyword, change: Change) -> str:
    """Return what is lost with a parameter that is harmless by default, "" where it may not be."""
    parameter = parameter_of(gone.module, gone.value)
    if parameter is None or parameter.default is None or not isinstance(gone.value, cst.Name):
        return ""
    if gone.module.source(parameter.default) not in change.harmless:
        return ""
    return f"`{gone.value.value}` then does nothing, whoever passes another value than the default"


def _has_its_default(gone: BoundKeyword) -> bool:
    """Say whether what is passed is what every release that had the parameter took anyway."""
    value = gone.source(gone.value)
    if gone.keyword == "dtype" and value != "None":
        return False  # what is made without it has another type now
    defaults = [
        found.default
        for each in gone.bound.olds(gone.facts)
        if (found := each.parameter(gone.keyword)) is not None
    ]
    return bool(defaults) and all(default == value for default in defaults)


def _shown(gone: BoundKeyword) -> str:
    span = gone.module.outer_span(gone.value)
    source = gone.module.text[span.start : span.end]
    return source if len(source) <= 30 and "\n" not in source else "…"


def _stays_ignored(gone: BoundKeyword) -> bool:
    from kdoctor.rules.behaviour import decay_is_ignored  # noqa: PLC0415 - few files need it

    reference = gone.bound.reference
    return reference is not None and decay_is_ignored.stays_ignored(
        gone.module, gone.facts, reference
    )


def _examples_of(keyword: str) -> list[Example]:
    """A keyword is proven by the examples in which it is what goes."""
    word = re.compile(rf"\b{keyword}[=(]")
    return [
        each
        for each in check.invalid
        if each.after and not each.unsafe
        if word.search(each.before) and not word.search(each.after)
    ]


def _examples_of_defaults() -> list[Example]:
    """To pass a default is to say nothing, whatever the keyword."""
    return [each for each in check.invalid if any(shown in each.before for shown in _DEFAULTS)]
