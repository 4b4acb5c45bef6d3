"""Keras modules that a star import used to bring in: `K` after `from keras.layers import *`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import File, files
from kdoctor.analysis.queries.conditions import star_import
from kdoctor.keras_api import EntryKind, Lookup, Presence, oracle, split_root
from kdoctor.model import Confidence, Finding, ImportNeed, Severity
from kdoctor.rules.rule import rule


def _modules_of(facts: TargetFacts, star: str) -> Mapping[str, str]:
    return oracle(facts.target).star_modules(star)


@rule("KD108", severity=Severity.ERROR, since="3.0", look_for=files(star_import(_modules_of)))
def check(file: File) -> Iterator[Finding]:
    """Report each such name once, where it is first read."""
    module, facts = file.module, file.facts
    stars = [each.imported for each in module.imports if each.local == "*"]
    if any(split_root(star) is None for star in stars):
        return
    for name, (star, home) in _brought(stars, module.unbound_reads, facts).items():
        node = module.unbound_reads[name]
        if module.is_guarded(node):
            continue
        until = facts.lookup(f"{star}.{name}").periods[-1][1]
        parent, _, leaf = home.rpartition(".")
        title = f"Import `{home}`{'' if leaf == name else f' as `{name}`'}"
        yield file.finding(
            f"`from {star} import *` brought in `{name}` up to Keras {until}: NameError: name "
            f"'{name}' is not defined",
            at=node,
            symbol=home,
            confidence=Confidence.CERTAIN,
            help=f"{title}.",
            fix=file.fix(title, imports=(ImportNeed(parent, leaf, name),)),
        )


def _brought(
    stars: list[str], names: Collection[str], facts: TargetFacts
) -> Mapping[str, tuple[str, str]]:
    """Return the modules that star imports bring no more, by name: of which star, and what."""
    found: dict[str, tuple[str, str]] = {}
    for star in stars:
        for name, home in _modules_of(facts, star).items():
            if name in names and _is_module(facts.lookup(home)):
                found[name] = star, home
    return {
        name: each
        for name, each in found.items()
        if all(facts.lookup(f"{star}.{name}").presence is Presence.MISSING for star in stars)
    }


def _is_module(found: Lookup) -> bool:
    return found.presence is Presence.EXISTS and found.kind is EntryKind.MODULE
