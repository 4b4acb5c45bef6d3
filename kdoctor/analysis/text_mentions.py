"""Search the text of a file for a pattern."""

from __future__ import annotations

import re

from kdoctor.memoize import once
from kdoctor.syntax import Module


@once
def mentions(module: Module, words: re.Pattern[str]) -> bool:
    """Say whether a pattern occurs in a file: code, strings or comments.

    Asked of each finding, it is looked for once: that takes the time of the whole text.
    """
    return words.search(module.text) is not None


def mentions_word(module: Module, word: str) -> bool:
    """Say whether an identifier is written in a file: in code, strings or comments."""
    # Most files do not have it in any form, and need not be taken apart.
    return not (module.text.isascii() and word not in module.text) and word in module.words
