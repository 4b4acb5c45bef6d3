"""``environment.yml`` of conda, with its pip section and its variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kdoctor.errors import FileProblem
from kdoctor.project.evidence import Flag
from kdoctor.project.readers.file import File, ReadItem, requirement_evidence
from kdoctor.project.requirement import parse_conda, parse_requirement
from kdoctor.target import LEGACY_SWITCH

if TYPE_CHECKING:
    from yaml.nodes import Node


def read_environment(file: File) -> Iterator[ReadItem]:
    """Yield what a conda environment says about Keras."""
    for key, value in _pairs(_parsed(file)):
        if key.value == "dependencies":
            for entry in _items(value):
                yield from _dependency(file, entry)
        elif key.value == "variables":
            for name, setting in _pairs(value):
                if name.value == LEGACY_SWITCH:
                    yield Flag(str(setting.value), file.path, setting.start_mark.line + 1)


def _dependency(file: File, entry: Node) -> Iterator[ReadItem]:
    if isinstance(entry.value, str):
        yield from _said(file, entry, entry.value, pip=False)
        return
    for key, value in _pairs(entry):
        if key.value == "pip":
            for requirement in _items(value):
                if isinstance(requirement.value, str):
                    yield from _said(file, requirement, requirement.value, pip=True)


def _said(file: File, node: Node, text: str, *, pip: bool) -> Iterator[ReadItem]:
    parse = parse_requirement if pip else parse_conda
    yield from requirement_evidence(file, text, node.start_mark.line + 1, parse=parse)


def _parsed(file: File) -> Node | None:
    import yaml  # noqa: PLC0415 - only where there is such a file

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node: Node | None = yaml.compose(file.text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        why = getattr(error, "problem", None) or "cannot be parsed"
        raise FileProblem(f"not valid YAML: {why}{where}") from None
    return node


def _pairs(node: Node | None) -> list[tuple[Node, Node]]:
    return node.value if node is not None and node.id == "mapping" else []


def _items(node: Node) -> list[Node]:
    return node.value if node.id == "sequence" else []
