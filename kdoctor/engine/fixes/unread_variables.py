"""Remove assignments to local variables that only removed code read.

A fix that leaves an argument out may leave ``mode = "a"`` behind, which then serves nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.dataflow.uses import is_keyword_or_member, names_with_spelling
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.model import Edit, Hole, Span
from kdoctor.rewrite.pure_tests import is_pure_test
from kdoctor.rewrite.source_lines import line_before, whole_line
from kdoctor.syntax import Module
from kdoctor.syntax.scopes import Binding, BindingKind, Scope, ScopeKind

_WORD = pattern(r"\w+")
# What reads variables by their names as text: functions, and a member of frames.
_READ_BY_TEXT: Final = frozenset({"dir", "eval", "exec", "locals", "vars"})
_OF_FRAMES: Final = "f_locals"


def edits_of_unread_variables(module: Module, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits that delete what is assigned to variables for the edited code alone.

    Only whole lines of a function go, without comments, and only values that nothing is called for.
    """
    edited = [each for each in edits if each.span.start < each.span.end]
    # A magic may read any variable: `!ls {folder}`.
    if not edited or module.unit.masks or _reads_by_text(module):
        return []
    gone = _Gone(module, edited)
    found: dict[Span, Edit] = {}
    while more := {
        span: Edit(span, ())
        for variable in gone.variables()
        for span in _assigned_for_nothing(variable, gone)
        if span not in found
    }:
        found |= more
        gone = _Gone(module, [*edited, *found.values()])
    return [found[span] for span in sorted(found)]


@once
def _reads_by_text(module: Module) -> bool:
    return _OF_FRAMES in module.words or any(
        not is_keyword_or_member(module, each)  # `K.eval`
        for function in sorted(module.words & _READ_BY_TEXT)
        for each in names_with_spelling(module, function)
    )


class _Gone:
    """The code that edits take out of a module."""

    def __init__(self, module: Module, edits: Sequence[Edit]) -> None:
        self._module = module
        self._edits = edits
        parts = [part for edit in edits for part in edit.parts]
        self._kept = [each.span for each in parts if isinstance(each, Hole)]
        self._written = {
            word for each in parts if isinstance(each, str) for word in _WORD.findall(each)
        }

    def variables(self) -> Iterator[_Variable]:
        """Yield the local variables that are read in code that goes."""
        reads = _reads_in_order(self._module)
        found: dict[_Variable, None] = {}
        for edit in self._edits:
            at = bisect_left(reads, edit.span.start, key=lambda each: each[0])
            while at < len(reads) and reads[at][0] < edit.span.end:
                _, read, variable = reads[at]
                if variable.name not in self._written and self.takes(read):
                    found[variable] = None
                at += 1
        yield from found

    def takes(self, node: cst.CSTNode) -> bool:
        """Say whether a node is in code that goes."""
        span = self._module.span(node)
        return any(each.span.covers(span) for each in self._edits) and not any(
            kept.covers(span) for kept in self._kept
        )

    def touches(self, span: Span) -> bool:
        """Say whether an edit changes something between two places."""
        return any(
            each.span.start < span.end and span.start < each.span.end for each in self._edits
        )


class _Variable(Struct, frozen=True, eq=False):
    """A local variable that nothing but plain lines assign.

    ``choices`` are its reads in the test of an `if` that does nothing but to assign.
    """

    name: str
    lines: Mapping[cst.SimpleStatementLine, Span]
    reads: Sequence[cst.Name]
    choices: Mapping[cst.Name, tuple[cst.If, Span]]


def _assigned_for_nothing(variable: _Variable, gone: _Gone) -> Sequence[Span]:
    """Return the lines that assign a variable, none if anything that stays reads it."""
    tests: dict[cst.If, Span] = {}
    for read in variable.reads:
        if read in variable.choices:
            choice, span = variable.choices[read]
            tests[choice] = span
        elif not gone.takes(read):
            return ()
    if any(gone.touches(span) for span in (*variable.lines.values(), *tests.values())):
        return ()
    left = [
        span
        for span in variable.lines.values()
        if not any(each.covers(span) for each in tests.values())
    ]
    return [*left, *tests.values()]


@once
def _reads_in_order(module: Module) -> list[tuple[int, cst.Name, _Variable]]:
    """Return the reads of such variables by place, each with its variable."""
    reads = [
        (module.span(read).start, read, variable)
        for variable in _variables(module)
        for read in variable.reads
    ]
    return sorted(reads, key=lambda each: each[0])


