"""``layers.deserialize({"class_name": …, "config": …})``: the dict does not name the module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import value_of
from kdoctor.analysis.queries import Call, functions
from kdoctor.analysis.queries.conditions import string
from kdoctor.keras_api import Presence
from kdoctor.model import Edit, Finding, Fix, Hole, NoFix, Severity, Span
from kdoctor.rules.rule import rule
from kdoctor.rules.saving._config_dicts import CLASS, CONFIG, MODULE, class_named, parts_of_dict

_CUSTOM: Final = frozenset({
    "CustomObjectScope", "custom_object_scope", "custom_objects", "get_custom_objects",
    "register_keras_serializable",
})  # fmt: skip


@rule(
    "KD612",
    severity=Severity.ERROR,
    since="3.0",
    look_for=functions("layers.deserialize").beside(string(CLASS)),
)
def check(made: Call) -> Finding | None:
    """Report each such dict."""
    module, call = made.module, made.call
    if not _CUSTOM.isdisjoint(module.words) or len(call.args) != 1:
        return None
    given = value_of(module, call.args[0].value)
    if given is not call.args[0].value and MODULE in module.words:
        return None  # it may be written into the dict below
    parts = parts_of_dict(given)
    if not isinstance(given, cst.Dict) or parts.keys() != {CLASS, CONFIG}:
        return None
    cls = parts[CLASS]
    shown = cls.raw_value if isinstance(cls, cst.SimpleString) else "…"
    return made.finding(
        "the dict does not name the module of the class: TypeError: Could not locate class "
        f"'{shown}'.",
        at=given,
        help='Write `layer.__class__.from_config(config)`, or `"module": "keras.layers"` in the '
        "dict.",
        fix=_fix(made, given, parts),
    )


def _fix(made: Call, given: cst.Dict, parts: Mapping[str, cst.BaseExpression]) -> Fix | NoFix:
    module, call, cls = made.module, made.call, parts[CLASS]
    why_not = NoFix("kdoctor cannot tell which class it is")
    if isinstance(cls, cst.SimpleString):
        found = made.facts.lookup(f"keras.layers.{cls.raw_value}")
        if found.presence is not Presence.EXISTS:
            return why_not
        start = module.span(given).start + 1
        text = f"{cls.quote}module{cls.quote}: {cls.quote}keras.layers{cls.quote}, "
        return made.fix("Add the `module` to the dict", Edit(Span(start, start), (text,)))
    named, span = class_named(cls), module.span(call)
    is_here = call.args[0].value is given
    if named is None or not is_here or "#" in module.text[span.start : span.end]:
        return why_not
    held = [Hole(module.outer_span(each)) for each in (named, parts[CONFIG])]
    edit = Edit(span, (held[0], ".from_config(", held[1], ")"))
    return made.fix("Use `from_config` of its class", edit)
