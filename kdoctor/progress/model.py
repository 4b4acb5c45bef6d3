"""Data model of a migration's progress, for pages and programs."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kdoctor.engine.result import ScanResult
from kdoctor.model import Applicability, Finding


class Effort(enum.StrEnum):
    """What it takes to cure a finding."""

    SAFE = "safe"  # `fix --apply`
    UNSAFE = "unsafe"  # `fix --apply --unsafe`, and a look at the diff
    BY_HAND = "by hand"

    @classmethod
    def of(cls, finding: Finding) -> Effort:
        """Return what it takes to cure ``finding``."""
        applicability = finding.fix and finding.fix.applicability
        if applicability is Applicability.SAFE:
            return cls.SAFE
        return cls.UNSAFE if applicability is Applicability.UNSAFE else cls.BY_HAND


@dataclass(frozen=True, slots=True)
class Counts:
    """How many findings are left, by effort."""

    safe: int = 0
    unsafe: int = 0
    by_hand: int = 0

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Counts:
        """Count findings."""
        counts = Counter(map(Effort.of, findings))
        return cls(counts[Effort.SAFE], counts[Effort.UNSAFE], counts[Effort.BY_HAND])

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.safe + other.safe, self.unsafe + other.unsafe, self.by_hand + other.by_hand
        )

    def __getitem__(self, effort: Effort) -> int:
        match effort:
            case Effort.SAFE:
                return self.safe
            case Effort.UNSAFE:
                return self.unsafe
        return self.by_hand

    @property
    def total(self) -> int:
        """All of them."""
        return self.safe + self.unsafe + self.by_hand


class Status(enum.StrEnum):
    """What happens with a file on the target, the worst first."""

    STOPS = "stops as it starts"  # an error of its own, on import
    WAITS = "stops at an import of another file"  # whatever is wrong in itself
    FAILS = "fails when used"
    CHANGES = "runs, but means something else"
    LEGACY = "works, with deprecated names"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Stop:
    """The first error on the way of some files that are imported: ``stopped`` with each's way.

    A way begins with the file itself and ends with the file of the finding.
    """

    finding: Finding
    ways: tuple[tuple[str, ...], ...]

    @property
    def stopped(self) -> tuple[str, ...]:
        """The files that it stops."""
        return tuple(way[0] for way in self.ways)


@dataclass(frozen=True, slots=True)
class FileState:
    """One file that imports Keras or has findings.

    ``waits_for`` is the file whose error stops this one on import: itself, another, or none.
    ``is_entry``: no other file of the scan imports it as it starts.
    """

    path: str
    status: Status
    left: Counts
    waits_for: str | None = None
    is_entry: bool = False

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do for it, in itself or in what it imports."""
        return self.status is Status.DONE


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one folder or rule: its name, what it is, how many, in how many files."""

    name: str
    what: str
    left: Counts
    files: int


class CouplingKind(enum.StrEnum):
    """In what way code needs TensorFlow."""

    KERAS = "Keras by way of TensorFlow"  # tf.keras
    KERAS_2 = "Keras 2 for TensorFlow alone"  # tf_keras
    OWN = "TensorFlow itself"
    PACKAGE = "a package of TensorFlow's family"
    BACKEND = "functions of the old keras.backend"


@dataclass(frozen=True, slots=True, order=True)
class Coupling:
    """One thing that ties code to TensorFlow, as people write it: ``tf.data``."""

    name: str
    kind: CouplingKind


@dataclass(frozen=True, slots=True)
class CouplingUse:
    """How often a tie is met, and in which files, those of most uses first."""

    tie: Coupling
    uses: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Portability:
    """What ties the files that import Keras to TensorFlow.

    ``free`` import nothing of TensorFlow. ``by_root``: they import of it nothing but ``tf.keras``.
    ``backend_only``: of the free, those that still call functions of the old ``keras.backend``.
    """

    files: int
    free: tuple[str, ...]
    by_root: tuple[str, ...]
    backend_only: tuple[str, ...]
    ties: tuple[CouplingUse, ...]

    @property
    def percent(self) -> int | None:
        """The share of free files, rounded down: 100 means all. None where there is no file."""
        return len(self.free) * 100 // self.files if self.files else None


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; ``time`` is when it was committed, in seconds since 1970."""

    id: str
    time: int
    subject: str


@dataclass(frozen=True, slots=True)
class Sample:
    """What a scan of one commit found; ``unreadable`` counts the files that were not checked."""

    commit: Commit
    left: Counts
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Burndown:
    """Scans of commits, oldest first, picked evenly from ``commits`` of them."""

    since: str
    commits: int
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """How far a migration is.

    ``name`` is that of the folder in which the paths lie. ``commit`` is where its git repository
    stands, if it is in one; ``is_changed`` says that files were changed since. ``files`` are those
    that import Keras or have findings, by path. ``stops`` come by the number of files stopped.
    """

    name: str
    paths: tuple[str, ...]
    scan: ScanResult
    files: tuple[FileState, ...]
    stops: tuple[Stop, ...]
    folders: tuple[Group, ...]
    rules: tuple[Group, ...]
    portability: Portability
    commit: Commit | None = None
    is_changed: bool = False
    burndown: Burndown | None = None

    @property
    def left(self) -> Counts:
        """All that is left to do."""
        return Counts.of(self.scan.findings)
