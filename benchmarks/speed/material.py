"""What files are composed of: the chunks in this folder, and those of the standard library."""

from __future__ import annotations

import ast
import os
import re
import string
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

CHUNKS = Path(__file__).with_name("chunks")
_WORD = re.compile(r"(\w+)")
_SEPARATOR = "# ---\n"
_LEFT_OUT = {"site-packages", "test", "tests", "idle_test", "lib2to3", "__pycache__"}
_SUBJECTS = (CHUNKS / "subjects.txt").read_text("utf-8").split()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A definition at the top level of a file, and names in it that may be changed."""

    text: str
    names: tuple[str, ...]

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n")

    def varied(self, random: Random) -> str:
        """Return it with some names changed, so that no two files hold the same."""
        if not self.names:
            return self.text
        chosen = set(random.sample(self.names, min(3, len(self.names))))
        suffix = random.choice(_SUBJECTS)
        parts = _WORD.split(self.text)
        return "".join(f"{part}_{suffix}" if part in chosen else part for part in parts)


@dataclass(frozen=True, slots=True)
class Module:
    """A file of the standard library: its imports and its definitions."""

    imports: str
    chunks: tuple[Chunk, ...]


@cache
def templates(name: str) -> tuple[string.Template, ...]:
    """Return the chunks of ``chunks/<name>.txt``."""
    text = (CHUNKS / f"{name}.txt").read_text("utf-8")
    return tuple(map(string.Template, text.split(_SEPARATOR)))


def filled(template: string.Template, random: Random) -> str:
    """Return a chunk with a subject and numbers of its own."""
    name = f"{random.choice(_SUBJECTS)}_{random.randrange(100)}"
    return template.substitute(
        name=name,
        Name="".join(part.capitalize() for part in name.split("_")),
        units=random.choice((16, 32, 64, 128, 256)),
        size=random.choice((28, 32, 64, 96, 128)),
        classes=random.randrange(2, 100),
        small=random.randrange(2, 9),
        rate=round(random.uniform(0.05, 0.9), 2),
    )


@cache
def standard_library() -> tuple[Module, ...]:
    """Return the files of the standard library that have definitions and nothing of Keras."""
    found = map(_module, sorted(_files(Path(os.__file__).parent)))
    return tuple(module for module in found if module is not None)


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.py"):
        if not _LEFT_OUT & set(path.relative_to(folder).parts):
            yield path


def _module(path: Path) -> Module | None:
    try:
        source = path.read_text("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (UnicodeDecodeError, SyntaxError):
        return None
    lines = source.splitlines(keepends=True)
    if "keras" in source.lower() or "\f" in source:
        return None
    imports, chunks = [], []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0):
            imports.append(ast.unparse(node) + "\n")
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            text = "".join(lines[first - 1 : node.end_lineno]).rstrip() + "\n"
            chunks.append(Chunk(text, tuple(sorted(_names(node)))))
    future = [line for line in imports if "__future__" not in line]
    return Module("".join(future), tuple(chunks)) if chunks else None


def _names(node: ast.AST) -> Iterator[str]:
    """Yield names that mean nothing to the language or to the libraries: parameters, locals."""
    found = {
        each.arg if isinstance(each, ast.arg) else each.id
        for each in ast.walk(node)
        if isinstance(each, ast.arg) or (isinstance(each, ast.Name) and _is_store(each))
    }
    return (name for name in found if len(name) > 3 and not name.startswith("_"))


def _is_store(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)
