"""What stands in for a class that is gone and has no successor, where it is only spoken of.

A file that derives from `LocallyConnected1D`, lists it or asks whether a layer is one cannot even
be imported on Keras 3, though most of it has nothing to do with that class. Asked for with
`getattr`, it does not stop the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.facts import TargetFacts
from kdoctor.keras_api import EntryKind, Lookup, Presence
from kdoctor.model import Applicability, Edit, Fix, Hole, ImportNeed, Precedence
from kdoctor.rewrite import Speller
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rewrite.refusal import Refused
from kdoctor.rules.loading import load_rule
from kdoctor.rules.names._class_checks import was_a_base
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.scopes import ScopeKind

# What the classes of a module derive from: each is looked up on the target before it is written.
_BASES = {
    "callbacks": "keras.callbacks.Callback",
    "constraints": "keras.constraints.Constraint",
    "initializers": "keras.initializers.Initializer",
    "layers": "keras.layers.Layer",
    "losses": "keras.losses.Loss",
    "metrics": "keras.metrics.Metric",
    "regularizers": "keras.regularizers.Regularizer",
}
_DERIVED = (
    "the derived class can be defined again, but inherits nothing from `{}`: creating an instance "
    "raises"
)
_A_BASE = (
    "other Keras classes were derived from `{}`: their instances no longer count, and the answer "
    "is always False"
)
_LISTED = "None replaces `{}`, and code that uses it as a class fails"
_IN_A_TUPLE = (
    "an empty tuple replaces `{}`: `isinstance` is then False, and other code that uses it as a "
    "class fails"
)
_QUESTIONS = frozenset({"isinstance", "issubclass"})


class _Place(Struct, frozen=True):
    """One use, what stands in for the class there, and why that is not the same."""

    node: cst.BaseExpression
    fallback: str
    unlike: str = ""


def stand_in(module: Module, facts: TargetFacts, reference: Reference, found: Lookup) -> Fix | None:
    """Return the fix by which a file can do without a gone class, None where it uses one."""
    parent, _, leaf = found.qualified.rpartition(".")
    if found.missing_prefix != found.qualified or not _was_a_class(facts, found):
        return None
    uses = _uses(module, reference)
    places = [_place(module, facts, each, parent) for each in uses]
    known = [each for each in places if each is not None]
    if not known or len(known) < len(places):
        return None
    try:
        written = [
            _written(module, use, place, parent, leaf)
            for use, place in zip(uses, known, strict=True)
        ]
    except Refused:
        return None
    unlike = next((each.unlike for each in known if each.unlike), "")
    drops = (module.span(reference.node),) if reference.kind is ReferenceKind.IMPORT else ()
    return Fix(
        f"Look `{leaf}` up with `getattr`, so that the rest of the file runs",
        tuple(edit for edit, _ in written),
        Applicability.UNSAFE
        if unlike
        else facts.applicability(*load_rule("names.missing_name").group("asked")),
        imports=tuple(dict.fromkeys(need for _, needs in written for need in needs)),
        drops=drops,
        unsafe_because=unlike.format(leaf),
    )


def _was_a_class(facts: TargetFacts, found: Lookup) -> bool:
    if found.until is None:
        return False
    return facts.at_release(found.until).lookup(found.qualified).kind is EntryKind.CLASS


def _uses(module: Module, reference: Reference) -> list[Reference]:
    """Return every place where the class is read, none where that is not sure."""
    if reference.kind is ReferenceKind.LOAD:
        if isinstance(reference.node, cst.Attribute):
            return [reference]
        return []
    binding = reference.binding
    if binding.exported or not isinstance(binding.statement, cst.ImportFrom):
        return []
    uses = [
        each
        for each in module.references
        if each.binding is binding and each.kind is not ReferenceKind.IMPORT
    ]
    plain = all(
        each.kind is ReferenceKind.LOAD and isinstance(each.node, cst.Name) for each in uses
    )
    return uses if plain and len(uses) == len(module.uses_of(binding)) else []


def _place(module: Module, facts: TargetFacts, use: Reference, parent: str) -> _Place | None:
    node, above = use.node, module.parent(use.node)
    if not isinstance(node, cst.Name | cst.Attribute):
        return None
    holder = None if above is None else module.parent(above)
    if isinstance(above, cst.Arg) and isinstance(holder, cst.ClassDef):
        base = _BASES.get(parent.rpartition(".")[2])
        if base is None or above.keyword is not None:
            return None
        if facts.lookup(base).presence is not Presence.EXISTS:
            return None
        others = [module.qualified(each.value) or "" for each in holder.bases]
        if any(each.rpartition(".")[2] == base.rpartition(".")[2] for each in others):
            return None  # a class cannot have one base twice
        return _Place(node, base, _DERIVED)
    if _is_asked_for(module, node):
        return _Place(node, "()", _A_BASE if was_a_base(facts, facts.lookup(use.name)) else "")
    if _is_listed(module, node):
        if isinstance(holder, cst.Tuple):  # as `isinstance` wants it, where it may end up
            return _Place(node, "()", _IN_A_TUPLE)
        return _Place(node, "None", _LISTED)
    return None


def _is_asked_for(module: Module, node: cst.CSTNode) -> bool:
    """Say whether it stands for the class, or one of the classes, of ``isinstance``."""
    argument = next(_out_of_displays(module, node, cst.Tuple), None)
    call = None if argument is None else module.parent(argument)
    return (
        isinstance(argument, cst.Arg)
        and isinstance(call, cst.Call)
        and isinstance(call.func, cst.Name)
        and call.func.value in _QUESTIONS
        and is_builtin(module, call.func)
        and len(call.args) == 2
        and call.args[1] is argument
    )


def _is_listed(module: Module, node: cst.CSTNode) -> bool:
    """Say whether it is an element of a display that is made when the file is imported."""
    element = module.parent(node)
    if not isinstance(element, cst.Element | cst.DictElement):
        return False
    if isinstance(element, cst.DictElement) and element.key is node:
        return False
    return all(
        scope.kind in {ScopeKind.MODULE, ScopeKind.CLASS}
        for scope in module.scope_of(node).enclosing()
    )


def _out_of_displays(
    module: Module, node: cst.CSTNode, kind: type[cst.CSTNode]
) -> Iterator[cst.CSTNode]:
    """Yield what is around the displays of a kind that ``node`` is an element of."""
    for above in module.ancestors(node):
        if not isinstance(above, cst.Element | kind):
            yield above
            return


def _written(
    module: Module, use: Reference, place: _Place, parent: str, leaf: str
) -> tuple[Edit, tuple[ImportNeed, ...]]:
    """Return ``getattr(layers, "Gone", …)`` in place of one use, and what it needs.

    Raises:
        Refused: a name that it needs cannot be written there.
    """
    speller = Speller.at(module, use)
    needs: list[ImportNeed | None] = []
    function, need = speller.spell("getattr")
    needs.append(need)
    owner: str | Hole
    if isinstance(place.node, cst.Attribute):
        value = place.node.value
        owner = Hole(module.outer_span(value), Precedence.LAMBDA, precedence_of(value))
    else:
        owner, need = speller.spell(speller.under_the_files_root(f"keras.{_below(parent)}"))
        needs.append(need)
    fallback = place.fallback
    if "." in fallback:
        fallback, need = speller.spell(fallback)
        needs.append(need)
    edit = Edit(
        module.span(place.node),
        (f"{function}(", owner, f', "{leaf}", {fallback})'),
        Precedence.PRIMARY,
    )
    return edit, tuple(each for each in needs if each is not None)


def _below(parent: str) -> str:
    """Return ``layers`` of ``tensorflow.keras.layers``."""
    return parent.partition("keras.")[2]
