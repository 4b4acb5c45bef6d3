"""Large texts are parsed in turn, not by all processes at once.

While libcst's parser works, it takes about 300 times the memory of the text: ten times what the
tree takes that it makes. When it is done, that memory is given back at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from kdoctor.engine.collecting import give_back

if TYPE_CHECKING:
    from multiprocessing.synchronize import Semaphore

_LARGE: Final = 40_000  # characters
_PATIENCE: Final = 10.0  # seconds; a process that died may have taken its turn with it


class _Turns(Struct):
    """How many may begin to parse a large text, None where nobody else does."""

    free: Any = None  # a Semaphore, whose module is not imported where there is one process


_TURNS = _Turns()


def share_turns(free: Semaphore | None) -> None:
    """Let this process wait for its turn; None: it need not."""
    _TURNS.free = free


@contextmanager
def in_turn(text: str) -> Iterator[None]:
    """Wait with a parse of a large text until no more than a few others are at one."""
    if len(text) < _LARGE:
        yield
        return
    free: Semaphore | None = _TURNS.free
    has_turn = free is not None and free.acquire(timeout=_PATIENCE)
    try:
        yield
        give_back()
    finally:
        if free is not None and has_turn:
            free.release()
