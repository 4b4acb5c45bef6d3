"""A line of a traceback as a small program: its names bound to what the error says they are."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kdoctor import quiet_ast
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
_MODULES: Final = (
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

    @property
    def first(self) -> int:
        """The number of the statement's first line."""
        return self.head.count("\n") + 1

    @property
    def source(self) -> str:
        """The program."""
        return f"{self.head}{self.statement}\n"

    def restored(self, text: str) -> str:
        """Put what the user wrote back into a text made from the program."""
        for ours, theirs in self.back.items():
            text = text.replace(ours, theirs)
        return text


@dataclass(frozen=True, slots=True)
class Binding:
    """What stands before ``.member`` in the line is made by ``code``, ``{name}`` being its name."""

    member: str
    code: str


def snippets(
    line: str, target: Target, binding: Binding | None = None, root: str = "keras"
) -> Iterator[Snippet]:
    """Yield the line as programs: as it is, then with its names bound."""
    for statement in _statements(line):
        tree = _parsed(statement)
        if tree is None:
            continue
        if used := _bound_by_import(tree):
            yield Snippet("", f"{statement}\n{', '.join(used)}")  # else it would be a dead import
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        bound = list(_imports(names, target, root))
        if binding is None:
            yield Snippet("".join(f"{each}\n" for each in bound), statement)
            continue
        for owner in _owners(tree, binding.member):
            text = ast.get_source_segment(statement, owner) or ""
            name = text if text.isidentifier() else _OWNER
            head = [each for each in bound if not each.endswith((f" {name}", f" as {name}"))]
            head.append(binding.code.format(name=name))
            written = statement if name == text else statement.replace(text, _OWNER)
            back = {} if name == text else {_OWNER: text}
            yield Snippet("".join(f"{each}\n" for each in ["import keras", *head]), written, back)


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
        elif name in _MODULES:
            yield f"from {root} import {name}"
        elif module := home_of(name, target):
            yield f"from {root}{module} import {name}"


def home_of(name: str, target: Target) -> str | None:
    """Return the module of Keras that publishes a class of that name."""
    if not name[:1].isupper():
        return None
    for module in ("", *(f".{each}" for each in _MODULES)):
        if lookup(f"keras{module}.{name}", target).presence is Presence.EXISTS:
            return module
    return None


def _parsed(statement: str) -> ast.AST | None:
    try:
        return quiet_ast.parse(statement)
    except (SyntaxError, ValueError):
        return None


def _statements(line: str) -> Iterator[str]:
    """Yield the line as statements: a cut one is closed, a header gets a body, or its end goes."""
    text = textwrap.dedent(line).strip()
    if not text:
        return
    yield text
    if text.startswith("return"):
        yield f"def _():\n    {text}"
    if text.endswith(":"):
        yield f"{text}\n    pass"
    if missing := _closing(text):
        yield text.rstrip(", ") + missing
    yield text.strip("()[]{},. ")


def _closing(text: str) -> str:
    open_ = []
    pairs = {"(": ")", "[": "]", "{": "}"}
    for char in text:
        if char in pairs:
            open_.append(pairs[char])
        elif open_ and char == open_[-1]:
            open_.pop()
    return "".join(reversed(open_))
