"""KD103 and KD104 beyond their examples."""

import importlib
import pkgutil
from types import ModuleType

import pytest

from kdoctor import keras_api
from kdoctor.engine import fix, scan
from kdoctor.keras_api.private_modules import missing_prefix
from kdoctor.keras_api.surface import surface_on
from kdoctor.model import Severity
from kdoctor.rules.names._public_names import home_of, public_names
from kdoctor.rules.names.private_name import OTHERWISE


def findings(source: str, code: str = "KD1", target: str | None = None):
    return scan(["-"], stdin=source.encode(), select=[code], target=target).findings


def mended(source: str) -> str:
    result = fix(["-"], stdin=source.encode(), select=["KD1"], unsafe=True)
    return result.files[0].after.decode() if result.files else source


def test_an_import_through_a_closed_facade_is_one_finding_with_its_uses() -> None:
    source = "import tensorflow.compat.v1.keras.backend as K\nK.get_session()\nK.sum(x)\n"
    (found,) = findings(source)
    assert (found.code, found.symbol) == ("KD103", "tensorflow.compat.v1.keras.backend")
    assert "import tensorflow.keras.backend as K" in mended(source) or (
        "from tensorflow.keras import backend as K" in mended(source)
    )


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("backend.set_session", "Sessions are gone"),
        ("layers.DenseFeatures", "Feature columns are gone"),
        ("feature_column.DenseFeatures", ""),
    ],
)
def test_what_the_target_has_nowhere_is_not_looked_for_there(name: str, told: str) -> None:
    module, _, leaf = name.rpartition(".")
    (found,) = findings(f"from tensorflow.compat.v1.keras.{module} import {leaf}\n{leaf}(x)\n")
    assert (found.code, found.fix) == ("KD103", None)
    assert found.help.startswith(told)
    assert "Look for it" not in found.help


def test_an_import_that_is_kept_for_other_files_is_not_deleted() -> None:
    for source in (
        "from keras.src.backend.tensorflow import convert_to_numpy",
        "from keras.utils import np_utils",
    ):
        assert not mended(f"{source}\n").strip()
        for kept in (f"{source}  # noqa: F401\n", f"{source}  # noqa\n"):
            assert mended(kept) == kept
        assert not mended(f"{source}  # noqa: E501\n").startswith("from")


def test_a_name_is_not_public_because_its_package_is() -> None:
    source = (
        "from keras.src import backend\nfrom keras.src.backend.common import dtypes\n"
        "from keras.src.backend.common.backend_utils import canonicalize_axis\n\n"
        "backend.standardize_dtype('int8'), canonicalize_axis(1, 3), dtypes.result_type('int8')\n"
    )
    after = mended(source)
    assert after == (
        "from keras import backend\n"
        "from keras.src.backend.common.backend_utils import canonicalize_axis\n\n"
        "backend.standardize_dtype('int8'), canonicalize_axis(1, 3), backend.result_type('int8')\n"
    )
    assert not findings(after, "KD101")


def test_a_module_stays_private_where_what_is_tried_of_it_is() -> None:
    source = (
        "from keras.src import backend\n\ntry:\n    size = backend.compute_output_spec(f, x)\n"
        "except Exception:\n    size = None\nbackend.standardize_dtype('int8')\n"
    )
    assert "from keras.src import backend\n" in mended(source)


def test_an_old_facade_was_open_on_keras_2() -> None:
    assert not findings("from tensorflow.compat.v1.keras.models import Model", target="keras==2.10")


def test_a_moved_class_is_found_behind_a_closed_facade() -> None:
    source = "import tensorflow as tf\ntf.contrib.keras.layers.core.Dense(3)\n"
    assert mended(source) == "import tensorflow as tf\ntf.keras.layers.Dense(3)\n"


