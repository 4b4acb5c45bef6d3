"""Parse plain arguments without importing Typer.

It takes longer to import than a scan of a few files takes. Programs, and most people, give paths
and options in their whole form: those are read here, to just what Typer reads them. All else is
declined and left to it: help, errors, what a shell completes, abbreviated and unusual forms.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from kdoctor.cli import exit_codes
from kdoctor.cli.choices import Color, DocumentKind, FixFormat, Keras2Helpers, Namespace, Show

_COMPLETES: Final = "_KDOCTOR_COMPLETE"  # where it is set, a shell asks for what can follow
_NO_CACHE: Final = "KDOCTOR_NO_CACHE"


class _Declined(Exception):
    """Typer must parse these arguments."""


class Grammar(NamedTuple):
    """The options of a command: from their spelling to the parameter.

    ``values`` has what makes a parameter of a text, or raises ``ValueError``; it may be named more
    than once, and counts the last time. ``lists`` have all times.
    """

    does: str  # module:function
    flags: dict[str, str]
    lists: dict[str, str]
    values: dict[str, tuple[str, Callable[[str], object]]]


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise ValueError(text)
    return int(text)


_FLAGS: Final = {
    "--force-exclude": "force_exclude",
    "--isolated": "isolated",
    "--no-gate": "no_gate",
    "--project-types": "project_types",
    "--preview": "preview",
    "--trust-rules": "trust_rules",
    "--no-cache": "no_cache",
    "--exit-zero": "exit_zero",
    "--quiet": "quiet",
    "-q": "quiet",
    "--verbose": "verbose",
    "-v": "verbose",
}
_LISTS: Final = {
    "--backend": "backend",
    "--select": "select",
    "--ignore": "ignore",
    "--exclude": "exclude",
    "--output": "output",
    "-o": "output",
}
_VALUES: Final[dict[str, tuple[str, Callable[[str], object]]]] = {
    "--target": ("target", str),
    "--namespace": ("namespace", Namespace),
    "--config": ("config", str),
    "--as": ("kind", DocumentKind),
    "--jobs": ("jobs", _count),
    "-j": ("jobs", _count),
    "--color": ("color", Color),
}
_REPEATED: Final = frozenset({"--target"})  # several are one text, with commas
GRAMMARS: Final = {
    "scan": Grammar(
        "kdoctor.cli.run_scan:scan",
        {**_FLAGS, "--statistics": "statistics", "--no-baseline": "no_baseline"},
        _LISTS,
        {
            **_VALUES,
            "--format": ("format_name", str),
            "--baseline": ("baseline", str),
            "--diff": ("diff", str),
            "--show": ("show", Show),
        },
    ),
    "fix": Grammar(
        "kdoctor.cli.run_fix:fix",
        {
            **_FLAGS,
            "--apply": "apply",
            "--unsafe": "unsafe",
            "--exit-non-zero-on-fix": "exit_non_zero_on_fix",
        },
        _LISTS,
        {
            **_VALUES,
            "--format": ("shape", FixFormat),
            "--keras-2-helpers": ("keras_2_helpers", Keras2Helpers),
        },
    ),
}


def run(words: Sequence[str]) -> int | None:
    """Run the command that plain arguments name; return the exit code, None if Typer must."""
    # On Windows, Typer also looks for the files that are meant by a pattern.
    arguments = None if os.name == "nt" or _COMPLETES in os.environ else read(words)
    if arguments is None:
        return None
    module, _, function = GRAMMARS[words[0]].does.partition(":")
    command: Callable[..., int] = getattr(importlib.import_module(module), function)
    try:
        code = command(**arguments)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        exit_code = exit_codes.report_error(error)
        if exit_code is None:
            raise
        return exit_code
    return code


def read(words: Sequence[str]) -> dict[str, Any] | None:
    """Return the parameters that were given, None if Typer must parse the arguments.

    >>> read(["scan", "a.py", "--jobs=2", "--select", "KD1"])
    {'jobs': 2, 'select': ['KD1'], 'paths': ['a.py']}
    """
    if not words or words[0] not in GRAMMARS:
        return None
    try:
        return _read(GRAMMARS[words[0]], iter(words[1:]))
    except (_Declined, ValueError):
        return None


def _read(grammar: Grammar, words: Iterator[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    paths: list[str] = []
    for word in words:
        name, attached = _taken_apart(word)
        if not word.startswith("-"):
            paths.append(_text(word))
        elif word in grammar.flags:
            arguments[grammar.flags[word]] = True
        elif name in grammar.lists:
            text = _text(next(words, "") if attached is None else attached)
            arguments.setdefault(grammar.lists[name], []).append(text)
        elif name in grammar.values:
            parameter, made = grammar.values[name]
            value = made(_text(next(words, "") if attached is None else attached))
            if name in _REPEATED and parameter in arguments:
                value = f"{arguments[parameter]},{value}"
            arguments[parameter] = value
        else:
            raise _Declined
    if paths:
        arguments["paths"] = paths
    if _NO_CACHE in os.environ:
        if os.environ[_NO_CACHE] != "1":
            raise _Declined  # Typer knows many words for yes and no
        arguments["no_cache"] = True
    return arguments


def _taken_apart(word: str) -> tuple[str, str | None]:
    """Split an option from the value attached to it: ``--jobs=2``, ``-j2``."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name, value if equals else None
    return word[:2], word[2:] or None


def _text(word: str) -> str:
    """Return a value unchanged; one that looks like an option, or is not Unicode, is declined."""
    if not word or word.startswith("-"):
        raise _Declined
    word.encode()
    return word
