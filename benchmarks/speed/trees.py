"""The trees that are measured, made from a seed: half of the files mention Keras."""

from __future__ import annotations

import enum
import hashlib
import itertools
import re
import shutil
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec

from benchmarks.speed.material import Module, filled, standard_library, templates

SEED = 9
SHARDS = 32
SHARD_LINES = 125_000

# In words: README.md.
_SHARE = 0.5  # files that mention Keras, of all
_MENTION = 0.85  # files that mention it, in projects that use Keras
_ONLY_MENTION = 0.1  # files that mention it in a comment only
_OLD = 0.25  # files with code of Keras 2, of those that use Keras
_OLD_CHUNKS = 0.5  # chunks of Keras 2 in these, of those about Keras
_PLAIN_CHUNKS = 0.4  # chunks without Keras in files that use it
_FILES = (12, 60)  # files a project
_MEDIAN, _SPREAD, _LONGEST = 130, 1.05, 4000  # lines a file: log-normal

_PLAIN = """\
import argparse
import json
import logging
import math
import os
from pathlib import Path

import numpy as np
"""
_HEADS = {
    "keras": "import keras\nfrom keras import layers, ops\n",
    "tf": "import tensorflow as tf\nfrom tensorflow import keras\n"
    "from tensorflow.keras import layers\n",
}
_OLD_HEAD = """\
from {root} import backend as K
from {root}.callbacks import Callback
from {root}.layers import Activation, Conv2D, Dense, Dropout, Flatten, Lambda, Layer, MaxPooling2D
from {root}.models import Model, Sequential
from {root}.optimizers import Adam
from {root}.preprocessing.image import ImageDataGenerator
from {root}.utils import np_utils
"""
_DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)


class Kind(enum.StrEnum):
    """What a file of the tree is about."""

    PLAIN = "plain"
    MENTION = "mention"  # speaks of Keras in a comment only
    MODERN = "modern"
    OLD = "old"  # has code of Keras 2


class File(msgspec.Struct, frozen=True):
    """A file of the tree, as the manifest has it."""

    path: str  # from the tree's folder
    kind: Kind
    lines: int


class Manifest(msgspec.Struct, frozen=True):
    """What a tree was made of, and what it holds."""

    made_by: str
    files: tuple[tuple[File, ...], ...]  # by shard

    def up_to(self, shards: int) -> list[File]:
        """Return the files of the first shards."""
        return [file for shard in self.files[:shards] for file in shard]


def shard_name(index: int) -> str:
    """Return the folder of a shard in the tree."""
    return f"{index:02}"


def make(folder: Path, shards: int = SHARDS) -> Manifest:
    """Make the tree, or as many shards of it as are wanted; what is there already is kept."""
    path = folder.with_name(f"{folder.name}.json")
    made_by = f"seed {SEED}, Python {sys.version.split()[0]}, {_source_hash()}"
    known = _read(path)
    if known is None or known.made_by != made_by:
        shutil.rmtree(folder, ignore_errors=True)
        known = Manifest(made_by, ())
    for index in range(len(known.files), shards):
        shutil.rmtree(folder / shard_name(index), ignore_errors=True)
        made = tuple(_shard(folder, index))
        known = Manifest(made_by, (*known.files, made))
        path.write_bytes(msgspec.json.encode(known))
    return known


def make_up(files: list[File]) -> dict[str, float]:
    """Return how many files and lines there are, and of which kind."""
    kinds = [file.kind for file in files]
    sizes = [file.lines for file in files]
    return {
        "files": len(files),
        "lines": sum(sizes),
        "mention keras": sum(kind is not Kind.PLAIN for kind in kinds) / len(files),
        "only mention it": kinds.count(Kind.MENTION) / len(files),
        "with Keras 2": kinds.count(Kind.OLD) / len(files),
        "median lines": statistics.median(sizes),
        "of 1,000 lines and more": sum(size >= 1000 for size in sizes) / len(files),
    }


