"""Check whether a code block is valid Python."""

from __future__ import annotations

from msgspec import Struct

from kdoctor import parse_ast
from kdoctor.documents.python_2 import CURE, construct_of_python_2


class NotPython(Struct, frozen=True):
    """Why a text is no Python, and on which of its lines (from 1) that shows.

    ``python_2`` is the construct of Python 2 that stands there, "" where none does.
    """

    why: str
    line: int
    python_2: str = ""


def why_not_python(text: str) -> NotPython | None:
    """Return what keeps ``text`` from being Python, None where it is.

    ``await`` and ``return`` outside of a function are accepted, as in a notebook or an excerpt.
    """
    try:
        parse_ast.parse(text)
    except SyntaxError as error:
        line = error.lineno or 1
        old = construct_of_python_2(text, line, error.msg)
        if old:
            return NotPython(f"Python 2: {old}; {CURE}", line, old)
        return NotPython(f"not Python: {error.msg}", line)
    except UnicodeEncodeError:
        return NotPython("not Python: it contains half of a surrogate pair", 1)
    except ValueError:
        return NotPython("not Python: it contains a null character", 1)
    except (RecursionError, MemoryError):
        return NotPython("nested too deeply for Python's parser", 1)
    return None
