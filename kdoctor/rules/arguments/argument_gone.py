"""Keyword arguments that Keras 2 accepted and the target refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Applicability, Edit, Finding, Fix, NoFix, Place, Severity
from kdoctor.rewrite import remove_arguments
from kdoctor.rules.arguments._keras_calls import KerasCall, keras_calls, partial_calls
from kdoctor.rules.arguments._keyword_changes import (
    REFUSALS,
    Change,
    change_of,
    is_refused,
    was_taken,
)
from kdoctor.rules.arguments._keyword_dicts import HeldKeyword, held_keywords, may_get_out_of_a_dict
from kdoctor.rules.arguments._may_be_called import Callee, passes
from kdoctor.rules.arguments._move_input_shape import moved_with_a_size
from kdoctor.rules.arguments._replaced_keywords import Instead, instead_of
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, Reference
from kdoctor.syntax.quick_facts import QuickCall
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


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each keyword that is gone."""
    told: set[cst.CSTNode] = set()  # keys of dicts, which several calls may get
    for call in (*keras_calls(module, facts), *partial_calls(module, facts)):
        if call.leaf in _TOLD or not call.is_known:
            continue
        for argument in call.call.args:
            if argument.keyword is None or argument.keyword.value in _ELSEWHERE:
                continue
            if _is_gone(facts, call, argument.keyword.value) and not module.is_guarded(call.call):
                yield _finding(module, facts, call, argument)
        for held in held_keywords(module, call.call):
            is_new = held.key not in told and not module.is_guarded(call.call)
            if is_new and _may_go(facts, call, held.keyword):
                told.add(held.key)
                yield _of_a_dict(module, facts, call, held)


def _is_asked(callee: Callee) -> bool:
    return callee.is_known and callee.leaf not in _TOLD


def _may_be_gone(facts: TargetFacts, callee: Callee, called: QuickCall) -> bool:
    if called.keywords <= callee.takes:
        return False  # as nearly always
    given = called.keywords - callee.takes - _ELSEWHERE
    return any(_is_gone(facts, callee, each) for each in given)


def _may_go(facts: TargetFacts, call: KerasCall | Callee, keyword: str) -> bool:
    return keyword not in _ELSEWHERE and _is_gone(facts, call, keyword)


def _is_gone(facts: TargetFacts, call: KerasCall | Callee, keyword: str) -> bool:
    if not is_refused(call.leaf, call.kind, call.new, keyword):
        return False
    if call.kind is Kind.LAYER and keyword in {"batch_input_shape", "weights"}:
        return False  # KD301, KD311
    return was_taken(call.leaf, call.kind, keyword) or any(
        each.parameter(keyword) is not None for each in call.olds(facts)
    )


def _finding(module: Module, facts: TargetFacts, call: KerasCall, argument: cst.Arg) -> Finding:
    assert argument.keyword is not None
    keyword = argument.keyword.value
    change = change_of(call.leaf, call.kind, keyword)
    attempt = _fix(module, facts, call, argument, change)
    error = _error(module, call, keyword, argument.value)
    return _told(call, keyword, error, module.place(argument), attempt)


def _of_a_dict(module: Module, facts: TargetFacts, call: KerasCall, held: HeldKeyword) -> Finding:
    change = change_of(call.leaf, call.kind, held.keyword)
    error = _error(module, call, held.keyword, held.value)
    attempt = _fix_in_the_dict(module, facts, call, held, change)
    return _told(call, held.keyword, error, module.place(held.key), attempt)


def _told(call: KerasCall, keyword: str, error: str, place: Place, attempt: Fix | NoFix) -> Finding:
    return rule.finding(
        place,
        f"`{call.leaf}` no longer accepts `{keyword}=`: {error}",
        symbol=f"{call.name}({keyword})",
        confidence=call.confidence,
        help=change_of(call.leaf, call.kind, keyword).help,
        fix=attempt,
    )


def _error(module: Module, call: KerasCall, keyword: str, given: cst.BaseExpression) -> str:
    value = module.source(given) if isinstance(given, cst.BaseNumber) else "…"
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


