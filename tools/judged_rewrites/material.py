"""The definitions of ``pairs/*.toml``: for Keras 2, rightly rewritten for Keras 3, and spoilt."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import kdoctor

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A definition before and after. ``spoilt`` says how it was made wrong, "": it is right.

    ``way`` is how it is rewritten where that is done in several ways, ``layer`` that of a model
    which gives something else first; ``told`` how it is run.
    """

    name: str
    before: str
    after: str
    spoilt: str
    layer: str
    told: dict[str, Any]
    by_kdoctor: bool
    way: str = ""

    @property
    def title(self) -> str:
        """Name it in a line."""
        if self.spoilt:
            return f"{self.name}: {self.spoilt}"
        return f"{self.name} ({self.way})" if self.way else self.name


@cache
def rewrites() -> tuple[Rewrite, ...]:
    """Return all of them, each right one before what was made of it."""
    return tuple(
        rewrite
        for file in sorted((HERE / "pairs").glob("*.toml"))
        for pair in tomllib.loads(file.read_text("utf-8"))["pair"]
        for rewrite in _of(pair)
    )


def _of(pair: dict[str, Any]) -> Iterator[Rewrite]:
    after = pair.get("after") or fixed(pair["before"])
    told = {
        key: pair[key]
        for key in ("kind", "make", "inputs", "masked", "random", "integers", "only")
        if key in pair
    }
    made = "after" not in pair
    yield Rewrite(pair["name"], pair["before"], after, "", "", told, made)
    for right in pair.get("right", ()):
        yield Rewrite(
            pair["name"], pair["before"], right["text"], "", "", told, False, right["how"]
        )
    for wrong in pair.get("wrong", ()):
        text = wrong.get("text") or _replaced(after, wrong["old"], wrong["new"])
        layer = wrong.get("layer", "")
        yield Rewrite(pair["name"], pair["before"], text, wrong["how"], layer, told, False)


def _replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise ValueError(f"{old!r} is {text.count(old)} times in {text}")
    return text.replace(old, new)


def fixed(text: str) -> str:
    """Return what `kdoctor fix --unsafe` makes of a text."""
    result = kdoctor.fix(["-"], stdin=text.encode(), unsafe=True, jobs=1)
    return result.files[0].after.decode() if result.files else text
