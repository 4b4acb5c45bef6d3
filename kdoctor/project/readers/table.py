"""The table of readers: which reader reads which file, in order of precedence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Final

from msgspec import Struct

from kdoctor.project.evidence import WORDS, EvidenceKind
from kdoctor.project.readers.file import File, ReadItem
from kdoctor.target import LEGACY_SWITCH

_LEGACY: Final = (LEGACY_SWITCH.encode(),)


class Reader(Struct, frozen=True):
    """A kind of file: its names (patterns), and the module and function that read it.

    ``words``: a file that holds none of them says nothing and is not parsed.
    """

    kind: EvidenceKind
    names: tuple[str, ...]
    function: str  # module:name, below this package; imported where there is such a file
    words: tuple[bytes, ...] = WORDS

    def read(self, file: File) -> Iterator[ReadItem]:
        """Yield what the file says.

        Raises:
            FileProblem: it cannot be understood.
        """
        module, _, name = self.function.partition(":")
        function: Callable[[File], Iterator[ReadItem]]
        function = getattr(import_module(f"kdoctor.project.readers.{module}"), name)
        return function(file)


# A lock says what is installed; requirement files what to install; the others what would do.
READERS: Final = (
    Reader(EvidenceKind.LOCK, ("uv.lock",), "locks:read_toml_lock"),
    Reader(EvidenceKind.LOCK, ("poetry.lock",), "locks:read_toml_lock"),
    Reader(EvidenceKind.LOCK, ("pdm.lock",), "locks:read_toml_lock"),
    Reader(EvidenceKind.LOCK, ("pylock.toml", "pylock.*.toml"), "locks:read_toml_lock"),
    Reader(EvidenceKind.LOCK, ("Pipfile.lock",), "locks:read_pipfile_lock"),
    Reader(
        EvidenceKind.REQUIREMENTS,
        ("requirements.txt", "requirements*.txt", "requirements/*.txt"),
        "requirements_txt:read_requirements",
        (*WORDS, b"-r", b"-c", b"\x00"),  # \x00: UTF-16
    ),
    Reader(EvidenceKind.PROJECT, ("pyproject.toml",), "tables:read_pyproject"),
    Reader(EvidenceKind.PROJECT, ("setup.cfg",), "setup_files:read_setup_cfg"),
    Reader(EvidenceKind.PROJECT, ("setup.py",), "setup_files:read_setup_py"),
    Reader(
        EvidenceKind.CONDA,
        ("environment.yml", "environment.yaml", "environment*.yml", "environment*.yaml"),
        "conda:read_environment",
        (*WORDS, *_LEGACY),
    ),
    Reader(EvidenceKind.PIPFILE, ("Pipfile",), "tables:read_pipfile"),
    Reader(EvidenceKind.SETTINGS, (".env",), "flags:read_dotenv", _LEGACY),
    Reader(
        EvidenceKind.SETTINGS,
        ("Dockerfile", "Dockerfile.*", "*.Dockerfile"),
        "flags:read_dockerfile",
        _LEGACY,
    ),
)

# What else says what is to be installed: it tells no target, but may keep the code on Keras 2.
_MORE: Final = (
    Reader(
        EvidenceKind.REQUIREMENTS,
        ("*.in", "*.txt"),
        "requirements_txt:read_requirements",
    ),
    Reader(EvidenceKind.PROJECT, ("tox.ini",), "setup_files:read_tox_ini"),
)


def reader_of(path: str) -> Reader | None:
    """Return what reads the requirements in a file, None where it is no file of requirements.

    >>> reader_of("a/dev-requirements.in").kind, reader_of("Dockerfile")
    (<EvidenceKind.REQUIREMENTS: 'requirements file'>, None)
    """
    folder, _, name = path.replace("\\", "/").rpartition("/")
    names = [name, f"requirements/{name}"] if folder.endswith("requirements") else [name]
    for reader in (*READERS, *_MORE):
        if reader.kind is not EvidenceKind.SETTINGS and file_names(reader, names):
            return reader
    return None


def file_names(reader: Reader, listing: Iterable[str]) -> list[str]:
    """Return which of the names in a folder the reader reads, the plainest first."""
    listed = sorted(listing)
    found = [name for pattern in reader.names for name in listed if _fits(name, pattern)]
    return list(dict.fromkeys(found))


def _fits(name: str, pattern: str) -> bool:
    # As fnmatch does, which would compile an expression for each of the patterns in every scan.
    start, star, end = pattern.partition("*")
    if not star:
        return name == pattern
    return len(name) >= len(start + end) and name.startswith(start) and name.endswith(end)