def _read(path: Path) -> Manifest | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _source_hash() -> str:
    here = Path(__file__).parent
    sources = [here / "trees.py", here / "material.py", *sorted((here / "chunks").iterdir())]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources))
    return digest.hexdigest()[:16]


def _shard(tree: Path, index: int) -> Iterator[File]:
    random = Random(f"{SEED} {index}")  # noqa: S311 - to be had again, not to be secret
    lines = mention = files = 0
    for project in itertools.count():
        folder = tree / shard_name(index) / f"project_{project:03}"
        for path, kind, text in _project(random, folder, of_keras=mention <= files * _SHARE):
            if lines >= SHARD_LINES:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            files += 1
            mention += kind is not Kind.PLAIN
            lines += text.count("\n")
            yield File(str(path.relative_to(tree)), kind, text.count("\n"))


def _project(random: Random, folder: Path, *, of_keras: bool) -> Iterator[tuple[Path, Kind, str]]:
    """Yield the files of a project: a package of packages, with what a project has beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(f'[project]\nname = "{folder.name}"\nversion = "1"\n')
    left = random.randint(*_FILES)
    while left > 0:
        package = folder / folder.name / f"part_{left:02}"
        count = min(left, random.randint(4, 14))
        left -= count
        siblings: dict[str, list[str]] = {}
        for number in range(count - 1):
            kind = _kind(random) if of_keras and random.random() < _MENTION else Kind.PLAIN
            text = _file(random, kind, siblings)
            siblings[f"module_{number:02}"] = _DEFINED.findall(text)
            yield package / f"module_{number:02}.py", kind, text
        lines = [
            f"from .{name} import {defined[0]}\n" for name, defined in siblings.items() if defined
        ]
        yield package / "__init__.py", Kind.PLAIN, '"""A part of the project."""\n' + "".join(lines)


def _kind(random: Random) -> Kind:
    if random.random() < _ONLY_MENTION:
        return Kind.MENTION
    return Kind.OLD if random.random() < _OLD else Kind.MODERN


def _file(random: Random, kind: Kind, siblings: dict[str, list[str]]) -> str:
    wanted = min(int(random.lognormvariate(0, _SPREAD) * _MEDIAN) + 3, _LONGEST)
    style = random.choice(tuple(_HEADS))
    head = '"""What a project does; nothing in here is run."""\n\n'
    if kind in {Kind.MODERN, Kind.OLD}:
        head += _PLAIN + _HEADS[style]
    if kind is Kind.OLD:
        head += _OLD_HEAD.format(root="keras" if style == "keras" else "tensorflow.keras")
    if kind is Kind.MENTION:
        head += "# The arrays are those that the keras models of this project take.\n"
    library = standard_library()
    module = random.choice(library)
    head += module.imports
    for name in random.sample(sorted(siblings), min(len(siblings), random.randrange(3))):
        if siblings[name]:
            head += f"from .{name} import {random.choice(siblings[name])}\n"
    parts = [head + "\nlogger = logging.getLogger(__name__)\n" if "logging" in head else head]
    lines = parts[0].count("\n")
    while lines < wanted:
        chunk = _chunk(random, kind, style, module, wanted - lines)
        parts.append(chunk)
        lines += chunk.count("\n") + 2
        if random.random() < 0.1:
            module = random.choice(library)
    return "\n\n".join(parts)


def _chunk(random: Random, kind: Kind, style: str, module: Module, room: int) -> str:
    about_keras = kind in {Kind.MODERN, Kind.OLD} and random.random() >= _PLAIN_CHUNKS
    if about_keras:
        if kind is Kind.OLD and random.random() < _OLD_CHUNKS:
            return filled(random.choice(templates("keras2")), random)
        return filled(random.choice(templates("any") + templates(style)), random)
    fitting = [each for each in module.chunks if each.lines <= max(room, 30) * 1.3]
    while not fitting:
        module = random.choice(standard_library())
        fitting = [each for each in module.chunks if each.lines <= max(room, 30) * 1.3]
    return random.choice(fitting).varied(random)
