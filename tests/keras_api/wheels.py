"""Wheels that are made here, and what the generator writes of them."""

import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

from kdoctor.keras_api import tables

ROOT = Path(__file__).parents[2]


OLD = {
    "keras/__init__.py": "from . import layers\nfrom . import backend\n__version__ = '2.3.1'\n",
    "keras/backend/__init__.py": """\
        import numpy as np
        from .config import epsilon
        if backend() == 'theano':
            from .theano_backend import only_theano
        elif backend() == 'tensorflow':
            from .tensorflow_backend import *
        """,
    "keras/backend/config.py": "def epsilon():\n    return 1e-7\n",
    "keras/backend/theano_backend.py": "def only_theano(): pass\n",
    "keras/backend/tensorflow_backend.py": """\
        def sum(x, axis=None, keepdims: bool = False, *rest, name=None, **kwargs): pass
        def _private(): pass
        """,
    "keras/engine/__init__.py": "",
    "keras/engine/base.py": """\
        class Layer(object):
            def __init__(self, name=None):
                self.name = name
            @property
            def weights(self): return []
            def call(self, inputs): raise NotImplementedError
        """,
    "keras/layers/__init__.py": "from ..engine.base import Layer\nfrom .core import *\n",
    "keras/layers/core.py": """\
        from .. import backend as K
        from ..engine.base import Layer
        class Dense(Layer):
            def __init__(self, units, activation=None):
                super().__init__()
                self.units = units
            @classmethod
            def from_config(cls, config): return cls(**config)
        Linear = Dense
        """,
    "keras/layers/core_test.py": "def test(): pass\n",
    "keras/engine/saving.py": "from keras.layers import *\n",
    "keras/initializers/__init__.py": """\
        from keras.initializers import initializers_v2
        def populate():
            LOCAL.ALL["ConstantV2"] = initializers_v2.Constant
            generic_utils.populate_dict_with_module_objects(LOCAL.ALL, [initializers_v2])
            LOCAL.ALL["glorot"] = LOCAL.ALL["glorot_normal"]
        populate()
        globals().update(LOCAL.ALL)
        """,
    "keras/initializers/initializers_v2.py": """\
        class Constant:
            def __init__(self, value=0): self._set_hyper("value", value)
        class GlorotNormal: pass
        """,
    "keras/odd.py": """\
        import sys
        py_sum = sum
        def sum(x): pass
        for each in []: pass
        with open("x") as file: pass
        if sys.version_info[0] == 2:
            def of_python_2(): pass
        training = LazyLoader("training", globals(), "keras.engine.base")
        class Place(collections.namedtuple("Place", ["layer", "index"])): pass
        """,
}


NEW = {
    "keras/__init__.py": "from keras import layers\nfrom keras.src.layer import Layer\n",
    "keras/layers/__init__.py": """\
        from keras.src.layer import Layer
        from keras.src.dense import Dense
        from keras.src.dense import Dense as Linear
        from keras.src.old import Old
        """,
    "keras/saving/__init__.py": "from keras.src.layer import Layer as Anything\n",
    "keras/src/layer.py": """\
        from somewhere import Base
        class Layer(Base):
            def __init__(self, name=None): pass
        """,
    "keras/src/dense.py": """\
        from keras.src.layer import Layer
        class Dense(Layer):
            def __init__(self, units, activation="linear"): pass
        """,
    "keras/src/old.py": """\
        class Old:
            def __init__(self, *args, **kwargs):
                "Gone."
                raise ImportError("Old is no more")
        """,
    "keras/_tf_keras/__init__.py": "",
    "keras/_tf_keras/keras/__init__.py": """\
        from keras import layers
        from keras._tf_keras.keras import layers
        from keras._tf_keras.keras import losses
        def lazily():
            from keras._tf_keras.keras import metrics
        """,
    "keras/_tf_keras/keras/layers/__init__.py": "from keras.src.old import Old as Hidden\n",
    "keras/_tf_keras/keras/losses/__init__.py": "",
    "keras/_tf_keras/keras/metrics/__init__.py": "",
}


def wheel(folder: Path, version: str, files: dict[str, str]) -> Path:
    path = folder / f"keras-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, source in files.items():
            archive.writestr(name, textwrap.dedent(source))
    return path


def generate(out: Path, *options: str, seed: str = "0") -> dict[str, bytes]:
    subprocess.run(
        [sys.executable, "-m", "tools.api_data", "--out", str(out), *options],
        cwd=ROOT,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


def span(table: tables.NamesTable, name: str, release: str) -> tables.NameSpan | None:
    if name not in table.names:
        return None
    number = table.releases.index(release)
    spans = tables.name_spans(table.names[name])
    return next((s for s in spans if s.first <= number <= s.last), None)
