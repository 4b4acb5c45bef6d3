"""A workbench: source and rows in, fixed source and reasons out."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import pytest

from kdoctor.documents import Document
from kdoctor.keras_api import newest_target
from kdoctor.keras_api import signature as known_signature
from kdoctor.model import Applicability, Fix
from kdoctor.rewrite import RewriteTable, plan_imports, render, rewrite
from kdoctor.rewrite.blank_lines import without_blank_lines
from kdoctor.syntax import Module, ReferenceKind


@dataclass(frozen=True)
class Parameters:
    text: str


@dataclass(frozen=True)
class Result:
    text: str
    fixes: tuple[Fix, ...]
    reasons: tuple[str, ...]


def parsed(source, path="code.py", oracle=None):
    unit = Document.parse(source.encode(), path).units[0]
    return Module.parse(unit) if oracle is None else Module.parse(unit, oracle)


def looked_up(signatures):
    """Known signatures by name; otherwise those of the newest Keras."""

    def lookup(name):
        if name in signatures:
            text = signatures[name]
            return None if text is None else Parameters(text)
        return known_signature(name, newest_target())

    return lookup


@pytest.fixture(scope="session")
def fix():
    """Fix all uses of the rows' names in a source; the result must parse, and a second run rest."""

    def fixed(
        source, *rows, path="code.py", signatures=(), twice=True, imports_too=False, oracle=None
    ):
        rows = [row if not isinstance(row, tuple) else rewrite(*row) for row in rows]
        table = RewriteTable(rows, looked_up(dict(signatures)))
        module = parsed(source, path, oracle)
        fixes, reasons, bound, left = [], [], {}, False
        for reference in module.references:
            if not table.rows_for(reference.name):
                continue
            if reference.kind is ReferenceKind.IMPORT and not imports_too:
                continue
            match table.attempt(module, reference, lambda _: Applicability.SAFE):
                case Fix() as fix:
                    if all(bound.setdefault(need.local, need) == need for need in fix.imports):
                        fixes.append(fix)
                    else:
                        left = True  # for the next pass
                case refusal:
                    reasons.append(refusal.reason)
        edits = [*plan_imports(module, fixes), *(edit for fix in fixes for edit in fix.edits)]
        whole = module.unit.cells[0].span
        text = render(module.text, without_blank_lines(module, edits), whole, module.unit.newline)
        ast.parse(text)
        if left:
            return fixed(
                text,
                *rows,
                path=path,
                signatures=signatures,
                imports_too=imports_too,
                oracle=oracle,
            )
        if twice and text != source:
            again = fixed(
                text,
                *rows,
                path=path,
                signatures=signatures,
                twice=False,
                imports_too=imports_too,
                oracle=oracle,
            )
            assert again.text == text
        return Result(text, tuple(fixes), tuple(reasons))

    return fixed


@pytest.fixture(scope="session")
def line(fix):
    """Fix one line under `from keras import backend as K` and return it without its import."""

    def fixed(source, *rows, **options):
        result = fix(f"from keras import backend as K\n{source}\n", *rows, **options)
        body = result.text.splitlines(keepends=True)
        kept = [each for each in body if not each.startswith(("from keras import", "import "))]
        return "".join(kept).rstrip("\n")

    return fixed


@pytest.fixture(scope="session")
def refusal(fix):
    """Return why the one use in a line is not rewritten; the line must stay as it is."""

    def reason(source, *rows, **options):
        whole = f"from keras import backend as K\n{source}\n"
        result = fix(whole, *rows, **options)
        assert result.text == whole
        (only,) = result.reasons
        return only

    return reason
