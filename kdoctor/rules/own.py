"""Rules of one's own: those that a project or an installed package adds to kdoctor's.

What is in use holds for this process, as the rules of kdoctor do: each run, and each file that a
process is given, says first which ones it wants. ``kdoctor.own_rules`` finds and imports them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from kdoctor.model import Unreadable

if TYPE_CHECKING:
    from kdoctor.rules.pages import Page
    from kdoctor.rules.rule import Rule


class RuleFolder(Struct, frozen=True):
    """A folder with a file for each rule. ``only`` is the one file that is asked for, "" for all.

    ``path`` is absolute, "" where an installed package names a folder that is not there.
    ``named_by`` says, for people, where it is named. ``installed``: it belongs to a package.
    """

    path: str
    named_by: str
    only: str = ""
    installed: bool = False


class OwnSources(Struct, frozen=True):
    """Where rules of one's own come from: small and picklable, sent to each worker.

    ``digest`` is that of what the files hold, "" where there are none. ``withheld`` says which
    rules are not loaded for want of trust, and how they are, "" where there are none.
    """

    folders: tuple[RuleFolder, ...] = ()
    digest: str = ""
    withheld: str = ""


NO_SOURCES: Final = OwnSources()


class OwnRules(Struct, frozen=True, eq=False, dict=True):
    """Rules of one's own, imported.

    ``files`` and ``pages`` have the file and the page of each by its code. ``libraries`` are the
    packages of which a file must speak for them to fire, beside Keras. ``record`` is the proof
    record of their examples. ``problems`` are the files that hold no rule that could be used.
    """

    sources: OwnSources = NO_SOURCES
    rules: tuple[Rule, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[str, Page] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()
    record: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    problems: tuple[Unreadable, ...] = ()

    @property
    def withheld(self) -> str:
        """Why there may be more rules than these, "" where there are no others."""
        broken = f"{self.problems[0].path} could not be used" if self.problems else ""
        return self.sources.withheld or broken

    @cached_property
    def proven(self) -> frozenset[str]:
        """The ids of the examples that held when they were run."""
        return frozenset(key for key, proof in self.record.items() if proof.get("holds") is True)

    def proven_for(self, code: str) -> frozenset[str]:
        """The ids that count for a rule: none for one of kdoctor's, which has its own record."""
        return self.proven if code in self.files else frozenset()


NO_RULES: Final = OwnRules()


class _Process(Struct):
    own: OwnRules = NO_RULES


_PROCESS: Final = _Process()


def in_use() -> OwnRules:
    """Return the rules of one's own that count in this process."""
    return _PROCESS.own


def use(own: OwnRules) -> None:
    """Let these rules of one's own count from now on, and no others."""
    _PROCESS.own = own
