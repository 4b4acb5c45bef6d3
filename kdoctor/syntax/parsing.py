"""Parse text to a libcst tree; report every failure as a ``SyntaxProblem``.

The tree is built from Python's own, which takes a third of the time, and a quarter where that is at
hand; what it does not do for (a text that this Python cannot parse, patterns, generics) libcst
parses itself.

The parsed text has the length of the given one, so that offsets hold in both. Two characters that
libcst does not write back are line breaks in it: a carriage return that ends a line alone (as in
Python's own tokenizer), and a form feed in an indentation (which sets the column back to 0). Where
libcst refuses how tabs and spaces are mixed, and Python does not, tabs that indent are spaces.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

import libcst as cst

from kdoctor import parse_ast
from kdoctor.documents import Unit
from kdoctor.errors import SyntaxProblem
from kdoctor.lazy_regex import pattern
from kdoctor.model import Span
from kdoctor.syntax.lowering.parse import Parsed
from kdoctor.syntax.lowering.parse import parse as lower
from kdoctor.syntax.nesting_limit import MAX_LEVELS, Extent, deep_line
from kdoctor.syntax.python_2_handlers import python_2_handler_offset
from kdoctor.syntax.unusual_indents import with_spaces

_T = TypeVar("_T")
_A = TypeVar("_A")

_LONE_RETURN = pattern(r"\r(?!\n)")
_FORM_FEED = pattern(r"^([ \t\f]*)\f", re.MULTILINE)
_MAX_BRACKET_DEPTH = 200  # MAXLEVEL of CPython's tokenizer: deeper nesting is no Python
# libcst's tree takes 100 to 200 times the memory of the text; 50,000 lines are about half of this.
_MAX_SOURCE_SIZE = 4_000_000
_DEEP_STACK = 512 * 2**20
_DEEP_RECURSION = 150_000


def parse(unit: Unit, tree: ast.Module | None = None) -> Parsed:
    """Return the tree of a unit's text.

    ``tree`` is what Python's own parser made of it, where that is at hand.

    Raises:
        SyntaxProblem: it is no Python that libcst can parse.
    """
    parsed = unit.text
    if "\r" in parsed:
        parsed = _LONE_RETURN.sub("\n", parsed)
    if "\f" in parsed:
        parsed = _without_form_feeds(parsed)
    if parsed.startswith("\ufeff"):
        parsed = "\n" + parsed[1:] if parsed[1:2] not in {"\r", "\n"} else " " + parsed[1:]
    try:
        _refuse_large(parsed)
        extent = Extent.of(parsed)
        _refuse_deep_brackets(parsed, extent)
        _refuse_deep_statements(parsed, extent)
        return _of_python_3(_parsed(parsed, extent, tree if parsed == unit.text else None))
    except _NotPythonError as error:
        problem = error
    except (RecursionError, MemoryError):
        problem = _NotPythonError("the code is nested too deeply", 0)
    except cst.ParserSyntaxError as error:
        problem = _problem(parsed, error.raw_line, str(error.message))
    except Exception as error:  # noqa: BLE001 - libcst: CSTValidationError, TypeError, …
        problem = _problem(parsed, 1, str(error))
    place = unit.place(Span(problem.offset, problem.offset))
    raise SyntaxProblem(problem.why, place.line, place.column)


class _NotPythonError(Exception):
    """Why a text is no Python, and the offset where that shows."""

    def __init__(self, why: str, offset: int) -> None:
        super().__init__(why)
        self.why = why
        self.offset = offset


def _parsed(text: str, extent: Extent, tree: ast.Module | None) -> Parsed:
    def parsed(text: str) -> Parsed:
        try:
            return lower(text, tree)
        except cst.ParserSyntaxError:
            spaced = with_spaces(text)
            if spaced is None:
                raise
            return lower(spaced)

    # A thread is not free: what it allocates comes from memory of its own, which stays with it.
    return on_a_deep_stack(parsed, text) if extent.needs_a_deep_stack else parsed(text)


def _problem(text: str, line: int, message: str) -> _NotPythonError:
    """Say what Python itself says, which people understand, where Python objects at all."""
    error = _pythons_error(text)
    if error is not None:
        return _NotPythonError(str(error.msg), _offset(text, error.lineno, error.offset))
    return _NotPythonError(f"libcst cannot parse this: {message}", _offset(text, line, 1))


def _offset(text: str, line: int | None, column: int | None) -> int:
    """Return the offset of a line and a column that count from 1."""
    start = 0
    for _ in range((line or 1) - 1):
        start = text.find("\n", start) + 1 or len(text)
    return min(start + max((column or 1) - 1, 0), len(text))


def _pythons_error(text: str) -> SyntaxError | None:
    try:
        parse_ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def on_a_deep_stack(work: Callable[[_A], _T], argument: _A) -> _T:
    """Return ``work(argument)``, run in a thread with a large stack.

    libcst's parser is native code that recurses: on a usual stack, 10,000 terms of one sum end the
    whole process.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work(argument))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    usual_stack = threading.stack_size(_DEEP_STACK)
    usual_limit = sys.getrecursionlimit()
    thread = threading.Thread(target=run)
    try:
        sys.setrecursionlimit(max(usual_limit, _DEEP_RECURSION))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(usual_stack)
        sys.setrecursionlimit(usual_limit)
    if errors:
        raise errors[0]
    return results[0]


def is_on_a_deep_stack() -> bool:
    """Say whether what recurses too deeply here would so anywhere."""
    return sys.getrecursionlimit() >= _DEEP_RECURSION


def _without_form_feeds(text: str) -> str:
    while True:
        replaced = _FORM_FEED.sub(lambda match: f"{match[1]}\n", text)
        if replaced == text:
            return text
        text = replaced


def _refuse_large(text: str) -> None:
    if len(text) > _MAX_SOURCE_SIZE:
        why = (
            f"the code is longer than {_MAX_SOURCE_SIZE:,} characters; "
            "split it, or exclude the file"
        )
        raise _NotPythonError(why, 0)


def _of_python_3(parsed: Parsed) -> Parsed:
    """Return what was parsed, unless it is Python 2 that reads as the newest Python 3."""
    offset = python_2_handler_offset(parsed.text, parsed.tree)
    if offset is not None:
        # What each Python says that does not take it for two exceptions.
        raise _NotPythonError("multiple exception types must be parenthesized", offset)
    return parsed


def _refuse_deep_statements(text: str, extent: Extent) -> None:
    line = deep_line(text, extent, lambda source: on_a_deep_stack(parse_ast.parse, source))
    if line is not None:
        why = (
            f"a statement is nested more than {MAX_LEVELS:,} levels deep; "
            "split it, or exclude the file"
        )
        raise _NotPythonError(why, _offset(text, line, 1))


def _refuse_deep_brackets(text: str, extent: Extent) -> None:
    """Refuse what Python refuses, before libcst spends minutes on it."""
    if extent.brackets <= _MAX_BRACKET_DEPTH:
        return
    error = _pythons_error(text)  # The count takes in strings and comments; Python knows better.
    if error is not None and "nested" in str(error.msg):
        raise _NotPythonError(str(error.msg), _offset(text, error.lineno, error.offset))
