"""kdoctor's own settings: ``[tool.kdoctor]`` in ``pyproject.toml``, or ``kdoctor.toml``."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import msgspec

from kdoctor.errors import UsageProblem


class Config(msgspec.Struct, frozen=True):
    """The settings of one file. A new setting is a new field here; nothing else lists them.

    ``target``: the Keras that the code must run on, written as for ``--target``.
    """

    target: str | None = None


def config_of(table: Mapping[str, Any], where: str) -> Config:
    """Return the settings in a table; ``where`` is what people read in front of a problem.

    >>> config_of({"target": "keras==3.15.1"}, "kdoctor.toml")
    Config(target='keras==3.15.1')

    Raises:
        UsageProblem: a key is unknown, or its value is of the wrong sort.
    """
    known = Config.__struct_fields__
    for key in table:
        if key not in known:
            alike = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean '{alike[0]}'?" if alike else f"known: {', '.join(known)}"
            raise UsageProblem(f"{where}: unknown setting '{key}'; {hint}")
    try:
        return msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        raise UsageProblem(f"{where}: {error}") from None
