"""`Net(rate=0.9)` is saved, and comes back with the default of `rate`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import File, files
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._default_config import (
    KEEPS_MODELS,
    OF_BASE,
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
from kdoctor.syntax import Module
from kdoctor.syntax.literals import UNKNOWN, literal
from kdoctor.value_types import Kind

_MADE_THERE = (cst.Call, cst.Dict, cst.Lambda, cst.List, cst.Tuple)


@rule(
    "KD614",
    severity=Severity.CHANGE,
    since="3.0",
    look_for=files(
        KEEPS_MODELS,
        own_config(Kind.MODEL, lambda init: takes_all(init) and not wants_some(init)),
    ),
)
def check(file: File) -> Iterator[Finding]:
    """Report each such making of a model."""
    for each in kept(file.module, file.facts):
        own = each.own
        if own.kind is not Kind.MODEL or own.wanted or not own.takes_what_is_said:
            continue  # of the others KD613 tells: they are not saved, or not loaded
        lost = _lost(file.module, each)
        if lost:
            yield _finding(file, each, lost)


def _lost(
    module: Module, made: KeptArgument
) -> dict[str, tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Return what is given and what is the default of each parameter that surely differs."""
    given = given_to(made.own, made.call)
    return {
        name: (value, default)
        for each in made.own.parameters
        if (name := each.name.value) in given and name not in OF_BASE
        if (default := each.default) is not None
        if _differs(module, value := given[name], default)
    }


def _differs(module: Module, value: cst.BaseExpression, default: cst.BaseExpression) -> bool:
    value, default = value_of(module, value), value_of(module, default)
    is_none = literal(default) is None
    if literal(value) is UNKNOWN or literal(default) is UNKNOWN:
        return is_none and isinstance(value, _MADE_THERE)
    return bool(literal(value) != literal(default))


def _finding(
    file: File,
    made: KeptArgument,
    lost: dict[str, tuple[cst.BaseExpression, cst.BaseExpression]],
) -> Finding:
    shown = ", ".join(
        f"`{each}` {file.source(default)}, not {file.source(value)}"
        for each, (value, default) in lost.items()
    )
    return file.finding(
        f"this model is saved or copied as a whole, and comes back with {shown}: Keras 3 does "
        "not record the arguments of a model class",
        at=made.call,
        symbol=f"{made.own.node.name.value}.__init__",
        help="Write a `get_config` that returns its arguments.",
        fix=_fix(file, made.own, [value for value, _ in lost.values()]),
    )


def _fix(file: File, own: UserConfig, values: list[cst.BaseExpression]) -> Fix | NoFix:
    """Return the fix that adds a ``get_config``, where it is all that is needed."""
    module = file.module
    keywords = () if own.init.params.star_kwarg is not None else takes_keywords(module, own)
    config = says_its_config(module, own)
    hands_on = any(each.star == "**" for each in own.to_base.args) or keywords
    if keywords is None or config is None or not hands_on or not is_plain(module, values):
        return NoFix(
            "`__init__` does not store its arguments, or more is needed than a `get_config`"
        )
    return file.fix("Add a `get_config` that returns its arguments", *keywords, config)
