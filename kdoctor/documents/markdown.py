"""Markdown: fences that say Python, doctest sessions, and the cells of MyST notebooks.

Each is a unit, or goes on with an earlier one (:mod:`.continuing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kdoctor.documents.fences import Block, Lines, says_python, units_of
from kdoctor.documents.layout import Line
from kdoctor.documents.unit import Candidate, Excerpt, Skipped, Unit
from kdoctor.lazy_regex import pattern

_MYST_OPTION = pattern(r":[\w-]+:")
_CELL = "{code-cell}"
_COMMANDS = frozenset({"", "sh", "bash", "shell", "zsh", "console", "shell-session", "terminal"})


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def read_markdown(text: str, path: str) -> tuple[tuple[Unit, ...], tuple[Skipped, ...]]:
    """Read the fences of a Markdown document.

    A fence must say that it is Python. Fences and indented code that say nothing count where they
    begin with ``>>>``.
    """
    lines = Lines(text)
    pieces: list[list[Candidate]] = []
    notebook: list[Candidate] = []
    for block, is_cell in _blocks(lines):
        code = list(lines.session(block)) if block.has_prompts else [lines.code(block)]
        if not is_cell:
            pieces.append(code)
            continue
        if not notebook:
            pieces.append(notebook)  # it stands where its first cell does
        notebook += code
    return units_of(path, pieces)


def commands_in(text: str) -> Iterator[Excerpt]:
    """Yield the fences that hold commands of a shell, or say nothing and call an installer."""
    lines = Lines(text)
    for token in _parser().parse(text):
        if token.map is None or token.type not in ("fence", "code_block"):
            continue
        if token.type == "fence" and token.info.strip().lower() not in _COMMANDS:
            continue
        block = _block(lines, token)
        if block.lines and "install" in token.content and not block.has_prompts:
            yield lines.code(block).excerpt


def _blocks(lines: Lines) -> Iterator[tuple[Block, bool]]:
    """Yield the blocks that are Python, and whether they are cells of one notebook (MyST)."""
    for token in _parser().parse(lines.text):
        if token.map is None or token.type not in ("fence", "code_block"):
            continue
        says = token.type == "fence" and says_python(token.info)
        silent = token.type == "code_block" or not token.info.strip()
        block = _block(lines, token)
        if block.lines and (says or (silent and block.has_prompts)):
            yield block, token.info.lstrip().startswith(_CELL)


def _block(lines: Lines, token: Token) -> Block:
    """Return a token's code lines with what stands in front of them in the document."""
    first = token.map[0] + (token.type == "fence") if token.map else 0
    contents = token.content.removesuffix("\n").split("\n") if token.content else []
    skip = _myst_options(contents) if token.info.lstrip().startswith("{") else 0
    return Block(
        first + skip,
        tuple(
            _line(lines[first + row], content)
            for row, content in enumerate(contents)
            if row >= skip
        ),
    )


def _line(raw: str, content: str) -> Line:
    """Split a line of the document into margin and code.

    ``content`` is the code as CommonMark sees it: the end of the line, but that a tab of which the
    margin takes a part comes out as spaces.
    """
    body = raw.rstrip("\r\n")
    size = len(content)
    while not body.endswith(content[len(content) - size :]):
        size -= 1
    margin = len(body) - size
    return Line(raw[:margin], "", raw[margin:])


def _myst_options(contents: list[str]) -> int:
    """Count the lines of options at the head of a MyST directive: ``:tags: [hide]``, or YAML."""
    if contents and contents[0].strip() == "---":
        ends = (row for row, line in enumerate(contents[1:], 1) if line.strip() == "---")
        return next(ends, -1) + 1
    return next(
        (row for row, line in enumerate(contents) if not _MYST_OPTION.match(line)), len(contents)
    )
