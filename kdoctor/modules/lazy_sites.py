"""The calls of functions, found one after the other, and no more of them than are looked at.

Most questions about a parameter end at the first call that passes something unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kdoctor.modules.call_sites import CallSite, CallSites
from kdoctor.modules.definition_uses import UnseenError
from kdoctor.modules.dependencies import Dependencies

_MAX_FUNCTIONS: Final = 1024  # of which it is kept what was found


class _Found:
    """What was found of one function's calls, with what was looked at to know it."""

    def __init__(self, more: Iterator[CallSite]) -> None:
        self.sites: list[tuple[CallSite, frozenset[str]]] = []
        self.more: Iterator[CallSite] | None = more
        self.seen: frozenset[str] = frozenset()  # at the end
        self.is_unseen = False


class LazySites:
    """Remembers the calls of functions. ``trace`` learns what they rest on, whoever asks."""

    def __init__(self, trace: Dependencies, sites: CallSites) -> None:
        self._trace = trace
        self._sites = sites
        self._found: dict[tuple[str, str], _Found] = {}

    def of(self, path: str, function: str) -> Iterator[CallSite]:
        """Yield the calls of a function of a module.

        Raises:
            UnseenError: it may be called elsewhere, too.
        """
        key = path, function
        if key not in self._found:
            if len(self._found) >= _MAX_FUNCTIONS:
                del self._found[next(iter(self._found))]
            self._found[key] = _Found(self._sites.of(path, function))
        found, place = self._found[key], 0
        while True:
            if place == len(found.sites) and not self._find_one_more(found):
                break
            site, seen = found.sites[place]
            self._trace.add(seen)
            yield site
            place += 1
        self._trace.add(found.seen)
        if found.is_unseen:
            raise UnseenError

    def _find_one_more(self, found: _Found) -> bool:
        if found.more is None:
            return False
        with self._trace.isolated() as seen:
            try:
                site = next(found.more, None)
            except UnseenError:
                site, found.is_unseen = None, True
        if site is None:
            found.more, found.seen = None, frozenset(seen)
            return False
        found.sites.append((site, frozenset(seen)))
        return True

    def forget(self) -> None:
        """Drop all that was found."""
        self._found.clear()
