"""Clean up logs: remove colours and the prefixes that loggers and runners add to lines."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Final

HEAD: Final = "Traceback (most recent call last)"

# Colab and VS Code make links of a notebook's places: `[/lib/x.py:3](https://localhost:8080/#)`.
_LINK: Final = re.compile(r"\[([^\[\]\n]+)\]\((?:https?|file|vscode-[\w-]+):[^()\s]*\)")
# A terminal's line end within the head of a frame: in its path, or before the function's name.
_WRAPPED: Final = re.compile(
    r'^([ \t]*File "[^"\n]*)\n(?=[^"\n]*", line \d)'
    r'|^([ \t]*File "[^"\n]*", line \d+,) *\n(?=in \S)',
    re.MULTILINE,
)

_MAX_LINE_LENGTH: Final = 10_000  # characters: what has more in one line is data, not text
# What comes after so many empty lines tells no more for more of them.
_MAX_EMPTY_LINES: Final = 1000
# Colours and cursor movements, titles and links (OSC), and a lone ESC in a cut log.
_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]?"
)
# The same where a program showed the escape as text: `\x1b[1m`, `^[[1m`, or lost ESC: `[1m`.
_SHOWN: Final = re.compile(r"(?:\\x1b|\\033|\\u001b|\^\[)\[[\d;]*m")
_LOST: Final = re.compile(r"\[(?:0|1|\d\d)(?:;\d+)*m")
# `ValueError                      Traceback (most recent call last)`: IPython's own.
_IPYTHON: Final = re.compile(r"^[\w.]+ {2,}$")
# A frame of a logged traceback whose head is cut off.
_PREFIXED: Final = re.compile(r'^(?P<before>\S.{0,200}?)  File "[^"]+", line \d+')
_MAX_PREFIX_LENGTH: Final = 300  # characters that anything puts before each line
_GROUP: Final = re.compile(r"^\s*(?:\| ?|\+ (?=Exception))")
# What a page or a JSON field made of a log: `&quot;`, `<pre>`, and line ends as two characters.
_ENTITIES: Final = re.compile(r"&(?:quot|apos|lt|gt|amp|nbsp|#0?39|#34|#x27|#x22);", re.IGNORECASE)
_TAGS: Final = re.compile(r"</?(?:pre|code|span)(?: [^<>]*)?>")
_ONE_LINE: Final = re.compile(rf"{re.escape(HEAD)}:(?:\\r)?\\n")
_ESCAPED: Final = re.compile(r"\\(?:r\\n|([nrt\"'\\/]))")
_PLAIN: Final = {"n": "\n", "r": "", "t": "\t"}
# loguru draws the value of each name under the line, and marks the frame that caught the error.
_VALUE: Final = re.compile(r"^ {4,}(?:│ +)*└ ")
_CAUGHT: Final = re.compile(r'^> (?=File "[^"]+", line \d)')
_SEPARATOR: Final = re.compile(r"^\s*\+-[+-]*(?: (?P<number>\d+|\.\.\.) -+)?$")
MEMBER: Final = "+-- of the group:"  # what stands for the head of a member of an exception group
GROUP_END: Final = "+-- end of the group"


def clean_lines(text: str) -> list[str]:
    r"""Return the lines of a log as the program printed them.

    >>> clean_lines("web_1 | Traceback (most recent call last):\nweb_1 |   File")
    ['Traceback (most recent call last):', '  File']
    """
    text = _without_long_lines(_without_markup(_with_line_ends(text))).replace("\r\n", "\n")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\\" in text or "^" in text:
        text = _SHOWN.sub("", text)
    text = _WRAPPED.sub(_joined, _LINK.sub(r"\1", _LOST.sub("", text)))
    lines = (line.rpartition("\r")[2].rstrip() for line in text.split("\n"))
    plain = _without_groups(_without_prefixes(_without_gaps(lines)))
    return [_CAUGHT.sub("  ", line) for line in plain if not _VALUE.match(line)]


_NARROWEST: Final = 60  # columns that anyone lets a terminal have
_MAX_COPIED_LENGTH: Final = 200_000  # characters that anyone copies from it


def unwrapped_lines(text: str) -> str:
    """Join lines that a narrow terminal has wrapped.

    No line is longer than its width then, and those that are as long go on in the next one.
    """
    if len(text) > _MAX_COPIED_LENGTH:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    width = max(map(len, lines))
    if width < _NARROWEST:
        return text
    ends = ("" if len(line) == width else "\n" for line in lines)
    return "".join(line + end for line, end in zip(lines, ends, strict=True)).removesuffix("\n")


def _with_line_ends(text: str) -> str:
    r"""Put the line ends back into a traceback that was printed as a literal.

    >>> _with_line_ends(r'"Traceback (most recent call last):\n  File \"a.py\"').splitlines()
    ['"Traceback (most recent call last):', '  File "a.py"']
    """
    if not _ONE_LINE.search(text):
        return text
    return _ESCAPED.sub(lambda found: _PLAIN.get(found[1] or "n", found[1]), text)


def _without_markup(text: str) -> str:
    """Replace HTML entities by their characters."""
    if not _ENTITIES.search(text):
        return text
    return _ENTITIES.sub(lambda found: html.unescape(found[0]), _TAGS.sub("", text))


def _without_long_lines(text: str) -> str:
    """Cut each line where no line of a program's says more."""
    lines = text.split("\n")
    if max(map(len, lines)) <= _MAX_LINE_LENGTH:
        return text
    return "\n".join(line[:_MAX_LINE_LENGTH] for line in lines)


def _without_gaps(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, with long runs of empty lines shortened."""
    empty = 0
    for line in lines:
        empty = 0 if line else empty + 1
        if empty <= _MAX_EMPTY_LINES:
            yield line


def _joined(matched: re.Match[str]) -> str:
    if matched[1] is None:
        return f"{matched[2]} "
    return f"{matched[1]}/" if matched[1].endswith("-packages") else matched[1]


def _without_prefixes(lines: Iterable[str]) -> Iterator[str]:
    prefix: re.Pattern[str] | None = None
    for line in lines:
        if HEAD in line and "Exception Group" not in line:
            prefix = _prefix_of(line.partition(HEAD)[0])
        elif prefix is None and (frame := _PREFIXED.match(line)):
            prefix = _prefix_of(frame["before"])
        matched = prefix.match(line) if prefix is not None else None
        if matched is None and prefix is not None and prefix.match(line + " "):
            yield ""  # an empty line of the program
        else:
            rest = line[matched.end() :] if matched else line
            # Markdown's sign for code stands at both ends.
            yield rest.removesuffix("`") if matched and matched[0].endswith("`") else rest


def _prefix_of(before: str) -> re.Pattern[str] | None:
    """Return what stands before each line: as before the traceback's head, with other numbers."""
    if not 0 < len(before) <= _MAX_PREFIX_LENGTH or _IPYTHON.match(before) or before.strip() == "|":
        return None
    return re.compile(re.sub(r"\d+", r"\\d+", re.escape(before)))


def _without_groups(lines: Iterator[str]) -> Iterator[str]:
    """Remove the bars from tracebacks of exception groups."""
    inside = False
    for line in lines:
        if f"+ Exception Group {HEAD}" in line:
            inside = True
        if inside and (separator := _SEPARATOR.match(line)):
            yield MEMBER if separator["number"] else GROUP_END
            continue
        if inside and not _GROUP.match(line):
            inside = False
        yield _GROUP.sub("", line) if inside else line