def _variables(module: Module) -> Iterator[_Variable]:
    in_texts = _words_in_texts(module)
    scopes = dict.fromkeys(
        module.scope_of(statement)
        for function in module.nodes(cst.FunctionDef)
        for statement in function.body.body[:1]
    )
    assigned = {
        (scope, name): lines
        for scope in scopes
        if scope.kind is ScopeKind.FUNCTION
        for name, bindings in scope.bindings.items()
        # `frame.query("size > @least")`
        if name not in in_texts and (lines := _lines_of(module, bindings))
    }
    reads = _reads_of(module, assigned.keys())
    for (scope, name), lines in assigned.items():
        own = reads.get((scope, name), ())
        choices = ((each, _choice_of(module, each, lines)) for each in own)
        yield _Variable(name, lines, own, {read: found for read, found in choices if found})


def _reads_of(
    module: Module, variables: Collection[tuple[Scope, str]]
) -> dict[tuple[Scope, str], list[cst.Name]]:
    """Return the names that read each of some variables."""
    bound = {each.node for scope, name in variables for each in scope.bindings[name]}
    found: dict[tuple[Scope, str], list[cst.Name]] = {}
    for name in sorted({name for _, name in variables}):
        for each in names_with_spelling(module, name):
            if each in bound or module.parent(each) in bound or is_keyword_or_member(module, each):
                continue
            owner = module.scope_of(each).owner(name)
            if owner is not None and (owner, name) in variables:
                found.setdefault((owner, name), []).append(each)
    return found


def _lines_of(
    module: Module, bindings: Sequence[Binding]
) -> dict[cst.SimpleStatementLine, Span] | None:
    """Return the lines that bind a variable, None where anything else does."""
    lines: dict[cst.SimpleStatementLine, Span] = {}
    for each in bindings:
        if each.kind is BindingKind.PARAMETER:
            continue
        line = _line_of(module, each)
        span = None if line is None else _without_comments(module, line)
        if line is None or span is None:
            return None
        lines[line] = span
    return lines


def _words_in_texts(module: Module) -> frozenset[str]:
    """Return the words in all strings."""
    texts = [each.value for each in module.nodes(cst.SimpleString)]
    texts += [each.value for each in module.nodes(cst.FormattedStringText)]
    return frozenset(word for each in texts for word in _WORD.findall(each))


def _line_of(module: Module, binding: Binding) -> cst.SimpleStatementLine | None:
    """Return the line that does nothing but bind a variable to a value at hand."""
    if binding.kind is not BindingKind.ASSIGN or binding.remote or binding.path:
        return None
    assigned = module.parent(binding.node)
    if isinstance(assigned, cst.AssignTarget):
        assigned = module.parent(assigned)
    if not isinstance(assigned, cst.Assign | cst.AnnAssign) or assigned.value is None:
        return None
    if isinstance(assigned, cst.Assign) and len(assigned.targets) > 1:
        return None
    line = module.parent(assigned)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return None
    if any(isinstance(each, cst.Try | cst.TryStar) for each in module.ancestors(line)):
        return None  # that it fails, or does not, may be what it is there for
    return line if _is_at_hand(module, assigned.value) else None


def _is_at_hand(module: Module, value: cst.BaseExpression) -> bool:
    """Say whether a value is a constant, a name, or a member of what is imported."""
    match value:
        case cst.Integer() | cst.Float() | cst.SimpleString() | cst.Name():
            return True
        case cst.UnaryOperation(expression=cst.Integer() | cst.Float()):
            return True
        case cst.Attribute():
            return module.qualified(value) is not None
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return all(
                isinstance(each, cst.Element) and _is_at_hand(module, each.value)
                for each in elements
            )
    return False


def _without_comments(module: Module, statement: cst.If | cst.SimpleStatementLine) -> Span | None:
    """Return the lines of a statement, None if they hold anything else or have a comment."""
    text, lines = module.text, whole_line(module, module.span(statement))
    if lines is None or "#" in text[lines.start : lines.end]:
        return None
    above = text[line_before(text, lines.start) : lines.start]
    return None if above.lstrip().startswith("#") else lines


def _choice_of(
    module: Module, read: cst.Name, lines: Mapping[cst.SimpleStatementLine, Span]
) -> tuple[cst.If, Span] | None:
    """Return the `if` in whose test a read stands, where all that it does is to assign."""
    choice = next((each for each in module.ancestors(read) if isinstance(each, cst.If)), None)
    if choice is None or choice.orelse is not None or isinstance(module.parent(choice), cst.If):
        return None
    in_test = any(each is choice.test for each in (read, *module.ancestors(read)))
    only_assigns = isinstance(choice.body, cst.IndentedBlock) and all(
        each in lines for each in choice.body.body
    )
    if not (in_test and only_assigns and is_pure_test(module, choice.test)):
        return None
    span = _without_comments(module, choice)
    return None if span is None else (choice, span)
