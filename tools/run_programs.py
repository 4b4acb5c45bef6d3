"""Run many small programs on the installed frameworks: JSON list on stdin, JSON list of answers.

An answer is null where the program runs to its end, else the exception, ``"Type: text"``. Each
program has a process of its own, forked from one that has imported the frameworks already.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from contextlib import suppress

import keras
import tensorflow as tf

LIMIT = 1000  # characters of an answer


def answer(program: str) -> str | None:
    """Run one program in a fork; return what stopped it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with suppress(BaseException):
            os.write(writer, (_outcome(program) or "").encode()[:LIMIT])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read().decode(errors="replace")
    os.waitpid(child, 0)
    return told or None


def _outcome(program: str) -> str | None:
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    warnings.simplefilter("ignore")
    try:
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - ours
    except BaseException as error:  # noqa: BLE001 - whatever stops it is the answer
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    assert keras.__version__
    assert tf.keras.__version__  # `tf.keras` is imported when it is first read
    programs = json.load(sys.stdin)
    print()
    print(json.dumps([answer(program) for program in programs]))
