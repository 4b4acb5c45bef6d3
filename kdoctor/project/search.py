"""Search the folders from the scanned paths upwards for files that name a Keras."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kdoctor.errors import FileProblem
from kdoctor.project.evidence import Evidence, EvidenceSource, Flag, Problem
from kdoctor.project.readers import READERS, Reader, file_names
from kdoctor.project.readers.file import open_file
from kdoctor.project.root import shown


def sources_in(folder: Path) -> Iterator[EvidenceSource]:
    """Yield what the files in one folder say, in order of precedence."""
    listing = listed(folder)
    for reader in READERS:
        for name in file_names(reader, listing):
            source = _source(reader, folder, name)
            if source is not None:
                yield source


def listed(folder: Path) -> list[str]:
    """Return the names in a folder, and those of the files in its ``requirements`` folder."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - hot
        if "requirements" in names and (folder / "requirements").is_dir():
            below = os.listdir(folder / "requirements")  # noqa: PTH208
            names += [f"requirements/{name}" for name in below]
    except OSError:
        return []
    return names


def _source(reader: Reader, folder: Path, name: str) -> EvidenceSource | None:
    """Read one file; None if it does not exist."""
    real = folder / name
    if not real.is_file():
        return None
    path, said, problems = shown(real), [], []
    try:
        file = open_file(real, path)
        if any(word in file.data for word in reader.words):
            said = list(reader.read(file))
    except FileProblem as problem:
        problems.append(Problem(path, str(problem)))
    except RecursionError:
        problems.append(Problem(path, "nested too deeply"))
    problems += [each for each in said if isinstance(each, Problem)]
    return EvidenceSource(
        reader.kind,
        path,
        str(folder),
        tuple(each for each in said if isinstance(each, Evidence)),
        tuple(each for each in said if isinstance(each, Flag)),
        tuple(problems),
    )
