"""Count how much of what repositories use of packages that died with Keras 2 a fix rewrites.

    python -m tools.neighbour_uses GIT_DIRECTORY…
    python -m tools.neighbour_uses --list /work/.mirror/*/repo   # each use that stays, and why

For each repository all Python files and notebooks of its newest commit are written into a folder of
their own, of one that is the package itself its ``examples`` alone; those that name the package
are fixed twice, with the safe fixes and with all. A *use* is a place that reads a class, a function
or a module of the package, an import is none. It is rewritten if the fixed file no longer has it.
Nothing of the repositories is run, or kept.

The packages are ``tensorflow_addons`` and ``keras_contrib``; ``K.gradients`` and ``K.function`` are
counted alike.
"""

from __future__ import annotations

import argparse
import collections
import io
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from kdoctor.documents import Document
from kdoctor.engine import fix
from kdoctor.errors import KdoctorError
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module, ReferenceKind

Counts = collections.Counter[str]
"""By the name below the package: how often it is read."""
_CODE = (".py", ".ipynb")


class Subject(NamedTuple):
    """What is counted: the package, how its mention looks, and what a name of it counts as."""

    name: str
    mention: re.Pattern[bytes]
    counted: Callable[[str], str]


def _below(package: str) -> Callable[[str], str]:
    return lambda name: name.removeprefix(f"{package}.") if name.startswith(f"{package}.") else ""


def _of_backend(name: str) -> str:
    split = split_root(name)
    return split[1] if split and split[1] in ("backend.gradients", "backend.function") else ""


SUBJECTS = (
    Subject("tensorflow_addons", re.compile(rb"tensorflow_addons"), _below("tensorflow_addons")),
    Subject("keras_contrib", re.compile(rb"keras_contrib"), _below("keras_contrib")),
    Subject("K.gradients, K.function", re.compile(rb"\b(?:gradients|function)\("), _of_backend),
)


_PACKAGES = ("tensorflow_addons/", "keras_contrib/")


class Measured(NamedTuple):
    """How often names are read in one repository: before, after safe fixes, after all."""

    before: Counts
    safe: Counts
    unsafe: Counts


def measured(files: Iterable[Path], subject: Subject) -> Measured:
    """Return the uses in some files, which are not changed."""
    named = [each for each in files if subject.mention.search(each.read_bytes())]
    used = [each for each in named if uses_in(each.read_bytes(), each.name, subject)]
    before = _all_uses(((each, each.read_bytes()) for each in used), subject)
    left = []
    for unsafe in (False, True):
        after = {each: each.read_bytes() for each in used}
        if used:
            done = fix(used, unsafe=unsafe, isolated=True, target="keras==3.15.1")
            after |= {Path(each.path): each.after for each in done.files}
        left.append(_all_uses(after.items(), subject))
    return Measured(before, *left)


def _all_uses(files: Iterable[tuple[Path, bytes]], subject: Subject) -> Counts:
    found = (uses_in(data, path.name, subject) for path, data in files)
    return sum(found, collections.Counter())


def uses_in(data: bytes, name: str, subject: Subject) -> Counts:
    """Return what a file reads of a package; nothing of a file that is no Python 3."""
    found: Counts = collections.Counter()
    try:
        document = Document.parse(data, name)
        for unit in document.units:
            for each in Module.parse(unit).references:
                if each.kind is ReferenceKind.LOAD and (counted := subject.counted(each.name)):
                    found[counted] += 1
    except KdoctorError:
        return collections.Counter()
    return found


def extracted(repository: Path, folder: Path, commit: str = "HEAD") -> Iterator[Path]:
    """Write the code of a commit below a folder, and yield its files, in order."""
    listed = _git(repository, "ls-tree", "-r", "-z", "--format=%(objectname) %(path)", commit)
    named = [each.partition(" ")[::2] for each in listed.decode().split("\0") if each]
    code = [(blob, path) for blob, path in named if path.endswith(_CODE)]
    if any(path.startswith(_PACKAGES) for _, path in code):
        code = [(blob, path) for blob, path in code if path.startswith("examples/")]
    code.sort(key=itemgetter(1))
    wanted = "".join(f"{blob}\n" for blob, _ in code).encode()
    packed = io.BytesIO(_git(repository, "cat-file", "--batch", given=wanted))
    for _, path in code:
        about = packed.readline().split()
        if len(about) == 3:  # name, type, size; large files are listed, and missing
            data = packed.read(int(about[2]))
            packed.readline()
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
            yield folder / path


def _git(repository: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", "--git-dir", str(repository), *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repositories", nargs="+", type=Path, metavar="GIT_DIRECTORY")
    parser.add_argument("--list", action="store_true", help="list what stays, by repository")
    arguments = parser.parse_args()
    total = {each.name: Measured(*(collections.Counter() for _ in range(3))) for each in SUBJECTS}
    for repository in sorted(arguments.repositories):
        inner = repository / ".git"
        with tempfile.TemporaryDirectory() as folder:
            files = list(extracted(inner if inner.is_dir() else repository, Path(folder)))
            for subject in SUBJECTS:
                found = measured(files, subject)
                for counts, more in zip(total[subject.name], found, strict=True):
                    counts.update(more)
                if arguments.list and found.before:
                    _print_row(f"{repository.parent.name}: {subject.name}", found)
                    print("".join(f"    stays: {each}\n" for each in sorted(found.unsafe)), end="")
    for name, found in total.items():
        _print_row(name, found)
        for leaf, count in found.unsafe.most_common():
            print(f"    {count:4} of {found.before[leaf]:4} left: {leaf}")


def _print_row(name: str, found: Measured) -> None:
    count, safe, unsafe = (each.total() for each in found)
    if count:
        print(
            f"{name}: {count} uses, {1 - unsafe / count:.0%} rewritten, {1 - safe / count:.0%} safe"
        )


if __name__ == "__main__":
    main()
