"""Files that others import for one backend of Keras alone: nothing in them runs on another."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan

LAYER = """\
import jax.numpy as jnp
import keras


class Norm(keras.layers.Layer):
    def call(self, inputs):
        return jnp.abs(inputs)
"""
IN_IF = 'if keras.backend.backend() == "jax":\n    from mine.{name} import Norm\n'
IN_MATCH = (
    "match keras.backend.backend():\n    case 'jax':\n        from .{name} import Norm\n"
    "    case _:\n        Norm = None\n"
)


def codes_in(folder, **files: str) -> list[str]:
    package = folder / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    found = scan([str(package)], select=["KD8"], backend="all")
    assert not found.unreadable
    return [each.code for each in found.findings]


@pytest.mark.parametrize("imports", [IN_IF, IN_MATCH])
def test_nothing_is_told_of_a_file_for_one_backend(tmp_path, imports):
    chosen = "import keras\n" + imports.format(name="on_jax")
    assert (
        codes_in(tmp_path, on_jax=LAYER, chosen=chosen, test_it="from .on_jax import Norm\n") == []
    )


def test_nothing_is_told_of_what_such_a_file_imports(tmp_path):
    chosen = "import keras\n" + IN_IF.format(name="on_jax")
    assert codes_in(tmp_path, deep=LAYER, on_jax="from .deep import Norm\n", chosen=chosen) == []


@pytest.mark.parametrize(
    "other",
    [
        "",
        "from .on_jax import Norm\n",
        "import keras\nif keras.version() == 'jax':\n    from .on_jax import Norm\n",
    ],
)
def test_a_file_that_is_imported_in_any_case_is_told_of(tmp_path, other):
    assert codes_in(tmp_path, on_jax=LAYER, other=other) == ["KD816"]


def test_one_import_in_any_case_is_enough(tmp_path):
    chosen = "import keras\n" + IN_IF.format(name="on_jax")
    other = "from .on_jax import Norm\n"
    assert codes_in(tmp_path, on_jax=LAYER, chosen=chosen, other=other) == ["KD816"]
