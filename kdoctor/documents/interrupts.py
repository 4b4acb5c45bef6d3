"""Defer ctrl-C during operations that must complete."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # the last is Windows', the others Unix'
_SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
_SOON = 0.01  # seconds: what dropped it has then ended


def resend_signal_hook(
    number: int, raised: type[BaseException]
) -> Callable[[UnraisableHookArgs], None]:
    """Return a ``sys.unraisablehook`` that lets a signal come again where Python drops its error.

    That is where it strikes in a ``__del__`` or in a callback of a weak reference: Python says so
    on stderr, and goes on as if nothing had come.
    """

    def hook(dropped: UnraisableHookArgs) -> None:
        if issubclass(dropped.exc_type, raised):
            threading.Timer(_SOON, _send_again, [number]).start()
        else:
            sys.__unraisablehook__(dropped)

    return hook


def _send_again(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # it ends a wait, too
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let the signals that end a program wait until the end of the block.

    Processes that are started in the block are born deaf to ctrl-C. Outside of the main thread,
    where Python handles no signal, the block runs as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    handlers: dict[int, Any] = {}
    try:
        for number in _SIGNALS:
            # One that is ignored (nohup) stays so; None is a handler that Python did not set.
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:
                handlers[number] = signal.getsignal(number)
                signal.signal(number, note)
        with _blocked():
            yield
    finally:
        for number, handler in reversed(handlers.items()):  # ctrl-C last: it may strike at once
            signal.signal(number, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


@contextmanager
def _blocked() -> Iterator[None]:
    """Block ctrl-C in this thread: what is blocked stays so in a process that it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
