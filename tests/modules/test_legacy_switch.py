"""Code that sets ``TF_USE_LEGACY_KERAS`` itself: its ``tf.keras`` is tf_keras."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from kdoctor.engine import scan
from kdoctor.keras_api import resolve_target

# What the project itself names: an explicit `--target` counts for all files.
OF_THE_PROJECT = replace(resolve_target("keras==3.15.1", "pyproject.toml"), inferred=True)
SET = 'import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\n'
GONE = "from tensorflow.keras.layers import LocallyConnected2D\n"
OF_KERAS = "from keras.layers import LocallyConnected2D\n"


def found(source: str, **options) -> int:
    return len(scan(["-"], stdin=source.encode(), target=OF_THE_PROJECT, **options).findings)


def files(folder: Path, sources: dict[str, str], **options) -> set[str]:
    for name, source in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    result = scan([folder], target=OF_THE_PROJECT, **options)
    return {str(Path(each.place.path).relative_to(folder)) for each in result.findings}


def notebook(*cells: str) -> str:
    made = [
        {"cell_type": "code", "id": str(number), "metadata": {}, "outputs": []}
        | {"execution_count": None, "source": source}
        for number, source in enumerate(cells)
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


@pytest.mark.parametrize(
    "setting",
    [
        SET,
        "import os\nos.environ['TF_USE_LEGACY_KERAS'] = 'True'",
        "import os\nos.environ['TF_USE_LEGACY_KERAS'] = 'true'",
        "import os\nos.environ.setdefault('TF_USE_LEGACY_KERAS', '1')",
        "import os\nos.environ.update({'A': '2', 'TF_USE_LEGACY_KERAS': '1'})",
        "import os\nos.environ.update(TF_USE_LEGACY_KERAS='1')",
        "import os\nos.environ.update(dict(TF_USE_LEGACY_KERAS='1'))",
        "import os\nos.environ |= {'TF_USE_LEGACY_KERAS': '1'}",
        "from os import environ\nenviron['TF_USE_LEGACY_KERAS'] = '1'",
        (
            "import os\nfrom importlib.util import find_spec\nif find_spec('tf_keras'):\n"
            "    os.environ['TF_USE_LEGACY_KERAS'] = '1'"
        ),
        f"def load():\n    {GONE}\n\n{SET}\nload()",
        f"import tensorflow as tf\nfrom tensorflow import keras\n{SET}",
        # It sets the variable as it is imported.
        "import tensorflow as tf\nfrom transformers import AutoTokenizer, TFAutoModel",
        "from transformers.models.bert.modeling_tf_bert import TFBertModel as Bert",
    ],
)
def test_what_sets_it_makes_tf_keras_keras_2(setting):
    assert found(f"{setting}\n{GONE}") == 0
    assert found(f"{setting}\n{GONE}", gate=False) == 0
    assert found(f"{setting}\n{OF_KERAS}") == 1


@pytest.mark.parametrize(
    "setting",
    [
        "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '0'",
        "import os\nos.environ['TF_USE_LEGACY_KERAS'] = 'yes'",
        "import os\nos.environ['TF_USE_LEGACY'] = '1'",
        "import os\nos.environ.get('TF_USE_LEGACY_KERAS', '1')",
        "import os\nenv = os.environ.copy()\nenv['TF_USE_LEGACY_KERAS'] = '1'",
        "# os.environ['TF_USE_LEGACY_KERAS'] = '1'",
        "from transformers import AutoTokenizer, BertModel",
        "import transformers",
        "from mine import TFBertModel",
        "def load():\n    from transformers import TFBertModel\n",
    ],
)
def test_what_does_not_set_it_changes_nothing(setting):
    assert found(f"{setting}\n{GONE}") == 1


def test_what_is_set_below_the_import_comes_too_late():
    assert found(f"{GONE}\n{SET}") == 1
    assert found(f"{GONE}\nfrom transformers import TFBertModel") == 1


READ = "from tensorflow import keras\nmodel = keras.Model\n"


def test_what_is_set_below_a_name_that_is_read_comes_too_late():
    for late in (SET, IMPORTED):
        assert found(f"{ATTRIBUTE}{late}") == 1
        assert found(f"{READ}{late}{GONE}") == 1
        assert (
            found(f"from tensorflow import keras as k\nclass A(k.Model): pass\n{late}{GONE}") == 1
        )
        # In functions it is read later, and `__version__` is not of Keras.
        inside = "import tensorflow as tf\ndef f(): return tf.keras.Model\nprint(tf.__version__)\n"
        assert found(f"{inside}{late}{GONE}") == 0


def test_what_one_module_takes_from_transformers_says_nothing_of_those_beside_it(tmp_path):
    sources = {"pk/__init__.py": "", "pk/a.py": GONE}
    sources |= {"pk/b.py": f"from transformers import TFBertModel\n{GONE}"}
    assert files(tmp_path, sources) == {"pk/a.py"}


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (SET, 0),
        ("%env TF_USE_LEGACY_KERAS=1", 0),
        ("%set_env TF_USE_LEGACY_KERAS 1", 0),
        ("%env TF_USE_LEGACY_KERAS=0", 1),
        ("!TF_USE_LEGACY_KERAS=1 python x.py", 1),
    ],
)
def test_an_earlier_cell_counts(tmp_path, cell, number):
    assert len(files(tmp_path, {"n.ipynb": notebook(cell, GONE)})) == number


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize("name", ["__init__.py", "api.py"])
def test_a_package_that_sets_it_works_with_tf_keras(tmp_path, name, gate):
    sources = {"pk/__init__.py": "", "pk/sub/__init__.py": "", "pk/sub/a.py": GONE, "b.py": GONE}
    sources |= {"pk/sub/bare/c.py": GONE}
    sources |= {f"pk/{name}": SET}
    assert files(tmp_path, sources, gate=gate) == {"b.py"}


def test_of_tests_each_stands_for_itself(tmp_path):
    sources = {"tests/__init__.py": "", "tests/test_a.py": SET, "tests/test_b.py": GONE}
    assert files(tmp_path, sources) == {"tests/test_b.py"}


def test_a_module_that_is_imported_first_counts(tmp_path):
    sources = {
        "setting.py": SET,
        "pk/__init__.py": "from pk import backend",
        "pk/backend.py": SET,
        "first.py": f"import setting\n{GONE}",
        "late.py": f"{GONE}import setting\n",
        "user.py": f"from pk.backend import x\n{GONE}",
        "other.py": f"import other_setting\n{GONE}",
    }
    assert files(tmp_path, sources) == {"late.py", "other.py"}


IN_FUNCTION = "import os\ndef f():\n    os.environ['TF_USE_LEGACY_KERAS'] = '1'\n"


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        (
            {"s.py": IN_FUNCTION, "a.py": f"import s\n{GONE}", "b.py": f"{IN_FUNCTION}f()\n{GONE}"},
            {"a.py"},
        ),
        (
            {"pk/__init__.py": "", "pk/sub/__init__.py": SET, "pk/sub/a.py": GONE, "pk/b.py": GONE},
            {"pk/b.py"},
        ),
        (
            {
                "pk/__init__.py": "",
                "pk/api.py": SET,
                "pk/b.py": "",
                "user.py": f"from pk.b import x\n{GONE}",
            },
            set(),
        ),
        ({"pk/s.py": SET, "user.py": f"from pk import s\n{GONE}"}, set()),
        ({"pk/s.py": SET, "pk/a.py": f"from . import s\n{GONE}"}, set()),
        ({"a.py": f"import tensorflow.keras\n{SET}{GONE}"}, {"a.py"}),
        (
            {
                "a.py": "import os\nos.environ['OTHER'] = '1'\n"
                f"os.environ['TF_USE_LEGACY_KERAS'] = '0'\n{GONE}"
            },
            {"a.py"},
        ),
    ],
)
def test_who_sets_it_for_whom(tmp_path, sources, told):
    assert files(tmp_path, sources) == told


def test_the_conftest_counts_for_the_tests_beside_it(tmp_path):
    sources = {
        "pyproject.toml": "",
        "tests/conftest.py": SET,
        "tests/test_a.py": GONE,
        "tests/deep/b_test.py": GONE,
        "test_c.py": GONE,
        "tests/tool.py": GONE,
    }
    assert files(tmp_path, sources) == {"test_c.py", "tests/tool.py"}


def test_the_cache_knows_which_modules_were_asked(tmp_path):
    sources = {"pyproject.toml": "", "pk/__init__.py": "", "pk/a.py": GONE}
    assert files(tmp_path, sources, cache=True) == {"pk/a.py"}
    assert files(tmp_path, {"pk/__init__.py": SET}, cache=True) == set()
    assert files(tmp_path, {"pk/__init__.py": "\n"}, cache=True) == {"pk/a.py"}
    assert files(tmp_path, {"pk/api.py": SET}, cache=True) == set()


def test_layers_of_both_are_mixed_then():
    mixed = "import keras\nimport tensorflow as tf\nkeras.Sequential([tf.keras.layers.Dense(2)])"
    assert found(SET + mixed, select=["KD703"]) == 1
    assert found(mixed, select=["KD703"]) == 0


IMPORTED = "from transformers import TFBertModel\n"


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(
    ("before", "why"),
    [
        (IMPORTED, "line 1 imports a TensorFlow model of transformers, which sets {}"),
        (SET, "line 2 sets {}"),
    ],
)
def test_a_file_that_has_a_target_of_its_own_is_named(before, why, gate):
    result = scan(["-"], stdin=f"{before}{GONE}".encode(), target=OF_THE_PROJECT, gate=gate)
    (own,) = result.own_targets
    assert not result.findings
    assert own.counts
    assert own.why == why.format("TF_USE_LEGACY_KERAS")
    assert own.description.startswith("checked against tf_keras 2.")


@pytest.mark.parametrize("before", [IMPORTED, SET])
def test_a_target_that_is_asked_for_counts_and_a_note_says_so(before):
    result = scan(["-"], stdin=f"{before}{GONE}".encode(), target="keras==3.15.1")
    (own,) = result.own_targets
    assert [each.code for each in result.findings] == ["KD102"]
    assert not own.counts
    assert own.description.startswith(
        "checked against keras 3.15.1, as --target says; on its own, its `tf.keras`"
    )


def test_the_cell_is_named(tmp_path):
    (tmp_path / "n.ipynb").write_text(notebook("import keras", f"\n{SET}", GONE))
    (own,) = scan([tmp_path], target=OF_THE_PROJECT).own_targets
    assert own.why == "line 3 of cell 2 sets TF_USE_LEGACY_KERAS"
    (tmp_path / "n.ipynb").write_text(notebook("import keras", "%env TF_USE_LEGACY_KERAS=1", GONE))
    (own,) = scan([tmp_path], target=OF_THE_PROJECT).own_targets
    assert own.why == "line 1 of cell 2 sets TF_USE_LEGACY_KERAS"


@pytest.mark.parametrize("cache", [True, False])
def test_the_module_is_named_that_sets_it_for_another(tmp_path, cache):
    sources = {"pyproject.toml": "", "pk/__init__.py": SET, "pk/sub/a.py": GONE, "b.py": GONE}
    for _ in range(2):
        files(tmp_path, sources, cache=cache)
        found = scan([tmp_path], target=OF_THE_PROJECT, cache=cache).own_targets
        assert [(Path(each.path).name, each.why) for each in found] == [
            ("a.py", "../__init__.py sets TF_USE_LEGACY_KERAS")
        ]


@pytest.mark.parametrize("gate", [True, False])
def test_a_file_that_is_all_the_same_with_either_is_not_named(gate):
    for source in (f"{IMPORTED}print(1)\n", f"{SET}import numpy\n", "import keras\n"):
        for target in (OF_THE_PROJECT, "keras==3.15.1"):
            result = scan(["-"], stdin=source.encode(), target=target, gate=gate)
            assert not result.own_targets


SETS_LATE = "import tensorflow_model_optimization as tfmot\n"
ATTRIBUTE = "import tensorflow as tf\ntf.keras.layers.LocallyConnected2D(1, 2)\n"
COMPAT = "import tensorflow.compat.v2 as tf\ntf.keras.layers.LocallyConnected2D(1, 2)\n"
BY_PATH = "from tensorflow.keras import layers\n"


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize(
    ("source", "told"),
    [
        (ATTRIBUTE, {"KD101"}),
        (COMPAT, {"KD101"}),
        (f"{SETS_LATE}{ATTRIBUTE}", set()),
        (f"{ATTRIBUTE}{SETS_LATE}", set()),
        (f"{SETS_LATE}{COMPAT}", set()),
        # The import puts Keras 3 there, and leaves `tf.compat` as it is.
        (f"{SETS_LATE}{BY_PATH}{ATTRIBUTE}", {"KD101"}),
        (f"{SETS_LATE}{BY_PATH}{COMPAT}", {"KD706"}),
        (f"{SETS_LATE}{GONE}", {"KD101"}),
        (f"{SETS_LATE}{OF_KERAS}", {"KD101"}),
        # `keras` was taken before, and is not what the import puts there.
        (f"{SETS_LATE}from tensorflow import keras\n{BY_PATH}{ATTRIBUTE}", set()),
        # What a model is shows by its methods, but not of which Keras it is.
        (
            f"{SETS_LATE}import tensorflow as tf\nm = tf.keras.Sequential()\nm.predict_classes(1)\n",
            set(),
        ),
        (f"def f():\n    {SETS_LATE}{ATTRIBUTE}", {"KD101"}),
    ],
)
def test_what_is_set_late_leaves_open_what_tf_keras_is(source, told, explicit):
    target = replace(OF_THE_PROJECT, inferred=not explicit)
    result = scan(["-"], stdin=source.encode(), target=target)
    errors = {each.code for each in result.findings if each.severity != "legacy"}
    assert {"KD101" if each in {"KD101", "KD102"} else each for each in errors} == told


@pytest.mark.parametrize("gate", [True, False])
def test_a_module_that_leaves_it_open_leaves_it_open_for_others(tmp_path, gate):
    sources = {
        "pk/__init__.py": "",
        "pk/pruning.py": SETS_LATE,
        "pk/beside.py": ATTRIBUTE,
        "user.py": f"{ATTRIBUTE}from pk.pruning import x\n",
        "other.py": ATTRIBUTE,
        "by_path.py": f"{GONE}from pk import pruning\n",
    }
    assert files(tmp_path, sources, gate=gate) == {"other.py", "by_path.py"}
