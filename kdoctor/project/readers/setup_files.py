"""``setup.cfg``, ``tox.ini``, and of ``setup.py`` the lists of texts. Nothing is run."""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Iterator, Mapping, Sequence

from kdoctor import parse_ast
from kdoctor.errors import FileProblem
from kdoctor.project.readers.file import File, ReadItem, requirement_evidence


def read_setup_cfg(file: File) -> Iterator[ReadItem]:
    """Yield what ``install_requires`` and the extras of ``setup.cfg`` say."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(file.text)
    except configparser.Error as error:
        line = re.search(r"\[line:? *(\d+)\]", str(error))
        where = f" (line {line.group(1)})" if line else ""
        what = str(error.message).partition("\n")[0].partition(":")[0].strip()
        raise FileProblem(f"not a valid configuration file: {what}{where}") from None
    if parser.has_option("options", "install_requires"):
        yield from _texts(file, _entries(parser["options"]["install_requires"]), "")
    if parser.has_section("options.extras_require"):
        for name, value in parser["options.extras_require"].items():
            yield from _texts(file, _entries(value), f"extra {name}")


def read_tox_ini(file: File) -> Iterator[ReadItem]:
    """Yield what the ``deps`` of the environments in ``tox.ini`` say.

    A line that begins with factors (``py36-tf1: tensorflow<2``) is for some environments only.
    """
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(file.text)
    except configparser.Error:
        return
    for section in parser.sections():
        for entry in _entries(parser.get(section, "deps", fallback="")):
            factors, colon, rest = entry.partition(": ")
            requirement = rest.strip() if colon else entry
            group = f"factor {factors}" if colon else f"environment {section}"
            if not requirement.startswith(("-", "#")):
                yield from requirement_evidence(file, requirement, file.line_of(entry), group)


def read_setup_py(file: File) -> Iterator[ReadItem]:
    """Yield what ``setup.py`` requires, if it is written as literals.

    Lists of literals, also by the name of a module's variable and added up, are understood; what a
    program computes is not, and code of Python 2 neither: then the file says nothing.
    """
    try:
        tree = parse_ast.parse(file.text)
    except (SyntaxError, ValueError):
        return
    bound = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in (node for node in ast.walk(tree) if _is_setup(node)):
        assert isinstance(call, ast.Call)
        for keyword in call.keywords:
            if keyword.arg == "install_requires":
                yield from _literals(file, keyword.value, bound, "")
            elif keyword.arg == "extras_require":
                value = _followed(keyword.value, bound)
                pairs = (
                    zip(value.keys, value.values, strict=True)
                    if isinstance(value, ast.Dict)
                    else ()
                )
                for key, entries in pairs:
                    name = str(key.value) if isinstance(key, ast.Constant) else "?"
                    yield from _literals(file, entries, bound, f"extra {name}")


def _is_setup(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name == "setup"


def _followed(node: ast.expr, bound: Mapping[str, ast.expr]) -> ast.expr:
    return bound.get(node.id, node) if isinstance(node, ast.Name) else node


def _literals(
    file: File, node: ast.expr, bound: Mapping[str, ast.expr], group: str
) -> Iterator[ReadItem]:
    value = _followed(node, bound)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        for side in (value.left, value.right):
            yield from _literals(
                file, side, {k: v for k, v in bound.items() if v is not value}, group
            )
    elif isinstance(value, ast.List | ast.Tuple):
        for item in value.elts:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                yield from requirement_evidence(file, item.value, item.lineno, group)


def _entries(value: str) -> Sequence[str]:
    return [line.split(" #")[0].strip() for line in value.splitlines() if line.strip()]


def _texts(file: File, entries: Sequence[str], group: str) -> Iterator[ReadItem]:
    for entry in entries:
        yield from requirement_evidence(file, entry, file.line_of(entry), group)
