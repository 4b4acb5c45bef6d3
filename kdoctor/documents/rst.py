"""reStructuredText: a unit for every directive that says Python, and one doctest session.

All examples of a file are one session, as ``python -m doctest`` runs them: a later example may use
what an earlier one imports.
"""

from __future__ import annotations

from collections.abc import Iterator

from kdoctor.documents.fences import Block, Lines, says_python, units_of
from kdoctor.documents.layout import Line, has_prompt
from kdoctor.documents.unit import Candidate, Skipped, Unit
from kdoctor.lazy_regex import pattern

_DIRECTIVE = pattern(
    r"(?P<indent>[ \t]*)(?:(?:[-*+]|\d+[.)]|\#\.)[ \t]+)*\.\.[ \t]+"
    r"(?:(?:code-block|code|sourcecode)::[ \t]*(?P<language>\S+)"
    r"|(?P<test>testcode|testsetup|testcleanup)::.*)[ \t]*$"
)
_OPTION = pattern(r"[ \t]*:[\w-]+:")


def read_rst(text: str, path: str) -> tuple[tuple[Unit, ...], tuple[Skipped, ...]]:
    """Read the Python directives and the doctest examples of a reStructuredText document.

    Literal blocks that do not say what they hold count only where they hold doctest prompts.
    """
    lines = Lines(text)
    modules: list[list[Candidate]] = []
    session: list[Candidate] = []
    for block in _blocks(lines):
        if not block.has_prompts:
            modules.append([lines.code(block)])
            continue
        if not session:
            modules.append(session)  # the session stands where its first example does
        session += lines.session(block)
    return units_of(path, modules)


def _blocks(lines: Lines) -> Iterator[Block]:
    row = 0
    while row < len(lines):
        directive = _DIRECTIVE.match(lines[row].rstrip("\r\n"))
        if directive and (directive["test"] or says_python(directive["language"])):
            block = _content(lines, row + 1, _width(directive["indent"]))
            row = block.row + len(block.lines)
            if block.lines:
                yield block
        elif has_prompt(lines[row]):
            block = _until_blank(lines, row)
            row += len(block.lines)
            yield block
        else:
            row += 1


def _content(lines: Lines, row: int, outer: int) -> Block:
    """Return the lines that are indented more than their directive, without its options."""
    while row < len(lines) and _OPTION.match(lines[row]):
        row += 1
    while row < len(lines) and not lines[row].strip():
        row += 1
    end = row
    for at in range(row, len(lines)):
        line = lines[at]
        if line.strip() and _width(line) <= outer:
            break
        if line.strip():
            end = at + 1
    return Block(row, tuple(Line("", "", lines[at]) for at in range(row, end)))


def _until_blank(lines: Lines, row: int) -> Block:
    end = row
    while end < len(lines) and lines[end].strip():
        end += 1
    return Block(row, tuple(Line("", "", lines[at]) for at in range(row, end)))


def _width(line: str) -> int:
    """Return how far a line is indented; docutils counts eight columns a tab."""
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip(" "))
