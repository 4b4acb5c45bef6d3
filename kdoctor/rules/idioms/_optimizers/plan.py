"""Collect the edits that rewrite a class, and the statements that prevent it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.calls import speller_at
from kdoctor.model import Applicability, Edit, Fix, Hole, ImportNeed, Precedence, Span
from kdoctor.rewrite.precedence import precedence_of
from kdoctor.rewrite.source_lines import (
    LINE_BREAK,
    line_after,
    line_before,
    line_end,
    line_start,
    lines_around,
    margin,
)
from kdoctor.rules.rule import Rule
from kdoctor.syntax import Module
from kdoctor.syntax.libcst_walk import descendants

_MAX_QUOTED_STATEMENTS = 4  # more statements than these are counted, not quoted
_MAX_QUOTED_LENGTH = 60

Part = str | Hole


class Plan(Struct):
    """What becomes of one class.

    ``stops`` are the statements that are not understood, with the reason; with any of them nothing
    is rewritten. ``settled`` are nodes of which an edit takes care, so that nobody else need ask
    about them.
    """

    module: Module
    node: cst.ClassDef
    stops: list[tuple[cst.CSTNode, str]] = field(default_factory=list)
    unsafe: list[str] = field(default_factory=list)
    settled: set[cst.CSTNode] = field(default_factory=set)
    _edits: list[Edit] = field(default_factory=list)
    _imports: dict[ImportNeed, None] = field(default_factory=dict)
    _removed: dict[cst.SimpleStatementLine, None] = field(default_factory=dict)
    _gone: list[Span] = field(default_factory=list)
    _dedented: list[tuple[cst.BaseSuite, int]] = field(default_factory=list)

    # -- what a rule of this kind says

    def stop(self, node: cst.CSTNode, why: str) -> None:
        """Note that ``node`` is not understood."""
        if (node, why) not in self.stops:
            self.stops.append((node, why))

    def doubt(self, why: str) -> None:
        """Note in what the new class may differ from the old one."""
        if why not in self.unsafe:
            self.unsafe.append(why)

    def obstacles(self) -> str:
        """Return the statements in the way, for people: ``line 12: `x = 1` (why)``."""
        found = sorted(self.stops, key=lambda pair: self.module.span(pair[0]))
        texts = [
            f"line {self.module.place(node).line}: `{self._excerpt(node)}` ({why})"
            for node, why in found[:_MAX_QUOTED_STATEMENTS]
        ]
        more = len(found) - _MAX_QUOTED_STATEMENTS
        return "; ".join(texts) + (f"; and {more} more" if more > 0 else "")

    def fix(self, title: str) -> Fix:
        """Return all edits as one fix."""
        return Fix(
            title,
            tuple(self._all_edits()),
            Applicability.UNSAFE,
            tuple(self._imports),
            unsafe_because="; ".join(self.unsafe),
        )

    def rated(self, rule: Rule, title: str) -> Fix:
        """Return all edits as one fix, safe where nothing is in doubt and the proofs hold."""
        doubts = "; ".join(self.unsafe)
        return rule.fix(title, *self._all_edits(), imports=self._imports, unsafe_because=doubts)

    def _excerpt(self, node: cst.CSTNode) -> str:
        text = " ".join(self.module.source(node).split())
        return text if len(text) <= _MAX_QUOTED_LENGTH else f"{text[: _MAX_QUOTED_LENGTH - 1]}…"

    # -- edits

    def spell(self, name: str) -> str:
        """Return how this file writes a dotted name of Keras; its import comes along."""
        text, need = speller_at(self.module, self.node).spell(name)
        if need is not None:
            self._imports[need] = None
        return text

    def hole(self, node: cst.BaseExpression, required: Precedence = Precedence.LAMBDA) -> Hole:
        """Return the user's own text of an expression, for use inside a new one."""
        return Hole(self.module.outer_span(node), required, precedence_of(node))

    def replace(
        self, node: cst.CSTNode, *parts: Part, own: Precedence = Precedence.PRIMARY
    ) -> None:
        """Write ``parts`` instead of a node; parentheses around it stay."""
        self.settled.update(descendants(node))
        self._edits.append(Edit(self.module.span(node), parts, own))

    def write(self, span: Span, *parts: Part) -> None:
        """Write ``parts`` instead of a span that is no node."""
        self._edits.append(Edit(span, parts))

    def insert_before(self, statement: cst.CSTNode, lines: Iterable[str]) -> None:
        """Add lines before a statement that starts its line, indented as it is."""
        start = self._line_start(self.module.span(statement).start)
        indent = self.indent(statement)
        text = "".join(f"{indent}{line}\n" if line else "\n" for line in lines)
        self._edits.append(Edit(Span(start, start), (text,)))

    def insert_after(self, statement: cst.CSTNode, lines: Iterable[str]) -> None:
        """Add lines after the line that a statement ends on, indented as it is."""
        end = self._line_end(self.module.span(statement).end)
        indent = self.indent(statement)
        text = "".join(f"\n{indent}{line}" for line in lines)
        self._edits.append(Edit(Span(end, end), (text,)))

    def remove(self, statement: cst.CSTNode) -> None:
        """Take a statement out; comments above it and behind it stay."""
        line = self.line_of(statement)
        if line is None:
            self.stop(statement, "it is not on its own line")
            return
        self.settled.update(descendants(line))
        self._removed[line] = None

    def drop(self, node: cst.CSTNode, instead: str = "") -> None:
        """Take out a node that has its lines for itself; ``instead`` is a line to leave there."""
        span = self.module.span(node)
        self.settled.update(descendants(node))
        if instead:
            self._edits.append(Edit(span, (instead,)))
            return
        self._gone.append(self._lines(span))

    def is_removed(self, statement: cst.CSTNode) -> bool:
        """Say whether a statement was taken out."""
        return isinstance(statement, cst.SimpleStatementLine) and statement in self._removed

    def unwrap(self, statement: cst.With | cst.For, header: str = "") -> None:
        """Take the header of a block off, and the block's own indent; ``header`` takes its place.

        ``header`` holds whole lines; the block follows.
        """
        body = statement.body
        text = self.module.text
        start = self._line_start(self.module.span(statement).start)
        if not isinstance(body, cst.IndentedBlock) or not body.body:
            self.stop(statement, "its block is on the same line")
            return
        first = self._line_start(self._first(body.body[0]))
        colon = text.rindex(":", start, first)
        rest = text[colon + 1 : first].rstrip(" \t")
        indent = self.indent(statement)
        comment = "" if not rest.strip() else f"{indent}{rest.strip()}\n"
        self._edits.append(Edit(Span(start, first), (header + comment,)))
        width = len(self.indent(body.body[0])) - len(indent)
        self._dedented.append((body, width))

    def _first(self, statement: cst.CSTNode) -> int:
        """Return where a statement starts, with the comments above it."""
        text = self.module.text
        first = self._line_start(self.module.span(statement).start)
        while first > 0:
            before = line_before(text, first)
            line = text[before:first].strip()
            if line and not line.startswith("#"):
                break
            first = before
        return first

    # -- text

    def line_of(self, statement: cst.CSTNode) -> cst.SimpleStatementLine | None:
        """Return the line that holds a statement and nothing else."""
        if isinstance(statement, cst.SimpleStatementLine):
            return statement if len(statement.body) == 1 else None
        above = self.module.parent(statement)
        is_line = isinstance(above, cst.SimpleStatementLine) and len(above.body) == 1
        return above if is_line and isinstance(above, cst.SimpleStatementLine) else None

    def indent(self, node: cst.CSTNode) -> str:
        """Return the white space before the line on which a node starts."""
        start = self.module.span(node).start
        line = margin(self.module.text, start)
        return line[: len(line) - len(line.lstrip())]

    def layout(self, call: cst.Call) -> tuple[str, str, str]:
        """Return what opens the arguments of a call, stands between them, and closes them."""
        if not call.args or not self._breaks(self.module.span(call.func).end, call.args[0]):
            return "(", ", ", ")"
        inner = self.indent(call.args[0])
        closes = margin(self.module.text, self.module.span(call).end - 1)
        between, comma = f",\n{inner}", ","
        if len(call.args) > 1 and not self._breaks(
            self.module.span(call.args[0]).start, call.args[-1]
        ):
            between, comma = ", ", ""
        return f"(\n{inner}", between, ")" if closes.strip() else f"{comma}\n{closes})"

    def _breaks(self, start: int, node: cst.CSTNode) -> bool:
        """Say whether a line ends between an offset and the start of a node."""
        text = self.module.text[start : self.module.span(node).start]
        return LINE_BREAK.search(text) is not None

    def _line_start(self, offset: int) -> int:
        return line_start(self.module.text, offset)

    def _line_end(self, offset: int) -> int:
        return line_end(self.module.text, offset)

    # -- all together

    def _all_edits(self) -> Iterator[Edit]:
        wanted = [*self._edits, *self._removals()]
        # What stands in a statement that goes as a whole needs no edit of its own.
        edits = [each for each in wanted if not any(_swallows(other, each) for other in wanted)]
        yield from edits
        for body, width in self._dedented:
            yield from self._dedents(body, width, edits)

    def _removals(self) -> Iterator[Edit]:
        emptied = {
            block.body[-1]
            for line in self._removed
            if isinstance(block := self.module.parent(line), cst.IndentedBlock)
            and all(self.is_removed(each) for each in block.body)
        }
        gone = list(self._gone)
        for line in self._removed:
            span = self.module.span(line)
            if line in emptied:
                yield Edit(span, ("pass",))
                continue
            end = self._line_end(span.end)
            rest = self.module.text[span.end : end]
            if rest.strip():  # a comment keeps its line
                yield Edit(Span(span.start, span.end + len(rest) - len(rest.lstrip())), ("",))
            else:
                gone.append(self._lines(span))
        for span in self._runs(gone):
            yield Edit(span, ("",))

    def _lines(self, span: Span) -> Span:
        """Return the whole lines of a statement, with the line break."""
        return lines_around(self.module, span)

    def _runs(self, gone: list[Span]) -> Iterator[Span]:
        """Yield the lines that go, with an empty line after them where one stands before them."""
        runs: list[Span] = []
        cell_at = self.module.unit.cell_at
        for span in sorted(gone):
            between = self.module.text[runs[-1].end : span.start] if runs else "-"
            if not between.strip() and cell_at(span.start) == cell_at(runs[-1].start):
                runs[-1] = Span(runs[-1].start, span.end)
            else:
                runs.append(span)
        for run in runs:
            cell = cell_at(run.start).span
            above = self.module.text[cell.start : run.start]
            code = above.rstrip()
            is_apart = len(LINE_BREAK.findall(above[len(code) :])) > 1
            opened = is_apart or code.endswith((":", '"""', "'''"))
            after = self._lines(Span(run.end, run.end)) if run.end < cell.end else run
            empty = run.end < cell.end and not self.module.text[after.start : after.end].strip()
            yield Span(run.start, after.end) if opened and empty else run

    def _dedents(self, body: cst.BaseSuite, width: int, edits: list[Edit]) -> Iterator[Edit]:
        """Yield the edits that move the lines of a block to the left."""
        assert isinstance(body, cst.IndentedBlock)
        texts = [
            self.module.span(each)
            for each in descendants(body)
            if isinstance(each, cst.SimpleString | cst.FormattedString)
        ]
        taken = [edit.span for edit in edits] + texts
        start = self._line_start(self._first(body.body[0]))
        end = self.module.span(body.body[-1]).end
        while start < end:
            span = Span(start, start + width)
            blank = self.module.text[span.start : span.end]
            inside = any(each.start < span.end and span.start < each.end for each in taken)
            if blank.isspace() and "\n" not in blank and not inside:
                yield Edit(span, ("",))
            start = line_after(self.module.text, start)


def _swallows(outer: Edit, inner: Edit) -> bool:
    """Say whether nothing of ``inner``'s place is left after ``outer``."""
    if outer is inner or outer.span == inner.span or not outer.span.covers(inner.span):
        return False
    if inner.span.start == inner.span.end and inner.span.start in (
        outer.span.start,
        outer.span.end,
    ):
        return False  # an insertion beside it
    return not any(isinstance(part, Hole) and part.span.covers(inner.span) for part in outer.parts)
