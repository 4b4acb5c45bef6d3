"""Where the bytes of a file name something, by what stands around it."""

from __future__ import annotations

import re

_BLANK = b" \t\f\r\n\\"
_BEFORE_A_READ = (b".", b":", b"'", b'"', b"}")
_AROUND = 200  # bytes that are looked at before and after a name


def may_read(data: bytes, name: str) -> bool:
    """Say whether a file may read a name of something: ``.name``, ``"name"``, ``name=…``.

    That it imports the name, or uses it, is no such read: most files that have it do no more.
    """
    itself = name.encode()
    return itself in data and any(
        _may_be_read(data, *found.span()) for found in re.finditer(_word(itself), data)
    )


def _may_be_read(data: bytes, start: int, end: int) -> bool:
    """Say whether a name may be read of something, by what stands before and after it."""
    before = data[max(start - _AROUND, 0) : start].rstrip(_BLANK)
    after = data[end : end + _AROUND].lstrip(_BLANK)
    line = before.rpartition(b"\n")[2]
    if after.startswith((b"=", b"#")) or not before or b"#" in line:
        return True
    is_imported = after.startswith(b"import") and line.lstrip().startswith(b"from")
    return before.endswith(_BEFORE_A_READ) and not is_imported


def holds_word(data: bytes, word: str) -> bool:
    """Say whether a word is in a file: `K` is part of nearly every one."""
    word_itself = word.encode()
    return word_itself in data and re.search(_word(word_itself), data) is not None


def holds_module(data: bytes, leaf: str) -> bool:
    """Say whether a file names a module otherwise than in ``from module import name``."""
    return re.search(_word(leaf.encode()) + rb"(?!\s+import\b)", data) is not None


def _word(word: bytes) -> bytes:
    """Return the pattern of a word that is no part of another.

    It begins with the word, for which bytes are searched fast.
    """
    word = re.escape(word)
    return word + rb"(?<![A-Za-z0-9_]" + word + rb")(?![A-Za-z0-9_])"
