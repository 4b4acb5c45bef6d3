"""A progress bar on the terminal, for work that takes a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_DELAY = 0.5  # seconds that pass before the bar appears


@contextmanager
def progress(
    stream: TextIO, *, shown: bool, what: str = "Checking"
) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback that takes (done, total), or None if no bar is wanted.

    The bar has no thread of its own: worker processes are forked while it is on the screen.
    """
    if not shown:
        yield None
        return
    bar = _Bar(stream, what)
    try:
        yield bar.update
    finally:
        bar.close()


class _Bar:
    def __init__(self, stream: TextIO, what: str) -> None:
        self._stream = stream
        self._what = what
        self._began = time.monotonic()
        self._close: Callable[[], None] | None = None
        self._draw: Callable[[int, int], None] | None = None

    def update(self, done: int, total: int) -> None:
        if self._draw is None:
            if time.monotonic() - self._began < _DELAY:
                return
            self._open(total)
        if self._draw is not None:
            self._draw(done, total)

    def close(self) -> None:
        if self._close is not None:
            self._close()

    def _open(self, total: int) -> None:
        from rich.console import Console  # noqa: PLC0415 - only when there is something to draw
        from rich.progress import Progress  # noqa: PLC0415

        bar = Progress(console=Console(file=self._stream), auto_refresh=False, transient=True)
        task = bar.add_task(self._what, total=total)
        bar.start()
        drawn = 0.0

        def draw(done: int, total: int) -> None:
            nonlocal drawn
            now = time.monotonic()
            bar.update(task, completed=done, total=total)
            if now - drawn > 0.1:
                bar.refresh()
                drawn = now

        self._draw, self._close = draw, bar.stop
