"""Whether a piece of a document is Python at all."""

from __future__ import annotations

from msgspec import Struct

from kdoctor import quiet_ast


class NotPython(Struct, frozen=True):
    """Why a text is no Python, and on which of its lines (from 1) that shows."""

    why: str
    line: int


def why_not_python(text: str) -> NotPython | None:
    """Return what keeps ``text`` from being Python, None where it is.

    ``await`` and ``return`` outside of a function are accepted, as in a notebook or an excerpt.
    """
    try:
        quiet_ast.parse(text)
    except SyntaxError as error:
        return NotPython(f"not Python: {error.msg}", error.lineno or 1)
    except UnicodeEncodeError:
        return NotPython("not Python: it holds half of a surrogate pair", 1)
    except ValueError:
        return NotPython("not Python: it holds a null character", 1)
    except (RecursionError, MemoryError):
        return NotPython("nested too deeply for Python's parser", 1)
    return None
