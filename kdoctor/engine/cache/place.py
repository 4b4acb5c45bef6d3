"""Where the cache of a project lies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kdoctor.digests import blake2b
from kdoctor.engine.cache.store import Store
from kdoctor.engine.cache.version import version_key
from kdoctor.engine.policy import Policy
from kdoctor.project.root import root_of

DEFAULT: Final = ".kdoctor_cache"
VARIABLE: Final = "KDOCTOR_CACHE_DIR"


def store_of(policy: Policy) -> Store:
    """Return the store of the project that a run is about."""
    root = root_of(policy.start) or Path.cwd()
    project = blake2b(os.fsencode(root), digest_size=8).hexdigest()
    return Store(_folder(root, policy), f"{project}-{version_key()}")


def _folder(root: Path, policy: Policy) -> Path:
    """Return where the cache lies: as the environment says, or the settings, else the project."""
    asked = os.environ.get(VARIABLE)
    if asked:
        return Path.cwd() / Path(asked).expanduser()
    layer = policy.main.layer("cache-dir")
    if layer is not None:
        return Path(layer.folder) / Path(policy.main.value("cache-dir")).expanduser()
    return root / DEFAULT
