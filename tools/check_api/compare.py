"""One root of one environment against the table: what differs, and how much was compared."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kdoctor.keras_api.members import Classes, ClassInfo
from kdoctor.keras_api.names import classes_behind
from kdoctor.keras_api.signatures import Parameter, parse_signature
from kdoctor.keras_api.surface import PRIVATE_ROOT, Surface
from kdoctor.keras_api.tables import EntryKind, MemberKind, NameSpan

ASPECTS = ("names", "kinds", "signatures", "members", "member kinds", "methods", "attributes")

_KINDS = {
    EntryKind.MODULE: "module",
    EntryKind.ALIAS: "module",
    EntryKind.CLASS: "class",
    EntryKind.FUNCTION: "function",
    EntryKind.VALUE: "value",
}
_MEMBER_KINDS = {
    MemberKind.METHOD: "method",
    MemberKind.PROPERTY: "property",
    MemberKind.STATIC: "static",
    MemberKind.CLASS: "class",
    MemberKind.VALUE: "value",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the table and the run do not agree on; "" where one has no such name.

    ``is_wrapped``: at run time it is the inner function of some decorator.
    """

    aspect: str
    name: str
    table: str
    real: str
    is_wrapped: bool = False


@dataclass(slots=True)
class Comparison:
    """How many things of each aspect were compared, and those that differ."""

    compared: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ASPECTS, 0))
    differences: list[Difference] = field(default_factory=list)

    def add(
        self, aspect: str, name: str, table: str, real: str, *, is_wrapped: bool = False
    ) -> None:
        """Count one comparison."""
        self.compared[aspect] += 1
        if table != real:
            self.differences.append(Difference(aspect, name, table, real, is_wrapped))


def compare(surface: Surface, real: Mapping[str, Any]) -> Comparison:
    """Return what of ``surface`` was compared with the probe's answer, and what differs."""
    found = Comparison()
    # Of a module that cannot be imported there (theano's backend), there is nothing to compare.
    failed = tuple(f"{name}." for name in real["failed"])
    entries = visible_entries(surface)
    hidden = tuple(f"{name}." for name in surface.names if name not in entries)
    entries = {n: entry for n, entry in entries.items() if not f"{n}.".startswith(failed)}
    names = {n: row for n, row in real["names"].items() if not n.startswith(hidden)}
    for name in sorted(entries.keys() | names.keys()):
        table = "there" if name in entries else ""
        found.add("names", name, table, "there" if name in names else "")
        if name in entries and name in names:
            _compare_object(found, surface, name, entries[name], names[name])
    classes = classes_behind(surface)
    if classes is not None:
        _compare_classes(found, surface, classes, entries, real)
    return found


def visible_entries(surface: Surface) -> dict[str, NameSpan]:
    """Return the names that attribute access finds, protocol buffers' own names left out."""
    entries = {name: surface.entry(name) for name in surface.names}
    shown = {name: entry for name, entry in entries.items() if entry and not entry.import_only}
    hidden = tuple(f"{name}." for name in entries if name not in shown)
    return {name: entry for name, entry in shown.items() if not name.startswith(hidden)}


def expressions(surface: Surface) -> dict[str, dict[str, Any]]:
    """Return the defaults that only the environment can evaluate, for the probe.

    ``{name: {parameter: source}}``, and for classes ``{"class " + home: {method: …}}``.
    """
    asked: dict[str, dict[str, Any]] = {}
    classes = classes_behind(surface)
    for name, entry in visible_entries(surface).items():
        text = surface.signature(entry)
        asked[name] = {} if text is None else _expressions_in(text)
        info = classes.info(surface.home(entry)) if classes else None
        if classes is not None and info is not None:
            texts = ((m, classes.signature_text(found)) for m, found in info.members.items())
            asked[f"class {info.home}"] = {m: _expressions_in(t) for m, t in texts if t}
    return {
        name: kept for name, rows in asked.items() if (kept := {k: v for k, v in rows.items() if v})
    }


