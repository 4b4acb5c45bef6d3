"""Which files of a project write a word.

Asked for the names of functions, classes and methods whose calls are looked for: what calls one
without ever writing its name is not found. Files are searched byte by byte for the first few words;
where more are asked for, all words of each file are noted once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final

WRITES, CALLS, CALLS_MEMBER = "?", "(", "."
"""Before a word: files that write it, that may call it, or a member so named. No name begins so."""
TAKES = "@"
"""Before a name that a module defines: files that may import it from there."""
_MAX_SEARCHES: Final = 12  # after which the words of all files are noted
_MAX_BYTES: Final = 64_000_000  # of a project: what is larger is not searched
_MAX_KEPT_BYTES: Final = 4_000_000  # of one whose files are not read again
_WORD_BYTES: Final = bytes(
    each if chr(each).isalnum() or each == ord("_") or each >= 0x80 else ord(" ")
    for each in range(256)
)  # fmt: skip
_AROUND: Final = 100  # bytes that are looked at before and after a word
_DEFINING: Final = (b"def ", b"class ", b" as ")


class WordIndex:
    """The words in some files, which are read when the first word is asked for."""

    def __init__(self, files: Iterable[str], read: Callable[[str], bytes]) -> None:
        self._files = tuple(files)
        self._read = read
        self._texts: dict[str, bytes] | None = None  # of few bytes
        self._known: dict[str, tuple[str, ...] | None] = {}
        self._by_word: dict[bytes, list[str]] | None = None

    def files_that(self, asked: str) -> tuple[str, ...] | None:
        """Return the files that do something with a word, in their order: ``CALLS + "f"``.

        None where there is too much. What gives the word another name may call it.
        """
        if asked not in self._known:
            how, word = asked[0], asked[1:].encode()
            self._known[asked] = (
                self._search(word) if how == WRITES else self._search_calls(how, word)
            )
        return self._known[asked]

    def _search_calls(self, how: str, word: bytes) -> tuple[str, ...] | None:
        files = self.files_that(WRITES + word.decode())
        is_member = how == CALLS_MEMBER
        return files and tuple(
            each for each in files if _calls(self._text(each), word, is_member=is_member)
        )

    def _search(self, word: bytes) -> tuple[str, ...] | None:
        if not self._is_small:
            return None
        if self._by_word is None and len(self._known) >= _MAX_SEARCHES:
            self._by_word = self._note_words()
        if self._by_word is not None and word in self._by_word:
            return tuple(self._by_word[word])
        found = ((path, self._text(path)) for path in self._files)
        return tuple(path for path, text in found if word in text and word in _words(text))

    @cached_property
    def _is_small(self) -> bool:
        """Whether the files are few enough to be searched. Those of a small project are kept."""
        texts: dict[str, bytes] | None = {}
        size = 0
        for path in self._files:
            text = self._read(path)
            size += len(text)
            if size > _MAX_BYTES:
                return False
            if size > _MAX_KEPT_BYTES:
                texts = None
            if texts is not None:
                texts[path] = text
        self._texts = texts
        return True

    def _text(self, path: str) -> bytes:
        return self._read(path) if self._texts is None else self._texts[path]

    def _note_words(self) -> dict[bytes, list[str]]:
        """Return the files of each word that is defined in one of them, or imported as another."""
        defined: set[bytes] = set()
        for path in self._files:
            defined.update(_defined(self._text(path)))
        found: dict[bytes, list[str]] = {each: [] for each in sorted(defined)}
        for path in self._files:
            for word in defined.intersection(_words(self._text(path))):
                found[word].append(path)
        return found


def _defined(text: bytes) -> Iterator[bytes]:
    """Yield the words behind ``def``, ``class`` and ``as``."""
    for before in _DEFINING:
        at = text.find(before)
        while at >= 0:
            at += len(before)
            yield from _words(text[at : at + _AROUND])[:1]
            at = text.find(before, at)


def _calls(text: bytes, word: bytes, *, is_member: bool) -> bool:
    """Say whether a text may call a word, or give it another name.

    That is faster than to compile a pattern for each word.
    """
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        before, after = text[max(0, at - _AROUND) : at].rstrip(), text[end : end + _AROUND].lstrip()
        if is_member:
            found = before.endswith(b".") and after.startswith(b"(")
        else:
            found = after.startswith((b"(", b"as")) and not before.endswith((b"def", b"class"))
        if found:
            return True
        at = text.find(word, end)
    return False


def _words(text: bytes) -> list[bytes]:
    return text.translate(_WORD_BYTES).split()
