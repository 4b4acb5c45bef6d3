# ruff: noqa: S102 - runs code of its own making
"""Whatever the import block: after the fix it still binds all that is read, and means the same."""

import ast
import builtins
import io
import tokenize
from collections import Counter

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

ROWS = (
    ("keras.backend.square(x)", "keras.ops.square(x)"),
    ("keras.backend.variable(value)", "keras.Variable(value)"),
    ("keras.backend.count_params(x)", "math.prod(x.shape)"),
)
MOVED = {"square": "ops.square", "variable": "Variable"}
FUNCTIONS = ("square", "square", "variable", "count_params", "epsilon")

# Import statements, and the spellings of `backend` (or of a function of it) that they allow.
IMPORTS = {
    "from keras import backend as K": ["K.{}"],
    "from keras import backend as K  # the backend": ["K.{}"],
    "import keras.backend as K": ["K.{}"],
    "from keras import backend": ["backend.{}"],
    "from keras import layers, backend as K": ["K.{}"],
    "from keras import backend as K, layers as L, utils": ["K.{}"],
    "from keras import (\n    backend as K,  # why\n    layers,\n)": ["K.{}"],
    "from keras import (\n    layers,  # why\n    backend as K  # oh\n)": ["K.{}"],
    "from keras import (layers,\n    backend as K,)": ["K.{}"],
    "from keras import layers, \\\n    backend as K": ["K.{}"],
    "import os, keras.backend as K": ["K.{}"],
    "import os; from keras import backend as K  # both": ["K.{}"],
    "from keras import backend as K; import os": ["K.{}"],
    "import keras": ["keras.backend.{}"],
    "import keras as k": ["k.backend.{}"],
    "import keras.backend": ["keras.backend.{}"],
    "from keras.backend import square, variable": ["square", "variable"],
    "from keras.backend import epsilon, square as sq  # two": ["sq"],
    "from keras.backend import (\n    square,\n    epsilon,\n    variable as var,\n)": ["square", "var"],
    "import tensorflow as tf": ["tf.keras.backend.{}"],
    "from tensorflow.keras import backend as TK": ["TK.{}"],
    "from tensorflow import keras as tk": ["tk.backend.{}"],
    "try:\n    from keras import backend as K\nexcept ImportError:\n    K = None": ["K.{}"],
    "from keras import ops": [],
    "from keras import ops as O": [],
    "from keras.ops import square as fast": [],
    "import math": [],
    "from keras import Variable  # noqa": [],
    "ops = 1": [],
    "from keras import backend as K  # noqa: F401": ["K.{}"],
    "__all__ = ['K']\nfrom keras import backend as K": ["K.{}"],
}  # fmt: skip
ARGUMENTS = ("w", "w, k=1", "*w", "w  # arg\n")
SHELLS = (
    "log.append({})",
    "log.append(fn := {})",
    "def f():\n    return {}\nlog.append(f())",
    "def f(ops):\n    return ops, {}\nlog.append(f(1))",
    "class A:\n    x = {}\n    def m(self):\n        return {}\nlog.append(A.x); log.append(A().m())",
    "def f():\n    {imports}\n    return {}\nlog.append(f())",
    "def f():\n    {imports}\n    def g():\n        return {}\n    return g\nlog.append(f()())",
    "log.append([{} for ops in (1, 2)])",
)


@st.composite
def modules(draw):
    lines = draw(st.lists(st.sampled_from(list(IMPORTS)), min_size=1, max_size=4))
    spellings = [spelling for line in lines for spelling in IMPORTS[line]]
    source = '"""Doc."""\nfrom __future__ import annotations\n' if draw(st.booleans()) else ""
    source += "".join(f"{line}\n" for line in lines)
    for form in draw(st.lists(st.sampled_from(SHELLS), max_size=4)):
        inner, usable = "pass", spellings
        if "{imports}" in form:
            line = draw(st.sampled_from([each for each in IMPORTS if "__all__" not in each]))
            inner, usable = line.replace("\n", "\n    "), IMPORTS[line]
        if not usable:
            continue
        shell = form.replace("{imports}", inner)
        while "{}" in shell:
            use = draw(st.sampled_from(usable)).replace("{}", draw(st.sampled_from(FUNCTIONS)))
            if draw(st.integers(0, 4)):
                use += f"({draw(st.sampled_from(ARGUMENTS))})"
            shell = use.join(shell.split("{}", 1))
        source += f"{shell}\n"
    if draw(st.booleans()):
        source = source.removesuffix("\n")
    return source.replace("\n", "\r\n") if draw(st.booleans()) else source


class Stub:
    """A module, or something in it, by its name."""

    def __init__(self, name):
        self.__dict__["name"] = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(f"{self.name}.{name}")

    def __iter__(self):
        return iter([Stub("one")])

    def __call__(self, *args, **kwargs):
        if self.name.endswith("backend.count_params"):
            return shown((Stub("math.prod"), [each.shape for each in args], kwargs))
        return shown((self, list(args), kwargs))


def shown(value):
    match value:
        case Stub():
            for root in ("keras.", "tensorflow.keras."):
                old = value.name.removeprefix(f"{root}backend.")
                if old in MOVED and old != value.name:
                    return f"{root}{MOVED[old]}"
            return value.name
        case list() | tuple():
            return [shown(each) for each in value]
        case dict():
            return {key: shown(each) for key, each in value.items()}
    return value if isinstance(value, str | int | None) else type(value).__name__


def run(source):
    """Return what a module logs and what it binds, all its imports being stubs."""

    def import_stub(name, _globals=None, _locals=None, fromlist=(), _level=0):
        return Stub(name if fromlist else name.partition(".")[0])

    namespace = {
        "__builtins__": {**vars(builtins), "__import__": import_stub},
        "__name__": "code",
        "log": [],
        "w": Stub("w"),
    }
    exec(source, namespace)
    log = shown(namespace.pop("log"))
    return log, {name: shown(value) for name, value in namespace.items() if name[:2] != "__"}


def is_read(name, source):
    return any(
        isinstance(node, ast.Name) and node.id == name for node in ast.walk(ast.parse(source))
    )


def comments(source):
    read = io.StringIO(source).readline
    return Counter(t.string for t in tokenize.generate_tokens(read) if t.type == tokenize.COMMENT)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(modules())
def test_what_is_read_is_bound_and_means_the_same(fix, source):
    log, names = run(source)
    after = fix(source, *ROWS).text
    event("changed" if after != source else "left")
    new_log, new_names = run(after)
    assert new_log == log
    for name, value in names.items():
        if name in new_names:
            assert new_names[name] == value
        else:
            assert is_read(name, source)
    assert comments(source) <= comments(after)
    assert ("\r" in source) == ("\r" in after)
