"""Decide from a file's ``ast`` whether any rule can fire: only then use libcst.

The gate errs on the side of yes. ``--no-gate`` opens it for every file and must not change what is
reported, so a file that does not pass has nothing to report either way: neither a finding, nor that
its Python cannot be parsed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import Holds, Need, trigger_of
from kdoctor.config import BACKENDS, RULES_OF_BACKENDS
from kdoctor.keras_api import split_root
from kdoctor.modules.exports import ProjectPackage
from kdoctor.modules.module_summary import imports_of
from kdoctor.modules.name_meanings import OwnModule, Value
from kdoctor.rules.entry import RuleEntry
from kdoctor.syntax.package import ClassInfo
from kdoctor.syntax.quick_facts import QuickFacts

Question = Callable[[QuickFacts], bool]
_CACHE_SIZE = 20_000  # modules; memory must not grow with the tree


class RuleQuestion:
    """Whether a rule could fire in a source; calling it imports the rule."""

    def __init__(self, rule: RuleEntry, facts: TargetFacts) -> None:
        self._rule = rule
        self._facts = facts
        self._holds: Holds | None = None

    def __call__(self, quick: QuickFacts) -> bool:
        """Say whether it could."""
        if self._holds is None:
            self._holds = trigger_of(self._rule.load().triggers).holds
        return self._holds(quick, self._facts)


class RulePrefilter:
    """Decides which rules can fire in a source, from its ``ast`` (None: not parsable).

    ``words`` are what must be written for any rule to fire (see ``rules.words``); ``triggers``
    holds, for each rule by its code, the question whether it could; it is asked where the glimpse
    has one word of each set that ``needs`` holds for the rule. ``package`` tells what is imported
    from the project's own modules. Where code must run on ``backends`` beside TensorFlow, the rules
    about these are also asked of files that call a framework and have nothing of Keras: a layer of
    another file may call what is in them.
    """

    def __init__(
        self,
        words: Iterable[str],
        triggers: Mapping[str, Question],
        package: ProjectPackage,
        needs: Mapping[str, Collection[Need]] | None = None,
        backends: Collection[str] = (),
    ) -> None:
        self._words = tuple(each.split() for each in words)
        self._triggers = triggers
        self._by_word: dict[str, set[str]] = {}
        self._without_words: set[str] = set()
        self._more_needs: dict[str, Collection[Need]] = {}  # than one of the words
        for code in triggers:
            self._index(code, (needs or {}).get(code, ()))
        self._package = package
        asked = (RULES_OF_BACKENDS,) if backends else ()
        self._of_backends = frozenset(each for each in triggers if each.startswith(asked))

    def _index(self, code: str, needs: Collection[Need]) -> None:
        if not needs:
            self._without_words.add(code)
            return
        fewest = min(needs, key=lambda need: len(need[1]))
        for word in fewest[1]:
            self._by_word.setdefault(word, set()).add(code)
        more = [need for need in needs if need is not fewest or need[0] != "words"]
        if more:
            self._more_needs[code] = more

    def mentions_keras(self, text: str) -> bool:
        """Say whether a text contains any of the words."""
        return any(all(word in text for word in each) for each in self._words)

    def admits(self, path: str, source: str, tree: ast.Module | None) -> bool:
        """Say whether any rule can fire in ``source``, the text of the file ``path``."""
        return bool(self.may_fire(path, source, tree))

    def concerns(self, path: str, source: str, tree: ast.Module | None) -> bool:
        """Say whether a source uses Keras at all."""
        return self._quick(path, source, tree) is not False

    def may_fire(self, path: str, source: str, tree: ast.Module | None) -> Collection[str]:
        """Return the codes of the rules that can fire: all if Python cannot parse it."""
        quick = self._quick(path, source, tree)
        if quick is True:
            return self._triggers.keys()
        if quick is False:
            return self._of_backends_alone(path, source, tree)
        return frozenset(
            code for code in self._candidate_codes(quick) if self._triggers[code](quick)
        )

    def _of_backends_alone(
        self, path: str, source: str, tree: ast.Module | None
    ) -> Collection[str]:
        """Return the codes of the rules about backends that can fire where nothing is of Keras."""
        if tree is None or not self._of_backends or not any(map(source.__contains__, BACKENDS)):
            return ()
        quick = self._package.quick_facts(path, source, tree)
        codes = self._of_backends.intersection(self._candidate_codes(quick))
        return frozenset(code for code in codes if self._triggers[code](quick))

    def _candidate_codes(self, quick: QuickFacts) -> Iterator[str]:
        """Yield the codes of the rules for which the source has all words that they need."""
        found = (self._by_word[each] for each in self._by_word.keys() & quick.words)
        for code in self._without_words.union(*found):
            for where, words in self._more_needs.get(code, ()):
                if words.isdisjoint(getattr(quick, where)):
                    break
            else:
                yield code

    def _quick(self, path: str, source: str, tree: ast.Module | None) -> QuickFacts | bool:
        """Return the facts about a source, or at once whether all rules could fire, or none."""
        speaks = self.mentions_keras(source)
        if tree is None:
            return True
        observations = self._package.observations.of(path)
        if observations.errors:
            return True  # the code alone would not tell
        is_seen = bool(observations.types)
        if not speaks and not is_seen and not self._imports_keras(path, tree):
            return False
        quick = self._package.quick_facts(path, source, tree)
        concerned = (
            not speaks
            or is_seen
            or self.has_decisive_word("\n".join(quick.written))
            or self.has_decisive_word("\n".join(quick.strings))
            or any(split_root(name) is not None for name in quick.names)
            or self._imports_keras(path, tree)
        )
        return quick if concerned else False

    def has_decisive_word(self, text: str) -> bool:
        """Say whether a text has a word that is decisive by itself: `tensorflow` is not."""
        return any(each[0] in text for each in self._words if len(each) == 1)

    def _imports_keras(self, path: str, tree: ast.Module) -> bool:
        """Say whether the file imports something of Keras through the project's own modules.

        What they export is all that ``syntax`` can learn of them: it asks the same package.
        """
        with self._package.trace.isolated() as dependencies:
            waiting = [
                value
                for imported in imports_of(tree)
                for value in self._package.meanings(path, imported)
            ]
            return self._reach_keras(waiting, dependencies)

    def _reach_keras(self, values: Iterable[Value], dependencies: set[str]) -> bool:
        known = self._package.reach_keras
        if len(known) > _CACHE_SIZE:
            known.clear()
        waiting: list[tuple[Value, OwnModule | None]] = [(each, None) for each in values]
        opened: dict[OwnModule, OwnModule | None] = {}  # and which module imports it
        while waiting:
            value, importer = waiting.pop()
            is_found = False
            match value:
                case (str() as dotted) | ClassInfo(base=str() as dotted):
                    is_found = self.has_decisive_word(dotted) or split_root(dotted) is not None
                case OwnModule() as module if module in known:
                    is_found, seen = known[module]
                    dependencies |= seen
                case OwnModule() as module if module not in opened:
                    opened[module] = importer
                    waiting += [(each, module) for each in self._package.contents(module)]
            if is_found:
                known |= dict.fromkeys(
                    _importers(importer, opened), (True, frozenset(dependencies))
                )
                return True
        # Nothing that can be reached from them was of Keras.
        known |= dict.fromkeys(opened, (False, frozenset(dependencies)))
        return False


def _importers(
    module: OwnModule | None, importers: Mapping[OwnModule, OwnModule | None]
) -> Iterator[OwnModule]:
    """Yield a module, the one that imports it, and so on."""
    while module is not None:
        yield module
        module = importers[module]
