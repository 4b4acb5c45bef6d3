"""``Base.__init__(self, …)`` is read as ``super().__init__(…)`` is, whatever the rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from kdoctor.engine import fix
from kdoctor.engine.examine import Examiner
from kdoctor.engine.schedule.task import ScanOptions
from kdoctor.keras_api import newest_target
from kdoctor.rules import all_rules
from kdoctor.rules.registry import rule_by_code


def _calls_of_super(source: str) -> Iterator[tuple[ast.Call, str]]:
    """Yield each ``super().__init__(…)`` of a class with one base, and the name of that."""
    for cls in ast.walk(ast.parse(source)):
        if not isinstance(cls, ast.ClassDef) or len(cls.bases) != 1:
            continue
        base = ast.unparse(cls.bases[0])
        for node in ast.walk(cls):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__")
                ) if all(part.isidentifier() for part in base.split(".")):
                    yield node, base


def with_named_bases(source: str) -> str:
    lines = source.splitlines(keepends=True)
    found = [*_calls_of_super(source)]
    for call, base in sorted(found, key=lambda pair: pair[0].func.end_lineno or 0, reverse=True):
        line = lines[call.lineno - 1]
        start, end = call.func.col_offset, call.func.end_col_offset
        passed = "(self, " if call.args or call.keywords else "(self"
        assert call.func.end_lineno == call.lineno
        lines[call.lineno - 1] = f"{line[:start]}{base}.__init__{passed}{line[end:][1:]}"
    return "".join(lines) if found else ""


EXAMPLES = [
    pytest.param(rule, each.before, changed, id=f"{rule.code}-{each.id}")
    for rule in all_rules()
    for each in rule.invalid
    if "super" in each.before and (changed := with_named_bases(each.before))
]


def found(code: str, source: str, *, gate: bool) -> list[tuple[int, str]]:
    options = ScanOptions(newest_target(), codes=(code,), gate=gate, diffs=False, anchors=False)
    scan = Examiner(options).examine("nowhere/f.py", source.encode()).scan
    return [(each.place.line, each.message) for each in scan.findings]


@pytest.mark.parametrize(("rule", "source", "changed"), EXAMPLES)
def test_a_base_that_is_named_is_begun_as_super_is(rule, source, changed):
    told = found(rule.code, source, gate=True)
    assert found(rule.code, changed, gate=True) == told
    assert found(rule.code, changed, gate=False) == told


def test_a_rewritten_optimizer_no_longer_names_its_base() -> None:
    before = next(each.before for each in rule_by_code("KD512").invalid if each.after)
    before = before.replace("super(Momentum, self)", "super()")
    assert fixed(with_named_bases(before)) == fixed(before)


def fixed(source: str) -> str:
    (file,) = fix(["-"], stdin=source.encode(), select=["KD512"], unsafe=True).files
    return file.after.decode()


def test_there_are_bases_to_name() -> None:
    assert len(EXAMPLES) > 100


@pytest.mark.parametrize(
    "source",
    [
        "class Mine(Mixin, {0}):\n    def __init__(self):\n        Mixin.__init__(self, lr=1)\n",
        "class Mine({0}):\n    def __init__(self):\n        self.__init__(self, lr=1)\n",
        "class Mine({0}):\n    def __init__(self):\n        {0}.__new__(self, lr=1)\n",
    ],
)
def test_what_is_no_init_of_keras_is_left_alone(source):
    named = source.format("keras.optimizers.Adam")
    assert not found("KD303", f"import keras\nfrom mine import Mixin\n\n\n{named}", gate=False)


def test_super_of_a_class_of_tf_keras_is_not_held_against_keras_3() -> None:
    source = (
        "import tf_keras\n\n\nclass Mine(tf_keras.optimizers.Adam):\n"
        "    def __init__(self):\n        super().__init__(lr=0.1)\n"
    )
    assert not found("KD303", source, gate=False)
    assert not found("KD303", with_named_bases(source), gate=False)


NAMED = """
import keras
from keras import optimizers
from socketserver import TCPServer

class Kept(TCPServer):
    def __init__(self, address):
        {base}.__init__(self, "name", address)

rate = keras.optimizers.Adam(0.1)
"""


def may_find(code: str, source: str) -> bool:
    gate = Examiner(ScanOptions(newest_target(), codes=(code,)))._gate
    return code in gate.may_fire("nowhere/f.py", source, ast.parse(source))


@pytest.mark.parametrize(
    ("base", "opens"),
    [
        ("TCPServer", False),
        ("Kept", False),
        ("address", False),
        ("keras.optimizers.Optimizer", True),
        ("optimizers.Optimizer", True),
        ("rate.__class__", True),
        ("type(rate)", False),  # no name
    ],
)
def test_only_a_base_that_may_be_of_keras_opens_a_file(base, opens):
    assert may_find("KD312", NAMED.format(base=base)) is opens
