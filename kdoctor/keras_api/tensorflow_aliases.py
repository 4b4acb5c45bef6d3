"""The ways to a name of TensorFlow's own: `tf.compat.v2.Variable` is `tf.Variable`.

``tensorflow.compat.v2`` hands on TensorFlow 2 as it is, ``tensorflow.compat.v1`` what TensorFlow 1
had: of some names the very same object. ``tests/keras_api/test_tensorflow_aliases.py`` asks
TensorFlow for each of both sorts that is spoken of here.
"""

from __future__ import annotations

from typing import Final

_ROOT: Final = "tensorflow."
_FIRST: Final = f"{_ROOT}compat.v1."
SECOND: Final = (f"{_ROOT}compat.v2.", f"{_FIRST}compat.v2.")
"""Where TensorFlow 2 is once more."""
FIRST: Final = (f"{_FIRST}compat.v1.", f"{_ROOT}compat.v2.compat.v1.", _FIRST)
"""Where TensorFlow 1 is, the longest way first."""


TURN_EAGER_OFF: Final = ("disable_eager_execution", "disable_v2_behavior")
"""What ``compat.v1`` has to build graphs as TensorFlow 1 did."""


def ways_to(*names: str) -> frozenset[str]:
    """Return names of TensorFlow 2 with all others under which it hands on the same.

    >>> sorted(ways_to("tensorflow.eye"))[0]
    'tensorflow.compat.v1.compat.v2.eye'
    """
    return frozenset(way + name.removeprefix(_ROOT) for name in names for way in (_ROOT, *SECOND))


def ways_also_by_1(*names: str) -> frozenset[str]:
    """Return the same of names of which ``tensorflow.compat.v1`` has the very same object."""
    own = (way + name.removeprefix(_ROOT) for name in names for way in FIRST)
    return ways_to(*names).union(own)


def by_the_short_way(name: str) -> str:
    """Return a dotted name, ``tensorflow.eye`` for ``tensorflow.compat.v2.eye``."""
    for way in SECOND:
        if name.startswith(way):
            return _ROOT + name.removeprefix(way)
    return name


def version_of(module: str) -> str:
    """Return the module whose version a module of TensorFlow has: every way gives the same text.

    >>> version_of("tensorflow.compat.v1"), version_of("tensorflow.compat.v2.keras")
    ('tensorflow', 'tensorflow.keras')
    """
    name = f"{module}.__version__"
    for way in sorted((*SECOND, *FIRST), key=len, reverse=True):
        if name.startswith(way):
            return f"{_ROOT}{name.removeprefix(way)}".rpartition(".")[0]
    return module


VARIABLES: Final = ways_to("tensorflow.Variable").union(f"{way}Variable" for way in FIRST)
"""TensorFlow's class of variables: that of ``compat.v1`` makes the same ones, run at once."""
