"""Leftover folders, shadowing files, and stale metadata."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from kdoctor.diagnose.environment.environment import Environment
from kdoctor.diagnose.environment.health_report import Check, Remedy, broken, warning
from kdoctor.diagnose.environment.installed import Installed, module_file

_OWN_FOLDERS: Final = {"keras": "keras", "tf_keras": "tf-keras"}
# What a file of the user's must not be called, as TensorFlow and Keras import it.
_TAKEN: Final = (
    *("tensorflow", "keras", "tf_keras", "numpy", "h5py", "ml_dtypes", "absl", "google"),
    *("wrapt", "optree", "tree", "namex", "rich", "tensorboard", "flatbuffers", "gast", "grpc"),
)
_MAX_NAMES: Final = 3
_SITES: Final = {"site-packages", "dist-packages"}
# Images that are to be small go without them.
_TEST: Final = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)test_[^/]*$|_test\.py$")


def check(environment: Environment) -> Iterator[Check]:
    """Find files that make an import load something other than the installed package."""
    yield from _in_the_working_folder(environment)
    yield from _in_two_places(environment)
    for folder in _OWN_FOLDERS:
        yield from _of_package(environment, folder)
    for tensorflow in environment.packages.tensorflows:
        yield from _stale_metadata(environment, tensorflow)
        yield from _missing(environment, tensorflow)


def _in_the_working_folder(environment: Environment) -> Iterator[Check]:
    if environment.folder.name in _SITES:
        return
    elsewhere = [entry for entry in environment.python.path if entry != environment.folder]
    for name in _TAKEN:
        own = module_file(name, [environment.folder])
        if own is None:
            continue
        other = module_file(name, elsewhere)
        shadowed = own.parent if own.stem == "__init__" else own
        if other is None and name not in {"tensorflow", "keras", "tf_keras", "numpy"}:
            continue  # it stands in nobody's way
        renamed = shadowed.with_name(f"my_{shadowed.name}")
        yield broken(
            shadowed.name,
            f"is in the working directory: a program there that imports {name} gets this one"
            + (f", and so does everything that needs {name}" if other else ""),
            Remedy(_move(shadowed, renamed), f"rename the imports of your own {name} too"),
            str(shadowed),
        )


def _move(old: Path, new: Path) -> str:
    import shlex  # noqa: PLC0415

    return shlex.join(["mv", str(old), str(new)])


def _in_two_places(environment: Environment) -> Iterator[Check]:
    """A package in two folders of the path: the first hides the other."""
    for name in ("keras", "tf-keras", "tensorflow", "tensorflow-cpu", "numpy", "protobuf"):
        places = environment.packages.all_of(name)
        if len({each.version for each in places}) < 2:
            continue
        first, *others = places
        hidden = ", ".join(f"{each.version} in {each.site}" for each in others)
        whose = "your user folder" if first.site == environment.python.user_site else first.site
        yield warning(
            name,
            f"{first.version} in {whose} hides {hidden}",
            Remedy(
                note="correct if the environment should override the system's packages; otherwise "
                "uninstall the one that you do not want"
            ),
            str(first.metadata),
        )


def _of_package(environment: Environment, folder: str) -> Iterator[Check]:
    """Compare the folder of keras or tf_keras with its metadata."""
    installed = environment.packages.get(_OWN_FOLDERS[folder])
    nightly = environment.packages.get(f"{_OWN_FOLDERS[folder]}-nightly")
    owners = [each for each in (installed, nightly) if each is not None]
    if not owners:
        yield from _owned_by_nobody(environment, folder)
        return
    if len(owners) > 1 and owners[0].site == owners[1].site:
        listed = " and ".join(f"{each.name} {each.version}" for each in owners)
        gone = environment.uninstall(*(each.name for each in owners))
        again = environment.install(f"{owners[0].name}=={owners[0].version}")
        message = f"{listed} are installed on top of each other: their files are mixed"
        yield broken(folder, message, Remedy(f"{gone.command} && {again.command}"))
        return
    owner = owners[0]
    yield from _stale_metadata(environment, owner)
    yield from _missing(environment, owner)
    yield from _left_over(environment, owner, folder)


def _owned_by_nobody(environment: Environment, folder: str) -> Iterator[Check]:
    for site in environment.python.path:
        if module_file(folder, [site]) is not None and site.name in _SITES:
            yield broken(
                folder,
                f"is in {site}, but no metadata says which version it is: it was left over or "
                "copied there",
                Remedy(
                    note="unless it was put there on purpose, remove the folder, and install "
                    f"{_OWN_FOLDERS[folder]} with pip"
                ),
                str(site / folder),
            )
            return


def _stale_metadata(environment: Environment, installed: Installed) -> Iterator[Check]:
    if not installed.stale:
        return
    names = ", ".join(path.name for path in installed.stale)
    yield warning(
        installed.name,
        f"{installed.version} is installed, but there is metadata of another version: {names}",
        environment.remove(*installed.stale),
        str(installed.stale[0]),
    )


def _missing(environment: Environment, installed: Installed) -> Iterator[Check]:
    """Report files of the package's record that are missing or have another size."""
    record = installed.record
    if not record:
        return
    modules = {
        name: size
        for name, size in record.items()
        if name.endswith((".py", ".so", ".pyd")) and not _TEST.search(name)
    }
    gone, changed = [], []
    for name, size in modules.items():
        try:
            there = os.stat(installed.site / name).st_size  # noqa: PTH116 - thousands of them
        except OSError:
            gone.append(name)
            continue
        if size is not None and size != there:
            changed.append(name)
    again = environment.install(
        f"{installed.name}=={installed.version}", options=("--force-reinstall", "--no-deps")
    )
    whose = f"of {installed.name} {installed.version}"
    if gone:
        message = f"{_listed(gone, whose)} missing: it was only partly uninstalled"
        yield broken(installed.name, message, again, str(installed.site / gone[0]))
    elif changed:
        message = f"{_listed(changed, whose)} not as it was installed"
        note = "unless it was changed on purpose, this restores it: " + again.command
        place = str(installed.site / changed[0])
        yield warning(installed.name, message, Remedy(note=note), place)


