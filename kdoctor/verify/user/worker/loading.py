"""Load the pieces of a slice as modules."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from pathlib import Path
from typing import Any

from . import stand_ins
from .reached import Reached


class _Pieces(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder and loader for the modules of a slice; takes precedence over all others."""

    def __init__(self, pieces: list[dict[str, Any]]) -> None:
        self.by_name = {each["name"]: each for each in pieces}
        self.reached = {
            each["name"]: Reached(each["changed"]) for each in pieces if each.get("changed")
        }

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        del path, target
        piece = self.by_name.get(name)
        if piece is None:
            return None
        file = str(Path.cwd() / f"{name}.py")
        return importlib.util.spec_from_loader(
            name, self, origin=file, is_package=piece["is_package"]
        )

    def create_module(self, spec: Any) -> None:
        del spec

    def exec_module(self, module: Any) -> None:
        """Run the text; it is also written to a file, so that AutoGraph and tracebacks find it."""
        piece = self.by_name[module.__name__]
        file = module.__spec__.origin
        Path(file).write_text(piece["text"], encoding="utf-8")
        module.__file__ = file
        reached = self.reached.get(module.__name__)
        if reached is None:
            code = compile(piece["text"], file, "exec", dont_inherit=True)
        else:
            code = reached.compiled(piece["text"], file, module.__dict__)
        exec(code, module.__dict__)  # noqa: S102


def load(pieces: list[dict[str, Any]], *, is_keras_2: bool) -> Any:
    """Load the first piece as a module; the others are there for its imports.

    A missing package is replaced by a stand-in that raises only when it is used, because most
    definitions do not need everything that their module imports. On Keras 2 the same goes for names
    that only an older Keras had.
    """
    main = pieces[0]
    if main["name"] in sys.modules:  # the user's file has the name of a standard module
        main = {**main, "name": f"{main['name']}_of_the_user"}
        pieces = [main, *pieces[1:]]
    names = {each["name"] for each in pieces}
    empty = [
        {"name": name, "package": name, "is_package": True, "text": ""}
        for name in sorted(_all_above(names) - names)
    ]
    sys.meta_path.insert(0, _Pieces([*pieces, *empty]))
    own = {name.partition(".")[0] for name in names}
    while True:
        before = set(sys.modules)
        try:
            return importlib.import_module(main["name"])
        except ImportError as error:
            if not stand_ins.stand_in_for(error, own, is_keras_2=is_keras_2):
                raise
        for name in set(sys.modules) - before:
            if name in names:
                del sys.modules[name]


def missed() -> tuple[list[int], bool]:
    """Return the changed lines that did not run, and whether any changed line did."""
    found = [
        each
        for finder in sys.meta_path
        if isinstance(finder, _Pieces)
        for each in finder.reached.values()
    ]
    lines = sorted(line for each in found for line in each.missed)
    return lines, any(each.ran for each in found)


def load_again(module: Any) -> Any:
    """Load a module from ``load`` again, with all modules of its slice."""
    for finder in sys.meta_path:
        for name in finder.by_name if isinstance(finder, _Pieces) else ():
            sys.modules.pop(name, None)
    return importlib.import_module(module.__name__)


def _all_above(names: set[str]) -> set[str]:
    """Return the parent packages of these modules."""
    found = set()
    for name in names:
        above = name
        while "." in above:
            above = above.rpartition(".")[0]
            found.add(above)
    return found
