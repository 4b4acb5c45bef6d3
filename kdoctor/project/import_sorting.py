"""How a project sorts its imports, from the settings of ruff or isort.

https://docs.astral.sh/ruff/settings/#lintisort, https://pycqa.github.io/isort/docs/configuration/options.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from kdoctor.project.tool_files import ini_of, toml_of

_SPEAKS_OF_IT: Final = re.compile(r"isort", re.IGNORECASE)
# Of isort's profiles those that sort otherwise than its default.
_PROFILES: Final[dict[str, dict[str, Any]]] = {
    "google": {"force_sort_within_sections": True, "force_single_line": True,
               "order_by_type": False},
    "open_stack": {"force_sort_within_sections": True, "force_single_line": True},
    "plone": {"force_sort_within_sections": True, "force_single_line": True},
}  # fmt: skip


class Sorting(Struct, frozen=True):
    """The import order of a project, where it differs from the default of ruff and isort.

    ``is_told``: it says something at all. ``by_module``: `import a` and `from a import b` stand
    together. ``single_line``: one name a line. ``together``: `b as c` joins the other names.
    ``by_type``: constants come before classes, these before functions. ``own``: packages that
    count as the project's own.
    """

    is_configured: bool = False
    by_module: bool = False
    single_line: bool = False
    together: bool = False
    by_type: bool = True
    own: tuple[str, ...] = ()


DEFAULT: Final = Sorting()


def sorting_in(texts: Mapping[str, str]) -> Sorting | None:
    """Return what the files of one folder say, by name; None where they say nothing."""
    for name, read in _READERS.items():
        text = texts.get(name, "")
        if not (text and _SPEAKS_OF_IT.search(name + text)):
            continue
        for options in read(text):
            if options:
                return _sorting({str(key).replace("-", "_"): each for key, each in options.items()})
    return None


def _sorting(options: Mapping[str, Any]) -> Sorting:
    profile = _PROFILES.get(str(options.get("profile", "")).strip(), {})
    own = options.get("known_first_party", ())
    names = re.split(r"[,\s]+", own) if isinstance(own, str) else own
    return Sorting(
        is_configured=True,
        by_module=_is_on("force_sort_within_sections", options, profile),
        single_line=_is_on("force_single_line", options, profile),
        together=_is_on("combine_as_imports", options, profile),
        by_type=_is_on("order_by_type", {"order_by_type": True, **profile, **options}, profile),
        own=tuple(str(each) for each in names if each) if isinstance(names, list | tuple) else (),
    )


def _is_on(key: str, options: Mapping[str, Any], profile: Mapping[str, Any]) -> bool:
    found = options.get(key, profile.get(key, False))
    return found is True or str(found).strip().lower() in ("true", "1", "yes", "on")


def _ruff(text: str) -> Iterator[Mapping[str, Any]]:
    yield _ruff_table(toml_of(text))


def _pyproject(text: str) -> Iterator[Mapping[str, Any]]:
    tools = _table(toml_of(text), "tool")
    yield _ruff_table(_table(tools, "ruff"))
    yield _table(tools, "isort")


def _ruff_table(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    return _table(_table(settings, "lint"), "isort") or _table(settings, "isort")


def _table(settings: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = settings.get(key)
    return found if isinstance(found, dict) else {}


def _ini(text: str) -> Iterator[Mapping[str, Any]]:
    parser = ini_of(text)
    for section in ("settings", "isort", "tool:isort"):
        if parser.has_section(section):
            yield dict(parser.items(section))


_READERS: Final[dict[str, Callable[[str], Iterator[Mapping[str, Any]]]]] = {
    ".ruff.toml": _ruff,
    "ruff.toml": _ruff,
    ".isort.cfg": _ini,
    "pyproject.toml": _pyproject,
    "setup.cfg": _ini,
    "tox.ini": _ini,
}
FILES: Final = tuple(_READERS)
