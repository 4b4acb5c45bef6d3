"""What became of a name over the releases: where it exists, its signatures, its heirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from kdoctor.keras_api import tables
from kdoctor.keras_api.members import Classes, ClassInfo
from kdoctor.keras_api.names import classes_behind
from kdoctor.keras_api.surface import Surface, known_releases, last_kind, periods
from kdoctor.keras_api.tables import EntryKind

Period = tuple[str, str]  # first and last known release

CLASS_ROOTS = ("keras", "tf.keras", "tf_keras")


@dataclass(frozen=True, slots=True)
class SignatureSpan:
    """The parameters that a callable had from one release to another, as text."""

    first: str
    last: str
    text: str


@dataclass(frozen=True, slots=True)
class NameHistory:
    """A name, or a member of a class, under one root.

    ``name`` is dotted and relative to the root. ``gone_in`` is the first known release without it,
    "" while the newest still has it. ``moved_to``: the same object's names now, best first, spelled
    with the root. ``stub`` is what the newest one raises as soon as it is called, "" for a working
    one.
    """

    root: str
    name: str
    kind: EntryKind | None
    periods: tuple[Period, ...]
    gone_in: str = ""
    signatures: tuple[SignatureSpan, ...] = ()
    moved_to: tuple[str, ...] = ()
    stub: str = ""


@dataclass(frozen=True, slots=True)
class Owner:
    """A class that itself defines a member, in some releases of a distribution."""

    distribution: str
    cls: str
    periods: tuple[Period, ...]
    gone_in: str = ""


def name_history(root: str, name: str) -> NameHistory | None:
    """Return the history of a name under ``root``; None where it never was there.

    >>> name_history("keras", "backend.dot").gone_in
    '3.0.5'
    """
    history = periods(root, name)
    if not history:
        return None
    newest = surface(root, known_releases(root)[-1])
    entry = newest.entry(name)
    moved = () if entry is not None else newest.moved_to(name)
    return NameHistory(
        root,
        name,
        last_kind(root, name),
        history,
        _gone_in(root, history[-1][1]),
        _signatures(root, name),
        tuple(f"{root}.{new}" for new in moved),
        entry.stub if entry is not None else "",
    )


def member_history(root: str, owner: str, member: str) -> NameHistory | None:
    """Return the history of ``owner.member``, ``owner`` being a class under ``root``.

    None where no release has it. A release whose class cannot be read whole ends no period.
    """
    known = known_releases(root)
    states: list[bool | None] = []
    signatures: list[SignatureSpan] = []
    for release in known:
        found = _class_in(surface(root, release), owner)
        if found is None:
            states.append(_state_without_class(root, release, owner))
            continue
        classes, info = found
        mine = info.members.get(member)
        states.append(True if mine else (False if info.complete else None))
        text = classes.signature_text(mine) if mine else None
        if text is not None:
            signatures.append(SignatureSpan(release, release, text))
    spans = tuple(_true_spans(known, states))
    if not spans:
        return None
    name = f"{owner}.{member}"
    gone = _gone_in(root, spans[-1][1])
    return NameHistory(root, name, None, spans, gone, tuple(_joined(signatures)))


def owners_of(member: str) -> tuple[Owner, ...]:
    """Return the classes that themselves define ``member``, whichever base they have."""
    found = []
    for distribution in tables.distributions():
        table = tables.classes_table(distribution)
        numbers = {number for number, each in enumerate(table.members) if each.name == member}
        by_class: dict[str, set[int]] = {}
        for home, row in table.classes.items() if numbers else ():
            for span in tables.class_spans(row):
                if numbers.intersection(span.members):
                    there = by_class.setdefault(home.rpartition(".")[2], set())
                    there.update(range(span.first, span.last + 1))
        for cls, there in sorted(by_class.items()):
            states = [number in there for number in range(len(table.releases))]
            spans = tuple(_true_spans(table.releases, states))
            gone = _next(table.releases, spans[-1][1])
            found.append(Owner(distribution, cls, spans, gone))
    return tuple(found)


@cache
def surface(root: str, release: str) -> Surface:
    """Return the names of one release under a root."""
    return Surface(root, release)


def _class_in(names: Surface, owner: str) -> tuple[Classes, ClassInfo] | None:
    entry = names.entry(owner)
    classes = classes_behind(names)
    if entry is None or classes is None or entry.kind is not EntryKind.CLASS:
        return None
    info = classes.info(names.home(entry))
    return None if info is None else (classes, info)


def _state_without_class(root: str, release: str, owner: str) -> bool | None:
    """Say what a release without a readable class tells: nothing, where it has some class there."""
    names = surface(root, release)
    unread = names.entry(owner) is not None or classes_behind(names) is None
    return None if unread else False


def _signatures(root: str, name: str) -> tuple[SignatureSpan, ...]:
    table = tables.names_table(root)
    row = table.names.get(name)
    spans = tables.name_spans(row) if row is not None else ()
    return tuple(
        _joined(
            SignatureSpan(
                table.releases[span.first],
                table.releases[span.last],
                table.signatures[span.signature],
            )
            for span in spans
            if span.signature >= 0
        )
    )


def _joined(spans: Iterable[SignatureSpan]) -> Iterator[SignatureSpan]:
    """Put neighbours with the same parameters together."""
    current: SignatureSpan | None = None
    for span in spans:
        if current is not None and current.text == span.text:
            current = SignatureSpan(current.first, span.last, span.text)
            continue
        if current is not None:
            yield current
        current = span
    if current is not None:
        yield current


def _true_spans(known: Iterable[str], states: Iterable[bool | None]) -> Iterator[Period]:
    """Yield the periods in which something holds; what is not known ends none."""
    first = last = ""
    for release, state in zip(known, states, strict=True):
        if state:
            first, last = first or release, release
        elif state is False and first:
            yield first, last
            first = last = ""
    if first:
        yield first, last


def _gone_in(root: str, last: str) -> str:
    return _next(known_releases(root), last)


def _next(known: Iterable[str], release: str) -> str:
    listed = list(known)
    after = listed[listed.index(release) + 1 :]
    return after[0] if after else ""
