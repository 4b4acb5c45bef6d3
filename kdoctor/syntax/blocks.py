"""Control flow of statement blocks: how they exit, what in them can raise."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.syntax.imports import dotted_name

_LEAVES = (cst.Return, cst.Raise, cst.Continue, cst.Break)
_EXITS = frozenset({"exit", "os._exit", "quit", "sys.exit"})
_SKIPS = frozenset({"pytest.skip", "self.skipTest"})


def always_exits(block: cst.BaseSuite) -> bool:
    """Say whether control never reaches the end of a block."""
    return isinstance(last_statement(block), _LEAVES)


def last_statement(block: cst.BaseSuite) -> cst.CSTNode | None:
    """Return the last statement of a block, None if it is empty."""
    last: cst.CSTNode | None = block.body[-1] if block.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1] if last.body else None
    return last


def early_exits(
    block: cst.IndentedBlock | cst.Module,
) -> Iterator[tuple[int, cst.BaseExpression]]:
    """Yield the tests of `if …: return` (or raise, continue) in a block, with indices."""
    for place, statement in enumerate(block.body):
        if type(statement) is cst.If and statement.orelse is None:
            last = last_statement(statement.body)
            if isinstance(last, _LEAVES) or _skips(last):
                yield place, statement.test


def always_raises(block: cst.BaseSuite | None) -> bool:
    """Say whether a block ends by raising an exception.

    Not with one that skips a test: that does no harm.
    """
    last = None if block is None else last_statement(block)
    if not isinstance(last, cst.Raise):
        return False
    raised = last.exc.func if isinstance(last.exc, cst.Call) else last.exc
    name = (dotted_name(raised) if raised is not None else None) or ""
    leaf = name.rpartition(".")[2]
    return leaf != "SkipTest" and not name.endswith("skip.Exception")


def program_exit_in(block: cst.BaseSuite) -> cst.CSTNode | None:
    """Return the last statement of a block if it ends the program: raise, `sys.exit(…)`."""
    last = last_statement(block)
    match last:
        case cst.Expr(value=cst.Call(func=function)) if dotted_name(function) in _EXITS:
            return last
    return last if always_raises(block) else None


def _skips(statement: cst.CSTNode | None) -> bool:
    """Say whether a statement ends the test that it stands in.

    Not `sys.exit`: scripts end with it for many a reason, as for `--version`.
    """
    match statement:
        case cst.Expr(value=cst.Call(func=function)):
            return dotted_name(function) in _SKIPS
    return False


def imports_in(block: cst.BaseSuite) -> Iterator[tuple[int, cst.Import | cst.ImportFrom]]:
    """Yield the imports directly in a block, each with its index."""
    for index, line in enumerate(block.body):
        if isinstance(line, cst.SimpleStatementLine):
            for statement in line.body:
                if isinstance(statement, cst.Import | cst.ImportFrom):
                    yield index, statement


def only_imports_fail(statement: cst.CSTNode) -> bool:
    """Say whether a statement can fail only by an import."""
    if isinstance(statement, cst.FunctionDef | cst.ClassDef):
        return True
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return all(
        isinstance(each, cst.Import | cst.ImportFrom | cst.Pass)
        or (isinstance(each, cst.Assign) and isinstance(each.value, cst.Name | cst.BaseNumber))
        or (isinstance(each, cst.Expr) and isinstance(each.value, cst.BaseString))
        for each in statement.body
    )
