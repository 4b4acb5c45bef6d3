"""Names with a slash, which Keras 3 refuses: written out, or put together of texts."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.calls import argument, is_keras_3
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.keras_calls import KerasCall
from kdoctor.model import Confidence, Edit
from kdoctor.rules.arguments._forwarded_keywords import base_that_gets
from kdoctor.rules.arguments._layer_name_parts import Functions, slashes
from kdoctor.rules.arguments._refused_value import Refused
from kdoctor.syntax import Module
from kdoctor.value_types import Kind

_ERROR = "ValueError: Argument `name` must be a string and cannot contain character `/`."

_NAMED = (Kind.LAYER, Kind.MODEL, Kind.OPTIMIZER, Kind.VARIABLE)
_NAMING = ("add_weight", "add_variable")


def is_named(call: KerasCall) -> bool:
    """Say whether Keras 3 looks at the name that is passed."""
    makes_a_weight = call.owner is not None and call.leaf in _NAMING
    # `keras.layers.concatenate(…, **kwargs)`: they go to the layer that the function makes.
    hands_on = call.kind is None and call.new.takes_any_keyword
    makes_a_layer = call.leaf == "Input" or (hands_on and call.name.startswith("keras.layers."))
    return call.kind in _NAMED or makes_a_layer or makes_a_weight


def slashed_name(module: Module, functions: Functions, given: cst.Arg | None) -> Iterator[Refused]:
    """Yield the name that is passed, where a slash surely is in it."""
    if given is None:
        return
    found = slashes(module, given.value)
    texts = found.texts
    if not texts:
        return
    whole = texts[0] is given.value and isinstance(texts[0], cst.SimpleString)
    error = f"{_ERROR} Received: name={texts[0].raw_value}" if whole else _ERROR  # type: ignore[union-attr]
    advice = "Replace the slash wherever the name is used."
    others = (each.value for each in found.through if not functions.is_only_a_name(each))
    elsewhere = next(others, None)
    if elsewhere is not None:
        because = f"`{elsewhere}` is also used for something else"
        yield Refused(given, error, advice, no_fix_because=because)
        return
    edits = [Edit(module.span(each), (each.value.replace("/", "_"),)) for each in texts]
    yield Refused(
        given,
        error,
        advice,
        tuple(edits),
        f"Write {edits[0].parts[0]}" if whole else "Write `_` instead of `/`",
        unsafe_because="`get_layer` and saved weights may use the old name",
    )


def of_own(
    module: Module, facts: TargetFacts, functions: Functions
) -> Iterator[tuple[KerasCall, Refused]]:
    """Yield such names that layers, models and functions of the user's own hand on to Keras."""
    for call in module.nodes(cst.Call):
        for each, taken in functions.given(call):
            name = module.source(call.func)
            found = KerasCall(call, name, taken.kind, taken.new, Confidence.LIKELY)
            told = f"`{name}` passes it to `{taken.leaf}`."
            for one in slashed_name(module, functions, each):
                yield found, replace(one, help=f"{told} {one.help}")
        refused = [*slashed_name(module, functions, argument(call, "name"))]
        base = base_that_gets(module, call.func, "name") if refused else None
        made = None if base is None else module.oracle.class_type(base)
        new = None if base is None else facts.signature(_as_it_is_now(facts, base))
        if base is None or made is None or new is None or not is_keras_3(facts, base):
            continue
        if made.kind in {Kind.LAYER, Kind.MODEL}:
            name = module.qualified(call.func) or module.source(call.func)
            found = KerasCall(call, name, made.kind, new, Confidence.LIKELY)
            yield from ((found, each) for each in refused)


def _as_it_is_now(facts: TargetFacts, base: str) -> str:
    """Return where the target has the class: `keras.layers.core.Layer` is at home elsewhere."""
    found = facts.lookup(base)
    return found.moved_to[0] if found.moved_to else base
