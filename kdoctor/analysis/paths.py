"""Functions and classes that build paths from paths."""

from __future__ import annotations

from typing import Final

PATHS: Final = frozenset({"pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"})
PLACES: Final = frozenset({f"{each}.{made}" for each in PATHS for made in ("cwd", "home")})
JOINS: Final = frozenset({"os.path.join", "posixpath.join"})
JOINS_OF_WINDOWS: Final = frozenset({"ntpath.join"})  # they put a backslash between
FROM_THE_ROOT: Final = frozenset({"os.path.abspath"})
BEHIND_LINKS: Final = frozenset({"os.path.realpath"})  # from the root, under another name maybe
AS_GIVEN: Final = frozenset({"os.path.normpath", "os.path.expanduser"})

MAKERS: Final = PATHS | JOINS | JOINS_OF_WINDOWS | FROM_THE_ROOT | BEHIND_LINKS | AS_GIVEN
