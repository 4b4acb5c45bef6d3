"""Keras modules that a star import used to bring in: `K` after `from keras.layers import *`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Trigger
from kdoctor.keras_api import EntryKind, Lookup, Presence, oracle, split_root
from kdoctor.model import Confidence, Finding, Fix, ImportNeed, Severity
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.quick_facts import QuickFacts


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each such name once, where it is first read."""
    stars = [each.imported for each in module.imports if each.local == "*"]
    if any(split_root(star) is None for star in stars):
        return
    for name, (star, home) in _brought(stars, module.unbound_reads, facts).items():
        node = module.unbound_reads[name]
        if module.is_guarded(node):
            continue
        until = facts.lookup(f"{star}.{name}").periods[-1][1]
        parent, _, leaf = home.rpartition(".")
        yield rule.finding(
            module.place(node),
            f"`from {star} import *` brought in `{name}` up to Keras {until}: NameError: name "
            f"'{name}' is not defined",
            symbol=home,
            confidence=Confidence.CERTAIN,
            help=f"Import `{home}`{'' if leaf == name else f' as `{name}`'}.",
            fix=Fix(
                f"Import `{home}`{'' if leaf == name else f' as `{name}`'}",
                (),
                facts.applicability(*rule.invalid),
                (ImportNeed(parent, leaf, name),),
            ),
        )


def _brought(
    stars: list[str], names: Collection[str], facts: TargetFacts
) -> Mapping[str, tuple[str, str]]:
    """Return the modules that star imports bring no more, by name: of which star, and what."""
    known = oracle(facts.target)
    found: dict[str, tuple[str, str]] = {}
    for star in stars:
        for name, home in known.star_modules(star).items():
            if name in names and _is_module(facts.lookup(home)):
                found[name] = star, home
    return {
        name: each
        for name, each in found.items()
        if all(facts.lookup(f"{star}.{name}").presence is Presence.MISSING for star in stars)
    }


def _is_module(found: Lookup) -> bool:
    return found.presence is Presence.EXISTS and found.kind is EntryKind.MODULE


def _may_lack(quick: QuickFacts, facts: TargetFacts) -> bool:
    """Say whether a name is read that a star import may have brought."""
    known = oracle(facts.target)
    return any(not quick.words.isdisjoint(known.star_modules(star)) for star in quick.star_modules)


rule = Rule(
    code="KD108",
    name="module-by-star",
    family="names",
    severity=Severity.ERROR,
    check=check,
    triggers=Trigger(_may_lack),
    since="3.0",
)
