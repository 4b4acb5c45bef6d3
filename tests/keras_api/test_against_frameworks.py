"""The tables against the installed frameworks, asked by ``dir``, ``getattr`` and ``inspect``."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from kdoctor.keras_api import (
    Presence,
    error_text,
    error_type,
    lookup,
    newest_target,
    oracle,
    signature,
    tables,
)
from kdoctor.keras_api.members import FOREIGN_BASES, classes_of
from kdoctor.keras_api.surface import Surface, newest
from kdoctor.keras_api.tables import EntryKind
from kdoctor.value_types import Kind, Type

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("tensorflow", "keras", "tf_keras"))),
        reason="TensorFlow, keras and tf_keras are not installed (the extra `verify`)",
    ),
]

ROOTS = ("keras", "tf.keras", "tf_keras")
TARGET = newest_target()

REAL_CLASSES = {
    Kind.MODEL: {"Model"},
    Kind.LAYER: {"Layer"},
    Kind.TENSOR: {"KerasTensor"},
    Kind.EAGER: {"EagerTensor"},
    Kind.VARIABLE: {"Variable", "ResourceVariable"},
    Kind.OPTIMIZER: {"Optimizer"},
    Kind.METRIC: {"Metric"},
    Kind.HISTORY: {"History"},
    Kind.KERAS_HISTORY: {"KerasHistory"},
}

# How code gets at a missing name, and the name.
ACCESSES = [
    ("import keras\nkeras.backend.sum", "keras.backend.sum", "attribute"),
    ("import keras\nkeras.utils.np_utils.x", "keras.utils.np_utils.x", "attribute"),
    ("import keras\nkeras.layers.Layer.get_updates", "keras.layers.Layer.get_updates", "attribute"),
    ("from keras.models import Input", "keras.models.Input", "from-import"),
    ("from keras.utils import np_utils", "keras.utils.np_utils", "from-import"),
    ("from keras.utils.np_utils import x", "keras.utils.np_utils.x", "from-import"),
    ("import keras.utils.np_utils", "keras.utils.np_utils", "import"),
    ("from keras.layers.core.dense import Dense", "keras.layers.core.dense.Dense", "from-import"),
    ("from keras import nothing", "keras.nothing", "from-import"),
    (
        "import tensorflow as tf\ntf.keras.backend.learning_phase",
        "tensorflow.keras.backend.learning_phase",
        "attribute",
    ),
    (
        "import tensorflow as tf\ntf.keras.models.Input",
        "tensorflow.keras.models.Input",
        "attribute",
    ),
    ("from tensorflow import keras\nkeras.nothing", "tensorflow.keras.nothing", "attribute"),
    (
        "from tensorflow.keras.backend import learning_phase",
        "tensorflow.keras.backend.learning_phase",
        "from-import",
    ),
    (
        "from tensorflow.keras.layers.core import Dense",
        "tensorflow.keras.layers.core.Dense",
        "from-import",
    ),
    ("import tf_keras\ntf_keras.backend.nothing", "tf_keras.backend.nothing", "attribute"),
    (
        "from tensorflow.python.keras.layers import LSTM",
        "tensorflow.python.keras.layers.LSTM",
        "from-import",
    ),
    (
        "from tensorflow.python.keras.applications.vgg16 import VGG16",
        "tensorflow.python.keras.applications.vgg16.VGG16",
        "from-import",
    ),
    (
        "from tensorflow.compat.v1.keras.layers import Dense",
        "tensorflow.compat.v1.keras.layers.Dense",
        "from-import",
    ),
    (
        "import tensorflow.compat.v2.keras.layers",
        "tensorflow.compat.v2.keras.layers",
        "import",
    ),
    (
        "import tensorflow as tf\ntf.compat.v1.keras.backend.get_session",
        "tensorflow.compat.v1.keras.backend.get_session",
        "attribute",
    ),
    (
        "from tensorflow.contrib.keras import layers",
        "tensorflow.contrib.keras.layers",
        "from-import",
    ),
]


# Every name that any release had, under the roots that serve Keras 3 today.
EVER = [
    f"{root.replace('tf.', 'tensorflow.')}.{name}"
    for root in ("keras", "tf.keras")
    for name in tables.names_table(root).names
    if name and not name.split(".")[-1].startswith("_")
]


@pytest.fixture(scope="module")
def runtime() -> dict:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("runtime_api.py"))],
        input=json.dumps(
            {"statements": [statement for statement, _, _ in ACCESSES], "names": EVER}
        ),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    if found["versions"] != {root: newest(root) for root in ("keras", "tf_keras")}:
        pytest.skip(f"other releases are installed: {found['versions']}")
    return found


def protobuf(name: str) -> bool:
    """Protocol buffers build their names at run time; their modules are open in the data."""
    return "_pb2" in name


@pytest.mark.parametrize("root", ROOTS)
def test_every_public_name_is_there_and_no_other(runtime, root):
    surface = Surface(root, newest(root))
    real = {name for name in runtime["names"][root] if not protobuf(name)}
    hidden = tuple(n for n in surface.names if surface.entry(n).import_only)
    read = {n for n in surface.names if not protobuf(n) and not n.startswith(hidden or ("-",))}
    assert read == real


@pytest.mark.parametrize("root", ROOTS)
def test_every_name_has_its_real_kind(runtime, root):
    surface = Surface(root, newest(root))
    real = runtime["names"][root]
    for name in set(surface.names) & set(real):
        kind = EntryKind(surface.entry(name).kind).name.lower()
        assert kind == real[name][0], name


@pytest.mark.parametrize("root", ROOTS)
def test_parameters_are_those_that_inspect_shows(runtime, root):
    spelled = root.replace("tf.", "tensorflow.")
    compared, different = 0, []
    for name, (_, real) in runtime["names"][root].items():
        if real is None or protobuf(name):
            continue
        read = signature(f"{spelled}.{name}", TARGET)
        if read is None:
            continue
        compared += 1
        if [[p.name, p.kind.name, p.default is not None] for p in read.parameters] != real:
            different.append(name)
    assert compared > 850
    # ExportArchive chooses its class in `__new__`.
    assert set(different) <= {"export.ExportArchive"}


@pytest.mark.parametrize("root", [*ROOTS, "tensorflow.python.keras"])
def test_nothing_that_import_finds_is_ever_missing(runtime, root):
    wrong = [
        name
        for module, names in runtime["modules"][root].items()
        for name in (module, *(f"{module}.{leaf}" for leaf in names))
        if lookup(name, TARGET).presence is Presence.MISSING
    ]
    assert wrong == []


@pytest.mark.parametrize("distribution", ["keras", "tf_keras"])
def test_no_member_that_an_object_has_is_ever_missing(runtime, distribution):
    classes = classes_of(distribution, newest(distribution))
    checked, wrong = 0, []
    for home, members in runtime["members"][distribution].items():
        info = classes.info(home)
        if info is None:
            continue
        for member in members:
            checked += 1
            if classes.presence(info, member) is Presence.MISSING:
                wrong.append((home, member))
    assert wrong == []
    assert checked > 20_000


def test_most_classes_of_keras_3_are_known_whole(runtime):
    classes = classes_of("keras", newest("keras"))
    infos = [classes.info(home) for home in runtime["members"]["keras"]]
    assert sum(info is not None and info.complete for info in infos) / len(infos) > 0.95


def test_foreign_bases_have_the_members_that_the_table_gives_them(runtime):
    for name, members in runtime["bases"].items():
        assert FOREIGN_BASES[name].keys() == set(members)


def test_functions_and_members_give_what_the_table_of_returns_says(runtime):
    known = oracle(TARGET)
    for name, mro in runtime["returned"].items():
        owner, _, member = name.rpartition(".")
        if owner in set(Kind):
            called = member.endswith("()")
            given = known.member_type(Type(Kind(owner)), member.removesuffix("()"), called=called)
        else:
            # Some give what they are given: here, a symbolic tensor.
            name = f"keras.{name}"  # noqa: PLW2901
            given = known.result_type(name) or known.applied_type(name, Type(Kind.TENSOR))
        item = given.item if given.kind is Kind.LIST else given
        assert not REAL_CLASSES[item.kind].isdisjoint(mro), name
        assert item.cls is None or item.cls in mro, name


def is_import_only(name: str) -> bool:
    parts = name.split(".")
    prefixes = (".".join(parts[: length + 1]) for length in range(len(parts)))
    return any(lookup(prefix, TARGET).import_only for prefix in prefixes)


def wrong_verdicts(runtime: dict, form: str) -> list[tuple[str, str, str]]:
    """The names of all releases of which the data says another thing than Python does."""
    wrong = []
    for name in EVER:
        found = lookup(name, TARGET)
        raised = runtime["reached"][name][form != "attribute"].partition(" (/")[0]
        if found.presence is Presence.UNKNOWN or (form == "attribute" and is_import_only(name)):
            continue
        said = ""
        if found.presence is Presence.MISSING:
            said = f"{error_type(name, TARGET, form)}: {error_text(name, TARGET, form)}"
        if said != raised:
            wrong.append((name, said, raised))
    return wrong


@pytest.mark.parametrize("form", ["attribute", "from-import"])
def test_names_of_all_releases_are_missing_or_there_as_python_says(runtime, form):
    assert wrong_verdicts(runtime, form) == []


def test_few_names_of_old_releases_are_left_open():
    unknown = [name for name in EVER if lookup(name, TARGET).presence is Presence.UNKNOWN]
    assert len(EVER) > 9000
    assert len(unknown) / len(EVER) < 0.01


@pytest.mark.parametrize(("statement", "name", "form"), ACCESSES)
def test_the_error_text_is_pythons_own(runtime, statement, name, form):
    raised = runtime["errors"][statement]
    expected = f"{error_type(name, TARGET, form)}: {error_text(name, TARGET, form)}"
    assert raised.partition(" (/")[0] == expected
