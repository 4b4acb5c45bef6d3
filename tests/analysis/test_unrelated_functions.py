"""Other functions of a file, whose own names are spelled alike, change no finding."""

import ast
import builtins

import pytest

from kdoctor.rules import Example, Rule
from tests.rules.test_examples import INVALID, found

_USED = """\
    print({0}(1, 2), {0}.sizes, {0}[0], {0} + 1)
    {0}.touch({0})
    {0}.value = 3
    for _each in {0}:
        pass
"""
_BOUND = """\
    {0} = open("x")
    {0}.close()
    {0} = [{0}, 1]
"""


def _names_in(source: str) -> list[str]:
    """Return the names that a file binds, but for methods: those are reached as members."""
    tree = ast.parse(source)
    inside = [
        each for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body
    ]
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                names[name] = None
            case ast.FunctionDef(name=name) if node not in inside:
                names[name] = None
            case ast.arg(arg=name) if name not in {"self", "cls"}:
                names[name] = None
    return [each for each in names if not each.startswith("__") and not hasattr(builtins, each)]


def _unrelated(names: list[str]) -> str:
    handed = "".join(map(_USED.format, names))
    bound = "".join(map(_BOUND.format, names))
    return (
        f"\n\ndef _handed_to({', '.join(names)}):\n{handed}"
        f"\n\ndef _bound_in():\n{bound}    return {', '.join(names)}\n"
    )


def _told(rule: Rule, source: str, example: Example):
    return [
        (each.place.line, each.place.column, each.fix and each.fix.applicability)
        for each in found(rule, source, example.on, example.namespace)
    ]


@pytest.mark.sampled(40)
@pytest.mark.parametrize(("rule", "example"), INVALID)
def test_names_of_other_functions_change_nothing(rule: Rule, example: Example) -> None:
    try:
        names = _names_in(example.before)
    except SyntaxError:
        return  # a notebook's magics
    if names:
        longer = example.before.rstrip("\n") + "\n" + _unrelated(names)
        assert _told(rule, longer, example) == _told(rule, example.before, example)
