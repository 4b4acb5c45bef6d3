"""Helpers of Keras 2 are written into a file, or imported from where `keras.src` has them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from kdoctor import engine, keras_api
from kdoctor.model import Applicability
from kdoctor.rules.names._definitions.definitions import _definitions, definition, with_needs
from kdoctor.rules.names._definitions.keras_2_helpers import HELPERS, helper_of
from kdoctor.rules.names._definitions.proofs import proof_of

USED = "\n\nprint(normalize_tuple(3, 2, 'size'))\n"
SPELLINGS = (
    f"from keras.utils.conv_utils import normalize_tuple{USED}",
    f"from keras.src.utils.conv_utils import normalize_tuple{USED}",
    f"from tensorflow.keras.utils.conv_utils import normalize_tuple{USED}",
    f"from tensorflow.python.keras.utils.conv_utils import normalize_tuple{USED}",
    "from keras.utils.conv_utils import normalize_tuple as nt\n\nprint(nt(3, 2, 'size'))\n",
    "from keras.utils import conv_utils\n\nprint(conv_utils.normalize_tuple(3, 2, 'size'))\n",
    "from keras.src.utils import conv_utils as cu\n\nprint(cu.normalize_tuple(3, 2, 'size'))\n",
    "import keras.utils.conv_utils as cu\n\nprint(cu.normalize_tuple(3, 2, 'size'))\n",
    "import keras.utils.conv_utils\n\nprint(keras.utils.conv_utils.normalize_tuple(3, 2, 'size'))\n",
    "import keras\n\nprint(keras.utils.conv_utils.normalize_tuple(3, 2, 'size'))\n",
    "from keras import utils\n\nprint(utils.conv_utils.normalize_tuple(3, 2, 'size'))\n",
    "import tensorflow as tf\n\nprint(tf.keras.utils.conv_utils.normalize_tuple(3, 2, 'size'))\n",
    (
        "import tensorflow as tf\n\n"
        "print(tf.python.keras.utils.conv_utils.normalize_tuple(3, 2, 'size'))\n"
    ),
    (
        "from tensorflow.python.keras.utils import conv_utils\n\n"
        "print(conv_utils.normalize_tuple(3, 2, 'size'))\n"
    ),
    (
        "def size():\n    from keras.utils.conv_utils import normalize_tuple\n"
        "    return normalize_tuple(3, 2, 'size')\n\n\nimport keras\nprint(size())\n"
    ),
)


def fix(folder: Path, source: str, **options):
    path = folder / "mine.py"
    path.write_text(source)
    done = engine.fix([path], apply=True, unsafe=True, isolated=True, **options)
    return path.read_text(), done


def run(folder: Path, source: str) -> str:
    """Run code with stand-ins for Keras, of which the code under test reads one function."""
    (folder / "keras.py").write_text(
        "import types\nconfig = types.SimpleNamespace(image_data_format=lambda: 'channels_last')\n"
    )
    (folder / "tensorflow.py").write_text("import keras\n")
    ran = subprocess.run(
        [sys.executable, "-c", source],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{source}\n{ran.stderr}"
    return ran.stdout.strip()


@pytest.mark.parametrize("source", SPELLINGS)
def test_each_spelling_is_written_out_and_runs(tmp_path: Path, source: str) -> None:
    fixed, done = fix(tmp_path, source)
    assert done.left.findings == ()
    assert "conv_utils" not in fixed
    assert run(tmp_path, fixed) == "(3, 3)"
    assert fix(tmp_path, fixed)[0] == fixed


@pytest.mark.parametrize("source", SPELLINGS)
def test_each_spelling_is_imported_where_that_is_asked_for(tmp_path: Path, source: str) -> None:
    fixed, done = fix(tmp_path, source, keras_2_helpers="import")
    assert "from keras.src.utils.argument_validation import standardize_tuple as " in fixed
    assert "conv_utils" not in fixed
    assert "def normalize" not in fixed
    assert all("(seen in" not in each.message for each in done.left.findings)
    assert fix(tmp_path, fixed, keras_2_helpers="import")[0] == fixed


def test_the_fix_says_in_which_release_it_was_seen(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SPELLINGS[0])
    found = engine.scan(
        [tmp_path], isolated=True, target="keras==3.5.0", keras_2_helpers="import"
    ).findings
    (only,) = [each.fix for each in found if each.fix]
    assert only.title.endswith("which Keras 3.5.0 has")
    assert "seen in Keras 3.5.0" in only.unsafe_because


def test_the_setting_decides_and_the_option_wins(tmp_path: Path) -> None:
    (tmp_path / "kdoctor.toml").write_text('keras-2-helpers = "import"\n')
    path = tmp_path / "mine.py"
    for option, expected in ((None, "keras.src"), ("write", "def normalize_tuple")):
        path.write_text(SPELLINGS[0])
        engine.fix([path], apply=True, unsafe=True, keras_2_helpers=option)
        assert expected in path.read_text()


def test_other_names_of_the_import_stay(tmp_path: Path) -> None:
    before = (
        "from keras.utils.conv_utils import normalize_tuple, nobody_knows  # both\n"
        "from keras.losses import LossFunctionWrapper, MeanSquaredError\n\n"
        "sizes = normalize_tuple(3, 2, 'k'), nobody_knows\n"
        "losses = LossFunctionWrapper, MeanSquaredError\n"
    )
    fixed, _ = fix(tmp_path, before)
    assert "from keras.utils.conv_utils import nobody_knows  # both\n" in fixed
    assert "from keras.losses import MeanSquaredError\n" in fixed
    assert "def normalize_tuple" in fixed
    assert "class LossFunctionWrapper" in fixed


@pytest.mark.parametrize(
    "source",
    [
        (
            "try:\n    from keras.utils import conv_utils\nexcept ImportError:\n    conv_utils = None\n"
            "print(conv_utils)\n"
        ),
        (
            "try:\n    from keras.utils.conv_utils import normalize_tuple\nexcept ImportError:\n"
            f"    from mine import normalize_tuple\n{USED}"
        ),
        f"from mine.conv_utils import normalize_tuple{USED}",
        "from mine import conv_utils\nimport keras\nconv_utils.normalize_tuple(3, 2, 'k')\n",
        f"from tf_keras.src.utils.conv_utils import normalize_tuple{USED}",
    ],
)
def test_what_is_guarded_or_of_others_stays(tmp_path: Path, source: str) -> None:
    assert fix(tmp_path, source)[0] == source


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            (
                "from keras.utils import conv_utils\n\n\ndef normalize_tuple(x):\n    return x\n\n\n"
                "sizes = conv_utils.normalize_tuple(3, 2, 'k')\n"
            ),
            "something else in this file",
        ),
        (
            (
                "from keras.utils.conv_utils import normalize_tuple\n\nnormalize_tuple = None or "
                "normalize_tuple\n"
            ),
            "bound more than once",
        ),
        (
            (
                "from keras.applications.imagenet_utils import correct_pad\n\n"
                "pad = correct_pad(backend, x, 3)\n"
            ),
            "more positional arguments than `correct_pad` has",
        ),
        (
            (
                "from keras.layers.merge import _Merge\n\n\nclass Mine(_Merge):\n    pass\n\n\n"
                "print(isinstance(layer, _Merge))\n"
            ),
            "do not derive from a class that is written here",
        ),
        (
            (
                "from keras.utils.conv_utils import normalize_tuple\n\ntuple = list\n"
                "print(normalize_tuple(3, 2, 'k'))\n"
            ),
            "`tuple` is something else",
        ),
    ],
)
def test_what_would_mean_something_else_stays_and_is_told(
    tmp_path: Path, source: str, reason: str
) -> None:
    fixed, done = fix(tmp_path, source)
    assert fixed == source
    assert reason in " ".join(each.no_fix_because or "" for each in done.left.findings)


def test_an_unused_import_goes_and_one_that_others_take_is_written(tmp_path: Path) -> None:
    before = "import keras\nfrom keras.utils.generic_utils import to_list\n\nkeras.Sequential()\n"
    assert fix(tmp_path, before)[0] == "import keras\n\nkeras.Sequential()\n"
    exported = f"{before}__all__ = ['to_list']\n"
    assert "def to_list" in fix(tmp_path, exported)[0]
    (tmp_path / "other.py").write_text("from mine import to_list\n")
    path = tmp_path / "mine.py"
    path.write_text(before)
    engine.fix([tmp_path], apply=True, unsafe=True, isolated=True)
    assert "def to_list" in path.read_text()


@pytest.mark.parametrize(
    "taken", ["from mine import conv_utils\n", "from mine import *\n\nprint(conv_utils)\n"]
)
def test_a_module_that_others_take_from_here_goes_by_unsafe_fixes_only(
    tmp_path: Path, taken: str
) -> None:
    source = "from keras.utils import conv_utils\n\nsize = conv_utils.normalize_tuple(3, 2, 'k')\n"
    path = tmp_path / "mine.py"
    path.write_text(source)
    (tmp_path / "other.py").write_text(taken)

    engine.fix([tmp_path], apply=True, isolated=True)
    assert path.read_text() == source

    (tmp_path / "other.py").write_text("from mine import size\n")
    engine.fix([tmp_path], apply=True, isolated=True)
    assert "conv_utils" not in path.read_text()


def test_a_suppressed_import_stays(tmp_path: Path) -> None:
    before = (
        "from keras.utils.conv_utils import normalize_tuple  # kdoctor: ignore[KD102]\n"
        "from keras.utils.generic_utils import to_list\n\n"
        "sizes = to_list(normalize_tuple(3, 2, 'k'))\n"
    )
    fixed, _ = fix(tmp_path, before)
    assert before.splitlines()[0] in fixed
    assert "def to_list" in fixed
    assert "def normalize_tuple" not in fixed


def test_several_helpers_of_a_file_come_at_once(tmp_path: Path) -> None:
    names = [each.leaf for key, each in HELPERS.items() if key.startswith("utils.conv_utils.")]
    uses = "".join(f"print(conv_utils.{each})\n" for each in names)
    fixed, done = fix(tmp_path, f"from keras.utils import conv_utils\n\n{uses}")
    assert len(done.files) == 1
    assert {each.name for each in ast.parse(fixed).body if isinstance(each, ast.FunctionDef)} == {
        *names
    }


def test_a_helper_comes_with_what_it_needs_by_the_names_of_the_file(tmp_path: Path) -> None:
    fixed, _ = fix(
        tmp_path,
        "import numpy\nfrom keras.utils.conv_utils import convert_kernel as turned\n"
        "from keras.utils.layer_utils import convert_all_kernels_in_model\n\n"
        "print(turned(numpy.ones((1, 1, 1))), convert_all_kernels_in_model)\n",
    )
    assert fixed.index("def turned(kernel) -> numpy.ndarray:") < fixed.index("def convert_all")
    assert "layer.kernel.assign(turned(layer.kernel))" in fixed


def test_what_a_helper_reads_is_imported_where_a_function_imports_for_all(tmp_path: Path) -> None:
    fixed, _ = fix(
        tmp_path,
        "def main():\n    global conv_utils\n    from keras.utils import conv_utils\n\n"
        "    return conv_utils.normalize_data_format(None)\n\n\nfound = main()\n",
    )
    imports = [each for each in ast.parse(fixed).body if isinstance(each, ast.ImportFrom)]
    assert [ast.unparse(each) for each in imports] == ["from keras import config"]
    assert "    from" not in fixed


def test_decorators_for_arguments_of_keras_1_leave_methods_as_they_are(tmp_path: Path) -> None:
    fixed, done = fix(
        tmp_path,
        "import keras\nfrom keras.legacy import interfaces\n\n\nclass Mine(keras.layers.Layer):\n"
        "    @interfaces.legacy_dense_support\n    def __init__(self, **kwargs):\n"
        "        super().__init__(**kwargs)\n",
    )
    assert done.left.findings == ()
    assert "def legacy_dense_support(function):" in fixed
    assert "    @legacy_dense_support\n" in fixed
    assert "no longer translated" in done.found.findings[0].fix.unsafe_because


def test_each_text_fits_a_line_of_a_file() -> None:
    for helper in HELPERS.values():
        for code in filter(None, (helper.code, helper.family)):
            text = definition(code).text
            assert max(map(len, text.splitlines())) <= 88, text
            assert "# " not in text


def test_a_notebook_and_the_diff_have_it_too(tmp_path: Path) -> None:
    import nbformat  # noqa: PLC0415

    cells = ["from keras.utils import conv_utils", "conv_utils.normalize_padding('SAME')"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    path = tmp_path / "mine.ipynb"
    path.write_text(nbformat.writes(book))
    done = engine.fix([path], apply=True, unsafe=True, isolated=True)
    after = nbformat.reads(path.read_text(), 4).cells
    assert "def normalize_padding" in after[1].source
    assert after[1].source.endswith("normalize_padding('SAME')")
    assert "+def normalize_padding" in done.files[0].diff


@pytest.mark.parametrize("name", sorted(HELPERS))
def test_a_definition_takes_the_calls_of_its_release(name: str) -> None:
    helper = HELPERS[name]
    known = keras_api.signature(f"keras.{name}", keras_api.resolve_target("keras==2.12", ""))
    if not helper.code or known is None or helper.code[0].isupper():
        return
    then = [each.partition("=")[0].strip() for each in known.text.split(",")]
    now = [each.partition("=")[0].strip() for each in definition(helper.code).parameters.split(",")]
    assert now[: len(then)] == then


def test_the_names_below_each_root_lead_to_one_helper() -> None:
    found = {
        helper_of(f"{root}.losses_utils.ReductionV2.SUM")
        for root in ("keras.utils", "keras.src.utils", "tensorflow.python.keras.utils")
    }
    assert [(each[0].code, each[1]) for each in found if each] == [("ReductionV2", 1)]
    assert helper_of("keras.utils.conv_utils") is None
    assert helper_of("tf_keras.src.utils.conv_utils.normalize_tuple") is None


def test_each_definition_reads_only_what_comes_with_keras_and_the_standard_library() -> None:
    for helper in HELPERS.values():
        for code in filter(None, (helper.code, helper.family)):
            for each in with_needs(code):
                tree = ast.parse(each.text)
                assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
                used = {line.split()[1] for line in each.imports}
                assert used <= {"keras", "numpy", "tensorflow", *sys.stdlib_module_names}


@pytest.mark.frameworks
def test_a_comparison_notices_a_difference() -> None:
    from kdoctor.verify.keras_2_code import compare  # noqa: PLC0415 - imports TensorFlow

    for code in (
        *("normalize_tuple", "conv_output_length", "MERGING"),
        *("BaseRandomLayer", "ContextValueCache", "PreprocessingLayer"),
    ):
        proof = proof_of(code)
        found: dict[str, object] = {}
        spoiled = (proof.after or "").replace(">= 0", "> 0").replace("size < 0", "size < -1")
        spoiled = spoiled.replace("stride - 1", "stride").replace("keras.layers.Dot,", "")
        spoiled = spoiled.replace("self._seed += 1", "self._seed += 2")
        spoiled = spoiled.replace("self._reset_state_impl()", "pass")
        spoiled = spoiled.replace("key = self._around(key)", "key = self.Eagerly")
        assert spoiled != proof.after
        exec(spoiled, found)  # noqa: S102 - the text of a definition
        with pytest.raises(AssertionError):
            compare(code, found[code])


@pytest.mark.frameworks
def test_preprocessing_layers_are_those_of_keras_2_but_for_graphs() -> None:
    from kdoctor.reference.keras_2.preprocessing_layers import PreprocessingLayer  # noqa: PLC0415
    from kdoctor.verify.keras_2_code import compare  # noqa: PLC0415 - imports TensorFlow

    compare("PreprocessingLayer", PreprocessingLayer)


@pytest.mark.parametrize(
    ("rest", "is_safe"),
    [
        ("def f(layer):\n    return isinstance(layer, preprocessing.PreprocessingLayer)\n", True),
        ("class Cast(preprocessing.PreprocessingLayer):\n    pass\n", False),
    ],
)
def test_who_derives_from_a_preprocessing_layer_is_told_what_adapt_does_not_do(
    rest: str, *, is_safe: bool
) -> None:
    source = f"from tensorflow.keras.layers.experimental import preprocessing\n\n\n{rest}"
    fixes = [each.fix for each in engine.scan(["-"], stdin=source.encode()).findings if each.fix]
    assert {each.applicability is Applicability.SAFE for each in fixes} == {is_safe}
    assert all(is_safe or "`make_adapt_function`" in each.unsafe_because for each in fixes)


@pytest.mark.frameworks
def test_losses_are_those_of_keras_2_but_for_weights() -> None:
    from kdoctor.reference.keras_2.losses import LossFunctionWrapper  # noqa: PLC0415
    from kdoctor.verify.keras_2_code import compare  # noqa: PLC0415 - imports TensorFlow

    compare("LossFunctionWrapper", LossFunctionWrapper)


@pytest.mark.frameworks
def test_the_cache_of_masks_is_that_of_keras_2() -> None:
    from kdoctor.reference.keras_2.caches import ContextValueCache  # noqa: PLC0415
    from kdoctor.verify.keras_2_code import compare  # noqa: PLC0415 - imports TensorFlow

    compare("ContextValueCache", ContextValueCache)


@pytest.mark.parametrize("root", ["keras", "tensorflow.keras"])
def test_the_cache_of_masks_is_written_out_for_all_who_read_it(tmp_path: Path, root: str) -> None:
    fixed, done = fix(
        tmp_path,
        f"from {root} import backend as K\n\n\ndef caches(make):\n"
        "    return [K.ContextValueCache(make), K.ContextValueCache(make)]\n",
    )
    assert fixed.count("class ContextValueCache(weakref.WeakKeyDictionary):") == 1
    assert "return [ContextValueCache(make), ContextValueCache(make)]" in fixed
    assert done.left.findings == ()
    assert "TensorFlow alone" in done.found.findings[0].fix.unsafe_because


def modules_hidden(function: ast.FunctionDef) -> set[str]:
    """Return modules of Keras that a function reads by their path and has names like."""
    nodes = list(ast.walk(function))
    bound = {
        each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    bound |= {each.arg for each in nodes if isinstance(each, ast.arg)}
    chains = (each.value for each in nodes if isinstance(each, ast.Attribute))
    read = {
        e.attr for e in chains if isinstance(e, ast.Attribute) and ast.unparse(e.value) == "keras"
    }
    return bound & read


@pytest.mark.parametrize("code", sorted(_definitions()))
def test_no_local_name_hides_a_module_of_keras(code: str) -> None:
    """A file may have `from keras import layers`, and the definition then reads `layers.Dense`."""
    tree = ast.parse(definition(code).text)
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    assert not any(map(modules_hidden, functions))
