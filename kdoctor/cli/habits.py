"""Understand what users of ruff and other tools type: ``kdoctor check --fix src``.

``check`` is ruff's command, with ruff's meaning. What would do something else than was meant is not
run: the error names the command that does it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Sequence
from typing import Final

from kdoctor.errors import UsageProblem

_FORMATS: Final = {"full": "text", "json-lines": "jsonl"}
_OPTIONS: Final = {
    "--output-format": "--format",
    "--unsafe-fixes": "--unsafe",
    "--no-unsafe-fixes": "--no-unsafe",
}
# Short and other spellings of ruff's `check`, "" for what is so in any case.
_SPELLINGS: Final = {
    "-n": "--no-cache",
    "-e": "--exit-zero",
    "-s": "--quiet",
    "--silent": "--quiet",
    "--no-fix": "",
    "--show-fixes": "",
    "--no-show-fixes": "",
}
# Of ruff's `check`: what it does instead of reporting, in our words.
_DOES: Final = {
    "--fix": ("fix", "--apply"),
    "--fix-only": ("fix", "--apply", "--exit-zero"),
    "--add-noqa": ("fix", "--apply", "--add-ignores"),
    "--diff": ("fix",),
}
_UNSAFE: Final = ("--unsafe", "--no-unsafe")
# What `scan` never does, whoever asks it to.
_WRITES: Final = ("--apply", "--fix", "--undo", "--verify", "--interactive", "-i", "--add-ignores")
_LOOKS: Final = (*_UNSAFE, "--unsafe-fixes")  # what only `fix` knows, and writes nothing
# What of `scan` is not for `fix`: flags, and options with a value.
_FLAGS_OF_SCAN: Final = ("--statistics", "--no-baseline")
_VALUES_OF_SCAN: Final = ("--format", "--baseline", "--diff", "--show")
_OF_SCAN: Final = (*_FLAGS_OF_SCAN, *_VALUES_OF_SCAN)
_SUFFIXES: Final = (".py", ".pyi", ".ipynb", ".md", ".rst")


def translated(words: Sequence[str], commands: Collection[str]) -> list[str]:
    """Return the arguments of a call in kdoctor's words.

    >>> translated(["check", "--fix", "--unsafe-fixes", "src"], ["scan", "fix"])
    ['fix', '--apply', '--unsafe', 'src']

    Raises:
        UsageProblem: it would not do what was meant; the message names the command that does.
    """
    if not words:
        return []
    at = words.index("--") if "--" in words else len(words)  # behind it all are paths
    name, rest, paths = words[0], list(words[1:at]), list(words[max(at, 1) :])
    if name == "check":
        return [*_of_ruff(rest), *paths]
    if name in commands:
        return [name, *_of_command(name, rest, paths), *paths]
    if _is_path(name):
        wanted = [each for each in rest if each in _WRITES]
        call = _fix(list(words[:at]), paths) if wanted else _call("scan", *words)
        raise UsageProblem(f"`{name}` is not a command; try: {call}")
    return list(words)


def _of_ruff(words: Sequence[str]) -> list[str]:
    ours = [_SPELLINGS.get(each, each) for each in _renamed(words)]
    ours = [each for each in ours if each]
    if "-h" in ours or "--help" in ours:
        return ["scan", *ours]
    asked = [each for each in ("--diff", "--add-noqa", "--fix-only", "--fix") if each in ours]
    if not asked:
        # Reports show which fixes are unsafe, whether these are wanted or not.
        return ["scan", *_without(ours, _UNSAFE)]
    return [*_DOES[asked[0]], *_for_fix(_without(ours, _DOES))]


def _of_command(name: str, words: Sequence[str], paths: Sequence[str]) -> list[str]:
    if name == "scan":
        if wrong := next((each for each in words if each in (*_WRITES, *_LOOKS)), None):
            why = "it changes nothing" if wrong in _WRITES else "it says which fixes are safe"
            raise UsageProblem(f"`scan` has no `{wrong}`: {why}; try: {_fix(words, paths)}")
        return _renamed(words)
    if name == "fix":
        if "--fix" in words:
            wanted = _fix(words, paths)
            raise UsageProblem(f"`fix` writes with `--apply`, not `--fix`; try: {wanted}")
        if "--diff" in words and "--apply" in words:
            raise UsageProblem("`--diff` shows what `--apply` writes: drop one of them")
        return _without(_renamed(words), ["--diff"])
    return list(words)


def _fix(words: Sequence[str], paths: Sequence[str]) -> str:
    """Return the `fix` that someone means who asks `scan` to write, or about its fixes."""
    ours = _for_fix(_without(_renamed(words), ("--apply", "--fix", "--no-fix")))
    writes = any(each in words for each in ("--apply", "--fix", "--verify", "--add-ignores"))
    return _call("fix", *["--apply"] * writes, *ours, *paths)


def _for_fix(words: Sequence[str]) -> list[str]:
    """Return the words of a scan that a fix knows as well."""
    ours: list[str] = []
    option = ""
    for word in words:
        if option not in _VALUES_OF_SCAN and not word.startswith(_OF_SCAN):
            ours.append(word)
        option = word
    return ours


def _renamed(words: Sequence[str]) -> list[str]:
    ours: list[str] = []
    for word in words:
        option, equals, value = word.partition("=")
        was_format = bool(ours) and ours[-1] == "--format"
        if option in _OPTIONS:
            ours.append(_OPTIONS[option] + equals + _FORMATS.get(value, value))
        else:
            ours.append(_FORMATS.get(word, word) if was_format else word)
    return ours


def _without(words: Sequence[str], gone: Collection[str]) -> list[str]:
    return [each for each in words if each not in gone]


def _is_path(word: str) -> bool:
    named = word.endswith(_SUFFIXES) or os.sep in word or word in {".", ".."}
    return not word.startswith("-") and (named or os.path.exists(word))  # noqa: PTH110


def _call(*words: str) -> str:
    return f"kdoctor {shlex.join(words)}"