def _left_over(environment: Environment, installed: Installed, folder: str) -> Iterator[Check]:
    """Report modules in the package's folder that are not in its record."""
    record = installed.record
    if not record:
        return
    strangers = sorted(_strangers(installed, folder))
    shadowing = [
        name
        for name in strangers
        if name.endswith("/__init__.py") and _module_beside(name) in record
    ]
    if shadowing:
        tops = sorted({installed.site / PurePosixPath(name).parent for name in shadowing})
        listed = ", ".join(f"{top.relative_to(installed.site).as_posix()}/" for top in tops)
        hidden = ", ".join(_module_beside(name) for name in shadowing)
        yield broken(
            installed.name,
            f"{listed} was left over by another version and hides {hidden} of "
            f"{installed.name} {installed.version}: what the latter defines is missing",
            environment.remove(*tops),
            str(tops[0]),
        )
        strangers = [
            name
            for name in strangers
            if not any((installed.site / name).is_relative_to(top) for top in tops)
        ]
    if strangers:
        tops = _tops(installed.site, strangers, record)
        yield warning(
            installed.name,
            f"{_listed(strangers, '')} not of {installed.name} {installed.version}: left over by "
            "another version, or put there by hand",
            Remedy(note="it hides nothing: remove it unless it was put there on purpose"),
            str(tops[0]),
        )


def _strangers(installed: Installed, folder: str) -> Iterator[str]:
    record = installed.record or {}
    top = installed.site / folder
    for parent, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in files:
            if name.endswith(".py"):
                path = Path(parent, name).relative_to(installed.site).as_posix()
                if path not in record:
                    yield path


def _module_beside(name: str) -> str:
    """Return the module file that a package's ``__init__.py`` replaces."""
    return f"{PurePosixPath(name).parent}.py"


def _tops(site: Path, strangers: list[str], record: object) -> list[Path]:
    """Return the topmost folders that contain only leftover files, else the files."""
    assert isinstance(record, dict)
    own = {str(parent) for name in record for parent in PurePosixPath(name).parents}
    tops = set()
    for name in strangers:
        top = PurePosixPath(name)
        while str(top.parent) not in own:
            top = top.parent
        tops.add(site / top)
    return sorted(tops)


def _listed(names: list[str], whose: str) -> str:
    """Return the first of the names, whose files they are, and the verb that fits.

    >>> _listed(["keras/a.py"], "of keras 2.10.0")
    'keras/a.py of keras 2.10.0 is'
    """
    rest = len(names) - _MAX_NAMES
    more = f" and {rest} more" if rest > 0 else ""
    verb = "is" if len(names) == 1 else "are"
    return " ".join(filter(None, [f"{', '.join(names[:_MAX_NAMES])}{more}", whose, verb]))
