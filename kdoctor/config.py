"""kdoctor's own settings: ``[tool.kdoctor]`` in ``pyproject.toml``, or ``kdoctor.toml``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from kdoctor.errors import UsageProblem

WRITE: Final = "write"
IMPORT: Final = "import"
PROJECT_TYPES: Final = True
"""Whether types are followed into other files by default."""
KERAS_2_HELPERS: Final = (WRITE, IMPORT)  # the values of that setting, the default first
ALL_BACKENDS: Final = "all"
BACKENDS: Final = ("tensorflow", "jax", "torch")  # of Keras 3, TensorFlow first
OF_BACKENDS: Final = "backends"
"""The family of rules that are silent unless code must run on more than TensorFlow."""
RULES_OF_BACKENDS: Final = "KD8"
"""How their codes begin."""
CONFIG_FILES: Final = ("kdoctor.toml", "pyproject.toml")  # the first wins within a folder

_Backend = Literal["all", "tensorflow", "jax", "torch"]
_FilePath = Annotated[str, Meta(min_length=1)]  # "" would be the folder itself
Key = tuple[str, ...]  # of a setting within the table: ("per-file-ignores", "tests/**")


class Config(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """The settings of one file. A new setting is a new field here; nothing else lists them."""

    target: Annotated[
        str | tuple[str, ...] | None,
        Meta(
            description="The Keras that the code must run on, as for --target; in a list, each of "
            "several.",
            examples=["keras==3.15.1", "tensorflow==2.21", ["keras==2.15", "keras==3.15.1"]],
        ),
    ] = None
    select: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Use only these rules: codes (KD101), prefixes of codes (KD1), names or "
            "topics (freezing).",
            examples=[["KD1", "KD201"]],
        ),
    ] = None
    ignore: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Skip these rules. Without select, added to what an extended file ignores.",
            examples=[["KD5", "mixed-keras"]],
        ),
    ] = None
    preview: Annotated[
        bool | None,
        Meta(
            description="Whether the rules that are in preview are asked, too.",
            examples=[True],
        ),
    ] = None
    per_file_ignores: Annotated[
        dict[str, tuple[str, ...]] | None,
        Meta(
            description="Rules to skip in files that match a pattern, written as in .gitignore "
            "and relative to the folder of this file; a leading ! means all other files.",
            examples=[{"tests/": ["KD4"], "*.md": ["KD5"]}],
        ),
    ] = None
    exclude: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Files and folders to skip: patterns written as in .gitignore, relative to "
            "the folder of this file.",
            examples=[["docs/old/", "*_legacy.py"]],
        ),
    ] = None
    extend: Annotated[
        _FilePath | None,
        Meta(
            description="Another settings file to extend, relative to this one. Settings in this "
            "file take precedence.",
            examples=["../kdoctor.toml"],
        ),
    ] = None
    namespace: Annotated[
        Literal["keep", "keras", "tf.keras"] | None,
        Meta(
            description="The root to rewrite imports of Keras to; keep leaves each file's own.",
            examples=["keras"],
        ),
    ] = None
    backend: Annotated[
        _Backend | tuple[_Backend, ...] | None,
        Meta(
            description="The backends of Keras 3 that the code must run on, all or some: what ties "
            "it to TensorFlow is reported by the rules KD8.",
            examples=["all", ["tensorflow", "jax"]],
        ),
    ] = None
    keras_2_helpers: Annotated[
        Literal["write", "import"] | None,
        Meta(
            description="What a fix does with a helper of Keras 2 that Keras 3 made private or "
            "dropped (conv_utils.normalize_tuple): write its few lines into the file, or import "
            "what keras.src has today, which any release may move.",
            examples=["write"],
        ),
    ] = None
    project_types: Annotated[
        bool | None,
        Meta(
            description="Whether types are followed into the other files of the project: what they "
            "pass, return and keep.",
            examples=[True],
        ),
    ] = None
    unsafe: Annotated[
        bool | None,
        Meta(
            description="Whether `kdoctor fix` also uses fixes that are not proven safe.",
            examples=[True],
        ),
    ] = None
    format: Annotated[
        str | None,
        Meta(description="The output format of `kdoctor scan`.", examples=["concise"]),
    ] = None
    rules: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Folders with rules of your own, within the project and relative to the "
            "folder of this file. They are code, and loaded with --trust-rules only.",
            examples=[["tools/kdoctor_rules"]],
        ),
    ] = None
    baseline: Annotated[
        _FilePath | None,
        Meta(
            description="A file of known findings, which are not reported, relative to the folder "
            "of this file. `kdoctor baseline write` creates it.",
            examples=[".kdoctor-baseline.json"],
        ),
    ] = None
    cache_dir: Annotated[
        _FilePath | None,
        Meta(
            description="The folder of the result cache, inside the project, relative to the "
            "folder of this file; $KDOCTOR_CACHE_DIR takes precedence.",
            examples=["build/kdoctor"],
        ),
    ] = None


SETTINGS: Final = Config.__struct_encode_fields__


def config_of(table: Mapping[str, Any], place: Callable[[Key], str]) -> Config:
    """Convert a table to settings; ``place`` tells where a key is, for error messages.

    >>> config_of({"target": "keras==3.15.1"}, lambda key: "kdoctor.toml").target
    'keras==3.15.1'

    Raises:
        UsageProblem: a key is unknown, or its value has the wrong type.
    """
    for key in table:
        if key not in SETTINGS:
            import difflib  # noqa: PLC0415 - only of use after a slip

            alike = difflib.get_close_matches(key, SETTINGS, n=1)
            hint = f"did you mean '{alike[0]}'?" if alike else f"known: {', '.join(SETTINGS)}"
            raise UsageProblem(f"{place((key,))}: unknown setting '{key}'; {hint}")
    try:
        return msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        at = re.search(r"`\$\.([\w-]+)", str(error))
        key = at.group(1) if at else ""
        raise UsageProblem(f"{place((key,))}: {_expected(key)}") from None


def other_backends(named: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the backends beside TensorFlow among those that an option or a setting names.

    >>> other_backends("all"), other_backends(["torch", "tensorflow"]), other_backends(None)
    (('jax', 'torch'), ('torch',), ())

    Raises:
        UsageProblem: there is no such backend.
    """
    return tuple(each for each in named_backends(named) if each != BACKENDS[0])