def _fix(
    module: Module, facts: TargetFacts, call: KerasCall, argument: cst.Arg, change: Change
) -> Fix | NoFix:
    assert argument.keyword is not None
    keyword = argument.keyword.value
    if change.renamed:
        if call.keyword(change.renamed) is not None:
            return NoFix(f"`{change.renamed}=` is also passed")
        if (instead := instead_of(module, call, argument)) is not None:
            return _written(facts, keyword, instead)
        edit = Edit(module.span(argument.keyword), (change.renamed,))
        title = f"Write `{change.renamed}=` instead of `{keyword}=`"
        if call.reference is not None and _stays_ignored(module, facts, call.reference):
            return Fix(title, (edit,), Applicability.UNSAFE, unsafe_because=_WITHOUT_DECAY)
        if call.is_partial and call.leaf == "to_categorical":
            return Fix(title, (edit,), Applicability.UNSAFE, unsafe_because=_FLOAT64)
        return Fix(title, (edit,), _proven(facts, keyword))
    if keyword == "batch_size" and call.reference is not None:
        proof = facts.applicability(*rule.group("moved-with-the-shape"))
        moved = moved_with_a_size(module, facts, call.reference, proof)
        if moved is not None:
            return moved
    stays = call.is_partial or _is_harmless(module, argument, change)
    instead = None if stays else instead_of(module, call, argument)
    if instead is not None:
        return _written(facts, keyword, instead)
    default = _has_its_default(module, facts, call, argument) or _is_harmless(
        module, argument, change
    )
    if not change.drop and not default:
        return NoFix(change.no_fix_because)
    edits = remove_arguments(module, call.call, [argument])
    if edits is None:
        return NoFix("there is a comment inside it")
    lost = "" if default else change.loses
    if not default and _does_something(argument.value):
        lost = "; ".join(filter(None, [lost, "the call that computes its value is no longer made"]))
    return Fix(
        f"Leave out `{keyword}={_shown(module, argument)}`",
        tuple(edits),
        Applicability.UNSAFE
        if lost
        else _proven_of_defaults(facts)
        if default
        else _proven(facts, keyword),
        unsafe_because=lost,
    )


def _written(facts: TargetFacts, keyword: str, instead: Instead) -> Fix:
    return Fix(
        instead.title,
        instead.edits,
        Applicability.UNSAFE if instead.unsafe_because else _proven(facts, keyword),
        instead.imports,
        unsafe_because=instead.unsafe_because,
    )


def _fix_in_the_dict(
    module: Module, facts: TargetFacts, call: KerasCall, held: HeldKeyword, change: Change
) -> Fix | NoFix:
    name = change.renamed
    if not name:
        return NoFix(change.no_fix_because)
    if not held.is_alone:
        return NoFix("the dict is also used elsewhere")
    others = {each.keyword for each in held_keywords(module, call.call)}
    by_position = any(each.keyword is None and each.star != "**" for each in call.call.args)
    if call.keyword(name) is not None or name in others or by_position:
        return NoFix(f"`{name}=` may also be passed")
    title = f"Write `{name}` instead of `{held.keyword}`"
    return Fix(title, (held.renamed(module, name),), _proven(facts, held.keyword))


def _is_harmless(module: Module, argument: cst.Arg, change: Change) -> bool:
    return module.source(argument.value) in change.harmless


def _has_its_default(
    module: Module, facts: TargetFacts, call: KerasCall, argument: cst.Arg
) -> bool:
    """Say whether what is passed is what every release that had the parameter took anyway."""
    assert argument.keyword is not None
    value = module.source(argument.value)
    if argument.keyword.value == "dtype" and value != "None":
        return False  # what is made without it has another type now
    defaults = [
        found.default
        for each in call.olds(facts)
        if (found := each.parameter(argument.keyword.value)) is not None
    ]
    return bool(defaults) and all(default == value for default in defaults)


def _does_something(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Call | cst.Await | cst.NamedExpr)


def _shown(module: Module, argument: cst.Arg) -> str:
    source = module.source(argument.value)
    return source if len(source) <= 30 and "\n" not in source else "…"


def _stays_ignored(module: Module, facts: TargetFacts, reference: Reference) -> bool:
    from kdoctor.rules.behaviour import decay_is_ignored  # noqa: PLC0415 - few files need it

    return decay_is_ignored.stays_ignored(module, facts, reference)


def _proven(facts: TargetFacts, keyword: str) -> Applicability:
    """A keyword is proven by the examples in which it is what goes."""
    word = re.compile(rf"\b{keyword}=")
    return facts.applicability(
        *(
            each
            for each in rule.invalid
            if each.after and not each.unsafe
            if word.search(each.before) and not word.search(each.after)
        )
    )


def _proven_of_defaults(facts: TargetFacts) -> Applicability:
    """To pass a default is to say nothing, whatever the keyword."""
    return facts.applicability(
        *(each for each in rule.invalid if any(shown in each.before for shown in _DEFAULTS))
    )


rule = Rule(
    code="KD303",
    name="argument-gone",
    family="arguments",
    severity=Severity.ERROR,
    check=check,
    triggers=passes(_may_be_gone, of=_is_asked) | may_get_out_of_a_dict(_may_go, of=_is_asked),
    since="3.0",
)
