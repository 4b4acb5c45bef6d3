"""Turn a line of a traceback into a small program, with its names bound as the error says."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kdoctor import parse_ast
from kdoctor.keras_api import Presence, lookup
from kdoctor.target import Target

# As all of Keras' own examples bind these names.
_CONVENTIONS: Final = {
    "K": "from {root} import backend as K",
    "keras": "import keras",
    "tf": "import tensorflow as tf",
    "tensorflow": "import tensorflow",
    "np": "import numpy as np",
    "tf_keras": "import tf_keras",
}
MODULES: Final = (
    *("layers", "models", "optimizers", "losses", "metrics", "callbacks", "utils", "backend"),
    *("regularizers", "initializers", "constraints", "activations", "applications", "ops"),
)
_OWNER: Final = "kdoctor_owner"


@dataclass(frozen=True, slots=True)
class Snippet:
    """A program of some imports and one statement; ``back`` turns its text into the user's."""

    head: str
    statement: str
    back: Mapping[str, str] = field(default_factory=dict)
    closed: str = ""  # what was put at the end of a statement whose other lines are not shown
    open_end: str = ""  # what stands there for the reader

    @property
    def first(self) -> int:
        """The number of the statement's first line."""
        return self.head.count("\n") + 1

    @property
    def source(self) -> str:
        """The program."""
        return f"{self.head}{self.statement}\n"

    def named(self, text: str) -> str:
        """Put the user's names back into a text."""
        for ours, theirs in self.back.items():
            text = text.replace(ours, theirs)
        return text

    def restored(self, text: str) -> str:
        """Put what the user wrote back into a text made from the program."""
        text = self.named(text)
        if not self.closed:
            return text
        # The statement goes on where the traceback stops.
        return re.sub(rf"{re.escape(self.closed)}$", self.open_end, text, flags=re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SnippetName:
    """What stands before ``.member`` in the line is made by ``code``, ``{name}`` being its name."""

    member: str
    code: str


def snippets(
    line: str, target: Target, binding: SnippetName | None = None, root: str = "keras"
) -> Iterator[Snippet]:
    """Yield the line as programs: as it is, then with its names bound."""
    whole = textwrap.dedent(line).strip()
    for statement in _statements(whole):
        tree = _parsed(statement)
        if tree is None:
            continue
        end = _end(whole) if statement == _closed(whole) else ()
        if used := _bound_by_import(tree):
            yield Snippet("", f"{statement}\n{', '.join(used)}")  # else it would be a dead import
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        bound = list(_imports(names, target, root))
        if binding is None:
            yield Snippet("".join(f"{each}\n" for each in bound), statement, {}, *end)
            continue
        for owner in _owners(tree, binding.member):
            text = ast.get_source_segment(statement, owner) or ""
            name = text if text.isidentifier() else _OWNER
            head = [each for each in bound if not each.endswith((f" {name}", f" as {name}"))]
            head.append(binding.code.format(name=name))
            written = statement if name == text else statement.replace(text, _OWNER)
            back = {} if name == text else {_OWNER: text}
            made = "".join(f"{each}\n" for each in ["import keras", *head])
            yield Snippet(made, written, back, *end)


def _bound_by_import(tree: ast.AST) -> list[str]:
    return [
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if alias.name != "*"
    ]


def _owners(tree: ast.AST, member: str) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == member:
            yield node.value


def _imports(names: set[str], target: Target, root: str) -> Iterator[str]:
    for name in sorted(names):
        if name in _CONVENTIONS:
            yield _CONVENTIONS[name].format(root=root)
        elif name in MODULES:
            yield f"from {root} import {name}"
        elif module := home_of(name, target):
            yield f"from {root}{module} import {name}"


def home_of(name: str, target: Target) -> str | None:
    """Return the module of Keras that publishes a class of that name."""
    if not name[:1].isupper():
        return None
    for module in ("", *(f".{each}" for each in MODULES)):
        if lookup(f"keras{module}.{name}", target).presence is Presence.EXISTS:
            return module
    return None


def _parsed(statement: str) -> ast.AST | None:
    try:
        return parse_ast.parse(statement)
    except (SyntaxError, ValueError):
        return None


def _statements(text: str) -> Iterator[str]:
    """Yield the line as statements: a cut one is closed, a header gets a body, or its end goes."""
    if not text:
        return
    yield text
    if text.startswith("return"):
        yield f"def _():\n    {text}"
    if text.endswith(":"):
        yield f"{text}\n    pass"
    if _closing(text):
        yield _closed(text)
    yield text.strip("()[]{},. ")


def _closed(text: str) -> str:
    """Return the beginning of a statement as one that could be the whole of it."""
    missing = _closing(text)
    return text.rstrip(", ") + missing if missing else ""


def _end(text: str) -> tuple[str, str]:
    """Return what `_closed` put at the end, and what to show in its place."""
    return _closing(text), ", …" if text.endswith(",") else "…"


def _closing(text: str) -> str:
    open_ = []
    pairs = {"(": ")", "[": "]", "{": "}"}
    for char in text:
        if char in pairs:
            open_.append(pairs[char])
        elif open_ and char == open_[-1]:
            open_.pop()
    return "".join(reversed(open_))
