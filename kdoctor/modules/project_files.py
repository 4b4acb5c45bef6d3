"""The files of a project, which may import each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from kdoctor.documents import discover, read_regular
from kdoctor.errors import UsageProblem

_PYTHON: Final = (".py", ".pyw", ".ipynb")


def files_of(top: str, package: str | None) -> Iterator[str]:
    """Yield the files that may import a module: below ``top``, or where packages lie in it.

    ``package`` is the one folder of ``top`` that counts, "" where only packages do, None for all.
    """
    if package is None or package:
        yield from _below(os.path.join(top, package or ""))  # noqa: PTH118
        return
    try:
        entries = sorted(os.scandir(top), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(_PYTHON):
            yield entry.path
        elif os.path.isfile(os.path.join(entry.path, "__init__.py")):  # noqa: PTH113, PTH118
            yield from _below(entry.path)


def _below(folder: str) -> Iterator[str]:
    try:
        listing = discover([folder])
    except UsageProblem:  # it is gone
        return
    yield from (os.path.abspath(path) for path in listing if path.endswith(_PYTHON))  # noqa: PTH100


def bytes_of(path: str) -> bytes:
    """Return the bytes of a file, none where it cannot be read."""
    try:
        data = read_regular(path)
    except OSError:
        return b""
    # The lines of a notebook's cell may stand in one string of its JSON.
    return data.replace(b"\\n", b"\n") if path.endswith(".ipynb") else data
