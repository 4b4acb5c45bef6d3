"""What a migration that was begun keeps on disk: what it was asked, and where it ended.

All of it lies below ``.kdoctor/migrate`` in the repository, which git ignores. What was carried out
is on the branch; the results of test runs are kept by what was run (``runs``), so a migration that
was interrupted is carried out again from its beginning, and no run that ended is made twice.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from kdoctor.errors import UsageProblem

_OWN: Final = ".kdoctor"
_HOME: Final = "migrate"
_STATE: Final = "state.json"
T = TypeVar("T")


class Settings(msgspec.Struct, frozen=True):
    """How a migration is carried out, as it was asked.

    ``test`` and ``run`` are commands, "" where none was named. ``within`` is the working folder,
    from the top of the repository. ``seconds`` is for one run of the tests, ``test_seconds`` for
    one test, ``budget`` for all runs together, 0 for no limit.
    """

    paths: tuple[str, ...]
    within: str
    python: str
    old_python: str = ""
    test: str = ""
    run: str = ""
    seconds: float = 1800.0
    test_seconds: float = 300.0
    budget: float = 0.0


class State(msgspec.Struct, frozen=True):
    """A migration that was begun: ``base`` is the commit that the branch starts from.

    ``now`` is the Keras that the project named, "" for none. ``engine`` are the options of scans.
    """

    settings: Settings
    engine: dict[str, str | bool | list[str] | None]
    branch: str
    base: str
    now: str = ""
    notes: tuple[str, ...] = ()


class Home(msgspec.Struct, frozen=True):
    """The folder of a migration in the repository at ``top``."""

    top: Path

    @property
    def folder(self) -> Path:
        """Where all of it lies."""
        return self.top / _OWN / _HOME

    @property
    def tree(self) -> Path:
        """The working tree of the branch."""
        return self.folder / "tree"

    @property
    def runs(self) -> Path:
        """The results of test runs, and their logs."""
        return self.folder / "runs"

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from carrying out the same migration.

        Raises:
            UsageProblem: another one does.
        """
        self.make()
        try:
            import fcntl  # noqa: PLC0415 - Windows has none
        except ImportError:
            yield
            return
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageProblem(
                    "another kdoctor carries out this migration now: wait until it ends"
                ) from None
            yield

    def make(self) -> None:
        """Create the folder; git ignores all of it.

        Raises:
            UsageProblem: nothing can be written there.
        """
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            (self.top / _OWN / ".gitignore").write_text("*\n")
        except OSError as error:
            raise UsageProblem(
                f"{self.folder} cannot be made: {error.strerror}; a migration is carried out in it"
            ) from error

    def remove(self) -> None:
        """Remove all of it, and the folder above where nothing else is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            if {each.name for each in (self.top / _OWN).iterdir()} <= {".gitignore"}:
                shutil.rmtree(self.top / _OWN)

    def forget(self) -> None:
        """Have no migration begun here; the logs of its tests stay.

        What they came to is forgotten: whoever mends what was missing wants them run again.
        """
        for each in self.runs.glob("*.json"):
            each.unlink(missing_ok=True)
        (self.folder / _STATE).unlink(missing_ok=True)

    def state(self) -> State | None:
        """Return the migration that was begun here, None where none was."""
        return read(self.folder / _STATE, State)

    def save(self, state: State) -> None:
        """Keep what was asked."""
        write(self.folder / _STATE, state)


def read(path: Path, kind: type[T]) -> T | None:
    """Return what a file keeps, None where it is not there or no whole one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


def write(path: Path, value: object) -> None:
    """Keep a value in a file that is there whole or not at all."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False) as part:
        part.write(msgspec.json.encode(value))
    os.replace(part.name, path)  # noqa: PTH105 - a name, no Path
