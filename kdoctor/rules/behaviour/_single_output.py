"""Tell from ``call`` whether a subclassed model is known to have a single output."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import returned_in
from kdoctor.value_types import Kind

# With one of these a layer may give more than a tensor: states, or what another layer gives.
_OPEN = frozenset({"cell", "cells", "function", "layer", "return_state"})
_PASSED = frozenset({"training", "mask"})


def gives_one(module: Module, facts: TargetFacts, call: cst.FunctionDef | None) -> bool:
    """Say whether all that a ``call`` returns is what a layer of Keras makes of one tensor."""
    if call is None:
        return False
    returned = returned_in(call)
    return bool(returned) and all(_is_one(module, facts, each) for each in returned)


def _is_one(module: Module, facts: TargetFacts, given: cst.BaseExpression | None) -> bool:
    if not isinstance(given, cst.Call):
        return False
    keywords = {each.keyword.value for each in given.args if each.keyword is not None}
    made = module.type_of(given.func)
    if made is None or made.kind is not Kind.LAYER or made.qualified is None or keywords - _PASSED:
        return False
    signature = facts.signature(made.qualified)
    if signature is None or split_root(made.qualified) is None:
        return False
    # Not a class of one's own with such a base.
    if not made.is_of_imported_class:
        return False
    return not any(signature.parameter(each) is not None for each in _OPEN)
