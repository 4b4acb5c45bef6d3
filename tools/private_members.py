"""Write which private members of Keras 2 may be said to be gone.

``python -m tools.private_members`` writes ``kdoctor/keras_api/private_members.py``: those that
classes of Keras 2 had which people derive their own from, without what objects of Keras 3 have
from classes of other packages, of which the data of the releases does not tell. Then
``python tools/gone_members.py --write``.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf
from tensorflow.python.trackable import autotrackable

from kdoctor.keras_api import known_releases, members
from kdoctor.keras_api.instances import BASES_BY_KIND
from kdoctor.keras_api.members import classes_of
from kdoctor.keras_api.tables import ClassFamily

FILE = Path(members.__file__).with_name("private_members.py")
# Of what people derive classes from: a layer's own are read where a subclass writes `call` anew.
_FAMILIES = (ClassFamily.LAYER, ClassFamily.MODEL, ClassFamily.METRIC, ClassFamily.LOSS)
_HEAD = '''"""Private members of Keras 2's classes, which the data of releases tells of.

Generated, do not edit: ``python -m tools.private_members`` asks that data.
"""

from __future__ import annotations

from typing import Final

# fmt: off
TOLD: Final = frozenset({
'''


def told() -> set[str]:
    """Return the names."""
    tracked = autotrackable.AutoTrackable()
    tracked.variable = tf.Variable(0.0)  # some come with the first thing that is tracked
    return {each for each in _once() if not each.startswith("__")}.difference(dir(tracked))


def _once() -> Iterator[str]:
    names = {name for bases in BASES_BY_KIND.values() for name in bases}
    for release in known_releases("keras"):
        classes = classes_of("keras", release)
        if classes is None or release.startswith("3."):
            continue
        bases = (each for name in names for each in classes.by_leaf(name))
        concrete = (each for family in _FAMILIES for each in classes.of_family(family))
        for info in (*bases, *concrete):
            yield from (member for member in info.members if member.startswith("_"))


if __name__ == "__main__":
    names = sorted(told())
    lines = textwrap.fill(
        ", ".join(f'"{each}"' for each in names) + ",",
        100,
        initial_indent="    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    FILE.write_text(f"{_HEAD}{lines}\n}})\n", "utf-8")
    print(len(names), file=sys.stderr)
