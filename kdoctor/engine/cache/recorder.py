"""Record which files and folders a result depends on."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

from msgspec import Struct

from kdoctor.engine.schedule.task import Source
from kdoctor.modules.dependencies import Dependencies, Seen
from kdoctor.modules.file_stamp import file_state

T = TypeVar("T")


class Recorded(Struct, Generic[T], frozen=True):
    """A result and its dependencies, None if they are not known."""

    result: T
    seen: Seen | None


def record_dependencies(
    source: Source, folder: str, trace: Dependencies, work: Callable[[bytes | None], T]
) -> Recorded[T]:
    """Run some work on a file's bytes, and record which files it read.

    A relative path counts from ``folder``.
    """
    if source.is_stdin:
        return Recorded(work(None), None)
    path = os.path.abspath(os.path.join(folder, source.path))  # noqa: PTH100, PTH118 - links stay
    with trace.isolated() as dependencies:
        try:
            state, data = file_state(path)
        except OSError:
            return Recorded(work(None), None)  # it says why
        result = work(data)
        seen = trace.seen(dependencies)
    if seen.get(path, state).digest != state.digest:
        return Recorded(result, None)
    return Recorded(result, {**seen, path: state})
