"""Import a package and each of its modules; print as JSON what those raise that cannot be.

Run by ``python -m tools.package_imports`` in a process of its own.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import pkgutil
import re
import sys
from collections.abc import Iterator

_DEEPEST = 2  # parts below the package
_NOT_FOR_USERS = re.compile(r"(^|[._])(_|tests?|testing|examples?|scripts?|setup|conftest|bin|cli)")


def main() -> None:
    """Print ``{module: "Type: text"}`` of the package that is named."""
    found: dict[str, str] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        _ask(sys.argv[1], found)
    print(json.dumps(found))


def _ask(name: str, found: dict[str, str]) -> None:
    try:
        module = importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - whatever a package does
        found[name] = f"{type(error).__name__}: {error}"
        return
    if name.count(".") < _DEEPEST:
        for inner in _modules_in(module.__dict__.get("__path__", ())):
            _ask(f"{name}.{inner}", found)


def _modules_in(path: Iterator[str]) -> list[str]:
    names = (each.name for each in pkgutil.iter_modules(path))
    return sorted(name for name in names if not _NOT_FOR_USERS.search(name))


if __name__ == "__main__":
    main()
