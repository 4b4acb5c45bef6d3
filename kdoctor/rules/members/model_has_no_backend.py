"""``model.backend``: no Keras model ever had it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import member_of
from kdoctor.keras_api import Presence, split_root
from kdoctor.model import Finding, Fix, NoFix, Severity
from kdoctor.rewrite import RewriteTable, rewrite
from kdoctor.rules.members._error_owner import attribute_error, symbol
from kdoctor.rules.names import _backend
from kdoctor.rules.names._backend.generators import with_generator
from kdoctor.rules.rule import Rule
from kdoctor.syntax import ImportBinding, MemberUse, Module, Reference, ReferenceKind
from kdoctor.value_types import Kind

# The settings that Keras 3 still has in `keras.backend`; their home is `keras.config`.
REWRITES = tuple(
    rewrite(f"keras.backend.{name}()", f"keras.config.{name}()")
    for name in ("epsilon", "floatx", "image_data_format")
)


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each use of the attribute that the user's own class does not define."""
    for use in module.members:
        is_it = use.owner.kind is Kind.MODEL and use.member == "backend"
        if not is_it or use.owner_defines or module.is_guarded(use.node):
            continue
        attempt = _call_the_operation(module, facts, use)
        yield rule.finding(
            module.place(use.node),
            f"a model has no `backend`: {attribute_error(use.owner, 'backend')}",
            symbol=symbol(use.owner, "backend"),
            confidence=use.confidence,
            help="Call the function itself, from `keras.ops` or `keras.config`.",
            fix=attempt,
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
        return NoFix(f"{attempt.reason} (`{name}` is gone, too)")
    return attempt


@lru_cache(maxsize=8)
def _table(facts: TargetFacts) -> RewriteTable:
    return RewriteTable((*_backend.REWRITES, *REWRITES), facts.signature)


def _some_import_of_keras(module: Module) -> ImportBinding | None:
    return next((each for each in module.imports if split_root(each.name)), None)


rule = Rule(
    code="KD201",
    name="model-has-no-backend",
    family="members",
    severity=Severity.ERROR,
    check=check,
    triggers=member_of({Kind.MODEL}, "backend"),
)
