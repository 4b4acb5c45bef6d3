"""Version and search path of a Python, read from the files around it without starting it.

A project's environment comes with the project, and so does the program in it.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from kdoctor.diagnose.environment.probe import Python
from kdoctor.interpreters import Interpreter
from kdoctor.lazy_regex import pattern

_SETTINGS: Final = "pyvenv.cfg"
_HISTORY: Final = "conda-meta"
_NUMBERS: Final = pattern(r"(\d+)\.(\d+)(?:\.(\d+))?")
# python-3.11.7-h955ad1f_0.json, also of pypy
_OF_CONDA: Final = pattern(r"python-(\d+)\.(\d+)(?:\.(\d+))?-.*\.json")
_LIBRARY: Final = pattern(r"(?:python|pypy)(\d+)\.(\d+)")
_NO_FINAL: Final = (0, 0, 0)


def read(interpreter: Interpreter, environ: Mapping[str, str]) -> Python | None:
    """Return what the files around an interpreter say about it, None if that is not enough.

    Enough is a ``pyvenv.cfg`` (of venv, virtualenv, uv) or a ``conda-meta`` with a version. What
    ``.pth`` files would run to change the path is not run.
    """
    prefix = _prefix(Path(interpreter.path))
    if prefix is None:
        return None
    settings = _settings(prefix / _SETTINGS)
    version = _version(prefix, settings)
    if version == _NO_FINAL:
        return None
    minor = f"{version[0]}.{version[1]}"
    path = [Path(entry) for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    base = _base(prefix, settings)
    path += [*_standard_library(base, minor)]
    sees_system = settings is None or settings.get("include-system-site-packages") == "true"
    user = _user_site(environ, minor) if sees_system else None
    # As site puts them: those of the environment, of the user, of the Python below it.
    sites = [] if base == prefix else [*_site_packages(prefix, minor)]
    sites += [] if user is None else [user]
    sites += [*_site_packages(base, minor)] if sees_system else []
    for site in sites:
        path += _with_links(site)
    full = ".".join(map(str, version))
    return Python(
        interpreter,
        version,
        tuple(dict.fromkeys(Path(os.path.abspath(each)) for each in path)),  # noqa: PTH100
        prefix,
        user,
        _markers(full, minor, settings or {}),
    )


def _prefix(program: Path) -> Path | None:
    """Return the environment of a program, recognized by its files."""
    folders = (program.parent.parent, program.parent)
    return next((each for each in folders if _is_environment(each)), None)


def _is_environment(folder: Path) -> bool:
    return (folder / _SETTINGS).is_file() or (folder / _HISTORY).is_dir()


def _settings(file: Path) -> dict[str, str] | None:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _version(prefix: Path, settings: Mapping[str, str] | None) -> tuple[int, int, int]:
    if settings is not None:
        # venv writes version, virtualenv and uv write version_info.
        written = settings.get("version_info") or settings.get("version") or ""
        found = _NUMBERS.match(written)
    else:
        names = sorted(os.listdir(prefix / _HISTORY))  # noqa: PTH208
        found = next(filter(None, map(_OF_CONDA.fullmatch, names)), None)
    if found is None:
        return _NO_FINAL
    major, minor, micro = (int(number or 0) for number in found.groups())
    return major, minor, micro


def _base(prefix: Path, settings: Mapping[str, str] | None) -> Path:
    """Return the folder of the Python that an environment was made of."""
    home = (settings or {}).get("home")
    if not home:
        return prefix
    programs = Path(home)
    return programs if os.name == "nt" else programs.parent


def _standard_library(base: Path, minor: str) -> Iterator[Path]:
    if os.name == "nt":
        yield from (base / "DLLs", base / "Lib", base)
        return
    library = base / "lib" / f"python{minor}"
    yield from (base / "lib" / f"python{minor.replace('.', '')}.zip", library)
    yield library / "lib-dynload"


def _site_packages(prefix: Path, minor: str) -> Iterator[Path]:
    """Yield the site-packages folders, including those of Debian's Python."""
    places = [
        prefix / "Lib" / "site-packages",
        *(prefix / "lib" / f"{name}{minor}" / "site-packages" for name in ("python", "pypy")),
        prefix / "local" / "lib" / f"python{minor}" / "dist-packages",
        prefix / "lib" / "python3" / "dist-packages",
    ]
    seen: set[str] = set()
    for place in places:
        # Lib and lib are one folder where the file system does not tell them apart.
        real = os.path.realpath(place)
        if place.is_dir() and real not in seen:
            seen.add(real)
            yield place


def _user_site(environ: Mapping[str, str], minor: str) -> Path | None:
    """Return the user's folder for packages, where it is there and not switched off."""
    if environ.get("PYTHONNOUSERSITE"):
        return None
    base = environ.get("PYTHONUSERBASE")
    home = Path(environ.get("HOME") or Path.home())
    if os.name == "nt":
        roaming = Path(base or Path(environ.get("APPDATA") or home) / "Python")
        found = roaming / f"Python{minor.replace('.', '')}" / "site-packages"
    elif sys.platform == "darwin" and not base:
        found = home / "Library" / "Python" / minor / "lib" / "python" / "site-packages"
    else:
        found = Path(base or home / ".local") / "lib" / f"python{minor}" / "site-packages"
    return found if found.is_dir() else None


def _with_links(site: Path) -> list[Path]:
    """Return a folder for packages and the folders that its ``.pth`` files add to the path."""
    path = [site]
    for file in sorted(site.glob("*.pth")):
        try:
            lines = file.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        for line in lines:
            # site runs lines that begin so; here nothing is run.
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                added = site / line.rstrip()
                path += [added] if added.exists() else []
    return path


def _markers(full: str, minor: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment markers. The platform is the one kdoctor runs on."""
    name = settings.get("implementation") or "CPython"
    return {
        "implementation_name": name.lower(),
        "implementation_version": full,
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": name,
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": full,
        "python_version": minor,
        "sys_platform": sys.platform,
    }
