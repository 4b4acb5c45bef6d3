"""Where a project's cache is stored."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kdoctor.digests import blake2b
from kdoctor.engine.cache.store import Store
from kdoctor.engine.cache.version import version_key
from kdoctor.engine.selection.file_selection import FileSelection
from kdoctor.project.root import leads_into, root_of, shown
from kdoctor.rules.own import in_use

DEFAULT: Final = ".kdoctor_cache"
VARIABLE: Final = "KDOCTOR_CACHE_DIR"


class OutOfProject(Exception):
    """The settings place the cache outside of the project. The message is for people."""


def store_of(policy: FileSelection) -> Store:
    """Return the cache store of the project that a run is about.

    It lies as the environment says, or the settings, else in the project.

    Raises:
        OutOfProject: the project's settings, or a link in it, lead out of it.
    """
    root = root_of(policy.start) or Path.cwd()
    project = blake2b(os.fsencode(root), digest_size=8).hexdigest()
    # As kdoctor's own code counts, so does that of rules of one's own.
    name = "-".join(filter(None, (project, version_key(), in_use().sources.digest)))
    override = os.environ.get(VARIABLE)
    if override:
        return Store(Path.cwd() / Path(override).expanduser(), name)
    layer = policy.main.layer("cache-dir")
    if layer is None:
        where, folder = shown(root / DEFAULT), root / DEFAULT
    else:
        where = f"{layer.place('cache-dir')}: cache-dir"
        folder = Path(layer.folder) / Path(policy.main.value("cache-dir")).expanduser()
        root = root_of(Path(layer.folder)) or Path(layer.folder)
    store = Store(folder, name)
    # Who names a file by --config says all that it says.
    if not (policy.has_named_settings or leads_into(store.folder, root)):
        raise OutOfProject(
            f"{where} points outside the project, to {os.path.realpath(store.folder)}, so no "
            f"cache is used; to keep it there, set {VARIABLE}={os.path.realpath(folder)}"
        )
    return store
