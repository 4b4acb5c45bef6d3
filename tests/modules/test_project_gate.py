"""The gate says no to no file for what only another file passes, returns or keeps."""

from __future__ import annotations

import ast
import secrets
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from kdoctor.engine.examiners import examiner_for, forget
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target
from kdoctor.rules import all_rules

RULES = [rule for rule in all_rules() if rule.family != "suppression"]
Files = dict[str, str]


def halves(source: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield the imports of a source and two parts of its statements, at each place.

    With the names that the first part binds and the second reads.
    """
    body = ast.parse(source).body
    imports = [each for each in body if isinstance(each, ast.Import | ast.ImportFrom)]
    rest = [each for each in body if each not in imports]
    for place in range(1, len(rest)):
        first, second = rest[:place], rest[place:]
        names = sorted(_bound(first) & _read(second))
        if names:
            yield _text(imports), _text(first), _text(second), names


def _bound(statements: list[ast.stmt]) -> set[str]:
    found = {each.id for each in _names(statements) if isinstance(each.ctx, ast.Store)}
    defined = (ast.FunctionDef, ast.ClassDef)
    return found | {each.name for each in statements if isinstance(each, defined)}


def _read(statements: list[ast.stmt]) -> set[str]:
    return {each.id for each in _names(statements) if isinstance(each.ctx, ast.Load)}


def _names(statements: list[ast.stmt]) -> list[ast.Name]:
    return [node for each in statements for node in ast.walk(each) if isinstance(node, ast.Name)]


def _text(statements: list[ast.stmt]) -> str:
    return "".join(f"{ast.unparse(each)}\n" for each in statements)


def _inside(text: str, depth: int = 1) -> str:
    return textwrap.indent(text, "    " * depth)


def passed(imports: str, first: str, second: str, names: list[str]) -> tuple[Files, str]:
    """Pass what the first part binds to a function of another file, with the second part."""
    listed = ", ".join(names)
    lib = f"{imports}def run_it({listed}):\n{_inside(second)}    return\n"
    use = f"{imports}from lib import run_it\n{first}run_it({listed})\n"
    return {"lib.py": lib, "use.py": use}, "lib.py"


def returned(imports: str, first: str, second: str, names: list[str]) -> tuple[Files, str]:
    """Return it from a function of another file."""
    lib = f"{imports}def make_it():\n{_inside(first)}    return {names[0]}\n"
    use = f"{imports}from lib import make_it\n{names[0]} = make_it()\n{second}"
    return {"lib.py": lib, "use.py": use}, "use.py"


def kept(imports: str, first: str, second: str, names: list[str]) -> tuple[Files, str]:
    """Keep it in an attribute of a base class in another file."""
    keeps = f"{_inside(first, 2)}        self.it = {names[0]}\n"
    lib = f"{imports}class Keeper:\n    def __init__(self):\n{keeps}"
    reads = f"        {names[0]} = self.it\n{_inside(second, 2)}"
    use = f"{imports}from lib import Keeper\nclass Mine(Keeper):\n    def run(self):\n{reads}"
    return {"lib.py": lib, "use.py": use}, "use.py"


WAYS = [passed, returned, kept]


def findings(path: Path, *, gate: bool) -> list[tuple[str, int, str]]:
    forget()
    options = ScanOptions(
        newest_target(), gate=gate, diffs=False, anchors=False, project_types=True
    )
    scan = examiner_for(options).examine(str(path), path.read_bytes()).scan
    return sorted((each.code, each.place.line, each.message) for each in scan.findings)


def both(folder: Path, files: Files, asked: str) -> tuple[object, object]:
    for name, text in ({"setup.py": ""} | files).items():
        (folder / name).write_text(text)
    return tuple(findings(folder / asked, gate=gate) for gate in (True, False))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_gate_changes_nothing_where_an_example_is_parted_between_two_files(rule, tmp_path):
    drawn = secrets.SystemRandom()
    source = drawn.choice(rule.invalid).before
    if "__future__" in source or "import *" in source:
        return
    parted = list(halves(source))
    for way in WAYS if parted else ():
        files, asked = way(*drawn.choice(parted))
        with_gate, without = both(tmp_path, files, asked)
        assert with_gate == without, files


@pytest.mark.parametrize("way", WAYS)
def test_a_tensor_that_another_file_makes_is_symbolic_here(way, tmp_path):
    """Nothing in the file itself makes a symbolic tensor."""
    made = "from keras import Input, layers\nx = layers.Dense(2)(Input((3,)))\n"
    imports = "import keras\nimport tensorflow as tf\n"
    files, asked = way(imports, made, "y = tf.stack([x, x])\n", ["x"])
    with_gate, without = both(tmp_path, files, asked)
    assert [code for code, *_ in with_gate] == ["KD503"]
    assert with_gate == without
