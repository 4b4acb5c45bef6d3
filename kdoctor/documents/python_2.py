"""Constructs of Python 2 that no Python 3 can parse.

What is said of code is that this construct stands in it, at the place where parsing stopped. A
slip that looks like one is one, too: `print x` is a statement of Python 2, whoever wrote it.
"""

from __future__ import annotations

from typing import Final

from kdoctor.lazy_regex import pattern

CURE: Final = "convert it first, with 2to3 or python-modernize"

# Strings and comments are taken out before: what stands in them is no construct.
_TEXTS: Final = pattern(
    r"""[uUbBrR]{0,2}("[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')"""
)
_OPEN_TEXT: Final = pattern(r"[\"'].*")  # that does not end on its line
_COMMENT: Final = pattern(r"#.*")
_CONSTRUCTS: Final = (
    (pattern(r"(?:^|[:;])\s*print\s+(?![=.(\[,)])\S"), "a print statement"),
    (pattern(r"(?:^|[:;])\s*exec\s+(?![=.(\[,)])\S"), "an exec statement"),
    (pattern(r"^\s*except\s+[^:]+,\s*\w+\s*:"), "`except E, e:`"),
    (pattern(r"(?:^|[:;])\s*raise\s+[\w.]+\s*,"), "`raise E, text`"),
    (pattern(r"<>"), "the operator `<>`"),
    (pattern(r"`[^`]+`"), "backquotes"),
    (pattern(r"(?<![\w.])0\d*[1-9]\d*\b(?![.eEjJ])"), "an octal number such as `0755`"),
    (pattern(r"(?<![\w.])(?:0[xX][\da-fA-F]+|\d+)[lL]\b"), "a long number such as `10L`"),
    (pattern(r"\blambda\s*\("), "a tuple as a parameter"),
    (pattern(r"^\s*def\s+\w+\s*\((?:[^()]*,)?\s*\("), "a tuple as a parameter"),
)
_UR_STRING: Final = pattern(r"(?<!\w)[uU][rR]['\"]")
_TABS: Final = "inconsistent use of tabs"


def construct_of_python_2(text: str, line: int, message: str) -> str:
    """Return which construct of Python 2 keeps a text from being Python 3, "" where none shows.

    ``line`` (from 1) is where Python's parser stopped, ``message`` what it said.
    """
    lines = text.splitlines()
    if not 0 < line <= len(lines):
        return ""
    code = lines[line - 1]
    if _TABS in message:
        return "indentation that mixes tabs and spaces"
    if _UR_STRING.search(_COMMENT.sub("", code)):
        return "a string such as `ur''`"
    bare = _OPEN_TEXT.sub("", _COMMENT.sub("", _TEXTS.sub("_", code)))
    return next((what for shape, what in _CONSTRUCTS if shape.search(bare)), "")