def content(surface: Surface) -> str:
    """Return a digest of all that the table says of this release: a record of it grows stale."""
    classes = classes_behind(surface)
    said: dict[str, Any] = {}
    for name in surface.names:
        entry = surface.entry(name)
        if entry is None:
            continue
        home = surface.home(entry)
        said[name] = [entry.kind.name, home, surface.signature(entry), entry.import_only]
        said[name].append(surface.is_open(name))
        info = classes.info(home) if classes else None
        if classes is not None and info is not None:
            said[f"class {home}"] = [
                info.complete,
                {m: [of.kind.name, classes.signature_text(of)] for m, of in info.members.items()},
            ]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def _expressions_in(text: str) -> dict[str, str]:
    return {
        p.name: p.default
        for p in parse_signature(text).parameters
        if p.default is not None and _literal(p.default) is None
    }


def _compare_object(
    found: Comparison, surface: Surface, name: str, entry: NameSpan, real: list[Any]
) -> None:
    kind, home, parameters, is_wrapped = real
    if entry.kind is EntryKind.EXTERNAL:
        found.add("kinds", name, "external", kind if _is_own(surface, home) else "external")
        return
    found.add("kinds", name, _KINDS[entry.kind], kind)
    text = surface.signature(entry)
    if text is not None and parameters is not None:
        found.add("signatures", name, *_signatures(text, parameters), is_wrapped=is_wrapped)


def _is_own(surface: Surface, home: str) -> bool:
    """Say whether an object is defined in the package that the table reads, by its home."""
    if surface.root == PRIVATE_ROOT:
        return ".python.keras." in home
    return home.startswith(("keras.", "tf_keras."))


def _compare_classes(
    found: Comparison,
    surface: Surface,
    classes: Classes,
    entries: Mapping[str, NameSpan],
    real: Mapping[str, Any],
) -> None:
    done = set()
    for name, entry in entries.items():
        if entry.kind is not EntryKind.CLASS or name not in real["names"]:
            continue
        info, home = classes.info(surface.home(entry)), real["names"][name][1]
        if info is None or home not in real["members"] or info.home in done:
            continue
        done.add(info.home)
        _compare_class(found, classes, info, real["members"][home])
    for home, shown in real["attributes"].items():
        info = classes.info(home)
        if info is not None:
            for attribute in shown:
                if attribute.startswith("_"):
                    continue
                known = attribute in info.members
                found.add("attributes", f"{home}.{attribute}", "there" if known else "", "there")


def _compare_class(
    found: Comparison, classes: Classes, info: ClassInfo, real: Mapping[str, list[Any]]
) -> None:
    for name in sorted(info.members.keys() | real.keys()):
        member = info.members.get(name)
        dotted = f"{info.home}.{name}"
        if name not in real:
            if member is not None and member.kind is not MemberKind.ATTRIBUTE:
                found.add("members", dotted, "there", "")
            continue
        kind, owner, parameters, is_wrapped = real[name]
        if member is None:
            if not name.startswith("_"):
                found.add("members", dotted, "", f"defined in {owner}")
            continue
        found.add("members", dotted, "there", "there")
        if member.kind is MemberKind.ATTRIBUTE:
            found.add("member kinds", dotted, "attribute", "attribute" if kind == "slot" else kind)
            continue
        found.add("member kinds", dotted, _MEMBER_KINDS[member.kind], kind)
        text = classes.signature_text(member)
        if text is not None and parameters is not None and kind != "property":
            found.add("methods", dotted, *_signatures(text, parameters), is_wrapped=is_wrapped)


def _signatures(text: str, real: list[list[Any]]) -> tuple[str, str]:
    """Write both signatures alike; a default that could not be evaluated counts as equal."""
    read = parse_signature(text).parameters
    table = [_written(item) for item in read]
    shown = []
    for number, (name, kind, default) in enumerate(real):
        item = read[number] if number < len(read) else None
        value = None
        if default is not None:
            source, same = default
            mine = _literal(item.default) if item is not None and item.default else None
            agreed = same is True or (source is not None and source == mine)
            if same is None and mine is None and item is not None and item.default is not None:
                agreed = True
            value = item.default if item is not None and agreed else source or "(an object)"
        shown.append(_text(name, kind, value))
    return ", ".join(table), ", ".join(shown)


def _written(item: Parameter) -> str:
    return _text(item.name, item.kind.name, item.default)


def _text(name: str, kind: str, default: str | None) -> str:
    mark = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**", "KEYWORD_ONLY": "[kw]"}.get(kind, "")
    return f"{mark}{name}" if default is None else f"{mark}{name}={default}"


def _literal(source: str) -> str | None:
    try:
        return repr(ast.literal_eval(source))
    except (ValueError, SyntaxError):
        return None
