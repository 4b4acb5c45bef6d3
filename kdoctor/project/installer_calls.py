"""What a text has installed by calls of pip and conda: Dockerfiles, CI files, shell scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kdoctor.errors import FileProblem
from kdoctor.lazy_regex import pattern
from kdoctor.project.evidence import Evidence
from kdoctor.project.requirement import Where, parse_conda, parse_requirement

_INSTALLS: Final = pattern(
    r"\b(pip[\d.]*|conda|mamba|micromamba)(\s+|[\"'],\s*[\"'])install\b([^\n|&;#]*)"
)
_ITEMS: Final = pattern(r"""["']\s*[,\]]\s*["']?""")  # of a call as a list: ["pip", "install", …]
_ARGUMENT: Final = pattern(r"""'([^']*)'|("[^"]*"|[^\s"']+)""")
_COMMENT: Final = pattern(r"(?:^|\s)#")
_COMMAND: Final = pattern(r"[;&|]")
# Who is told about a call does not make it.
_TELLS: Final = pattern(r"[\s\-@'\"\[]*(?:RUN\s+)?(?:echo|printf|print)\b")
_CELL_CALL: Final = pattern(r"[!%]")
# A cell of shell commands begins in the JSON of a notebook, and the list of its lines ends.
_SHELL_CELL: Final = pattern(r"\"\s*%%(?:bash|sh|system|sx)\b")
_NEWLINE: Final = "\\n"  # as JSON writes it, and behind a backslash
_GOES_ON: Final = "\\\\\\n"
_CELL_END: Final = pattern(r"\s*\]")
_INCLUDED: Final = pattern(r"(?:^|\s)(?:-r|--requirement)(?:\s*=\s*|\s+|(?<=-r))([^\s\"'\\,\]]+)")
_MARKS: Final = "=<>~"


def installed(text: str, path: str, *, is_notebook: bool = False) -> Iterator[Evidence]:
    """Yield the packages with a Keras that the lines of a text have installed.

    In the JSON of a notebook only those that a magic installs (``!pip``, ``%pip``, ``%%bash``).
    """
    for line, installer, arguments in _calls(text, is_notebook=is_notebook):
        parse = parse_requirement if "pip" in installer else parse_conda
        for word in _words(arguments):
            yield from _requirement(word, parse, Where(path, line))


def included(text: str, *, is_notebook: bool = False) -> Iterator[str]:
    """Yield the files of requirements that the lines of a text have pip read (``-r FILE``)."""
    for _, installer, arguments in _calls(text, is_notebook=is_notebook):
        if "pip" in installer:
            yield from (found[1].strip("`") for found in _INCLUDED.finditer(arguments))


def _calls(text: str, *, is_notebook: bool) -> Iterator[tuple[int, str, str]]:
    """Yield the calls of installers: the line, the installer, its arguments."""
    if "install" not in text:
        return
    in_shell_cell = False
    for line, written in joined_lines(text):
        joined = written
        if is_notebook:
            joined = written.replace(_GOES_ON, " ").replace(_NEWLINE, "\n")
            begins = _SHELL_CELL.search(joined) is not None
            in_shell_cell = begins or (in_shell_cell and not _CELL_END.match(joined))
        for call in _INSTALLS.finditer(joined):
            before = joined[: call.start()].rpartition("\n")[2]
            if is_notebook and not in_shell_cell:
                if _CELL_CALL.search(before) is None:
                    continue
            elif _is_told(before.lstrip(' "') if is_notebook else before):
                continue
            is_list = not call[2].isspace()
            yield line, call[1], _ITEMS.sub(" ", call[3]) if is_list else call[3]


def _is_told(before: str) -> bool:
    """Say whether a call is in a comment, or printed, by what stands before it."""
    return bool(_COMMENT.search(before) or _TELLS.match(_COMMAND.split(before)[-1]))


def joined_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield lines with their numbers, those that go on behind a backslash as one.

    A comment between two that go on, as Dockerfiles have them, belongs to neither.

    >>> list(joined_lines("a \\\n  b\nc"))
    [(1, 'a    b'), (3, 'c')]
    """
    begun, parts = 1, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if parts and line.lstrip().startswith("#"):
            continue
        begun = begun if parts else number
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield begun, " ".join(parts)
            parts = []
    if parts:
        yield begun, " ".join(parts)


def _words(arguments: str) -> Iterator[str]:
    """Yield the arguments of a call, also where it stands in the JSON of a notebook."""
    for quoted, plain in _ARGUMENT.findall(arguments.replace('\\"', "'").replace("\\n", " ")):
        yield (quoted or plain).strip("\"',`[]")


def _requirement(
    word: str, parse: Callable[[str, Where], Evidence | None], where: Where
) -> Iterator[Evidence]:
    if word.startswith("-") or ("/" in word and not any(mark in word for mark in _MARKS)):
        return
    try:
        found = parse(word, where)
    except FileProblem:
        return
    if found is not None:
        yield found
