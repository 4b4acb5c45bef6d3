"""The words of the benchmark: small frozen structs, written to and read from JSON."""

from __future__ import annotations

import enum
import hashlib
import os
from pathlib import Path

import msgspec

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kdoctor-migration"
MISSING = "Missing"  # the type of the failure of a test that was not collected


class Arm(enum.StrEnum):
    """One run of a package's tests."""

    KERAS_2 = "keras2"  # the ceiling
    BEFORE = "before"  # on Keras 3 as it is
    SAFE = "safe"  # after `kdoctor fix --apply`
    UNSAFE = "unsafe"  # after `kdoctor fix --apply --unsafe`

    @property
    def is_fixed(self) -> bool:
        """Whether kdoctor had a hand in it."""
        return self in {Arm.SAFE, Arm.UNSAFE}


# Authors of the unseen half of whose packages findings were read, or of whose drawn repositories:
# what was seen stays seen.
_LOOKED_INTO = frozenset({
    "bjherger", "google", "oarriaga", "stellargraph", "yoctol",
    "atwoodzhang", "cerndb", "flyyufelix", "titu1994",
})  # fmt: skip


class Half(enum.StrEnum):
    """Which packages kdoctor may be fitted to. All packages of one author are in the same."""

    FIRST = "first"  # the packages that kdoctor was built with
    WORK = "work"
    UNSEEN = "unseen"  # measured, never looked into

    @classmethod
    def of(cls, author: str) -> Half:
        """Return the half that a new author falls into; a hash decides, nobody chooses."""
        if author.lower() in _LOOKED_INTO:
            return cls.WORK
        digest = hashlib.sha256(author.lower().encode()).digest()
        return cls.UNSEEN if digest[0] % 2 else cls.WORK


class Package(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of ``packages.toml``, which says what each field means."""

    name: str
    half: Half = Half.WORK
    sdist: str = ""
    author: str = ""  # whose account the repository of the sdist is
    repository: str = ""
    commit: str = ""
    also_needed: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    share: float = 1
    seconds: float = 0

    @property
    def version(self) -> str:
        """What tells one state of the sources from another."""
        return self.sdist or f"{self.repository}@{self.commit}"

    @property
    def owner(self) -> str:
        """The account on GitHub that the code is of."""
        return self.author or self.repository.partition("/")[0]

    @property
    def selection(self) -> str:
        """What else than the sources decides which tests are run, and with what."""
        chosen = [*self.tests, f"share {self.share:g}"] if self.tests or self.share < 1 else []
        return "\n".join((*self.requires, *self.path, *chosen))


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a package that an error went through. ``path`` starts with the package's name."""

    path: str
    line: int
    end_line: int
    function: str
    last: bool = False  # the innermost of its error inside the packages


class Failure(msgspec.Struct, frozen=True):
    """Why a test did not pass."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    raised_at: str = ""


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happened to one test."""

    outcome: str  # passed, failed, skipped, xfailed, xpassed, crashed, missing
    seconds: float = 0.0
    failure: Failure | None = None


class Suite(msgspec.Struct, frozen=True):
    """One run of a package's tests, by test id."""

    tests: dict[str, Result]
    uncollected: dict[str, Failure]  # by file (or "" for all): why its tests could not be read
    seconds: float

    def of(self, test: str) -> Result:
        """Return what happened to a test, also where its file could not be read."""
        if test in self.tests:
            return self.tests[test]
        where = [name for name in self.uncollected if test.startswith(name)]
        if not where:
            return Result("missing", failure=Failure(MISSING, "the test was not collected"))
        return Result("failed", failure=self.uncollected[max(where, key=len)])

    @property
    def passed(self) -> frozenset[str]:
        """The ids of the tests that passed."""
        return frozenset(name for name, test in self.tests.items() if test.outcome == "passed")


class Found(msgspec.Struct, frozen=True, order=True):
    """A finding of kdoctor. ``path`` starts with the package's name."""

    path: str
    line: int
    end_line: int
    code: str
    name: str
    severity: str
    symbol: str
    message: str = ""
    applicability: str | None = None


class Repair(msgspec.Struct, frozen=True):
    """What kdoctor did to a copy."""

    seconds: float
    changed: tuple[str, ...]
    broken: tuple[str, ...]  # files that compiled before and no longer do
    before: tuple[Found, ...]
    after: tuple[Found, ...]


class Record(msgspec.Struct, frozen=True):
    """One arm of one package, as it is kept in the cache."""

    package: str
    version: str
    arm: Arm
    key: str
    suite: Suite
    repair: Repair | None = None


class Places(msgspec.Struct, frozen=True):
    """Where things are, and with what they run."""

    cache: Path
    python: Path
    repositories: Path | None
    seconds_a_test: float

    def home(self, package: Package) -> Path:
        """Return the cache; what is not to be looked into lies apart, out of every search's way."""
        return self.cache / "unseen" if package.half is Half.UNSEEN else self.cache
