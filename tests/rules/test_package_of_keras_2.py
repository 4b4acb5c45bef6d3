"""KD704 says what was recorded of packages: the record is whole, and what is here bears it out."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys

import pytest
from msgspec.structs import replace

from kdoctor.engine import scan
from kdoctor.keras_api import resolve_target
from kdoctor.rules.environment.package_of_keras_2 import broken_packages
from kdoctor.rules.words import words
from tools.package_imports.__main__ import PACKAGES, _short

RECORD = broken_packages()


def found_in(source, **how):
    how = {"target": "keras==3.15.1", "isolated": True, "select": ["KD704"]} | how
    return scan(["-"], stdin=source.encode(), **how).findings


@pytest.mark.parametrize("module", sorted(RECORD))
def test_each_import_is_found_in_a_file_that_says_nothing_else(module):
    (finding,) = found_in(f"import {module}\n")
    assert RECORD[module].error in finding.message
    assert finding.symbol == module
    assert any(word in module for word in words())


def test_no_module_stands_twice_and_each_is_of_a_package_that_is_listed():
    listed = PACKAGES.read_text("utf-8")
    for module, broken in RECORD.items():
        assert not any(module.startswith(f"{other}.") for other in RECORD), module
        assert f'distribution = "{broken.distribution}"' in listed
        assert broken.release


def test_beside_keras_2_those_are_told_that_cannot_be_imported_with_it_either():
    source = "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nimport tensorflow as tf\n{}\n"
    target = replace(resolve_target("keras==3.15.1", ""), inferred=True)  # not asked for by name
    for module, broken in RECORD.items():
        found = found_in(source.format(f"import {module}"), target=target)
        assert bool(found) == bool(broken.legacy), module


def test_what_keras_3_has_by_the_same_name_is_said():
    (finding,) = found_in(
        "import tensorflow_addons as tfa\ntfa.layers.LayerNormalization()\ntfa.layers.Older()\n"
    )
    assert (
        "Keras 3 has `keras.layers.LayerNormalization`, which may behave differently"
        in finding.help
    )


def test_estimators_are_not_to_be_copied_but_written_anew():
    (finding,) = found_in("from tensorflow_estimator.python.estimator import keras\n")
    assert finding.help.startswith("Write the model with Keras")


def test_a_module_of_the_project_is_its_own(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "mrcnn").mkdir()
    (tmp_path / "mrcnn" / "model.py").write_text("import keras\n")
    (tmp_path / "train.py").write_text("from mrcnn.model import MaskRCNN\n")
    assert not scan([tmp_path], target="keras==3.15.1", select=["KD704"]).findings


def test_what_an_error_says_of_this_machine_is_left_out():
    error = "ImportError: cannot import name 'a' from 'keras' (/usr/lib/keras/__init__.py)"
    assert _short(error) == "ImportError: cannot import name 'a' from 'keras'"
    error = "ImportError: it wants Keras version 2 but got version 3.15.1. Set a variable."
    assert _short(error) == "ImportError: it wants Keras version 2"


def _is_here(broken):
    try:
        return importlib.metadata.version(broken.distribution) == broken.release
    except importlib.metadata.PackageNotFoundError:
        return False


@pytest.mark.frameworks
@pytest.mark.parametrize("module", sorted(m for m, broken in RECORD.items() if _is_here(broken)))
def test_what_is_installed_raises_what_the_record_says(module):
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | quiet,
    )
    assert RECORD[module].error in done.stderr
