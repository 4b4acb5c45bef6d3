"""Rewrites that are right, and rewrites that are wrong on purpose: the verifier must tell them.

``python -m tools.sabotage_rewrites`` runs all and writes ``record.json``; with ``--sample N SEED``
some, and nothing is written.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from pathlib import Path

from kdoctor.verify.user.interpreter import choose
from kdoctor.verify.user.results import Verdict
from kdoctor.verify.user.verifying import Source, verify

HERE = Path(__file__).parent
RECORD = HERE / "record.json"


def names_in(file: str) -> list[str]:
    """Return the rewrites of ``right`` or ``wrong``."""
    return [*_definitions(file)]


def sample(size: int, seed: int) -> dict[str, list[str]]:
    """Return some rewrites of each sort."""
    draw = random.Random(seed)  # noqa: S311 - nothing to keep secret
    return {file: sorted(draw.sample(names_in(file), size)) for file in ("right", "wrong")}


def judged(file: str, names: Sequence[str]) -> dict[str, Verdict]:
    """Return what the verifier says of rewrites of ``right`` or ``wrong``."""
    originals, rewrites = _definitions("originals"), _definitions(file)
    before = [_head("originals")]
    after = [_head(file)]
    for name in names:
        original = name.partition("__")[0]
        renamed = re.sub(rf"\b(def|class) {original}\b", rf"\1 {name}", originals[original])
        before.append(renamed)
        after.append(rewrites[name])
    source = Source(str(HERE / "rewritten.py"), "\n\n".join(before), "\n\n".join(after))
    report = verify([source], lambda _: None, choose(str(HERE), None))
    return {each.name: each for each in report.verdicts}


def _definitions(file: str) -> dict[str, str]:
    text = (HERE / "code" / f"{file}.py").read_text("utf-8")
    return {
        node.name: ast.get_source_segment(text, node) or ""
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def _head(file: str) -> str:
    text = (HERE / "code" / f"{file}.py").read_text("utf-8")
    imports = [n for n in ast.parse(text).body if isinstance(n, ast.Import | ast.ImportFrom)]
    return "\n".join(ast.unparse(each) for each in imports)
