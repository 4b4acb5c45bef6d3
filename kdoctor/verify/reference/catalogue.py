"""The contents of the reference, read from its source without importing it."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

from kdoctor.errors import UsageProblem


@dataclass(frozen=True, slots=True)
class Definition:
    """A public function or class of the reference, with the first line of its docstring."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class Module:
    """One self-contained file of the reference, which can be copied as it is."""

    name: str
    summary: str
    source: str
    definitions: tuple[Definition, ...]


def modules() -> tuple[Module, ...]:
    """Return all files of the reference, by name."""
    files = (
        file
        for file in resources.files("kdoctor.reference").iterdir()
        if file.name.endswith(".py") and not file.name.startswith("_")
    )
    return tuple(
        _read(file.name.removesuffix(".py"), file.read_text("utf-8"))
        for file in sorted(files, key=lambda file: file.name)
    )


def holding(name: str) -> Module:
    """Return the file with this name, or with a function or class of this name, ignoring case.

    Raises:
        UsageProblem: there is none.
    """
    found = find(name)
    if found is None:
        near = difflib.get_close_matches(name.lower(), _by_name(), 1, 0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageProblem(
            f"the reference has no {name!r}{hint} (`kdoctor reference` lists its contents)"
        )
    return found


def find(name: str) -> Module | None:
    """Return the file with this name, or with a function or class of this name, ignoring case."""
    return _by_name().get(name.lower())


def _by_name() -> dict[str, Module]:
    return {
        each.lower(): module
        for module in modules()
        for each in (*(definition.name for definition in module.definitions), module.name)
    }


def _read(name: str, source: str) -> Module:
    tree = ast.parse(source)
    return Module(name, _summary(tree), source, tuple(_public(tree)))


def _public(tree: ast.Module) -> Iterator[Definition]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield Definition(node.name, _summary(node))


def _summary(node: ast.Module | ast.FunctionDef | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n")[0]
