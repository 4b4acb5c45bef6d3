"""Values that command-line options take, and what they mean, whoever parses them."""

from __future__ import annotations

import enum
import shlex
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict, Unpack

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from kdoctor.engine import FileSelection, Options
    from kdoctor.engine.baseline import Baseline

STDIN = "-"


# The options that say which code is meant and what it is held against, as they are typed.
_ABOUT_THE_CODE: Final = {
    "target": "--target",
    "namespace": "--namespace",
    "backend": "--backend",
    "select": "--select",
    "ignore": "--ignore",
    "preview": "--preview",
    "trust_rules": "--trust-rules",
    "exclude": "--exclude",
    "force_exclude": "--force-exclude",
    "stdin_filename": "--stdin-filename",
    "config": "--config",
    "isolated": "--isolated",
    "kind": "--as",
    "project_types": "--project-types",
}
_SWITCHED_OFF: Final = {"preview": "--no-preview", "project_types": "--no-project"}


class VerifyOptions(NamedTuple):
    """How to run user code for verification: Python, time limit, sandbox."""

    python: str | None = None
    seconds: float = 60.0
    sandboxed: bool = True


class OptionConflict(Exception):
    """Options that are valid by themselves exclude each other."""


class Color(enum.StrEnum):
    """When to use colours."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class DocumentKind(enum.StrEnum):
    """The kinds of document, for ``--as``."""

    PYTHON = "python"
    NOTEBOOK = "notebook"
    MARKDOWN = "markdown"
    RST = "rst"


class FixFormat(enum.StrEnum):
    """How a fix is written, for ``--format``."""

    TEXT = "text"
    JSON = "json"


class Show(enum.StrEnum):
    """How findings that say the same are shown, for ``--show``."""

    FOLDED = "folded"
    ALL = "all"


class Namespace(enum.StrEnum):
    """The root to import Keras from, for ``--namespace``."""

    KEEP = "keep"
    KERAS = "keras"
    TF_KERAS = "tf.keras"


class Keras2Helpers(enum.StrEnum):
    """What fixes do with helpers of Keras 2, for ``--keras-2-helpers``."""

    WRITE = "write"
    IMPORT = "import"


class EngineChoices(TypedDict, total=False):
    """The options of commands that are about the engine, as they are typed; none has to be."""

    target: str | None
    namespace: Namespace | None
    backend: list[str] | None
    keras_2_helpers: Keras2Helpers | None
    project_types: bool | None
    select: list[str] | None
    ignore: list[str] | None
    preview: bool | None
    trust_rules: bool
    exclude: list[str] | None
    force_exclude: bool
    stdin_filename: str | None
    config: str | None
    isolated: bool
    kind: DocumentKind | None
    no_gate: bool
    no_cache: bool
    jobs: int | None


def engine_options(**typed: Unpack[EngineChoices]) -> Options:
    """Return what the engine is asked, from the options of a command as they were typed.

    What a command's output needs of the engine (edits, diffs, anchors) is for the command to add.
    """
    kind = typed.get("kind")
    return {
        "target": typed.get("target"),
        "namespace": typed.get("namespace"),
        "backend": split(typed.get("backend")),
        "keras_2_helpers": typed.get("keras_2_helpers"),
        "project_types": typed.get("project_types"),
        "select": split(typed.get("select")),
        "ignore": split(typed.get("ignore")),
        "preview": typed.get("preview"),
        "trust_rules": typed.get("trust_rules", False),
        "exclude": typed.get("exclude"),
        "force_exclude": typed.get("force_exclude", False),
        "stdin_filename": typed.get("stdin_filename"),
        "config": typed.get("config"),
        "isolated": typed.get("isolated", False),
        "kind": None if kind is None else kind.value,
        "gate": not typed.get("no_gate", False),
        "cache": not typed.get("no_cache", False),
        "jobs": typed.get("jobs"),
    }


def arguments_again(paths: list[str] | None, **typed: Unpack[EngineChoices]) -> str:
    """Return the arguments of a call that make another command look at the same code alike.

    >>> arguments_again(["src", "my code"], target="keras==3.15.1", jobs=4)
    "src 'my code' --target keras==3.15.1"
    """
    words, named = list[str](), list(paths or ())
    for name, value in typed.items():
        option = (_SWITCHED_OFF if value is False else _ABOUT_THE_CODE).get(name)
        if option is None or value in (None, [], ""):
            continue
        if isinstance(value, bool):
            words.append(option)
        else:
            given = value if isinstance(value, list) else [value]
            words += [word for each in given for word in (option, str(each))]
    if any(each.startswith("-") and each != STDIN for each in named):
        return shlex.join([*words, "--", *named])
    return shlex.join([*named, *words])


def split(entries: list[str] | None) -> list[str] | None:
    """Return the entries of an option that takes lists: ``--select KD1,KD2 --select KD3``.

    None where there is none: ``--select "$RULES"`` with nothing in it must not select nothing.

    >>> split(["KD1, KD2", "KD3"])
    ['KD1', 'KD2', 'KD3']
    """
    parts = (part.strip() for entry in entries or () for part in entry.split(","))
    return [part for part in parts if part] or None


def effective_format(option: str | None, policy: FileSelection) -> tuple[str, str]:
    """Return the format's name and the place of the setting, "" for the command line."""
    layer = policy.main.layer("format")
    if option is not None or layer is None:
        return option or "text", ""
    return policy.main.value("format"), f"{layer.place('format')}: format: "


def effective_baseline(option: str | None, policy: FileSelection) -> Baseline | None:
    """Return the baseline of the command line, else of the settings, None without one.

    Raises:
        UsageProblem: it is not there, or is none.
    """
    if not option and policy.main.layer("baseline") is None:
        return None
    from kdoctor.engine.baseline import Baseline, configured_baseline  # noqa: PLC0415

    return Baseline.read(option) if option else configured_baseline(policy)


def executor_at(address: str | None, jobs: int | None) -> AbstractContextManager[Executor | None]:
    """Connect to the workers at an address, if one is given.

    Raises:
        OptionConflict: a number of processes is named, too.
        UsageProblem: no workers can be reached there.
    """
    if address is None:
        return nullcontext()
    if jobs is not None:
        raise OptionConflict("--jobs cannot be combined with --executor: drop one of them")
    from kdoctor.engine.schedule.dask import executor_at  # noqa: PLC0415

    return executor_at(address)


def named_paths(paths: list[str] | None, stdin_filename: str | None) -> list[str]:
    """Return the paths to read: the working directory if none is named.

    Raises:
        OptionConflict: standard input has a name, and other paths are named beside it.
    """
    if stdin_filename is None:
        return paths or ["."]
    if not stdin_filename or set(paths or ()) - {STDIN}:
        raise OptionConflict("--stdin-filename PATH allows no path other than -")
    return [STDIN]


def read_stdin(paths: list[str]) -> bytes | None:
    """Return the content of standard input, None if it is not among the paths."""
    return sys.stdin.buffer.read() if STDIN in paths else None
