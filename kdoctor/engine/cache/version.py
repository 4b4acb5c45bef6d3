"""The cache key of kdoctor itself: its code, data and libraries."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import kdoctor
from kdoctor.digests import blake2b

_HOME = os.path.dirname(os.path.abspath(kdoctor.__file__))  # noqa: PTH100, PTH120
_INSTALLED = ("site-packages", "dist-packages")
# The files in which the libraries that decide about a result say their version.
_VERSIONS = {"libcst": "_version.py", "markdown_it": "__init__.py"}


def version_key() -> str:
    """Return a hash of this installation: it changes with each update or edited rule."""
    facts = [kdoctor.__version__, sys.version, sys.byteorder, *_libraries(), *sorted(_code(_HOME))]
    return blake2b("\n".join(facts).encode(errors="replace"), digest_size=12).hexdigest()


def _code(folder: str) -> Iterator[str]:
    """Yield kdoctor's own files with size and time.

    Where it is installed nobody edits them, and times would be others after each installation:
    on a machine for tests, which keeps the cache and nothing else, that is every time.
    """
    timed = not any(name in folder for name in _INSTALLED)
    waiting = [folder]
    while waiting:
        for entry in os.scandir(waiting.pop()):
            if entry.is_dir():
                if entry.name != "__pycache__":
                    waiting.append(entry.path)
            elif not entry.name.endswith(".pyc"):
                found = entry.stat()
                time = found.st_mtime_ns if timed else 0
                yield f"{entry.path.removeprefix(folder)} {found.st_size} {time}"


def _libraries() -> Iterator[str]:
    for name, file in _VERSIONS.items():
        spec = find_spec(name)
        for place in (spec and spec.submodule_search_locations) or ():
            try:
                with open(os.path.join(place, file), encoding="utf-8") as opened:  # noqa: PTH118, PTH123
                    yield f"{name} {opened.read()}"
            except OSError:
                yield f"{name} {place}"
