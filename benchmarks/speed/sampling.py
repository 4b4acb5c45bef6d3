"""Runs kdoctor under a clock that counts what it strikes. Read by ``profile.py``, run with ``-c``.

python -c "$(cat sampling.py)" '{"stage": "pattern of its files", …}' scan …
"""

from __future__ import annotations

import functools
import gc
import json
import re
import signal
import sys
import time
from collections import Counter
from types import FrameType
from unittest import mock

_stages = {name: re.compile(pattern) for name, pattern in json.loads(sys.argv[1]).items()}
_seconds: Counter[str] = Counter()
_last = time.process_time()
_collecting = 0.0


@functools.cache
def _stage_of(path: str) -> str:
    return next((name for name, pattern in _stages.items() if pattern.search(path)), "")


def _count(_number: int, frame: FrameType | None) -> None:
    """Give the time since the last signal to the innermost frame that is of a stage.

    A signal waits while C code runs: the time is taken from the clock, not from their number.
    """
    global _last  # noqa: PLW0603
    now = time.process_time()
    stage = ""
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith("<frozen importlib"):
            stage = "start"  # whatever is imported, and whenever
            break
        stage, frame = stage or _stage_of(path), frame.f_back
    _seconds[stage or "the rest"] += now - _last
    _last = now


def _collects(phase: str, _about: dict[str, int]) -> None:
    global _collecting  # noqa: PLW0603
    _collecting += time.process_time() * (-1 if phase == "start" else 1)


sys.argv = ["kdoctor", *sys.argv[2:]]
gc.callbacks.append(_collects)
signal.signal(signal.SIGPROF, _count)
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
try:
    from kdoctor.__main__ import main

    with mock.patch("os._exit", sys.exit):  # it ends at once, and nothing could be said here
        main()
finally:
    signal.setitimer(signal.ITIMER_PROF, 0)
    _count(0, None)
    _seconds["of all: the garbage collector"] = _collecting
    print("stages", json.dumps(_seconds), file=sys.stderr)
