"""Parse TOML and INI settings of tools; empty if a file cannot be parsed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from configparser import ConfigParser


@lru_cache(maxsize=8)  # several tools are asked for in one file
def toml_of(text: str) -> dict[str, Any]:
    """Return the content of a TOML file; do not modify it."""
    import tomllib  # noqa: PLC0415 - for few projects

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


@lru_cache(maxsize=8)
def ini_of(text: str) -> ConfigParser:
    """Return the content of an INI file, values as written; do not modify it."""
    import configparser  # noqa: PLC0415 - for few projects

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return configparser.ConfigParser(interpolation=None)
    return parser
