"""Reports of a name's history, for people and programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from packaging.version import Version

from kdoctor.engine.fixes.rewrite_lookup import RewriteLookup
from kdoctor.keras_api.history import NameHistory, Owner, Period
from kdoctor.keras_api.query_name import NameQuery
from kdoctor.report.output import Page, printable

_MAX_NAMES = 8
_BESIDE_KERAS = ("tf.", "tensorflow.", "np.", "numpy.", "jax.", "jnp.", "torch.")
_SPLIT = Version("2.6")  # the first TensorFlow whose tf.keras is made by the package keras


def write_text(answer: NameQuery, cures: RewriteLookup, page: Page) -> None:
    """Write where a name exists, how its signature changed, and what replaced it."""
    if not answer.is_known:
        _write_unknown(answer, page)
        return
    if not answer.name and not answer.histories:
        page.line(f"'{printable(answer.query)}' may mean:")
        _write_list(answer.others, page)
        return
    kind = next((each.kind for each in answer.histories if each.kind is not None), None)
    shown = _title(answer)
    page.line(f"{page.paint('path', shown)}{f' ({kind.name.lower()})' if kind is not None else ''}")
    page.line()
    for history in answer.histories:
        page.line(f"  {history.root.ljust(23)}  {_when(history.periods, history.gone_in, page)}")
        for new in history.moved_to:
            page.line(f"  {'':23}  moved: {page.paint('good', new)}{_since(new, history)}")
        if history.stub:
            page.line(f"  {'':23}  raises when called: {history.stub}")
    if any(Version(each.periods[0][0]) < _SPLIT for each in answer.histories if _is_made(each)):
        page.line("  (tf.keras: releases of TensorFlow before 2.6, of keras from 2.6 on)")
    _write_owners(answer, page)
    _write_signatures(answer.histories, page)
    _write_cures(cures, page)
    if answer.same:
        page.line()
        page.line("The same object:")
        _write_list(answer.same, page)
    if answer.others:
        page.line()
        page.line("Other objects with this name:")
        _write_list(answer.others, page)


def write_json(answer: NameQuery, cures: RewriteLookup, page: Page) -> None:
    """Write one object, a contract for programs: fields are added, never renamed or removed."""
    document: dict[str, Any] = {
        "asked": answer.query,
        "known": answer.is_known,
        "name": answer.name or None,
        "roots": {history.root: _history(history) for history in answer.histories},
        "owners": [
            {
                "distribution": owner.distribution,
                "class": owner.cls,
                "periods": [list(period) for period in owner.periods],
                "gone_in": owner.gone_in or None,
            }
            for owner in answer.owners
        ],
        "rewrites": [
            {
                "rule": cure.code,
                "before": cure.left,
                "after": cure.right,
                "when": cure.when or None,
                "applicability": cure.applicability.value,
            }
            for cure in cures.rewrites
        ],
        "rules": list(cures.rules),
        "same": list(answer.same),
        "others": list(answer.others),
        "suggestions": list(answer.suggestions),
    }
    page.line(json.dumps(document, indent=2))


def _history(history: NameHistory) -> dict[str, Any]:
    return {
        "name": f"{history.root}.{history.name}".rstrip("."),
        "kind": None if history.kind is None else history.kind.name.lower(),
        "periods": [list(period) for period in history.periods],
        "since": history.periods[0][0],
        "until": history.periods[-1][1] if history.gone_in else None,
        "gone_in": history.gone_in or None,
        "moved_to": list(history.moved_to),
        "stub": history.stub or None,
        "signatures": [
            {"first": span.first, "last": span.last, "signature": f"({span.text})"}
            for span in history.signatures
        ],
    }


def _title(answer: NameQuery) -> str:
    roots = [history.root for history in answer.histories]
    root = answer.root or (roots[0] if roots else "")
    if root and root not in roots and roots:
        root = roots[0]
    return ".".join(filter(None, [root, answer.name])) if answer.histories else answer.name


def _is_made(history: NameHistory) -> bool:
    return history.root == "tf.keras"


def _when(periods: Iterable[Period], gone_in: str, page: Page) -> str:
    text = ", ".join(_period(*period) for period in periods)
    return f"{text}  {page.paint('error', f'gone in {gone_in}')}" if gone_in else text


def _period(first: str, last: str) -> str:
    return first if first == last else f"{first}\u2013{last}"


def _since(new: str, history: NameHistory) -> str:
    from kdoctor.keras_api.history import name_history  # noqa: PLC0415

    found = name_history(history.root, new.removeprefix(f"{history.root}."))
    return f", since {found.periods[-1][0]}" if found else ""


def _write_owners(answer: NameQuery, page: Page) -> None:
    if not answer.owners:
        return
    owner, _, member = answer.name.rpartition(".")
    if owner:
        page.line(f"  No known release has {printable(answer.name)}.")
    page.line(f"  Classes that define {printable(member)} themselves:")
    for each in answer.owners[: 2 * _MAX_NAMES]:
        page.line(f"  {_owner(each).ljust(30)}  {_when(each.periods, each.gone_in, page)}")
    if len(answer.owners) > 2 * _MAX_NAMES:
        page.line(f"  and {len(answer.owners) - 2 * _MAX_NAMES} more")


def _owner(owner: Owner) -> str:
    return f"{owner.distribution}: {owner.cls}"


def _write_signatures(histories: Iterable[NameHistory], page: Page) -> None:
    """Write each root's latest signature in full, and what changed before."""
    latest: dict[str, list[str]] = {}
    changes: dict[tuple[str, str], list[str]] = {}
    for history in histories:
        spans = history.signatures
        if spans:
            when = _period(spans[-1].first, spans[-1].last)
            latest.setdefault(spans[-1].text, []).append(f"{history.root} {when}")
        for before, after in pairwise(spans):
            what = _difference(before.text, after.text)
            changes.setdefault((after.first, what), []).append(history.root)
    if latest:
        page.line()
        page.line("Signature:")
    for text, places in latest.items():
        page.line(f"  ({text})")
        page.line(f"      {', '.join(places)}")
    if changes:
        page.line()
        page.line("Changes:")
    for (release, what), roots in sorted(changes.items(), key=lambda row: Version(row[0][0])):
        page.line(f"  {', '.join(roots)} {release}: {what}")


