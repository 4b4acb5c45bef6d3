"""The releases that the data is made of, and how each is brought here."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.version import Version

DEFAULT_CACHE = Path.home() / ".cache" / "kdoctor" / "wheels"

# First and last patch release of every minor, oldest first; a first patch whose public names are
# those of the last is dropped again when the tables are made. A new release is one entry here: it
# takes the place of its minor's last patch, or begins a minor.
# (keras 2.5 was never released; keras up to 2.0.6 only as source archives.)
RELEASES: dict[str, tuple[str, ...]] = {
    "keras": (
        "2.0.0", "2.0.9", "2.1.0", "2.1.6", "2.2.0", "2.2.5", "2.3.0", "2.3.1", "2.4.0", "2.4.3",
        "2.6.0", "2.7.0", "2.8.0", "2.9.0", "2.10.0", "2.11.0", "2.12.0", "2.13.1", "2.14.0",
        "2.15.0", "3.0.0", "3.0.5", "3.1.0", "3.1.1", "3.2.0", "3.2.1", "3.3.0", "3.3.3", "3.4.0",
        "3.4.1", "3.5.0", "3.6.0", "3.7.0", "3.8.0", "3.9.0", "3.9.2", "3.10.0", "3.11.0",
        "3.11.3", "3.12.0", "3.12.4", "3.13.0", "3.13.2", "3.14.0", "3.14.1", "3.15.0", "3.15.1",
    ),
    "tf_keras": (
        "2.14.1", "2.15.0", "2.15.1", "2.16.0", "2.17.0", "2.18.0", "2.19.0", "2.20.1", "2.21.0",
    ),
    "keras_core": ("0.1.7",),
    # Patches of TensorFlow mend security holes and leave the API alone: the last is enough.
    "tensorflow": (
        "1.15.5", "2.0.4", "2.1.4", "2.2.3", "2.3.4", "2.4.4", "2.5.3", "2.6.5", "2.7.4", "2.8.4",
        "2.9.3", "2.10.1", "2.11.1", "2.12.1", "2.13.1", "2.14.1", "2.15.1", "2.16.2", "2.17.1",
        "2.18.1", "2.19.1", "2.20.0", "2.21.0",
    ),
}  # fmt: skip

# keras 2.4 is TensorFlow's tf.keras under another name: read with the TensorFlow of its days.
READ_WITH: dict[tuple[str, str], tuple[str, str]] = {
    ("keras", "2.4.0"): ("tensorflow", "2.4.4"),
    ("keras", "2.4.3"): ("tensorflow", "2.4.4"),
}

_SOURCES = "sources.zip"  # TensorFlow's Python files alone, without 100 to 500 MB of libraries
_PLATFORMS = ("manylinux2010", "manylinux2014", "manylinux_2_17", "manylinux_2_27")


def fetch(distribution: str, version: str, cache: Path) -> Path:
    """Return the release's archive in ``cache``; download it with pip where it is not there yet."""
    if found := _cached(distribution, version, cache):
        return found
    cache.mkdir(parents=True, exist_ok=True)
    if distribution == "tensorflow":
        return _fetch_tensorflow(version, cache)
    only_sources = distribution == "keras" and Version(version) < Version("2.0.7")
    kind = "--no-binary" if only_sources else "--only-binary"
    _download(f"{distribution}=={version}", cache, kind, ":all:")
    found = _cached(distribution, version, cache)
    if found is None:
        raise FileNotFoundError(f"pip brought no archive of {distribution} {version} to {cache}")
    return found


def _fetch_tensorflow(version: str, cache: Path) -> Path:
    """Download the wheel, keep its Python files, forget the rest."""
    distribution = "tensorflow" if Version(version) < Version("2.1") else "tensorflow-cpu"
    python, abi = _python_for(Version(version))
    path = cache / f"tensorflow-{version}-{_SOURCES}"
    with TemporaryDirectory(dir=cache) as folder:
        _download(
            f"{distribution}=={version}",
            Path(folder),
            *("--only-binary", ":all:", "--implementation", "cp"),
            *("--python-version", python, "--abi", abi),
            *(word for name in _PLATFORMS for word in ("--platform", f"{name}_x86_64")),
        )
        (wheel,) = Path(folder).glob("*.whl")
        partial = Path(folder) / path.name
        with (
            zipfile.ZipFile(wheel) as archive,
            zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as kept,
        ):
            for name in sorted(archive.namelist()):
                if name.endswith(".py") and not name.endswith("_test.py"):
                    kept.writestr(name, archive.read(name))
        partial.rename(path)
    return path


def _python_for(version: Version) -> tuple[str, str]:
    """Return a Python that TensorFlow ``version`` was built for, and the tag of its ABI."""
    if version < Version("2.5"):
        return "3.7", "cp37m"
    return ("3.9", "cp39") if version < Version("2.12") else ("3.11", "cp311")


def _download(requirement: str, folder: Path, *options: str) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--dest", str(folder), *options, requirement),
        ],
        check=True,
    )


def _cached(distribution: str, version: str, cache: Path) -> Path | None:
    names = (f"{distribution}-{version}-", f"{distribution}-{version}.tar.gz")
    archives = (p for p in cache.glob("*") if p.suffix in {".whl", ".zip", ".gz"})
    return min((p for p in archives if p.name.lower().startswith(names)), default=None)
