"""What programs use of `keras_contrib` is written into the file."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import kdoctor
from kdoctor import engine
from kdoctor.model import Applicability
from kdoctor.rules.names._definitions.dead_packages import IN_CONTRIB, WRITTEN_OF_CONTRIB
from kdoctor.rules.names._definitions.definitions import definition, with_needs
from kdoctor.rules.names._definitions.proofs import proof_of
from tests.frameworks import keras

HOMES = {each.rpartition(".")[2]: each for each in IN_CONTRIB.recorded.names}
RECORDED = json.loads(
    (Path(kdoctor.__file__).parent / "verify" / "contrib" / "results.json").read_text("utf-8")
)["results"]
# A CRF takes a minute: `make prove` runs it.
QUICK = [each for each in sorted(RECORDED) if not each.startswith(("CRF", "crf_"))]


# Helpers of the modules of applications, which say with an underscore or a name what they are.
NOT_OF_ITS_OWN = {"name_or_none", "preprocess_input"}


def fix(folder: Path, source: str):
    path = folder / "mine.py"
    path.write_text(source)
    done = engine.fix([path], apply=True, unsafe=True, isolated=True)
    return path.read_text(), done


@pytest.mark.parametrize("name", WRITTEN_OF_CONTRIB)
def test_each_definition_has_the_parameters_that_it_had(name: str) -> None:
    then = IN_CONTRIB.recorded.names[HOMES[name]].parameters
    now = definition(f"contrib.{name}").parameters
    old, new = (ast.parse(f"def made({text}): pass").body[0].args for text in (then, now))
    assert [each.arg for each in old.args] == [each.arg for each in new.args]
    # Where an object was the default, which nothing can write, it is made for `None`.
    shown = [ast.unparse(each).replace("...", "None") for each in old.defaults]
    assert shown == list(map(ast.unparse, new.defaults))


def test_each_public_name_has_a_definition() -> None:
    """Those of modules are public, too: programs import `NASNetCIFAR` from `nasnet`."""
    names = {each.rpartition(".")[2] for each in IN_CONTRIB.recorded.names}
    assert names - {*WRITTEN_OF_CONTRIB} == NOT_OF_ITS_OWN


@pytest.mark.parametrize("name", WRITTEN_OF_CONTRIB)
def test_each_name_is_fixed_and_says_why_it_is_not_safe(tmp_path: Path, name: str) -> None:
    home, file = HOMES[name].rpartition(".")[0], IN_CONTRIB.recorded.names[HOMES[name]].file
    for source in (
        f"import keras\nfrom keras_contrib.{home} import {name}\n\nused = {name}\n",
        f"import keras\nfrom keras_contrib.{file} import {name} as other\n\nused = other\n",
        f"import keras\nimport keras_contrib.{home} as his\n\nused = his.{name}\n",
    ):
        fixed, done = fix(tmp_path, source)
        assert "keras_contrib" not in fixed, source
        (found,) = done.found.findings
        unlike = next(each.unlike for each in IN_CONTRIB.all() if each.leaf == name)
        assert (found.fix.applicability is Applicability.SAFE) is not bool(unlike), source
        assert found.fix.unsafe_because == unlike
        assert done.left.findings == ()


def test_a_model_with_a_crf_gets_all_of_it_once(tmp_path: Path) -> None:
    fixed, done = fix(
        tmp_path,
        "from keras.models import Sequential\nfrom keras_contrib.layers import CRF\n"
        "from keras_contrib.losses import crf_loss\n"
        "from keras_contrib.metrics import crf_viterbi_accuracy as accuracy\n\n"
        "model = Sequential([CRF(3)])\nmodel.compile('adam', crf_loss, metrics=[accuracy])\n"
        "custom = {'CRF': CRF, 'crf_loss': crf_loss}\n",
    )
    names = [each.name for each in ast.parse(fixed).body if hasattr(each, "name")]
    assert sorted(names) == sorted(set(names))
    assert {"CRF", "crf_loss", "accuracy", "crf_marginal_accuracy"} <= {*names}
    assert done.left.findings == ()


def test_names_of_two_packages_that_are_called_alike_stay_apart(tmp_path: Path) -> None:
    fixed, done = fix(
        tmp_path,
        "import keras\nimport tensorflow_addons as tfa\n"
        "from keras_contrib.layers import InstanceNormalization\n\n"
        "norms = [InstanceNormalization(), tfa.layers.InstanceNormalization]\n",
    )
    assert "epsilon is added to the standard deviation" in fixed
    assert fixed.count("class InstanceNormalization(") == 1
    assert "AddonsInstanceNormalization" in fixed or "tensorflow_addons" in fixed
    assert all(each.code == "KD704" for each in done.left.findings)


@pytest.mark.parametrize(
    "source",
    [
        "from keras_contrib.backend import depth_to_space\n\ndepth_to_space\n",
        "from keras_contrib.layers import *\n\nCRF(2)\n",
        "from keras_contrib.utils.conv_utils import normalize_data_format\n\nnormalize_data_format()\n",
    ],
)
def test_what_nobody_wrote_out_stays(tmp_path: Path, source: str) -> None:
    fixed, done = fix(tmp_path, f"import keras\n{source}")
    assert fixed == f"import keras\n{source}"
    assert done.left.findings[0].no_fix_because


def test_definitions_fit_a_line_and_read_what_comes_with_keras() -> None:
    for name in WRITTEN_OF_CONTRIB:
        for each in with_needs(f"contrib.{name}"):
            assert max(map(len, each.text.splitlines())) <= 88
            used = {line.split()[1] for line in each.imports}
            assert used <= {"keras", "numpy", "collections", "pathlib", "warnings", "zipfile"}


def test_what_was_not_recorded_says_that_it_was_not_compared() -> None:
    helpers = {each.leaf: each for each in IN_CONTRIB.all()}
    assert all(helpers[each].unlike for each in WRITTEN_OF_CONTRIB if each not in RECORDED)


@pytest.mark.frameworks
@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", QUICK)
def test_what_is_recorded_is_what_each_gives_today(name: str) -> None:
    run(name)


@pytest.mark.frameworks
def test_a_comparison_notices_another_number() -> None:
    with pytest.raises(AssertionError, match="squash"):
        run("squash", lambda made: lambda x, axis=-1: made(x, axis) * 1.001)


def run(name: str, spoil=lambda made: made) -> None:
    from kdoctor.verify.contrib import compare  # noqa: PLC0415 - imports TensorFlow

    found: dict[str, object] = {"keras": keras}
    exec(proof_of(f"contrib.{name}").after, found)  # noqa: S102 - what is to be proven
    compare(f"contrib.{name}", spoil(found[name]))


def test_a_module_whose_name_stands_in_a_text_of_a_definition_goes(tmp_path: Path) -> None:
    fixed, done = fix(
        tmp_path, "from keras_contrib.datasets import conll2000\n\ndata = conll2000.load_data()\n"
    )
    assert "keras_contrib" not in fixed
    assert "data = load_data()\n" in fixed
    assert done.left.findings == ()
