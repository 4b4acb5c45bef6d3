"""Record which methods of a class run; one that never ran was not compared."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .measurement import NotTried

_CONVERTED = "tf__"  # AutoGraph's prefix for converted functions


@contextlib.contextmanager
def entered(subject: type) -> Iterator[set[str]]:
    """Collect the names of the class's own methods that are entered."""
    codes = {code: name for name, each in vars(subject).items() for code in _codes_of(each)}
    names = set(codes.values())
    found: set[str] = set()

    def called(frame: Any, event: str, argument: Any) -> None:
        del event, argument
        code = frame.f_code
        if code in codes:
            found.add(codes[code])
        elif code.co_name.startswith(_CONVERTED) and code.co_name[len(_CONVERTED) :] in names:
            found.add(code.co_name[len(_CONVERTED) :])

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield found
    finally:
        sys.settrace(before)


def all_entered(wanted: Iterable[str], ran: Iterable[str], errors: Sequence[str] = ()) -> None:
    """Check that all methods that a verdict depends on ran.

    Raises:
        NotTried: one did not; the text contains the first of the errors.
    """
    left = sorted(set(wanted) - set(ran))
    if left:
        names = ", ".join(f"{each}()" for each in left)
        why = f": {errors[0]}" if errors else ""
        raise NotTried(f"its {names} did not run with the arguments that kdoctor tried{why}")


def _codes_of(value: Any) -> Iterator[Any]:
    """Yield the code objects of a value in a class body."""
    for each in (value, *(getattr(value, name, None) for name in ("fget", "fset", "fdel"))):
        function = getattr(each, "__func__", each)
        function = getattr(function, "python_function", function)
        function = getattr(function, "__wrapped__", function)
        code = getattr(function, "__code__", None)
        if code is not None:
            yield code
