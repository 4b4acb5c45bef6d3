"""What is inferred of an expression is what it is when it runs, in code of every rule's examples.

Each expression of which inference says something is looked at as it runs on Keras 3. Here a sample
is run, another one each time.
"""

from __future__ import annotations

import ast
import secrets
from bisect import bisect_right
from pathlib import Path

import libcst as cst
import pytest

from kdoctor.documents import Document
from kdoctor.documents.layout import line_starts
from kdoctor.keras_api import newest_target, oracle
from kdoctor.rules import all_rules
from kdoctor.syntax import Module
from kdoctor.verify.jobs import ExampleJob
from kdoctor.verify.pool import run_all

TOGETHER = 32
EXPRESSIONS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BinaryOperation, cst.List)
PRELUDE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import at_run_time
at_run_time.WRONG.clear()
"""
CHECK = "assert not at_run_time.WRONG, at_run_time.WRONG"


class Watched(ast.NodeTransformer):
    """Lets every expression of which something is inferred pass through ``at_run_time.seen``."""

    def __init__(self, code, inferred):
        self.code = code
        self.inferred = inferred

    def visit(self, node):
        place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        end = (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
        found = self.inferred.get((*place, *end)) if isinstance(node, ast.expr) else None
        if isinstance(node, ast.JoinedStr):
            return node  # where its parts stand is not told before Python 3.12
        is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        changed = self.generic_visit(node)
        if found is None or not is_read:
            return changed
        source = ast.get_source_segment(self.code, node)
        told = (source, found.kind.value, found.cls, found.item and found.item.kind.value)
        function = ast.parse("at_run_time.seen", mode="eval").body
        return ast.Call(function, [changed, *map(ast.Constant, told)], [])

    def visit_arg(self, node):
        return node  # an annotation


def watched(code):
    """Return the code so that it looks at itself, and how many expressions it looks at."""
    module = Module.parse(
        Document.parse(code.encode(), "code.py").units[0], oracle(newest_target())
    )
    starts = line_starts(code)

    def place(offset):
        number = bisect_right(starts, offset)
        return number, len(code[starts[number - 1] : offset].encode())

    nodes = [node for kind in EXPRESSIONS for node in module.nodes(kind)]
    inferred = {
        (*place(module.span(node).start), *place(module.span(node).end)): found
        for node in nodes
        if (found := module.type_of(node)) is not None
    }
    tree = Watched(code, inferred).visit(ast.parse(code))
    return ast.unparse(ast.fix_missing_locations(tree)), len(inferred)


def jobs():
    """One for each example that runs on the newest Keras 3, before or after the fix."""
    found = []
    for rule in all_rules():
        for example in rule.invalid:
            code = example.before if example.after is None else example.after
            runs = example.after is not None or example.raises is None
            if runs and not example.needs and rule.family != "environment":
                code, count = watched(code)
                if count:
                    prelude = f"{example.prelude}\n{PRELUDE}"
                    found.append(ExampleJob(example.id, rule.code, prelude, "", code, None, CHECK))
    return found


@pytest.mark.frameworks
def test_what_is_inferred_is_what_runs() -> None:
    known = jobs()
    drawn = secrets.SystemRandom().sample(known, TOGETHER)
    outcomes = list(run_all(drawn, 1))
    assert len(outcomes) == TOGETHER
    assert [each.failures for each in outcomes if not each.holds] == []


@pytest.mark.frameworks
def test_what_is_not_what_was_inferred_is_seen() -> None:
    code = "import keras\nx = keras.Input((2,))\ny = at_run_time.seen(x, 'x', 'model', None, None)"
    (outcome,) = run_all([ExampleJob("a", "KD1", PRELUDE, "", code, None, CHECK)], 1)
    assert "`x` is keras.src.backend.common.keras_tensor.KerasTensor" in str(outcome.failures)
