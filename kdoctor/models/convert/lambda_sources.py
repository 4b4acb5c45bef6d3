"""What becomes of the ``Lambda`` layers of a file, whose functions a source has (``--source``)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from kdoctor.models.convert.function_text import NotWritten, TextOfFunctions
from kdoctor.models.convert.lambda_operations import NotSimple, Operations
from kdoctor.models.convert.module_names import ModuleNames
from kdoctor.models.convert.sources import (
    Asked,
    LambdaCall,
    Unmatched,
    asked_of,
    lambda_calls,
    matched,
    read_sources,
)
from kdoctor.models.obstacle import Obstacle

PACKAGE: Final = "kdoctor"
_GIVE: Final = "Name the Python source that it was made by: `--source train.py`."
_FLOATS: Final = (None, "float32")


class NotFound(Exception):
    """Why a function is not there, and what to do."""


class Registered(Struct, frozen=True):
    """A function in the module that is written: its name there, and where it is from."""

    name: str
    place: str


class Lambdas:
    """The functions of one file's ``Lambda`` layers, in the sources that are given.

    ``code`` is the module that is written, "" for none. The layers are asked for all of their
    functions first: which is whose is told by all of them.
    """

    def __init__(self, paths: Sequence[str] = (), code: str = "") -> None:
        self.code = code
        self._sources = read_sources(paths)
        self._calls = lambda_calls(self._sources)
        self._asked: dict[str, Asked] = {}
        self._found: dict[str, LambdaCall | Unmatched] | None = None
        self._names = {each.path: ModuleNames(each.tree) for each in self._sources}
        self._simple: dict[str, str] = {}
        self._texts = TextOfFunctions(PACKAGE)

    @property
    def text(self) -> str:
        """The functions that are written, as a piece of a module; "" for none."""
        return self._texts.text()

    @property
    def imports(self) -> list[str]:
        """What these functions import."""
        return self._texts.imports()

    @property
    def names(self) -> frozenset[str]:
        """The names that these functions and imports bind."""
        return self._texts.names()

    @property
    def is_given(self) -> bool:
        """Whether there are sources."""
        return bool(self._sources)

    def definition(self, name: str) -> str:
        """Return where a class or a function of that name is; "" where it is nowhere."""
        found = [
            source.place(node)
            for source in self._sources
            for node in ast.walk(source.tree)
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name
        ]
        return " or ".join(found)

    def look_for(self, ask: Callable[[], object]) -> None:
        """Find the function of each layer that is asked for in a call."""
        if self._found is None:
            ask()
            found = matched([*self._asked.values()], self._calls)
            self._found = dict(zip(self._asked, found, strict=True))

    def operations(
        self, config: Mapping[str, Any], place: str, given: Sequence[Any]
    ) -> Operations | None:
        """Return the operations of Keras that a layer comes to; None where it is none.

        ``given`` is what each call of the layer was called on.
        """
        call = self._call(config, place)
        if call is None or not given:
            return None
        made = Operations(str(config["name"]), self._names[call.source.path])
        try:
            _check_plain(config)
            arguments = config.get("arguments") or {}
            for each in given:
                made.add(call.function, each, arguments, self._asked[place].closure)
        except NotSimple as problem:
            self._simple[place] = str(problem)
            return None
        return made

    def place_of(self, config: Mapping[str, Any], place: str) -> str:
        """Return where the function of a layer is in the sources."""
        call = self._call(config, place)
        return "" if call is None else call.source.place(call.function)

    def function(self, config: Mapping[str, Any], place: str) -> Registered:
        """Return the function of a layer as one of the module that is written.

        Raises:
            NotFound: with the reason, and what to do.
        """
        asked = self._asked.setdefault(place, asked_of(config, place))
        if not self._sources:
            what = f"`{asked.function[:80]}`" if asked.function else "Python code"
            raise NotFound(f"it holds {what}, which is not looked at", _GIVE)
        answer = (self._found or {}).get(place)
        if answer is None:
            raise NotFound("it has not been looked for", _GIVE)
        if isinstance(answer, Unmatched):
            raise NotFound(str(answer), "")
        where = answer.source.place(answer.function)
        why = self._simple.get(place, "it is not in a graph of layers")
        if not self.code:
            cure = "Add `--code FILE.py`: the function is written there, and the layer calls it."
            raise NotFound(f"its function at {where} is no operation of Keras: {why}", cure)
        if config.get("mask") is not None:
            raise NotFound("it computes a mask by a function", "Write a layer by hand.")
        try:
            names = self._names[answer.source.path]
            name = self._texts.add(answer, names, asked)
        except NotWritten as problem:
            raise NotFound(f"its function at {where} {problem}", "Write it by hand.") from problem
        return Registered(name, where)

    def _call(self, config: Mapping[str, Any], place: str) -> LambdaCall | None:
        if place not in self._asked:
            self._asked[place] = asked_of(config, place)
        answer = (self._found or {}).get(place)
        return answer if isinstance(answer, LambdaCall) else None


def is_written(needed: Obstacle) -> bool:
    """Say whether what loading takes is a function of the module that is written."""
    return needed.subject.startswith(f"{PACKAGE}>")


def _check_plain(config: Mapping[str, Any]) -> None:
    if config.get("mask") is not None or _policy(config.get("dtype")) not in _FLOATS:
        raise NotSimple("it has a mask, or a dtype of its own")


def _policy(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("config"), dict):
        return value["config"].get("name")
    return value
