"""The released wheels: which ones, where from, and their Python files."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

DEFAULT_CACHE = Path.home() / ".cache" / "kdoctor" / "wheels"

# The last patch release of every minor, oldest first. A new release is one more entry here.
# (keras 2.5 was never released; 2.4.3 re-exports TensorFlow's tf.keras and is read as "open".)
RELEASES: dict[str, tuple[str, ...]] = {
    "keras": (
        "2.0.9", "2.1.6", "2.2.5", "2.3.1", "2.4.3", "2.6.0", "2.7.0", "2.8.0", "2.9.0", "2.10.0",
        "2.11.0", "2.12.0", "2.13.1", "2.14.0", "2.15.0", "3.0.5", "3.1.1", "3.2.1", "3.3.3",
        "3.4.1", "3.5.0", "3.6.0", "3.7.0", "3.8.0", "3.9.2", "3.10.0", "3.11.3", "3.12.4",
        "3.13.2", "3.14.1", "3.15.1",
    ),
    "tf_keras": (
        "2.14.1", "2.15.1", "2.16.0", "2.17.0", "2.18.0", "2.19.0", "2.20.1", "2.21.0",
    ),
    "keras_core": ("0.1.7",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wheel:
    """One released wheel: its distribution, its version, and its Python files by path."""

    distribution: str
    version: str
    files: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Wheel:
        """Read the Python files of the wheel at ``path``, without its tests."""
        distribution, version = path.name.split("-")[:2]
        with zipfile.ZipFile(path) as archive:
            files = {
                name: archive.read(name).decode("utf-8", "replace")
                for name in sorted(archive.namelist())
                if name.endswith(".py") and not _is_test(name)
            }
        return cls(distribution.lower(), version, files)


def _is_test(path: str) -> bool:
    *folders, file = path.split("/")
    return file.endswith("_test.py") or not {"tests", "integration_test"}.isdisjoint(folders)


def fetch(distribution: str, version: str, cache: Path) -> Path:
    """Return the wheel's path in ``cache``; download it with pip where it is not there yet."""
    if found := _cached(distribution, version, cache):
        return found
    cache.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--only-binary", ":all:", "--dest", str(cache), f"{distribution}=={version}"),
        ],
        check=True,
    )
    found = _cached(distribution, version, cache)
    if found is None:
        raise FileNotFoundError(f"pip brought no wheel of {distribution} {version} to {cache}")
    return found


def _cached(distribution: str, version: str, cache: Path) -> Path | None:
    wanted = f"{distribution}-{version}-"
    found = (path for path in cache.glob("*.whl") if path.name.lower().startswith(wanted))
    return min(found, default=None)
