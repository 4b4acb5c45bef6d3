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
