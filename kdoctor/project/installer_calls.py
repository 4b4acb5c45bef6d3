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
_MARKS: Final = "=<>~"


def installed(text: str, path: str, *, is_notebook: bool = False) -> Iterator[Evidence]:
    """Yield the packages with a Keras that the lines of a text have installed.

    In the JSON of a notebook only those that a magic installs (``!pip``, ``%pip``).
    """
    if "install" not in text:
        return
    for line, joined in joined_lines(text):
        for call in _INSTALLS.finditer(joined):
            before = joined[: call.start()]
            if is_notebook:
                if _CELL_CALL.search(before) is None:
                    continue
            elif _COMMENT.search(before) or _TELLS.match(_COMMAND.split(before)[-1]):
                continue
            parse = parse_requirement if "pip" in call[1] else parse_conda
            is_list = not call[2].isspace()
            arguments = _ITEMS.sub(" ", call[3]) if is_list else call[3]
            for word in _words(arguments):
                yield from _requirement(word, parse, Where(path, line))


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
