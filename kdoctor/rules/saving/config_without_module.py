"""``layers.deserialize({"class_name": …, "config": …})``: the dict does not name the module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import names, string
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module, Reference

_FUNCTION: Final = "layers.deserialize"
_CLASS, _CONFIG, _MODULE = "class_name", "config", "module"
_CUSTOM: Final = frozenset({
    "CustomObjectScope", "custom_object_scope", "custom_objects", "get_custom_objects",
    "register_keras_serializable",
})  # fmt: skip


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such dict."""
    if not _CUSTOM.isdisjoint(module.words):
        return
    for reference in module.references:
        call = reference.call
        if call is None or not _is_it(facts, reference.name) or module.is_guarded(call):
            continue
        if len(call.args) != 1 or call.args[0].star:
            continue
        given = value_of(module, call.args[0].value)
        if given is not call.args[0].value and _MODULE in module.words:
            continue  # it may be written into the dict below
        parts = _parts(given)
        if isinstance(given, cst.Dict) and parts.keys() == {_CLASS, _CONFIG}:
            yield _finding(module, facts, reference, call, given, parts)


def _is_it(facts: TargetFacts, dotted: str) -> bool:
    split = split_root(dotted)
    return split is not None and split[1] == _FUNCTION and facts.runs_keras_3(split[0])


def _parts(given: cst.BaseExpression) -> Mapping[str, cst.BaseExpression]:
    """Return the values of a dict by its keys, none where one is not written out."""
    found: dict[str, cst.BaseExpression] = {}
    for each in given.elements if isinstance(given, cst.Dict) else ():
        if not isinstance(each, cst.DictElement) or not isinstance(each.key, cst.SimpleString):
            return {}
        found[each.key.raw_value] = each.value
    return found


def _finding(  # noqa: PLR0913, PLR0917 - what the finding is about
    module: Module,
    facts: TargetFacts,
    reference: Reference,
    call: cst.Call,
    given: cst.Dict,
    parts: Mapping[str, cst.BaseExpression],
) -> Finding:
    cls = parts[_CLASS]
    shown = cls.raw_value if isinstance(cls, cst.SimpleString) else "…"
    fix = _fix(module, facts, call, given, parts)
    return rule.finding(
        module.place(given),
        "the dict does not name the module of the class: TypeError: Could not locate class "
        f"'{shown}'.",
        symbol=reference.name,
        confidence=reference.confidence,
        help='Write `layer.__class__.from_config(config)`, or `"module": "keras.layers"` in the '
        "dict.",
        fix=fix or NoFix("kdoctor cannot tell which class it is"),
    )


def _fix(
    module: Module,
    facts: TargetFacts,
    call: cst.Call,
    given: cst.Dict,
    parts: Mapping[str, cst.BaseExpression],
) -> Fix | None:
    proof = facts.applicability(*(each for each in rule.invalid if each.after))
    cls = parts[_CLASS]
    if isinstance(cls, cst.SimpleString):
        found = facts.lookup(f"keras.layers.{cls.raw_value}")
        if found.presence is not Presence.EXISTS:
            return None
        start = module.span(given).start + 1
        text = f"{cls.quote}module{cls.quote}: {cls.quote}keras.layers{cls.quote}, "
        edit = Edit(Span(start, start), (text,))
        return Fix("Add the `module` to the dict", (edit,), proof)
    made = _class_named(cls)
    span = module.span(call)
    if made is None or call.args[0].value is not given or "#" in module.text[span.start : span.end]:
        return None
    edit = Edit(
        span,
        (
            Hole(module.outer_span(made)),
            ".from_config(",
            Hole(module.outer_span(parts[_CONFIG])),
            ")",
        ),
    )
    return Fix("Use `from_config` of its class", (edit,), proof)


def _class_named(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the class of which this is the name: ``x.__class__.__name__``."""
    match node:
        case cst.Attribute(
            value=cst.Attribute(attr=cst.Name(value="__class__"))
            | cst.Call(func=cst.Name(value="type"), args=[cst.Arg()]) as made,
            attr=cst.Name(value="__name__"),
        ):
            return made
    return None


rule = Rule(
    code="KD612",
    name="config-without-module",
    family="saving",
    severity=Severity.ERROR,
    check=check,
    triggers=string(_CLASS) & names(_is_it),
    since="3.0",
)