def _difference(before: str, after: str) -> str:
    """Describe which parameters were added, removed or changed their default."""
    old, new = (dict(_split(text)) for text in (before, after))
    parts = [f"+{_written(name, new[name])}" for name in new if name not in old]
    parts += [f"-{_written(name, old[name])}" for name in old if name not in new]
    parts += [
        f"{name}={old[name] or '(required)'} -> {new[name] or '(required)'}"
        for name in new
        if name in old and old[name] != new[name]
    ]
    if [name for name in old if name in new] != [name for name in new if name in old]:
        parts.append("in another order")
    return ", ".join(parts) or "how its parameters are passed"


def _written(name: str, default: str) -> str:
    return f"{name}={default}" if default else name


def _split(text: str) -> Iterable[tuple[str, str]]:
    from kdoctor.keras_api.signatures import parse_signature  # noqa: PLC0415

    for parameter in parse_signature(text).parameters:
        yield parameter.name, parameter.default or ""


def _write_cures(cures: RewriteLookup, page: Page) -> None:
    if cures.rewrites:
        page.line()
        page.line("Write instead:")
    for cure in cures.rewrites:
        when = f", where {cure.when}" if cure.when else ""
        kind = page.paint(cure.applicability.value, cure.applicability.value)
        page.line(f"  {cure.left} -> {page.paint('added', cure.right)}")
        page.line(f"      {cure.code}, {kind}{when}")
    codes = [code for code in cures.rules if code not in {cure.code for cure in cures.rewrites}]
    if codes:
        page.line()
        page.line(f"Rules about it: {', '.join(f'`kdoctor rules {code}`' for code in codes)}")


def _write_unknown(answer: NameQuery, page: Page) -> None:
    suggestions = answer.suggestions
    hint = f"; did you mean {', '.join(suggestions)}?" if suggestions else ""
    query = printable(answer.query)
    if not answer.root and query.strip().startswith(_BESIDE_KERAS):
        page.line(f"'{query}' is not a Keras name, and kdoctor knows no others{hint}")
    else:
        page.line(f"'{query}' never existed in any known release{hint}")


def _write_list(names: Iterable[str], page: Page) -> None:
    listed = list(names)
    for name in listed[: 2 * _MAX_NAMES]:
        page.line(f"  {name}")
    if len(listed) > 2 * _MAX_NAMES:
        page.line(f"  and {len(listed) - 2 * _MAX_NAMES} more")
