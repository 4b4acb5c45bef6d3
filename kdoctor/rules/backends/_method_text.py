"""The text of methods that fixes write, made of statements that stood in another one."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import libcst as cst

from kdoctor.analysis.dataflow.statements import is_docstring
from kdoctor.rewrite.source_lines import line_before, margin, whole_line
from kdoctor.syntax import Module


@dataclass(frozen=True, slots=True)
class MethodText:
    """Writes methods where ``method`` stands, with its indentation."""

    module: Module
    method: cst.FunctionDef
    instance: str

    @property
    def margin(self) -> str:
        """What stands before the method."""
        return margin(self.module.text, self.module.span(self.method).start)

    def lines(self, statements: Iterable[cst.CSTNode]) -> list[str]:
        """Return the lines of statements, with the comments above and beside them."""
        module, found = self.module, []
        for each in statements:
            span = module.span(each)
            lines = whole_line(module, span)
            start, end = (span.start, span.end) if lines is None else (lines.start, lines.end)
            text = module.text[_with_comments(module.text, start) : end]
            found += dedented(text).splitlines()
        return found

    def write(
        self, name: str, parameters: str, lines: Sequence[str], *, documented: bool = False
    ) -> str:
        """Return a method; ``documented``: with the docstring of the old one."""
        outer = self.margin
        every = [*(self._docstring() if documented else ()), *lines]
        body = textwrap.indent("\n".join(every), outer + self._indent(outer))
        return f"{outer}def {name}({self.instance}, {parameters}):\n{body}\n"

    def _docstring(self) -> list[str]:
        first = self.method.body.body[0]
        if not is_docstring(first):
            return []
        text = margin(self.module.text, self.module.span(first).start) + self.module.source(first)
        return dedented(text).splitlines()

    def _indent(self, outer: str) -> str:
        inner = margin(self.module.text, self.module.span(self.method.body.body[0]).start)
        return inner.removeprefix(outer) if inner.startswith(outer) and inner != outer else "    "


def dedented(text: str) -> str:
    r"""Return lines without their common indentation, each ended by ``\n``."""
    return textwrap.dedent("\n".join(text.splitlines()))


def _with_comments(text: str, start: int) -> int:
    """Return where the comments begin that stand right above a line."""
    while start:
        above = line_before(text, start)
        if not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start
