"""The definitions that a file gets, as one edit above the first statement that reads one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import has_builtin, hidden_builtin
from kdoctor.model import Edit, ImportNeed, NoFix
from kdoctor.rewrite import Speller
from kdoctor.rewrite.visibility import is_conditional
from kdoctor.rules.fixes.helper_definition import (
    has_same,
    insertion,
    is_readable_at,
    top_statement,
)
from kdoctor.rules.names._definitions.definitions import Definition, import_of, with_needs
from kdoctor.rules.names._definitions.helper_uses import (
    HelperUse,
    free_name_at,
    reads_of_helpers,
    spelled,
)
from kdoctor.syntax import Module


class Addition(Struct, frozen=True):
    """What is written into a file, and the imports that it reads; nothing where all is there."""

    edits: tuple[Edit, ...] = ()
    imports: tuple[ImportNeed, ...] = ()


def addition(
    module: Module, uses: Sequence[HelperUse], names: Mapping[str, str], *, at_once: bool
) -> Addition | NoFix:
    """Return the definitions that some uses need, with those that they need in turn.

    ``names`` are the names by which the module imports helpers, by their definitions. ``at_once``:
    Keras is imported with the file, so what a definition reads of it may be, too.
    """
    before = _place(module, uses)
    if before is None:
        return NoFix("there is nothing in this file that it could stand above")
    wanted = _wanted(module, uses, names, before)
    if isinstance(wanted, NoFix):
        return wanted
    first = min((each.reference for each in uses), key=lambda each: module.span(each.node))
    speller = Speller(module, before, Speller.at(module, first).like)
    # What two have under one name is one: it was looked at before.
    rename = {each.name: name for (_, name), each in reversed(wanted.items())}
    texts: list[str] = []
    needs: dict[ImportNeed, None] = {}
    imports: dict[str, None] = {}
    for (_, name), each in wanted.items():
        hidden = [e for e in sorted(each.builtins) if not has_builtin(module, before, e)]
        if hidden:
            return NoFix(hidden_builtin(hidden[0]))
        own: dict[ImportNeed, None] = {}
        spell = partial(spelled, speller, own) if at_once else str
        text = each.written({**rename, each.name: name}, spell)
        if has_same(module, name, text):
            continue
        if is_defined(module, name):
            return _is_taken(name)
        needs_keras = at_once and "import keras" in each.imports
        if needs_keras and not is_readable_at(module, before, text):
            return NoFix("Keras is not imported where it would have to stand")
        texts.append(text)
        needs |= own
        imports |= {} if at_once else dict.fromkeys(map(import_of, each.read.values()))
    if not texts:
        return Addition()
    texts[:0] = ["\n".join(imports)] if imports else []
    return Addition((insertion(module, before, "\n\n\n".join(texts)),), tuple(needs))


def is_defined(module: Module, name: str) -> bool:
    """Say whether the module itself has a class or function of a name, maybe by a fix."""
    bound = module.scope_of(module.tree).bindings.get(name, [])
    return any(isinstance(each.node, cst.FunctionDef | cst.ClassDef) for each in bound)


def _wanted(
    module: Module, uses: Sequence[HelperUse], names: Mapping[str, str], before: cst.CSTNode
) -> dict[tuple[str, str], Definition] | NoFix:
    """Return the definitions, by what they define and under which name."""
    taken: dict[str, str] = {}
    wanted: dict[tuple[str, str], Definition] = {}
    for name, each, is_free in _named(module, uses, names, before):
        if not is_free or taken.setdefault(name, each.code) != each.code:
            return _is_taken(name)
        wanted.setdefault((each.code, name), each)
    return wanted


def _named(
    module: Module, uses: Sequence[HelperUse], names: Mapping[str, str], before: cst.CSTNode
) -> Iterator[tuple[str, Definition, bool]]:
    """Yield each definition with its name in the file, and whether it may have that name."""
    for use in uses:
        for each in with_needs(use.helper.code):
            given = use.name if each.code == use.helper.code else names.get(each.code)
            if given is not None:
                yield given, each, True
                continue
            is_ours = bool(use.helper.package)
            name = free_name_at(module, each, [before]) if is_ours else each.name
            yield name, each, module.is_free(name, [before]) or is_defined(module, name)


def _is_taken(name: str) -> NoFix:
    return NoFix(f"`{name}` is something else in this file")


def _place(module: Module, uses: Sequence[HelperUse]) -> cst.CSTNode | None:
    """Return the first statement of the module that reads one of them, or may."""
    # The same place for all rules that report such names: what is written twice differs then.
    nodes = [each.node for reads in reads_of_helpers(module).values() for each in reads]
    for binding in {use.reference.binding for use in uses if use.node is None}:
        nodes += module.uses_of(binding)
        # Above the statement that chooses: where it chooses another, that is the one.
        nodes += [binding.statement] if is_conditional(module, binding.statement) else []
    if nodes:
        return top_statement(module, min(nodes, key=module.span))
    starts = [module.span(each.statement).start for each in module.imports]
    last = max(starts, default=0)
    return next((e for e in module.tree.body if module.span(e).start > last), None)
