"""What docs/architecture.md says of the code is so."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
LAYERS, _, REST = PAGE.partition("## Layers")[2].partition("### Rooms of the larger packages")
ROOMS, _, REST = REST.partition("## Where to add something")
PLACES, _, GLOSSARY = REST.partition("## Glossary")
WORDS = re.findall(r"^\| ([^|`]+) \| [^|]+ \| `(kdoctor[\w.]+)` \|$", GLOSSARY, re.MULTILINE)
MAX_WORDS = 40


def test_the_glossary_is_short_and_whole():
    rows = re.findall(r"^\| (?!word |---)(.+?) \|", GLOSSARY, re.MULTILINE)

    assert [word for word, _ in WORDS] == rows
    assert 20 < len(WORDS) <= MAX_WORDS
    assert len({*rows}) == len(rows)


@pytest.mark.parametrize(("word", "name"), WORDS)
def test_each_word_of_the_glossary_is_a_name_in_the_code(word, name):
    assert re.sub(r"[ -]", "", word) == name.rpartition(".")[2].replace("_", "").lower()
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, member = name.rpartition(".")
        assert hasattr(importlib.import_module(module), member), name


def test_the_layers_are_those_of_the_contract():
    contract, *_ = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    shown = []
    for number, packages in re.findall(r"^\| (\d*) *\| (`[^|]+`) \|", LAYERS, re.MULTILINE):
        named = re.findall(r"`(\w+)`", packages)
        if number:
            assert int(number) == len(shown) + 1
            shown.append(named)
        else:
            shown[-1] += named

    assert shown == [layer.split(" | ") for layer in contract["layers"]]


def test_the_rooms_are_folders_of_their_packages():
    package, seen = "", set()
    for named, rooms in re.findall(r"^\| (`\w+`)? *\| (`[^|]+`) \|", ROOMS, re.MULTILINE):
        package = named.strip("`") or package
        for room in re.findall(r"`(\w+)`", rooms):
            assert (ROOT / "kdoctor" / package / room).is_dir(), room
            seen.add((package, room))
    folders = {
        (package, path.parent.name)
        for package in ("engine", "analysis")
        for path in (ROOT / "kdoctor" / package).glob("*/__init__.py")
    }

    assert folders <= seen


def test_each_place_to_add_something_is_there():
    named = re.findall(r"`(\w+/[^`]*|\w+\.py)`", PLACES)

    assert len(named) > 5
    for path in named:
        found = [*(ROOT / "kdoctor").glob(re.sub(r"<\w+>", "*", path).rstrip("/"))]
        assert found, path
