"""The commands that run a project's tests, and what they find around them."""

from __future__ import annotations

import fnmatch
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

from kdoctor.errors import UsageProblem
from kdoctor.migrate.state import Settings
from kdoctor.project.root import MARKS
from kdoctor.verify.processes import QUIET

_HERE: Final = Path(__file__).parent
_PROBE: Final = _HERE / "in_tests"
_KERAS_2: Final = _HERE.parent / "verify" / "keras_2_names"
_PYTHONS: Final = frozenset({"python", "python3", "py"})
_PYTESTS: Final = frozenset({"pytest", "py.test"})
_OF_UNITTEST: Final = "test[!_]*.py"  # found by it, beside those of pytest
_TEST_FILES: Final = ("test_*.py", "*_test.py")
_OF_SHELLS: Final = frozenset({"&&", "||", "|", ";", ">", "&"})
JUNIT: Final = "{junit}"
# It would make Keras 2 of both sides, or runs of one program differ.
_REMOVED: Final = frozenset({"TF_USE_LEGACY_KERAS", "PYTHONSTARTUP", "PYTHONPATH", "VIRTUAL_ENV"})


class Suite(Struct, frozen=True):
    """One command that runs tests. ``folder`` is where, from the top of the repository.

    ``prefix`` tells its tests from those of the other suites.
    """

    folder: str
    words: tuple[str, ...]
    prefix: str = ""
    is_program: bool = False

    @property
    def shown(self) -> str:
        """The command as it is typed."""
        return shlex.join(self.words)


class Side(Struct, frozen=True):
    """One of the two worlds: the Python, and whether tf_keras stands for Keras there."""

    name: str
    python: str
    with_tf_keras: bool = False


OLD: Final = "keras-2"
NEW: Final = "keras-3"


def sides(settings: Settings) -> dict[str, Side]:
    """Return both sides."""
    old = settings.old_python or settings.python
    return {
        OLD: Side(OLD, old, with_tf_keras=not settings.old_python),
        NEW: Side(NEW, settings.python),
    }


def cure_of(problem: str, side: Side, suites: Iterable[Suite]) -> str:
    """Return what lets tests run that did not begin, as the end of a sentence."""
    if "unrecognized arguments" in problem:
        return (
            ". The project asks pytest for an option that a plugin has: install the plugin, or "
            'leave the project\'s options out (--test "pytest -o addopts=")'
        )
    if "No module named" in problem:
        return f". Install what the tests need: `{side.python} -m pip install ...`"
    if any(each.is_program for each in suites):
        return ""
    return (
        ". Where tests no longer run on any Keras, name a program that must end without an error "
        '(--run "python train.py")'
    )


def suites_of(settings: Settings, tracked: Iterable[str]) -> list[Suite]:
    """Return the commands to run: the one that was named, else pytest for each project's tests.

    Raises:
        UsageProblem: none was named, and there are no tests.
    """
    if settings.run:
        return [Suite(settings.within, _words(settings.run, "--run"), is_program=True)]
    if settings.test:
        return [Suite(settings.within, _words(settings.test, "--test"))]
    paths = sorted(tracked)
    by_project = _projects(paths, settings)
    if not by_project:
        names = [each for each in paths if fnmatch.fnmatch(each.rpartition("/")[2], _OF_UNITTEST)]
        if names:
            raise UsageProblem(
                f"pytest takes no file for tests that is called like {names[0]}; if it is one, add "
                """--test "pytest -o python_files='test*.py'\""""
            )
        raise UsageProblem(
            'no tests were found: name the command that runs them (--test "make test"), or a '
            'program that must run before and after (--run "python train.py --epochs 1"); '
            "`kdoctor fix --apply` writes what is proven safe without either"
        )
    return [
        Suite(folder, ("pytest", *_left_to_others(folder, by_project)), prefix)
        for folder in by_project
        for prefix in [f"{folder or '.'}: " if len(by_project) > 1 else ""]
    ]