@pytest.mark.parametrize(
    ("source", "severity"),
    [
        ("from tensorflow.python.keras.layers import Dense", "change"),
        ("from tensorflow.python.keras.engine.base_layer import Layer", "change"),
        ("from tensorflow.python.keras.callbacks import EarlyStopping", "legacy"),
        ("from keras.src.ops import relu", "legacy"),
        ("from keras.src.engine import keras_tensor", "error"),
        ("import keras\nkeras.src.testing_infra.test_utils.layer_test", "error"),
    ],
)
def test_how_bad_a_private_name_is(source: str, severity: str) -> None:
    assert [str(each.severity) for each in findings(source, "KD104")] == [severity]


def test_a_private_module_whose_uses_are_all_public_is_imported_from_keras() -> None:
    source = "from keras.src import ops as o\n\no.relu(x)\no.sum(x)\n"
    assert mended(source) == "from keras import ops as o\n\no.relu(x)\no.sum(x)\n"


def test_the_folders_inside_contrib_lead_to_the_same_names() -> None:
    source = "from tensorflow.contrib.keras.python.keras.layers import Dense\n\nDense(3)\n"
    assert mended(source) == "from tensorflow.keras.layers import Dense\n\nDense(3)\n"


def test_an_import_that_is_tried_is_left_alone_with_all_its_uses_and_the_other_mended() -> None:
    source = (
        "try:\n    from tensorflow.python.keras._impl.keras import layers\n"
        "except ImportError:\n    from tensorflow.contrib.keras import layers\n\n"
        "layers.Dense(3)\nlayers.Flatten()\n"
    )
    (found,) = findings(source)
    assert (found.code, found.place.line) == ("KD103", 4)
    assert mended(source) == source.replace("tensorflow.contrib.keras", "tensorflow.keras")


def test_an_import_whose_name_another_branch_binds_is_not_deleted() -> None:
    source = (
        "try:\n    from tensorflow.python.keras._impl.keras import engine\n"
        "except ImportError:\n    from tensorflow.contrib.keras import engine\n\n"
        "engine.Container()\n"
    )
    assert mended(source) == source


def test_the_whole_copy_is_imported_from_tensorflow() -> None:
    source = "from tensorflow.python import keras\n\nkeras.backend.epsilon()\n"
    assert mended(source) == "from tensorflow import keras\n\nkeras.backend.epsilon()\n"


def test_a_private_module_with_a_private_use_is_left_alone() -> None:
    source = "from keras.src import backend\n\nbackend.compute_output_spec\nbackend.epsilon()\n"
    (found,) = findings(source, "KD104")
    assert found.no_fix_because is None or "public" in found.no_fix_because
    assert "backend.compute_output_spec" in mended(source)


def test_what_is_read_of_a_private_module_and_not_there_is_told_where_it_is_read() -> None:
    source = "from keras.src import backend\n\nbackend.compute_dtype\nbackend.epsilon()\n"
    of_import, of_read = findings(source, "KD104")
    assert (of_import.severity, of_import.place.line) == (Severity.LEGACY, 1)
    assert (of_read.severity, of_read.place.line) == (Severity.ERROR, 3)


@pytest.mark.frameworks
def test_what_stands_in_keras_src_is_known() -> None:
    keras = importlib.import_module("keras")
    package = importlib.import_module("keras.src")
    there = [package, *map(_imported, _modules(package))]
    for module in filter(None, there):
        names = [module.__name__, *(f"{module.__name__}.{each}" for each in dir(module))]
        assert {missing_prefix(each, keras.__version__) for each in names} == {None}


MISSING = [
    "from keras.src.layers import NoSuch",
    "from keras.src.layers.core.nomod import A",
    "from keras.src.engine.base_layer import Layer",
    "from keras.src.utils import generic_utils",
    "import keras.src.layers.core.nothere",
    "import keras.src.engine as e",
    "import keras\nkeras.src.layers.Foo",
    "import keras\nkeras.src.engine.base_layer",
    "from keras.src import nothere",
    "from keras.src import layers\nlayers.core.nothere",
    "from tensorflow.python.keras.layers import NoSuch",
    "from tensorflow.python.keras.engine.base_layer_v9 import X",
    "import tensorflow.python.keras.nomodule as n",
    "from tensorflow.python.keras.applications import resnet",
]


