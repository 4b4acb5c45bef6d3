"""Queries for imports of packages and of what is in them."""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries.matches import Match
from kdoctor.analysis.queries.query import Query
from kdoctor.analysis.triggers import names, word
from kdoctor.model import Confidence
from kdoctor.syntax import ImportBinding, Module


class Import(Match):
    """What an import statement binds: ``node`` is its alias, or the statement of a star import."""

    def __init__(self, module: Module, facts: TargetFacts, binding: ImportBinding) -> None:
        super().__init__(
            module,
            facts,
            binding.alias or binding.statement,
            symbol=binding.imported,
            confidence=Confidence.CERTAIN,
        )
        self.binding = binding
        self.statement = binding.statement


def imports(*packages: str, guarded: bool = False) -> Query[Import]:
    """Imports of one of these packages or modules, or of something of them.

    Not in code that is guarded, unless ``guarded``.
    """

    def is_one(_: TargetFacts, name: str) -> bool:
        return any(f"{name}.".startswith(f"{each}.") for each in packages)

    def find(module: Module, facts: TargetFacts) -> Iterator[Import]:
        for each in module.imports:
            if is_one(facts, each.imported) and (guarded or not module.is_guarded(each.statement)):
                yield Import(module, facts, each)

    tops = {each.partition(".")[0] for each in packages}
    return Query(find, word(*sorted(tops)) & names(is_one))
