"""``--backend``: the rules about code that runs on TensorFlow only are asked where it is given."""

from __future__ import annotations

import pytest

import kdoctor
from kdoctor.errors import UsageProblem

TIED = """\
import keras
import tensorflow as tf


def loss(y_true, y_pred):
    return tf.abs(y_true - y_pred)
"""
PLACE = ("a.py", "KD801")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["--backend", "all"], "JAX and PyTorch"),
        (["--backend", "torch"], "PyTorch"),
        (["--backend", "tensorflow,jax"], "JAX"),
        (["--backend", "torch", "--backend", "jax"], "JAX and PyTorch"),
    ],
)
def test_what_ties_code_to_tensorflow_is_told_for_the_backends_that_are_named(
    repository, given, named
):
    repository.write({"a.py": TIED})
    assert repository.scan(*given) == [PLACE]
    assert f"Keras runs it on {named}, too" in repository.run("scan", *given).stdout


@pytest.mark.parametrize("given", [[], ["--backend", "tensorflow"]])
def test_nothing_is_told_where_tensorflow_is_the_only_backend(repository, given):
    repository.write({"a.py": TIED})
    assert repository.scan(*given) == []


def test_the_setting_counts_in_its_folder_and_the_option_wins(repository):
    repository.write({"a.py": TIED, "b/kdoctor.toml": 'backend = ["jax"]\n', "b/a.py": TIED})
    assert repository.scan() == [("b/a.py", "KD801")]
    assert repository.scan("--backend", "tensorflow") == []
    assert repository.scan("--backend", "all") == [PLACE, ("b/a.py", "KD801")]


@pytest.mark.parametrize("command", ["scan", "fix", "report", "config"])
def test_a_backend_that_there_is_not_is_one_sentence(repository, command):
    repository.write({"a.py": TIED})
    rest = ["--json"] if command == "report" else []
    said = "kdoctor: there is no backend 'jx'; choose tensorflow, jax, torch or all"
    assert repository.problem(command, "--backend", "jx", *rest) == said


@pytest.mark.parametrize("entry", ["KD8", "KD801", "tensorflow-function"])
def test_rules_that_are_not_asked_are_not_selected_in_vain(repository, entry):
    repository.write({"a.py": TIED})
    said = f"kdoctor: {entry}: these rules are asked with a backend only; add --backend all"
    assert repository.problem("scan", "--select", entry).startswith(said)
    assert repository.scan("--select", entry, "--backend", "all") == [PLACE]
    repository.write({"kdoctor.toml": 'backend = "all"\n'})
    assert repository.scan("--select", entry) == [PLACE]


def test_a_selection_of_all_rules_needs_no_backend(repository):
    repository.write({"a.py": TIED})
    assert repository.scan("--select", "KD") == repository.scan("--select", "ALL") == []


def test_comments_and_patterns_name_what_stays_on_tensorflow(repository):
    ignored = TIED.replace("- y_pred)", "- y_pred)  # kdoctor: ignore[KD8]")
    repository.write({"a.py": ignored, "data/b.py": TIED})
    repository.write({"kdoctor.toml": 'per-file-ignores = { "data/" = ["KD8"] }\n'})
    assert repository.scan("--backend", "all") == []


def test_tf_keras_is_tensorflow_too(repository):
    repository.write({"a.py": "from tensorflow import keras\nkeras.layers.Dense(2)\n"})
    assert repository.scan("--backend", "jax") == [("a.py", "KD710")]
    assert repository.scan("--backend", "jax", "--namespace", "keep") == []


def test_the_fix_writes_what_runs_on_each_backend(repository):
    repository.write({"a.py": TIED})
    repository.run("fix", "--apply", "--backend", "all")
    assert (repository.folder / "a.py").read_text() == (
        "import keras\n\n\ndef loss(y_true, y_pred):\n    return keras.ops.abs(y_true - y_pred)\n"
    )


def test_python_callers_name_them_as_the_settings_do(repository):
    repository.write({"a.py": TIED})
    assert kdoctor.scan(["a.py"], backend="all").findings
    assert kdoctor.scan(["a.py"], backend=["tensorflow", "jax"]).findings
    with pytest.raises(UsageProblem, match="no backend 'numpy'"):
        kdoctor.scan(["a.py"], backend="numpy")