def named_backends(named: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the backends that an option or a setting names, TensorFlow first.

    Raises:
        UsageProblem: there is no such backend.
    """
    names = [named] if isinstance(named, str) else list(named or ())
    for each in names:
        if each not in (ALL_BACKENDS, *BACKENDS):
            raise UsageProblem(
                f"there is no backend {each!r}; choose {', '.join(BACKENDS)} or {ALL_BACKENDS}"
            )
    return tuple(each for each in BACKENDS if each in names or ALL_BACKENDS in names)


def value_of(config: Config, key: str) -> Any:
    """Return a setting by its name in files, None if it is not set."""
    return getattr(config, key.replace("-", "_"))


def schema(formats: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of ``kdoctor.toml`` and of the table ``[tool.kdoctor]``.

    ``formats`` are those that ``format`` takes.
    """
    made = msgspec.json.schema(Config)
    found: dict[str, Any] = made["$defs"]["Config"]
    properties = {name: _without_null(each) for name, each in found["properties"].items()}
    if formats:
        properties["format"]["enum"] = list(formats)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of kdoctor",
        "description": "kdoctor.toml, or [tool.kdoctor] in pyproject.toml",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _without_null(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return a property without null, which TOML does not have."""
    kept = {name: value for name, value in described.items() if name != "default"}
    if "anyOf" in kept:
        choices = [each for each in kept.pop("anyOf") if each != {"type": "null"}]
        choices = [each for each in map(_without_null, choices) if each.get("enum", True)]
        kept = {**kept, **choices[0]} if len(choices) == 1 else {**kept, "anyOf": choices}
    if "enum" in kept:
        kept["enum"] = [each for each in kept["enum"] if each is not None]
    return kept


def _expected(key: str) -> str:
    described = schema()["properties"][key]
    example = _toml(described["examples"][0])
    if "anyOf" in described and "enum" in described["anyOf"][0]:
        names = ", ".join(map(_toml, described["anyOf"][0]["enum"]))
        return f"{key} must be one of {names}, or a list of them"
    if "enum" in described:
        return f"{key} must be one of {', '.join(map(_toml, described['enum']))}"
    sorts = {
        "string": "a path" if "minLength" in described else "a string",
        "boolean": "true or false",
        "array": "a list of strings",
        "object": "a table of patterns, each with a list of rules",
    }
    kinds = described.get("anyOf", [described])
    wanted = " or ".join(sorts[each["type"]] for each in kinds)
    return f"{key} must be {wanted}, as in {key} = {example}"


def _toml(value: Any) -> str:
    """Write a value as TOML does.

    >>> _toml({"tests/": ["KD4"]})
    '{ "tests/" = ["KD4"] }'
    """
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(each)}' for key, each in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return msgspec.json.encode(value).decode()
