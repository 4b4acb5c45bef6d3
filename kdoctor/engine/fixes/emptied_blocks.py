"""Insert `pass` into blocks whose statements were all removed by fixes.

A fix that deletes a statement looks after its block where that is all that is in it. Two fixes, be
they of two rules, each see the other's statement still standing there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import libcst as cst

from kdoctor.memoize import once
from kdoctor.model import Edit, Span
from kdoctor.syntax import Module


class _Block(NamedTuple):
    """The statements of one block, and the start of its header: `else:`."""

    header: int
    statements: tuple[Span, ...]


def without_empty_blocks(module: Module, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits, with ``pass`` in place of the first statement of an empty block."""
    gone = sorted({each for each in edits if _deletes(each)}, key=lambda each: each.span)
    filled = {edit: _filled(module, edit, block) for edit, block in _emptied(module, gone)}
    return [filled.get(each, each) for each in edits] if filled else list(edits)


def _deletes(edit: Edit) -> bool:
    return edit.span.start < edit.span.end and not any(edit.parts)


def _emptied(module: Module, gone: Sequence[Edit]) -> Iterator[tuple[Edit, _Block]]:
    """Yield each emptied block, with the edit that deletes its first statement."""
    if not gone:
        return
    starts = [each.span.start for each in gone]

    def taker(statement: Span) -> Edit | None:
        at = bisect_right(starts, statement.start) - 1
        return gone[at] if at >= 0 and gone[at].span.covers(statement) else None

    for block in dict.fromkeys(_touched(module, gone)):
        takers = [taker(each) for each in block.statements]
        first = takers[0]
        # What takes the header as well leaves no block behind.
        if first is not None and all(takers) and first.span.start > block.header:
            yield first, block


def _touched(module: Module, gone: Sequence[Edit]) -> Iterator[_Block]:
    statements = _statements(module)
    for edit in gone:
        at = bisect_left(statements, edit.span.start, key=lambda each: each[0].start)
        while at < len(statements) and statements[at][0].end <= edit.span.end:
            yield statements[at][1]
            at += 1


@once
def _statements(module: Module) -> list[tuple[Span, _Block]]:
    """Return the statements of all indented blocks in order, each with those of its block."""
    blocks = [
        _Block(_header(module, block), tuple(_extent(module, each) for each in block.body))
        for block in module.nodes(cst.IndentedBlock)
    ]
    return sorted((each, block) for block in blocks for each in block.statements)


def _header(module: Module, block: cst.IndentedBlock) -> int:
    owner = module.parent(block)
    assert owner is not None
    return module.span(owner).start


def _extent(module: Module, statement: cst.CSTNode) -> Span:
    if isinstance(statement, cst.SimpleStatementLine):
        first, last = statement.body[0], statement.body[-1]
        return Span(module.span(first).start, module.span(last).end)
    return module.span(statement)


def _filled(module: Module, edit: Edit, block: _Block) -> Edit:
    taken = [each for each in block.statements if edit.span.covers(each)]
    before = module.text[edit.span.start : taken[0].start]
    after = module.text[taken[-1].end : edit.span.end]
    return Edit(edit.span, (f"{before}pass{after}",))
