"""What calls were seen to raise where tests failed, as facts for a scan."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from kdoctor.diagnose.tracebacks import read_exceptions
from kdoctor.migrate.junit import Test
from kdoctor.migrate.tracebacks import text_of
from kdoctor.value_types import Observation

_MAX_TEXT: Final = 1000
_MAX_TOLD: Final = 200  # of the text, where a person is told


def errors_seen(
    names: Iterable[str], tests: Mapping[str, Test], top: Path
) -> Iterator[tuple[Observation, str]]:
    """Yield the errors of tests by the function in ``top`` that they came out of, in words, too.

    The files must be as they were when the tests ran.
    """
    real = os.path.realpath(top)
    texts = dict.fromkeys(text_of(each, tests) for each in sorted(names))
    for error in (each for text in texts for each in read_exceptions(text)):
        own = [
            (path, frame.line)
            for frame in error.frames
            for path in [os.path.realpath(frame.path)]
            if frame.line and path.startswith(f"{real}{os.sep}")
        ]
        if not own:
            continue
        path, line = own[-1]
        function = _function_at(Path(path), line)
        if function is not None:
            raised = f"{error.name}: {_without_frames(error.message)}"[:_MAX_TEXT]
            where = f" in `{function}`" if function else ""
            yield Observation(path, function, "", raised=raised), f"{raised[:_MAX_TOLD]}{where}"


def _without_frames(message: str) -> str:
    """Return a message in one line; what a graph raises has the frames that built it in its."""
    lines = message.split("\n")
    return " ".join(each.strip() for each in lines if each.strip() and not each.startswith("  "))


def _function_at(path: Path, line: int) -> str | None:
    """Return the qualified name of the function around a line, "" outside of all."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    names, inside = list[str](), list(tree.body)
    while inside:
        each = inside.pop()
        if not each.lineno <= line <= (each.end_lineno or each.lineno):
            continue
        match each:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                names += [each.name, "<locals>"]
            case ast.ClassDef():
                names.append(each.name)
        inside = [one for one in ast.iter_child_nodes(each) if isinstance(one, ast.stmt)]
    return ".".join(names[:-1] if names[-1:] == ["<locals>"] else names)
