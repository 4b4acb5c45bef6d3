"""The root that a project imports Keras from: `keras` or `tensorflow.keras`.

A fix asks it for a file that needs an import of Keras and has none itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from kdoctor.modules.prefilter import imports_of_bytes

_KERAS, _TF_KERAS = "keras", "tensorflow.keras"
_TOPS = ("keras", "tensorflow")
_READ_FROM_TENSORFLOW = re.compile(rb"\b(?:tf|tensorflow)\s*\.\s*keras\b")


def most_common_root(contents: Iterable[bytes]) -> str | None:
    """Return the root that most of the files import Keras from.

    None where neither is: the order of the files says nothing. tf_keras, keras_core and Keras' old
    private modules have not all that a fix writes, and do not count.
    """
    votes = Counter(root for data in contents for root in _roots_in(data))
    if votes[_KERAS] == votes[_TF_KERAS]:
        return None
    return max((_KERAS, _TF_KERAS), key=lambda root: votes[root])


def _roots_in(data: bytes) -> frozenset[str]:
    return frozenset(_each_root(data)) if b"keras" in data else frozenset()


def _each_root(data: bytes) -> Iterator[str]:
    takes_tensorflow = False
    for level, module, names in imports_of_bytes(data, _TOPS.__contains__):
        if level:
            continue
        takes_tensorflow = takes_tensorflow or module == "tensorflow"
        if f"{module}.".startswith(f"{_KERAS}."):
            yield _KERAS
        elif f"{module}.".startswith(f"{_TF_KERAS}.") or (
            module == "tensorflow" and "keras" in names
        ):
            yield _TF_KERAS
    if takes_tensorflow and _READ_FROM_TENSORFLOW.search(data):
        yield _TF_KERAS
