"""Regular expressions compiled on first use: a run needs few of them.

To compile those that a scan of five files imports takes a thirtieth of its time.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, Final, cast

_OFFERED: Final = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn",
                   "flags", "groupindex", "groups", "pattern")  # fmt: skip


class _Later:
    """What answers as the compiled expression does."""

    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        if name not in _OFFERED:
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        # From now on they are found without this method.
        vars(self).update({each: getattr(compiled, each) for each in _OFFERED})
        return getattr(compiled, name)


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled on first use: errors in it show only then."""
    return cast("re.Pattern[AnyStr]", _Later(text, flags))
