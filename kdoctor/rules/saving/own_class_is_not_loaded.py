"""`class Block(Layer): def __init__(self, units)`: models with it are saved, but not loaded again."""  # noqa: E501 - as on its page

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Applicability, Confidence, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Rule
from kdoctor.rules.saving._default_config import (
    KeptArgument,
    MayHaveConfig,
    UserConfig,
    given_to,
    is_plain,
    kept,
    leaves_it,
    says_its_config,
    takes_keywords,
)
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_REFUSED: Final = "got an unexpected keyword argument 'trainable'"
_NOT_NOTED: Final = (
    "NotImplementedError: Object {} was created by passing non-serializable argument values"
)
_MAY_NEED_MORE: Final = (
    "an argument that is not a number, string or None must be recreated in a `from_config`"
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such class once."""
    by_class: dict[UserConfig, list[KeptArgument]] = {}
    for each in kept(module, facts):
        by_class.setdefault(each.own, []).append(each)
    for own, objects in by_class.items():
        if _wants_arguments(own) or not own.takes_what_is_said:
            yield _finding(module, facts, own, objects)


def _wants_arguments(own: UserConfig) -> bool:
    """Say whether Keras does not know what an object of the class was made with."""
    return own.kind is Kind.MODEL and bool(own.wanted)


def _finding(
    module: Module, facts: TargetFacts, own: UserConfig, objects: list[KeptArgument]
) -> Finding:
    name = own.node.name.value
    said = (
        f"`{name}` is saved or copied below, and Keras 3 does not record the arguments of a "
        f"model class: {_NOT_NOTED.format(name)}"
        if _wants_arguments(own)
        else f"a model with a `{name}` is saved or copied, but `{name}` cannot be recreated: "
        f"TypeError: {name}.__init__() {_REFUSED}"
    )
    fix = _fix(module, facts, own, objects)
    return rule.finding(
        module.place(own.init.name),
        said,
        symbol=f"{name}.__init__",
        confidence=Confidence.LIKELY,
        help=(
            "Write a `get_config` that returns its arguments, and accept `**kwargs` for the "
            "base class."
        )
        if _wants_arguments(own)
        else "Accept `**kwargs`, and pass them to `super().__init__`.",
        fix=fix or NoFix("the `get_config` for its arguments must be written by hand"),
    )


def _fix(
    module: Module, facts: TargetFacts, own: UserConfig, objects: list[KeptArgument]
) -> Fix | None:
    edits = () if own.takes_what_is_said else takes_keywords(module, own)
    if edits is None:
        return None
    title = "Accept `**kwargs` for the base class"
    if _wants_arguments(own):
        config = says_its_config(module, own)
        if config is None:
            return None
        title = "Add a `get_config` that returns its arguments"
        edits = (*edits, config)
    values = [value for each in objects for value in given_to(own, each.call).values()]
    if any(module.type_of(each) is not None for each in values):
        return None  # a layer or a model: it has to be made anew itself
    if not is_plain(module, values):
        return Fix(title, edits, Applicability.UNSAFE, unsafe_because=_MAY_NEED_MORE)
    return Fix(
        title, edits, facts.applicability(*(e for e in rule.invalid if e.after and not e.unsafe))
    )


def _may_not_be_loaded(found: MayHaveConfig) -> bool:
    return not found.takes_what_is_said or (found.kind is Kind.MODEL and found.wants_arguments)


rule = Rule(
    code="KD613",
    name="own-class-is-not-loaded",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=leaves_it(_may_not_be_loaded),
    since="3.0",
)
