"""A class that a fix writes reads its base where it stands: Keras must be imported above it."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from kdoctor.engine import fix

MAKE = 'ModelCheckpoint("a.weights.h5", save_weights_only=True, period=3)'
IMPORT = "from keras.callbacks import ModelCheckpoint\n"


@pytest.fixture(autouse=True)
def any_length(tmp_path, monkeypatch):
    (tmp_path / "ruff.toml").write_text("line-length = 320\n")
    monkeypatch.chdir(tmp_path)


def fixed(source):
    result = fix(["-"], stdin=source.encode(), unsafe=True, target="keras==3.15.1")
    return result.files[0].after.decode() if result.files else source


@pytest.fixture
def keras(monkeypatch):
    """What the programs import of Keras: which names are there, not what they do."""
    package, callbacks = ModuleType("keras"), ModuleType("keras.callbacks")
    callbacks.ModelCheckpoint = type("ModelCheckpoint", (), {"__init__": lambda *_, **__: None})
    package.callbacks, package.layers = callbacks, SimpleNamespace(Dense=print)
    monkeypatch.setitem(sys.modules, "keras", package)
    monkeypatch.setitem(sys.modules, "keras.callbacks", callbacks)


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize(
    "source",
    [
        f"import keras\n\nif True:\n    {IMPORT}    made = {MAKE}\n",
        f"from keras import layers\n\nif True:\n    {IMPORT}    made = {MAKE}\nlayers.Dense(1)\n",
        f"import keras\n\n\ndef make():\n    return {MAKE}\n\n\n{IMPORT}made = make()\n",
        f"from keras import layers\n\ndef make():\n    return {MAKE}\n\n{IMPORT}made = make(), layers\n",
        f"try:\n    {IMPORT}except ImportError:\n    {IMPORT}\nmade = {MAKE}\n",
        f"{IMPORT}\nclass Mine:\n    def make(self):\n        return {MAKE}\n\n    two = 2\n\nmade = Mine().make()\n",
    ],
)
def test_a_class_that_a_fix_writes_stands_below_what_it_reads_and_above_its_use(source):
    after = fixed(source)
    assert "class PeriodicCheckpoint(" in after
    assert after.index("class PeriodicCheckpoint(") < after.index(" PeriodicCheckpoint(")
    names = {}
    exec(compile(after, "fixed.py", "exec"), names)  # noqa: S102 - it is ours
    assert "made" in names


@pytest.mark.parametrize(
    "source",
    [
        # What is imported here may not be there above.
        f"try:\n    {IMPORT}    made = {MAKE}\nexcept ImportError:\n    made = None\n",
        f"if True:\n    import keras\n\n    made = keras.callbacks.{MAKE}\n",
        f"def make():\n    return {MAKE}\n\n\n{IMPORT}",
        f"try:\n    import keras\nexcept ImportError:\n    keras = None\nif keras:\n    {IMPORT}    made = {MAKE}\n",
    ],
)
def test_no_class_is_written_above_the_imports_that_it_reads(source):
    assert fixed(source) == source