def _words(command: str, option: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageProblem(f"{option}: {error}") from error
    if not words:
        raise UsageProblem(f"{option}: the command is empty")
    if _OF_SHELLS.intersection(words):
        raise UsageProblem(f"{option}: no shell runs the command; write sh -c '{command}'")
    return words


def _projects(tracked: Sequence[str], settings: Settings) -> dict[str, None]:
    """Return the folders of the projects that have tests and are about the paths."""
    marked = {_folder(path) for path in tracked if PurePosixPath(path).name in MARKS}
    found = dict[str, None]()
    for path in tracked:
        if any(fnmatch.fnmatch(PurePosixPath(path).name, each) for each in _TEST_FILES):
            above = _folder(path)
            while above and above not in marked:
                above = _folder(above)
            found[above] = None
    asked = [os.path.normpath(f"{settings.within}/{each}").lstrip("/") for each in settings.paths]
    return {
        folder: None
        for folder in found
        if any(_is_in(each, folder) or _is_in(folder, each) for each in asked)
    }


def _left_to_others(folder: str, projects: Iterable[str]) -> list[str]:
    return [
        f"--ignore={os.path.relpath(each, folder or '.')}"
        for each in projects
        if each != folder and _is_in(each, folder)
    ]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _is_in(path: str, folder: str) -> bool:
    return folder in {"", "."} or path == folder or path.startswith(f"{folder}/")


def command(suite: Suite, side: Side, junit: Path) -> list[str]:
    """Return the words to run, with the Python of a side."""
    first, rest = suite.words[0], [each.replace(JUNIT, str(junit)) for each in suite.words[1:]]
    if first in _PYTESTS:
        return [side.python, "-m", "pytest", *rest]
    if first not in _PYTHONS:
        return [first, *rest]
    is_followed = suite.is_program and rest and (rest[0] == "-m" or rest[0].endswith(".py"))
    return [side.python, *(["-m", "kdoctor_probe"] if is_followed else []), *rest]


def environment(
    side: Side, tree: tuple[Path, Path], tracked: Iterable[str], junit: Path, seconds: float
) -> dict[str, str]:
    """Return the variables of a run: this process's, with the tree's own modules first.

    ``tree`` is the user's tree and the one that the tests are run in.

    A project that is installed for development is found in the user's tree else.
    """
    kept = {key: value for key, value in os.environ.items() if key not in _REMOVED}
    paths = [_PROBE, *([_KERAS_2] if side.with_tf_keras else []), *_roots(tree[1], tracked)]
    asked = os.environ.get("PYTHONPATH", "")
    paths += [_moved(Path(each), *tree) for each in asked.split(os.pathsep) if each]
    binaries = os.path.dirname(os.path.abspath(side.python))  # noqa: PTH100, PTH120 - links stay
    return {
        **QUIET,
        **kept,
        **({"TF_USE_LEGACY_KERAS": "1"} if side.with_tf_keras else {}),
        "PATH": os.pathsep.join((binaries, os.environ.get("PATH", os.defpath))),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(map(str, paths))),
        # A file that is fixed twice in a second would be taken for what was compiled of it.
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "MPLBACKEND": os.environ.get("MPLBACKEND", "agg"),
        "PYTEST_ADDOPTS": " ".join(
            (
                os.environ.get("PYTEST_ADDOPTS", ""),
                "-p kdoctor_probe -p no:cacheprovider --tb=native",
                f"--continue-on-collection-errors --junitxml={shlex.quote(str(junit))}",
            )
        ).strip(),
        "KDOCTOR_PROBE_PARENT": str(os.getpid()),
        "KDOCTOR_PROBE_SECONDS": f"{seconds:g}",
    }


def _roots(tree: Path, tracked: Iterable[str]) -> Iterator[Path]:
    """Yield the folders of a repository from which a project's modules are imported."""
    marked = {_folder(path) for path in tracked if PurePosixPath(path).name in MARKS}
    for folder in sorted({"", *marked}):
        yield tree / folder
        if (tree / folder / "src").is_dir():
            yield tree / folder / "src"


def _moved(path: Path, top: Path, tree: Path) -> Path:
    """Return what is below the user's tree as it is called in the other one."""
    real = Path(os.path.realpath(path))
    return tree / real.relative_to(top) if real.is_relative_to(top) else real
