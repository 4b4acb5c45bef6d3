"""What is known about the name under the cursor: the releases that have it, and its replacements.

The name is resolved by imports and local inference. Where that fails, nothing is shown.
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
from kdoctor.keras_api.query_name import SHOWN_ROOTS, NameQuery, inquire
from kdoctor.server.documents import OpenDocument
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.target import Target
from kdoctor.value_types import Type

_MAX_REPLACEMENTS = 3  # ways to write it instead


@dataclass(frozen=True, slots=True)
class HoveredName:
    """The name under the cursor: ``name`` is dotted and starts with an import root of Keras.

    ``owner`` is the type of the object whose member it is, None for an imported name.
    """

    name: str
    node: cst.CSTNode
    owner: Type | None = None


def hover_at(
    opened: OpenDocument, reading: Reading, uri: str, position: types.Position
) -> types.Hover | None:
    """Return what is known about the name at a position, None if it is not a name of Keras."""
    for unit in reading.examined.document.units:
        try:
            module = reading.module(unit)
            places = {module.place(named.node): named for named in _named(module)}
            ranges = opened.ranges(reading.examined.document, places)
            for place, named in places.items():
                where = ranges[place]
                if opened.uri_of(place) == uri and _holds(where, position):
                    text = _hover_text(named, reading.examiner.scan_options.target)
                    content = types.MarkupContent(types.MarkupKind.Markdown, text or "")
                    return types.Hover(content, where) if text else None
        except SyntaxProblem:
            continue
    return None


def _named(module: Module) -> Iterator[HoveredName]:
    for reference in module.references:
        if reference.kind is ReferenceKind.IMPORT:
            yield from _in_import(reference)
        elif reference.kind is not ReferenceKind.ANNOTATION_STRING:
            yield from _in_chain(module, reference.node)
    for use in module.members:
        # Members that the user's own class defines are not those of Keras.
        if not use.owner_defines and use.owner.qualified is not None:
            yield HoveredName(f"{use.owner.qualified}.{use.member}", use.node.attr, use.owner)


def _in_import(reference: Reference) -> Iterator[HoveredName]:
    alias = reference.binding.alias
    if alias is None:
        return
    name = reference.name if reference.binding.local != "*" else reference.binding.name
    if _is_of_keras(name):
        yield HoveredName(name, alias.name)
        if alias.asname is not None:
            yield HoveredName(name, alias.asname.name)


def _in_chain(module: Module, node: cst.CSTNode) -> Iterator[HoveredName]:
    """Yield each part of ``K.backend.sum``, which names the chain up to it."""
    while True:
        part = node.attr if isinstance(node, cst.Attribute) else node
        name = module.qualified(node)
        if isinstance(part, cst.Name) and name is not None and _is_of_keras(name):
            yield HoveredName(name, part)
        if not isinstance(node, cst.Attribute):
            return
        node = node.value


def _is_of_keras(name: str) -> bool:
    return split_root(name) is not None


def _holds(where: types.Range, position: types.Position) -> bool:
    at = position.line, position.character
    return (where.start.line, where.start.character) <= at <= (where.end.line, where.end.character)


def _hover_text(named: HoveredName, target: Target) -> str | None:
    answer = inquire(named.name)
    split = split_root(named.name)
    if split is None or not (answer.histories or answer.owners or answer.suggestions):
        return None
    member = split[1].rpartition(".")[2] if named.owner is not None else ""
    parts = [
        _title(named, answer),
        _on_target(named, target),
        *_replacements(rewrite_lookup_of(split[1], member), target),
        _table(answer),
    ]
    return "\n\n".join(filter(None, parts))


def _title(named: HoveredName, answer: NameQuery) -> str:
    kind = next((each.kind for each in answer.histories if each.kind is not None), None)
    return f"**`{named.name}`**{f' ({kind.name.lower()})' if kind is not None else ''}"


def _on_target(named: HoveredName, target: Target) -> str:
    """Say whether the name exists on the target, and with which signature."""
    where = f"{target} ({target.source})"
    if named.owner is not None:
        presence = member_lookup(named.owner, named.name.rpartition(".")[2], target)
        return {
            Presence.EXISTS: f"Available in {where}.",
            Presence.MISSING: f"**Not available** in {where}.",
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
        return f"**Not available** in {where}{hint}."
    parameters = signature(named.name, target)
    shown = f"\n\n```python\n{named.name}({parameters.text})\n```" if parameters else ""
    stub = f", and **raises** when it is called: {found.stub}" if found.stub else ""
    return f"Available in {where}{stub}.{shown}"


def _replacements(cures: RewriteLookup, target: Target) -> Iterator[str]:
    if target.is_before_keras_3 or not cures.rewrites:
        return
    rows = [
        f"- `{cure.left}` \u2192 `{cure.right}`{f', where {cure.when}' if cure.when else ''} "
        f"({cure.code}, {cure.applicability.value})"
        for cure in cures.rewrites[:_MAX_REPLACEMENTS]
    ]
    if len(cures.rewrites) > _MAX_REPLACEMENTS:
        rows.append(f"- and {len(cures.rewrites) - _MAX_REPLACEMENTS} more")
    yield "Write instead on Keras 3:\n" + "\n".join(rows)


def _table(answer: NameQuery) -> str:
    """Return a table of releases with the name, a row per root; or of classes with the member."""
    rows = [
        (f"`{each.root}`", _when(each)) for each in answer.histories if each.root in SHOWN_ROOTS
    ]
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
    return _periods(history.periods, history.gone_in) + (f"; moved to {moved}" if moved else "")


def _periods(periods: tuple[tuple[str, str], ...], gone_in: str) -> str:
    spans = ", ".join(first if first == last else f"{first}\u2013{last}" for first, last in periods)
    return f"{spans}; removed in {gone_in}" if gone_in else spans
