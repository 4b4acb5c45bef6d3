"""`class Block(Layer): def __init__(self, units)`: models with it are saved, but not loaded again."""  # noqa: E501 - as on its page

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kdoctor.analysis.queries import File, files
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._default_config import (
    KEEPS_MODELS,
    KeptArgument,
    UserConfig,
    given_to,
    is_plain,
    kept,
    own_config,
    says_its_config,
    takes_all,
    takes_keywords,
    wants_some,
)
from kdoctor.value_types import Kind

_REFUSED: Final = "got an unexpected keyword argument 'trainable'"
_NOT_NOTED: Final = (
    "NotImplementedError: Object {} was created by passing non-serializable argument values"
)
_MAY_NEED_MORE: Final = (
    "an argument that is not a number, string or None must be recreated in a `from_config`"
)


@rule(
    "KD613",
    severity=Severity.ERROR,
    since="3.0",
    look_for=files(
        KEEPS_MODELS,
        own_config(Kind.LAYER, lambda init: not takes_all(init))
        | own_config(Kind.MODEL, lambda init: wants_some(init) or not takes_all(init)),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such class once."""
    by_class: dict[UserConfig, list[KeptArgument]] = {}
    for each in kept(file.module, file.facts):
        by_class.setdefault(each.own, []).append(each)
    for own, objects in by_class.items():
        if _wants_arguments(own) or not own.takes_what_is_said:
            yield _finding(file, own, objects)


def _wants_arguments(own: UserConfig) -> bool:
    """Say whether Keras does not know what an object of the class was made with."""
    return own.kind is Kind.MODEL and bool(own.wanted)


def _finding(file: File, own: UserConfig, objects: list[KeptArgument]) -> Finding:
    name = own.node.name.value
    said = (
        f"`{name}` is saved or copied below, and Keras 3 does not record the arguments of a "
        f"model class: {_NOT_NOTED.format(name)}"
        if _wants_arguments(own)
        else f"a model with a `{name}` is saved or copied, but `{name}` cannot be recreated: "
        f"TypeError: {name}.__init__() {_REFUSED}"
    )
    return file.finding(
        said,
        at=own.init.name,
        symbol=f"{name}.__init__",
        help=(
            "Write a `get_config` that returns its arguments, and accept `**kwargs` for the "
            "base class."
        )
        if _wants_arguments(own)
        else "Accept `**kwargs`, and pass them to `super().__init__`.",
        fix=_fix(file, own, objects),
    )


def _fix(file: File, own: UserConfig, objects: list[KeptArgument]) -> Fix | NoFix:
    module = file.module
    why_not = NoFix("the `get_config` for its arguments must be written by hand")
    edits = () if own.takes_what_is_said else takes_keywords(module, own)
    if edits is None:
        return why_not
    title = "Accept `**kwargs` for the base class"
    if _wants_arguments(own):
        config = says_its_config(module, own)
        if config is None:
            return why_not
        title = "Add a `get_config` that returns its arguments"
        edits = (*edits, config)
    values = [value for each in objects for value in given_to(own, each.call).values()]
    if any(module.type_of(each) is not None for each in values):
        return why_not  # a layer or a model: it has to be made anew itself
    if not is_plain(module, values):
        return file.fix(title, *edits, unsafe_because=_MAY_NEED_MORE)
    return file.fix(title, *edits)
