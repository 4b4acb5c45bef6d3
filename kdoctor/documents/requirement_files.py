"""Files that say what is to be installed, known by their names."""

from __future__ import annotations

from typing import Final

# By the whole name, its beginning or its end, all in small letters.
_NAMES: Final = frozenset(
    {"pyproject.toml", "setup.cfg", "pipfile", "tox.ini", "makefile", "dockerfile"}
    | {"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "pipfile.lock"}
    | {".travis.yml", ".gitlab-ci.yml", "azure-pipelines.yml"}
)
_DOCKER: Final = "dockerfile"
_SHELL: Final = (".sh", ".bash", ".dockerfile")
_TABLES: Final = (".txt", ".in")
_YAML: Final = (".yml", ".yaml")
_ENDINGS: Final = (*_TABLES, *_YAML, *_SHELL, ".toml", ".cfg", ".ini", ".lock")
_LISTS: Final = ("requirements", "requirement", "constraints")
_WORKFLOWS: Final = ".github/workflows"


def is_requirements_file(path: str) -> bool:
    """Say whether a file says what is to be installed, in a format that kdoctor reads.

    ``setup.py`` is none of them: it is a module.

    >>> is_requirements_file("requirements-dev.txt"), is_requirements_file("notes.txt")
    (True, False)
    """
    low = path.replace("\\", "/").lower()
    folder, _, name = low.rpartition("/")
    if name in _NAMES or name.startswith(_DOCKER):
        return True
    if not name.endswith(_ENDINGS):
        return False
    if name.endswith(_SHELL):
        return True
    if name.endswith(_TABLES):
        above = folder.rpartition("/")[2]
        return above == "requirements" or any(each in name for each in _LISTS)
    if name.endswith(_YAML):
        return name.startswith("environment") or folder.endswith(_WORKFLOWS)
    return name.startswith("pylock.") and name.endswith(".toml")
