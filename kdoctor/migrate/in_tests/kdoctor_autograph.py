"""Where the lines of AutoGraph's generated code come from, and whether they were carried out.

`tf.function` does not run a function as it is written: AutoGraph writes another one, and that runs
once, to build a graph. It imports only the standard library, and runs on Python 3.7.
"""

from __future__ import annotations

import sys

_GENERATED = "__autograph_generated_file"
_OPERATORS = "autograph/operators"
_MAKERS = frozenset({"<module>", "outer_factory", "inner_factory"})  # of the functions themselves


def is_generated(name):
    """Say whether a file is one that AutoGraph has written."""
    return _GENERATED in name


def origins(generated):
    """Return where the lines of a generated file come from: by line, path and line.

    Nothing where this TensorFlow does not tell.
    """
    api = sys.modules.get("tensorflow.python.autograph.impl.api")
    found = {}
    try:
        known = list(api._TRANSPILER._cache._cache.values())  # noqa: SLF001 - there is no other way
        for factory in [each for one in known for each in one.values()]:
            if factory.module.__file__ == generated:
                for place, origin in factory.source_map.items():
                    found[place.lineno] = (origin.loc.filename, origin.loc.lineno)
    except (AttributeError, TypeError, RuntimeError):
        return {}
    return found


def is_carried_out(frame):
    """Say whether what a generated function says is done, as far as the graph that it is in is run.

    Of an `if` or a loop over a tensor, all branches are built into the graph; which of them it goes
    through, nobody sees.
    """
    if frame.f_code.co_name in _MAKERS:
        return False
    around = frame.f_back
    while around is not None:
        code = around.f_code
        if code.co_name.startswith("_tf_") and _OPERATORS in code.co_filename.replace("\\", "/"):
            return False
        around = around.f_back
    return True
