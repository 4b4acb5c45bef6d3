"""The gate lets every source through in which a rule could fire."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdoctor import engine
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.triggers import trigger_of
from kdoctor.engine.rule_prefilter import RulePrefilter
from kdoctor.keras_api import newest_target
from kdoctor.modules.exports import ProjectPackage
from kdoctor.modules.prefilter import Prefilter
from kdoctor.syntax import parsing

WORDS = ("keras", "segmentation_models", "tensorflow losses")
FACTS = TargetFacts(newest_target())
ANY: frozenset[str] = frozenset()
BACKEND = frozenset({"backend", "unique_object_name"})


@pytest.fixture
def files(tmp_path):
    def write(**sources):
        for name, source in sources.items():
            path = tmp_path / f"{name.replace('__', '/').replace('/init', '/__init__')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        return tmp_path

    return write


def admits(source, *triggers, path="nowhere/f.py"):
    package = ProjectPackage({"keras.layers": ["Dense"]}.get)
    holds = [trigger_of(each).holds for each in triggers or (ANY,)]
    questions = {str(n): (lambda g, h=h: h(g, FACTS)) for n, h in enumerate(holds)}
    tree = package.trees.take(source)
    return RulePrefilter(WORDS, questions, package).admits(str(path), source, tree)


@pytest.mark.parametrize(
    "source",
    [
        "import keras",
        "from tensorflow.keras import layers",
        "import tensorflow as tf\ntf.keras.Model()",
        "import tf_keras as k",
        "from keras_core import ops",
        "def f(x: 'keras.Model'): ...",
        "import importlib\nimportlib.import_module('keras.backend')",
        "import segmentation_models as sm",
        "import tensorflow as tf\ntf.losses.MeanSquaredError()",
        "from tensorflow import losses\nlosses.Loss",
        "print 'keras'",  # no Python 3: libcst shall say so
    ],
)
def test_what_speaks_of_keras_passes(source):
    assert admits(source)


@pytest.mark.parametrize(
    "source",
    [
        "# import keras\nimport os",
        '"""Not yet ported to keras."""\nimport torch',
        "def f():\n    'Like keras.layers.Dense.'\n",
        "import tensorflow as tf\nfrom mine import losses\nlosses.one(tf)",
        "import tensorflow as tf\ntf.losses.softmax_cross_entropy(y, x)",
    ],
)
def test_what_speaks_of_keras_in_comments_and_docstrings_only_is_passed_over(source):
    assert not admits(source)


@pytest.mark.parametrize(
    "use",
    ["model.backend", "from keras import backend", "f(backend=1)", "getattr(model, 'backend')",
     "def backend(): ...", "backend = 1", "import keras.backend as K", "x: 'keras.backend'",
     "class A(backend.B): ...", "global backend", "match x:\n    case A(backend=1): ..."],
)  # fmt: skip
def test_a_trigger_is_found_wherever_it_stands(use):
    assert admits(f"import keras\n{use}\n", BACKEND)


def test_without_any_trigger_a_source_is_passed_over():
    assert not admits("import keras\nmodel.fit()", BACKEND)
    assert admits("import keras\nmodel.fit()", BACKEND, frozenset({"fit"}))


def test_a_name_from_keras_through_modules_of_the_project_passes(files):
    root = files(
        pkg__init="",
        pkg__compat="from keras.layers import Dense",
        pkg__more="from .compat import Dense as D\nLayer = D\n",
        pkg__use="from .more import Layer",
    )
    path = root / "pkg" / "use.py"
    assert Prefilter(WORDS).admits(str(path), path.read_bytes())
    assert admits(path.read_text(), path=path)


@pytest.mark.parametrize(
    "source",
    [
        "from pkg.compat import K",
        "from pkg import compat\ncompat.K",
        "import pkg.compat as c",
        "from pkg.compat import *",
        "import os, pkg.compat",
        "if True: from pkg.compat import K",
        "from pkg import (  # the backend)\n    compat,\n)",
        "from pkg \\\n    import compat",
        "import pkg.compat\nK = pkg.compat.K",
        "def f():\n\tfrom pkg.compat import K",
        "from  pkg.compat  import(K)",
        "from pkg.compat import os, K; K",
        "from os import path, \\\n    sep\nfrom pkg.compat import \\\n    K",
    ],
)
def test_every_form_of_import_is_followed(files, source):
    root = files(pkg__init="", pkg__compat="from keras import backend as K", use=source)
    path = root / "use.py"
    assert Prefilter(WORDS).admits(str(path), path.read_bytes())
    assert admits(source, path=path)


@pytest.mark.parametrize(
    "source", ["from größe.π import K", "import größe.π", "from größe import π"]
)
def test_a_module_whose_name_goes_beyond_ascii_is_followed(files, source):
    root = files(größe__init="", größe__π="from keras import backend as K", use=source)
    path = root / "use.py"
    assert Prefilter(WORDS).admits(str(path), path.read_bytes())
    assert admits(source, path=path)


def test_an_import_of_something_else_from_such_a_module_is_passed_over(files):
    root = files(
        pkg__init="",
        pkg__compat="import os\nfrom keras.layers import Dense\nlimit = os.sep\n",
        pkg__use="from .compat import limit",
    )
    assert not admits("from .compat import limit", path=root / "pkg" / "use.py")


def test_modules_that_import_each_other_are_no_trap(files):
    root = files(
        pkg__init="", pkg__a="from .b import x", pkg__b="from .a import x\nfrom .a import *"
    )
    assert not admits("from .a import x", path=root / "pkg" / "use.py")


def test_the_modules_of_a_src_layout_are_found_from_its_scripts(files):
    root = files(src__pkg__init="", src__pkg__compat="from keras import backend as K")
    (root / "pyproject.toml").touch()
    (root / "scripts").mkdir()
    assert admits("from pkg.compat import K", path=root / "scripts" / "train.py")


def passes_by_its_bytes(path):
    return Prefilter(WORDS).admits(str(path), path.read_bytes())


def test_a_file_from_which_no_keras_can_be_reached_is_never_parsed(files):
    root = files(pkg__init="from . import a", pkg__a="from .b import c", pkg__b="from pkg import a")
    assert not any(map(passes_by_its_bytes, root.glob("pkg/*.py")))


def test_a_file_from_which_keras_can_be_reached_passes_whichever_is_asked_first(files):
    root = files(
        pkg__init="",
        pkg__a="import pkg.b",
        pkg__b="from .a import x\nfrom . import c",
        pkg__c="keras",
    )
    for order in ("abc", "cba", "bac"):
        prefilter = Prefilter(WORDS)
        paths = [root / "pkg" / f"{name}.py" for name in order]
        assert all(prefilter.admits(str(path), path.read_bytes()) for path in paths)
        assert not prefilter.admits(str(root / "pkg" / "__init__.py"), b"")


@pytest.mark.parametrize("gate", [True, False])
def test_a_file_without_keras_has_nothing_to_report_gate_or_no_gate(tmp_path, gate):
    # The import stands in another block of the page; others have a `fit_generator`, too.
    code = (
        "model = Sequential()\nmodel.compile(loss=loss, optimizer=o)\nmodel.fit_generator(g, 3)\n"
    )
    (tmp_path / "train.py").write_text(code)
    (tmp_path / "in_a_comment.py").write_text(f"# of keras\n{code}")
    (tmp_path / "with_keras.py").write_text(f"import keras\n{code}")

    found = engine.scan([tmp_path], target="keras==3.15.1", gate=gate).findings

    assert {Path(each.place.path).name for each in found} == {"with_keras.py"}


@pytest.mark.parametrize("gate", [True, False])
def test_a_list_of_words_that_libcst_is_not_given_has_nothing_to_report_gate_or_no_gate(
    tmp_path, monkeypatch, gate
):
    monkeypatch.setattr(parsing, "_MAX_SOURCE_SIZE", 1_000)
    words = "\n".join(f"    'word{number}'," for number in range(200))
    (tmp_path / "words.py").write_text(f"WORDS = [\n    'keras',\n{words}\n]\n")
    (tmp_path / "uses.py").write_text(f"import keras\nkeras.backend.sum([\n{words}\n])\n")

    scan = engine.scan([tmp_path], target="keras==3.15.1", gate=gate, jobs=1)

    assert [Path(each.path).name for each in scan.unreadable] == ["uses.py"]


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        ("keras.fit(decay=1)", {"KD1", "KD2", "KD3", "KD4"}),
        ("keras.fit(1)", {"KD1", "KD4"}),
        ("keras.evaluate(decay=1)", {"KD1", "KD3", "KD4"}),
        ("keras.decay(rate=fit)", {"KD1", "KD4"}),
        ("keras", {"KD4"}),
    ],
)
def test_a_rule_is_asked_where_there_is_one_word_of_each_set_that_it_needs(source, asked):
    needs = {
        "KD1": [("words", frozenset({"fit", "evaluate"}))],
        "KD2": [("words", frozenset({"fit"})), ("keywords", frozenset({"decay", "momentum"}))],
        "KD3": [("keywords", frozenset({"decay"}))],
    }
    questions = dict.fromkeys(("KD1", "KD2", "KD3", "KD4"), lambda _: True)
    package = ProjectPackage({}.get)
    gate = RulePrefilter(WORDS, questions, package, needs)
    assert set(gate.may_fire("nowhere/f.py", source, package.trees.take(source))) == asked