@pytest.mark.frameworks
@pytest.mark.parametrize("source", MISSING)
def test_a_private_name_that_is_not_there_is_an_error_with_what_python_says(source: str) -> None:
    with pytest.raises((ImportError, AttributeError)) as raised:
        exec(source, {})  # noqa: S102 - what is under test is what it does
    told = f"{raised.type.__name__}: {str(raised.value).partition(' (')[0]}"
    (finding,) = [each for each in findings(source) if each.severity is Severity.ERROR]
    assert finding.message.endswith(told)


@pytest.mark.parametrize(
    ("name", "release", "missing"),
    [
        ("keras.src.layers.Dense", "3.15.1", None),
        ("keras.src.layers.Dense.nothing", "3.15.1", None),
        ("keras.src.visualization", "3.6.0", "keras.src.visualization"),
        ("keras.src.visualization", "3.15.1", None),
        ("keras.src._anything", "3.15.1", None),
        ("keras.src.engine", "2.15.0", None),
        ("keras.src.engine", "", None),
        ("keras.layers.Nothing", "3.15.1", None),
    ],
)
def test_each_release_has_its_own_private_names(name, release, missing) -> None:
    assert missing_prefix(name, release) == missing


def _modules(package: ModuleType) -> list[str]:
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.", lambda _: None)
    return [each.name for each in found if "test" not in each.name]


def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:  # of another backend, which is not installed
        return None


@pytest.mark.frameworks
def test_a_public_object_is_the_one_in_keras_src() -> None:
    checked, target = 0, keras_api.newest_target()
    surface = surface_on("keras", target)
    assert surface is not None
    for home in sorted({home_of("keras", name, target) for name in surface.names}):
        for name in public_names("keras", home, target):
            thing = reach(f"keras.{name}")
            assert reach(home) is thing, home
            try:
                twin = reach(f"keras.src.{name}")
            except (AttributeError, ImportError):
                continue
            assert twin is thing or name.partition(".")[0] in OTHERWISE, name
            checked += 1
    assert checked > 1000


def reach(dotted: str) -> object:
    first, *rest = dotted.split(".")
    thing: object = importlib.import_module(first)
    path = first
    for part in rest:
        path += f".{part}"
        try:
            thing = getattr(thing, part)
        except AttributeError:
            thing = importlib.import_module(path)
    return thing


def test_the_copy_stays_where_something_is_read_that_only_it_has() -> None:
    kept = "from tensorflow.python.keras import backend as K\nK.get_graph()\nK.epsilon()\n"
    assert mended(kept) == kept
    assert findings(kept, "KD104")[0].no_fix_because
    moved = kept.replace("K.get_graph()\n", "")
    assert mended(moved) == "from tensorflow.keras import backend as K\nK.epsilon()\n"


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        ("keras/layers/__init__.py", []),
        ("site-packages/keras/__init__.py", []),
        ("keras/src/models/model.py", []),
        ("mine/layers/__init__.py", ["KD104"]),
        ("examples/keras/train.py", ["KD104"]),
    ],
)
def test_keras_imports_its_own_private_modules(path: str, codes: list[str]) -> None:
    source = b"from keras.src.layers.core.dense import Dense as Dense\n"
    found = scan(["-"], stdin=source, stdin_filename=path, target="keras==3.15.1").findings
    assert [each.code for each in found] == codes


def test_a_private_class_stays_where_what_is_read_of_it_is_gone() -> None:
    source = (
        "from tensorflow.python.keras.engine import base_layer\n\n"
        "names = base_layer.Layer._TF_MODULE_IGNORED_PROPERTIES\nmade = base_layer.Layer()\n"
    )
    assert "names = base_layer.Layer._TF_MODULE_IGNORED_PROPERTIES\n" in mended(source)
    assert "made = Layer()\n" in mended(source)
