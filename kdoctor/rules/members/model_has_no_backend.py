"""``model.backend``: no Keras model ever had it."""

from __future__ import annotations

from functools import lru_cache

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Read, reads
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import RewriteTable, rewrite
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.names import _backend
from kdoctor.rules.names._backend.generators import with_generator
from kdoctor.rules.rule import rule
from kdoctor.syntax import ImportBinding, MemberUse, Module, Reference, ReferenceKind
from kdoctor.value_types import Kind

# The settings that Keras 3 still has in `keras.backend`; their home is `keras.config`.
REWRITES = tuple(
    rewrite(f"keras.backend.{name}()", f"keras.config.{name}()")
    for name in ("epsilon", "floatx", "image_data_format")
)


@rule("KD201", severity=Severity.ERROR, look_for=reads("backend", on=Kind.MODEL))
def check(read: Read) -> Finding:
    """Report each use of the attribute that the user's own class does not define."""
    return read.finding(
        f"a model has no `backend`: {attribute_error(read.owner, 'backend')}",
        symbol=symbol(read.owner, "backend"),
        help="Call the function itself, from `keras.ops` or `keras.config`.",
        fix=_call_the_operation(read.module, read.facts, read.use),
    )


def _call_the_operation(module: Module, facts: TargetFacts, use: MemberUse) -> Fix | NoFix:
    """Rewrite ``model.backend.sum(x)`` like ``keras.backend.sum(x)``."""
    function = module.parent(use.node)
    if not isinstance(function, cst.Attribute) or function.value is not use.node:
        return NoFix("kdoctor cannot tell what it is used for")
    binding = _some_import_of_keras(module)
    if binding is None:
        return NoFix("this file has no Keras import whose style a fix could follow")
    name = f"keras.backend.{function.attr.value}"
    call = module.parent(function)
    reference = Reference(
        node=function,
        name=name,
        binding=binding,
        kind=ReferenceKind.LOAD,
        call=call if isinstance(call, cst.Call) and call.func is function else None,
        confidence=use.confidence,
        names=(name,),
    )
    attempt = _table(facts).attempt(module, reference, facts.applicability)
    if isinstance(attempt, Fix):
        attempt = with_generator(module, reference, function.attr.value, attempt)
    if isinstance(attempt, NoFix) and facts.lookup(name).presence is Presence.MISSING:
        return NoFix(f"{attempt.reason} (`{name}` was removed as well)")
    return attempt


@lru_cache(maxsize=8)
def _table(facts: TargetFacts) -> RewriteTable:
    rows = (*_backend.REWRITES, *REWRITES)
    return RewriteTable(rows, facts.signature, unproven=facts.unproven_elsewhere)


def _some_import_of_keras(module: Module) -> ImportBinding | None:
    return next((each for each in module.imports if split_root(each.name)), None)
