"""Page: an output stream with its capabilities (colour, links, verbosity)."""

from __future__ import annotations

import os
from typing import TextIO

from msgspec import Struct

from kdoctor.lazy_regex import pattern

_WORD = pattern(r"(`kdoctor [^`]*`[^ ]*|[^ ]*)(?: |$)")
# Colours, and the targets of links.
_STEERING = pattern(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)")
# What each role looks like on a terminal that has colours (rich's style language).
STYLES = {
    "path": "bold",
    "code": "bold red",
    "error": "bold red",
    "change": "bold yellow",
    "legacy": "bold blue",
    "mark": "bold red",
    "help": "cyan",
    "safe": "green",
    "unsafe": "yellow",
    "quiet": "dim",
    "added": "green",
    "removed": "red",
    "hunk": "cyan",
    "good": "bold green",
}


class Page(Struct, frozen=True):
    """A text stream and what its reader can display.

    ``verbosity`` is -1 for findings only, 0 as usual, 1 for every detail. ``links``: it can follow
    a link. ``width`` is how many columns a line may have, 0 for any number. ``arguments`` are those
    of the call that another command needs to do something about the same files. ``folded``: what
    repeats is told once, with all places.
    """

    stream: TextIO
    color: bool = False
    verbosity: int = 0
    links: bool = False
    width: int = 0
    arguments: str = "PATH"
    folded: bool = True

    def line(self, text: str = "") -> None:
        """Write one line."""
        self.stream.write(text + "\n")

    def wrapped(self, text: str, indent: str) -> list[str]:
        """Return a text as lines that fit; all but the first are indented, no word is broken.

        Nor is a command, which one copies.
        """
        if not self.width or len(text) <= self.width:
            return [text]
        lines = [""]
        for word in _WORD.findall(text):
            longer = f"{lines[-1]} {word}" if lines[-1].strip() else f"{lines[-1]}{word}"
            if _columns(longer) > self.width and lines[-1].strip():
                lines.append(f"{indent}{word}")
            else:
                lines[-1] = longer if word or lines[-1].strip() else f"{lines[-1]} "
        return lines

    def command(self, *words: str) -> str:
        """Return a command for the same files, as it can be copied: ``kdoctor fix src``."""
        return " ".join(filter(None, ("kdoctor", *words, self.arguments)))

    def paint(self, role: str, text: str) -> str:
        """Return ``text`` in the style of its role, unchanged if the page has no colours."""
        if not self.color or not text:
            return text
        # Only here: a pipe has no use for rich, and its import takes longer than a small scan.
        from rich.color import ColorSystem  # noqa: PLC0415
        from rich.style import Style  # noqa: PLC0415

        return Style.parse(STYLES[role]).render(text, color_system=ColorSystem.STANDARD)


def _columns(text: str) -> int:
    """Return how many columns a text takes, without what only steers the terminal."""
    return len(_STEERING.sub("", text))


def is_terminal(stream: TextIO) -> bool:
    """Tell whether the stream is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_color(stream: TextIO) -> bool:
    """Tell whether to use colours (https://no-color.org, https://force-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_terminal(stream)


def printable(text: str) -> str:
    r"""Escape control characters: scanned code must not control a terminal.

    >>> printable("a\tb\x1b[2J")
    'a\tb\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        char if char == "\t" or char.isprintable() else char.encode("unicode_escape").decode()
        for char in text
    )
