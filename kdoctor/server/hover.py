"""What is known of the name under the cursor: in which releases it existed, what took its place.

The name is what imports and local inference say that it is. Where they do not, nothing is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
from lsprotocol import types

from kdoctor.engine.fixes.rewrite_lookup import RewriteLookup, rewrite_lookup_of
from kdoctor.engine.open_documents import Reading
from kdoctor.errors import SyntaxProblem
from kdoctor.keras_api import Presence, lookup, member_lookup, signature, split_root
from kdoctor.keras_api.history import NameHistory
from kdoctor.keras_api.query_name import TOLD_ROOTS, NameQuery, inquire
from kdoctor.server.documents import OpenSheet
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.target import Target
from kdoctor.value_types import Type

_MAX_REPLACEMENTS = 3  # ways to write it instead


@dataclass(frozen=True, slots=True)
class Named:
    """What stands under the cursor: ``name`` is dotted and begins with a root of Keras.

    ``owner`` is the type of the object whose member it is, None for what is imported.
    """

    name: str
    node: cst.CSTNode
    owner: Type | None = None


def hover_at(
    sheet: OpenSheet, reading: Reading, uri: str, position: types.Position
) -> types.Hover | None:
    """Return what is known of the name at a position, None where that is nothing of Keras."""
    for unit in reading.examined.document.units:
        try:
            module = reading.module(unit)
            places = {module.place(named.node): named for named in _named(module)}
            ranges = sheet.ranges(reading.examined.document, places)
            for place, named in places.items():
                where = ranges[place]
                if sheet.uri_of(place) == uri and _holds(where, position):
                    text = _told(named, reading.examiner.scan_options.target)
                    content = types.MarkupContent(types.MarkupKind.Markdown, text or "")
                    return types.Hover(content, where) if text else None
        except SyntaxProblem:
            continue
    return None


def _named(module: Module) -> Iterator[Named]:
    for reference in module.references:
        if reference.kind is ReferenceKind.IMPORT:
            yield from _in_import(reference)
        elif reference.kind is not ReferenceKind.ANNOTATION_STRING:
            yield from _in_chain(module, reference.node)
    for use in module.members:
        # What the user's own class has is none of Keras' business.
        if not use.owner_defines and use.owner.qualified is not None:
            yield Named(f"{use.owner.qualified}.{use.member}", use.node.attr, use.owner)


def _in_import(reference: Reference) -> Iterator[Named]:
    alias = reference.binding.alias
    if alias is None:
        return
    name = reference.name if reference.binding.local != "*" else reference.binding.name
    if _is_of_keras(name):
        yield Named(name, alias.name)
        if alias.asname is not None:
            yield Named(name, alias.asname.name)


def _in_chain(module: Module, node: cst.CSTNode) -> Iterator[Named]:
    """Yield each part of ``K.backend.sum``, which means what stands up to it."""
    while True:
        part = node.attr if isinstance(node, cst.Attribute) else node
        name = module.qualified(node)
        if isinstance(part, cst.Name) and name is not None and _is_of_keras(name):
            yield Named(name, part)
        if not isinstance(node, cst.Attribute):
            return
        node = node.value


def _is_of_keras(name: str) -> bool:
    return split_root(name) is not None


def _holds(where: types.Range, position: types.Position) -> bool:
    at = position.line, position.character
    return (where.start.line, where.start.character) <= at <= (where.end.line, where.end.character)


def _told(named: Named, target: Target) -> str | None:
    answer = inquire(named.name)
    split = split_root(named.name)
    if split is None or not (answer.histories or answer.owners or answer.suggestions):
        return None
    member = split[1].rpartition(".")[2] if named.owner is not None else ""
    parts = [
        _title(named, answer),
        _on_target(named, target),
        *_instead(rewrite_lookup_of(split[1], member), target),
        _table(answer),
    ]
    return "\n\n".join(filter(None, parts))


def _title(named: Named, answer: NameQuery) -> str:
    kind = next((each.kind for each in answer.histories if each.kind is not None), None)
    return f"**`{named.name}`**{f' ({kind.name.lower()})' if kind is not None else ''}"


def _on_target(named: Named, target: Target) -> str:
    """Say whether it exists on the target, and how it is called there."""
    where = f"{target} ({target.source})"
    if named.owner is not None:
        presence = member_lookup(named.owner, named.name.rpartition(".")[2], target)
        return {
            Presence.EXISTS: f"There on {where}.",
            Presence.MISSING: f"**Not there** on {where}.",
            Presence.UNKNOWN: "",
        }[presence]
    found = lookup(named.name, target)
    if found.presence is Presence.UNKNOWN:
        return ""
    if found.presence is Presence.MISSING:
        names = found.moved_to or found.elsewhere or found.suggestions
        hint = (
            f"; see {', '.join(f'`{name}`' for name in names[:_MAX_REPLACEMENTS])}" if names else ""
        )
        return f"**Not there** on {where}{hint}."
    parameters = signature(named.name, target)
    shown = f"\n\n```python\n{named.name}({parameters.text})\n```" if parameters else ""
    stub = f", and **raises** when it is called: {found.stub}" if found.stub else ""
    return f"There on {where}{stub}.{shown}"


def _instead(cures: RewriteLookup, target: Target) -> Iterator[str]:
    if target.is_before_keras_3 or not cures.rewrites:
        return
    rows = [
        f"- `{cure.left}` \u2192 `{cure.right}`{f', where {cure.when}' if cure.when else ''} "
        f"({cure.code}, {cure.applicability.value})"
        for cure in cures.rewrites[:_MAX_REPLACEMENTS]
    ]
    if len(cures.rewrites) > _MAX_REPLACEMENTS:
        rows.append(f"- and {len(cures.rewrites) - _MAX_REPLACEMENTS} more")
    yield "To write instead on Keras 3:\n" + "\n".join(rows)


def _table(answer: NameQuery) -> str:
    """Return the releases that had the name, a row each root; or the classes that had a member."""
    rows = [(f"`{each.root}`", _when(each)) for each in answer.histories if each.root in TOLD_ROOTS]
    rows += [
        (f"`{each.cls}` of {each.distribution}", _periods(each.periods, each.gone_in))
        for each in answer.owners[: 2 * _MAX_REPLACEMENTS]
    ]
    if not rows:
        return ""
    head = "| | releases |\n|---|---|"
    return "\n".join([head, *(f"| {name} | {when} |" for name, when in rows)])


def _when(history: NameHistory) -> str:
    moved = ", ".join(f"`{name}`" for name in history.moved_to[:_MAX_REPLACEMENTS])
    return _periods(history.periods, history.gone_in) + (f"; moved: {moved}" if moved else "")


def _periods(periods: tuple[tuple[str, str], ...], gone_in: str) -> str:
    told = ", ".join(first if first == last else f"{first}\u2013{last}" for first, last in periods)
    return f"{told}; gone in {gone_in}" if gone_in else told
