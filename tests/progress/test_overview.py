"""What is left, what breaks first, and what ties code to TensorFlow."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan
from kdoctor.progress import Effort, Status, reading
from kdoctor.rules import rule_by_code


def states(overview):
    return {file.path: file for file in overview.files}


def test_all_that_is_left_is_all_that_a_scan_finds(repo):
    found = repo.write(repo.FILES).overview()
    alone = scan(["."], target=repo.TARGET, jobs=1, diffs=False)
    assert found.scan.findings == alone.findings
    assert found.left.total == len(alone.findings) > 0
    for groups in (found.folders, found.rules, found.files):
        for effort in Effort:
            assert sum(each.left[effort] for each in groups) == found.left[effort]


def test_a_file_counts_where_it_imports_keras_or_has_findings(repo):
    found = states(repo.write(repo.FILES).overview())
    assert set(found) == {"pkg/losses.py", "later.py", "clean.py", "data.py", "moved.py"}
    assert found["clean.py"].is_done
    assert not found["later.py"].is_done


def test_the_error_that_an_import_meets_first_stops_all_that_import_it(repo):
    (stop,) = repo.write(repo.FILES).overview().stops
    assert (stop.finding.place.path, stop.finding.place.line) == ("pkg/losses.py", 2)
    assert set(stop.ways) == {
        ("pkg/losses.py", "pkg/__init__.py", "pkg/losses.py"),
        ("pkg/__init__.py", "pkg/losses.py"),
        ("train.py", "pkg/__init__.py", "pkg/losses.py"),
    }


def test_of_two_errors_on_the_way_the_earlier_counts(repo):
    bad = "from keras.models import Input\n"
    files = {"a.py": f"import b\n{bad}", "b.py": f"import os\n{bad}", "c.py": f"{bad}import b\n"}
    stops = {way[0]: way for stop in repo.write(files).overview().stops for way in stop.ways}
    assert stops == {"a.py": ("a.py", "b.py"), "b.py": ("b.py",), "c.py": ("c.py",)}


def test_modules_that_import_each_other_come_to_an_end(repo):
    files = {
        "a.py": "import b\nimport keras\n",
        "b.py": "import a\nimport keras\nfrom keras.models import Input\n",
    }
    (stop,) = repo.write(files).overview().stops
    assert set(stop.ways) == {("a.py", "b.py"), ("b.py",)}


def test_entries_are_what_no_other_file_imports(repo):
    found = states(repo.write(repo.FILES).overview())
    assert not found["pkg/losses.py"].is_entry
    assert found["later.py"].is_entry


@pytest.mark.parametrize(
    "code",
    [
        "from keras.models import Input",
        "from keras import backend as K\nx = K.sum([1])",
        "import keras\nkeras.optimizers.legacy.SGD(0.1)",
        "import keras\nclass A(keras.engine.topology.Layer): ...",
        "from keras import backend as K\nclass A:\n    x = K.sum([1])",
        "from keras import backend as K\ndef f(x=K.sum([1])): ...",
        "from keras import backend as K\nfor i in range(3):\n    K.sum([i])",
        "from keras import backend as K\nwith open('x') as f:\n    K.sum([1])",
        "import keras\nkeras.layers.Dense(output_dim=3)",
        "try:\n    from keras.models import Input\nexcept ImportError:\n    print('!')\n    raise",
        "from keras import backend as K\nif K.sum([1]):\n    pass",
        "from keras import backend as K\nif True: é = 'ü'\nä = 'öö', K.sum([1])",
        "from keras import backend as K\r\ndef f(): ...\r\n@K.sum\r\ndef g(): ...\r\n",
    ],
)
def test_an_error_in_code_that_an_import_runs_stops_it(repo, code):
    found = repo.write({"a.py": code}).overview()
    assert states(found)["a.py"].status is Status.STOPS
    assert len(found.stops) == 1


@pytest.mark.parametrize(
    "code",
    [
        "from keras import backend as K\ndef f(x):\n    return K.sum(x)",
        "from keras import backend as K\nf = lambda x: K.sum(x)",
        "from keras import backend as K\nclass A:\n    def f(self, x):\n        return K.sum(x)",
        "from keras import backend as K\nif __name__ == '__main__':\n    K.sum([1])",
        "from keras import backend as K\nimport sys\nx = K.sum([1]) if sys.argv else 1",
        "from keras import backend as K\nimport sys\nx = sys.argv and K.sum([1])",
        "from keras import backend as K\nf = (K.sum(x) for x in [[1]])",
        "import keras\nclass A(keras.optimizers.legacy.SGD): ...",
        "from keras.layers import LSTM\nclass A(LSTM):\n    def call(self, x, mask=None):\n        return super().call(x)",
        "def f():\n    from keras.models import Input",
        "from keras import backend as K\r\ndef f():\r\n    @K.sum\r\n    def g(): ...\r\n",
        "try:\n    from keras.models import Input\nexcept ImportError:\n    print('no')",
        "import keras\nclass Old(keras.optimizers.Optimizer):\n    def get_updates(self, loss, params):\n        return []",
        "import keras\noptimizer = keras.optimizers.Adam(epsilon=None)",
    ],
)
def test_an_error_in_code_that_an_import_may_not_run_does_not(repo, code):
    found = repo.write({"a.py": code}).overview()
    assert states(found)["a.py"].status is Status.FAILS
    assert not found.stops


def test_what_means_something_else_and_what_is_deprecated_is_told_apart(repo):
    files = {
        "change.py": "import keras\nkeras.layers.Dense(3, activation='hard_sigmoid')\n",
        "legacy.py": "import keras\nkeras.Sequential([keras.layers.Dense(3, input_shape=(2,))])\n",
    }
    found = states(repo.write(files).overview())
    assert found["change.py"].status is Status.CHANGES
    assert found["legacy.py"].status is Status.LEGACY


def test_no_file_that_an_import_stops_is_done(repo):
    bad, use = "from keras.models import Input\n", "from keras import backend as K\n"
    files = {
        "a.py": f"import keras\n{bad}",
        "idle.py": "import keras\nimport a\n",
        "late.py": f"import a\n{use}def f():\n    return K.sum(1)\n",
        "both.py": f"import a\n{bad}",
        "free.py": "import keras\n",
    }
    overview = repo.write(files).overview()
    told = {path: each.status for path, each in states(overview).items()}
    assert told == {
        "a.py": Status.STOPS,
        "both.py": Status.STOPS,
        "idle.py": Status.WAITS,
        "late.py": Status.WAITS,
        "free.py": Status.DONE,
    }
    stopped = {path for stop in overview.stops for path in stop.stopped}
    assert not stopped & {path for path, each in states(overview).items() if each.is_done}


def ties_of(repo, code):
    found = repo.write({"a.py": code}).overview().portability
    return {use.tie.name: use.uses for use in found.ties}, found


@pytest.mark.parametrize(
    ("code", "ties"),
    [
        ("import keras\n", {}),
        ("import keras\nimport tensorflow as tf\n", {"import tensorflow": 1}),
        ("import keras\nimport tensorflow as t\nt.data.Dataset\nt.data.AUTOTUNE\n", {"import tensorflow": 1, "tf.data": 2}),
        ("import keras\nfrom tensorflow import nn\nnn.relu(1)\n", {"tf.nn": 2}),
        ("from tensorflow.keras import layers\n", {"tf.keras": 1}),
        ("import keras\nimport tensorflow_addons as tfa\ntfa.losses\n", {"tensorflow_addons": 2}),
        ("import tf_keras\n", {"tf_keras": 1}),
        ("from keras import backend as K\nK.sum(1)\nK.epsilon()\n", {"keras.backend.sum": 1}),
        ("import keras\nimport tensorflow as tf\nf(tf)\n", {"import tensorflow": 1, "tf": 1}),
        ("import keras\nimport tensorflow.compat.v1 as tf\ntf.Session\n", {"tf.compat.v1": 2}),
        # Not counted: optional, for type checkers alone, somebody else's.
        ("import keras\nif keras.version() < '3':\n    pass\ntf = None\ntf.data\n", {}),
        ("import keras\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tensorflow\n", {}),
        ("try:\n    from keras.layers import Dense\nexcept ImportError:\n    from tensorflow.keras.layers import Dense\n", {}),
        ("import keras\nimport tensorflowjs\n", {}),
        ("import keras\n# import tensorflow\nx = 'tensorflow.data'\n", {}),
    ],
)  # fmt: skip
def test_what_ties_is_counted_by_what_names_are_bound_to(repo, code, ties):
    assert ties_of(repo, code)[0] == ties


def test_ties_are_followed_through_the_projects_own_modules(repo):
    repo.write({"compat.py": "import tensorflow as tf\n"})
    found, _ = ties_of(repo, "import keras\nfrom compat import tf\ntf.data.Dataset\n")
    assert found["tf.data"] == 1


def test_the_score_is_the_share_of_files_that_import_nothing_of_tensorflow(repo):
    found = repo.write(repo.FILES).overview().portability
    assert found.files == 5
    assert found.free == ("clean.py", "later.py", "pkg/losses.py")
    assert found.by_root == ("moved.py",)
    assert found.backend_only == ("later.py", "pkg/losses.py")
    assert found.percent == 60


def test_without_keras_there_is_no_score(repo):
    found = repo.write({"a.py": "import os\n"}).overview()
    assert found.portability.percent is None
    assert found.files == ()


def test_a_file_that_cannot_be_parsed_is_named_and_costs_nothing_else(repo):
    found = repo.write({**repo.FILES, "broken.py": "import keras\ndef (:\n"}).overview()
    assert [each.path for each in found.scan.unreadable] == ["broken.py"]
    assert "clean.py" in states(found)


def test_the_name_that_a_stub_is_known_by_is_that_of_a_rule():
    assert rule_by_code(reading._CALLED_STUB).name == reading._CALLED_STUB
