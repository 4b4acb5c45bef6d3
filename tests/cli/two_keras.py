"""Two Pythons, one with a small Keras 2 and one with a small Keras 3: no TensorFlow is started."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

KERAS_2 = {
    "__init__.py": """
        from keras import backend, layers
        from keras.models import Sequential

        __version__ = "2.2.4"
    """,
    "backend.py": """
        def sum(x):
            return __builtins__["sum"](x)

        def mean(x):
            return sum(x) / len(x)

        def get_session():
            return None
    """,
    "layers/__init__.py": "from keras.layers.core import Dense",
    "layers/core.py": """
        class Dense:
            output_shape = (None, 2)
    """,
    "models.py": """
        class Sequential:
            def fit(self, x, y=0, workers=1):
                if x is None:
                    raise ValueError("no data")
                return sum(next(x)[0]) if hasattr(x, "__next__") else x + y
    """,
}
KERAS_3 = {
    "__init__.py": """
        from keras import backend, layers, ops
        from keras.models import Sequential

        __version__ = "3.15.1"
    """,
    "backend.py": """
        def mean(x):
            return sum(x) / len(x)
    """,
    "ops.py": """
        def sum(x):
            return __builtins__["sum"](x)

        def mean(x):
            raise TypeError("no lists")
    """,
    "layers.py": """
        class _Output:
            shape = (None, 2)

        class Dense:
            output = _Output
    """,
    "models.py": """
        class Sequential:
            def fit(self, x, y=0):
                if x is None:
                    raise ValueError("no data")
                if not hasattr(x, "__next__"):
                    return x + y
                inputs, _ = next(x)
                if isinstance(inputs, list):
                    raise TypeError("subclass of `tf.TypeSpec` but found <class 'list'> which")
                return sum(inputs)
    """,
}


@dataclass(frozen=True)
class TwoKeras:
    """The interpreters, as they are named to ``kdoctor migrate``."""

    old: Path
    new: Path

    @property
    def arguments(self):
        return ["--python", self.new, "--old-python", self.old]


def made(folder):
    return TwoKeras(
        _python(folder / "two", "2.2.4", KERAS_2), _python(folder / "three", "3.15.1", KERAS_3)
    )


def _python(folder, version, modules):
    for name, text in modules.items():
        path = folder / "keras" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.strip("\n").splitlines()
        indent = len(lines[0]) - len(lines[0].lstrip())
        path.write_text("\n".join(line[indent:] for line in lines) + "\n")
    about = folder / f"keras-{version}.dist-info"
    about.mkdir()
    about.joinpath("METADATA").write_text(f"Name: keras\nVersion: {version}\n")
    python = folder / "python"
    search = f"${{PYTHONPATH:+$PYTHONPATH:}}{folder}"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{search}" PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    return python


OLD = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x)\n"
TEST_OLD = "import old\n\n\ndef test_total():\n    assert old.total([1, 2]) == 3\n"
TRAIN = """import keras


def train(x=1):
    model = keras.Sequential()
    return model.fit(x, 2, workers=4)
"""
TEST_TRAIN = "import train\n\n\ndef test_train():\n    assert train.train() == 3\n"
PLAIN = {"old.py": OLD, "test_old.py": TEST_OLD}
# Of a file that no run of the tests changes: how often a test was run.
COUNTED = """import os
from pathlib import Path


def runs(name):
    counter = Path(os.environ["COUNTERS"]) / name
    counter.write_text(counter.read_text() + "." if counter.exists() else ".")
    return len(counter.read_text())
"""


def counts(told):
    return {key: told["counted"][key] for key in ("keras_2", "before", "of_keras_2")}


def verdicts(told):
    return {(each["path"], each["code"]): each["verdict"] for each in told["fixes"]}
