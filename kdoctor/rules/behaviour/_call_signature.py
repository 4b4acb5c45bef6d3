"""Rewrite ``def call(self, *args, **kwargs)`` with named inputs, ``training`` and ``mask``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import is_call_of_super
from kdoctor.analysis.dataflow.statements import insert_at_body_start
from kdoctor.analysis.facts import TargetFacts
from kdoctor.model import Edit, Span
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_INPUTS: Final = "inputs"
_FILLED_IN: Final = ("training", "mask")  # by Keras, where `call` names them


def naming(
    module: Module, facts: TargetFacts, call: cst.FunctionDef, base: str
) -> tuple[Edit, ...] | None:
    """Return the edits that name them, in a ``call`` that hands all of it on to that of ``base``.

    None where anything else is done with ``args``, or with ``kwargs`` but to assign what is in it.
    """
    signature = facts.signature(f"{base}.call")
    given, named = call.params.star_arg, call.params.star_kwarg
    if signature is None or not isinstance(given, cst.Param) or call.params.kwonly_params:
        return None
    filled = [name for name in _FILLED_IN if named and signature.parameter(name) is not None]
    names = [each for each in descendants(call.body) if isinstance(each, cst.Name)]
    if not {_INPUTS, *filled}.isdisjoint(each.value for each in names):
        return None
    handed_on = [_star(module, each, "*") for each in names if each.value == "args"]
    stars = [each for each in handed_on if each is not None]
    if len(stars) < len(handed_on) or (
        named is not None and not _only_handed_on(module, names, named.name.value)
    ):
        return None
    first = _filled_in(module, call, named.name.value, filled) if named and filled else ()
    if first is None:
        return None
    whole = module.span(given)
    defaults = "".join(f", {name}=None" for name in filled)
    return (
        _put(whole.start, f"{_INPUTS}, "),
        *((_put(whole.end, defaults),) if defaults else ()),
        *(_put(module.span(each).start, f"{_INPUTS}, ") for each in stars),
        *first,
    )


def _star(module: Module, name: cst.Name, star: str) -> cst.Arg | None:
    """Return the argument that a name is, with so many stars, of ``super().call``.

    The first one where it is of those by position.
    """
    argument = module.parent(name)
    call = None if argument is None else module.parent(argument)
    if not isinstance(argument, cst.Arg) or argument.star != star or not isinstance(call, cst.Call):
        return None
    if not is_call_of_super(call, "call"):
        return None
    return argument if star == "**" or call.args[0] is argument else None


def _only_handed_on(module: Module, names: Iterable[cst.Name], name: str) -> bool:
    return all(
        _star(module, each, "**") is not None or _is_assigned_in(module, each)
        for each in names
        if each.value == name
    )


def _is_assigned_in(module: Module, name: cst.Name) -> bool:
    """Say whether it is ``kwargs`` of ``kwargs['training'] = False``."""
    part = module.parent(name)
    return isinstance(part, cst.Subscript) and isinstance(module.parent(part), cst.AssignTarget)


def _filled_in(
    module: Module, call: cst.FunctionDef, name: str, filled: list[str]
) -> tuple[Edit, ...] | None:
    """Return the edit that puts first what Keras 2 passed as keywords."""
    given = ", ".join(f"{each}={each}" for each in filled)
    edit = insert_at_body_start(module, call, f"{name}.update({given})")
    return None if edit is None else (edit,)


def _put(at: int, text: str) -> Edit:
    return Edit(Span(at, at), (text,))
