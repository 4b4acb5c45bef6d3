"""Where undo journals are stored: in the user's state folder.

Not in the project: a journal says which file gets which content, and a project may come from
anybody. Nor in a cache, which people delete without a thought.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from msgspec import Struct

from kdoctor.digests import blake2b

_UNDO: Final = "undo"
_PRIVATE: Final = 0o700  # it has what files hold that not all may read


class UndoProject(Struct, frozen=True):
    """The identity of a project's folder: its real path and inode.

    The inode tells a folder that may have been moved within its file system. A new folder may get
    that of a deleted one, so the content of the journals is checked as well.
    """

    root: str
    device: int
    inode: int

    @classmethod
    def at(cls, root: Path) -> UndoProject:
        """Return the project whose folder is ``root``.

        Raises:
            OSError: it is not there.
        """
        real = os.path.realpath(root)
        found = os.stat(real)  # noqa: PTH116
        return cls(real, found.st_dev, found.st_ino)

    def may_have_been(self, other: UndoProject) -> bool:
        """Say whether this folder may be ``other`` after a move."""
        is_same_folder = (other.device, other.inode) == (self.device, self.inode) != (0, 0)
        return is_same_folder and not os.path.lexists(other.root)

    @property
    def name(self) -> str:
        """The folder name of this project's journals."""
        return blake2b(os.fsencode(self.root), digest_size=16).hexdigest()


def journals_of_user() -> Path:
    """Return the folder of all undo journals of this user."""
    from platformdirs import user_state_path  # noqa: PLC0415 - an apply or an undo asks, no scan

    return user_state_path("kdoctor", appauthor=False) / _UNDO


def make_private(folder: Path) -> None:
    """Create a folder, and missing parents, that only this user can read.

    Raises:
        OSError: it cannot be made, or somebody else may write into it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=_PRIVATE, exist_ok=True)
    if not is_private(folder):
        raise PermissionError(13, "Other users can write to the folder", str(folder))


def is_private(folder: Path) -> bool:
    """Say whether a folder belongs to this user and is writable by nobody else."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    if not hasattr(os, "geteuid"):  # Windows: what lies in the user's profile is the user's
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022
