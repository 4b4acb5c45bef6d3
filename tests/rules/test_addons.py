"""Names of `tensorflow_addons` give way to Keras 3's own, or are written into the file."""

from __future__ import annotations

import ast
import inspect
import itertools
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from kdoctor import engine, reference
from kdoctor.model import Applicability
from kdoctor.rules.environment import _addons
from kdoctor.rules.names._definitions.dead_packages import ADDONS, WRITTEN
from kdoctor.rules.names._definitions.definitions import definition, with_needs
from kdoctor.rules.names._definitions.proofs import proof_of
from tests.frameworks import keras, tf

SUCCESSORS = {each.name.rpartition(".")[2]: each for each in _addons._SUCCESSORS}
NAMES = tuple(dict.fromkeys((*WRITTEN, *SUCCESSORS)))
NOT_COMPARED = ("AverageModelCheckpoint", "random_cutout")
HOMES = {each.rpartition(".")[2]: each for each in ADDONS.recorded.names}


def fix(folder: Path, source: str):
    path = folder / "mine.py"
    path.write_text(source)
    done = engine.fix([path], apply=True, unsafe=True, isolated=True)
    return path.read_text(), done


def spellings(name: str) -> list[str]:
    """Return ways to import a name and read it, as `used`."""
    home, file = HOMES[name].rpartition(".")[0], ADDONS.recorded.names[HOMES[name]].file
    return [
        f"import tensorflow_addons as tfa\n\nused = tfa.{home}.{name}",
        f"import tensorflow_addons\n\nused = tensorflow_addons.{home}.{name}",
        f"from tensorflow_addons import {home}\n\nused = {home}.{name}",
        f"from tensorflow_addons.{home} import {name}\n\nused = {name}",
        f"from tensorflow_addons.{home} import {name} as other\n\nused = other",
        f"from tensorflow_addons.{file} import {name}\n\nused = {name}",
        f"import tensorflow_addons.{home} as addons\n\nused = addons.{name}",
        f"import tensorflow_addons as tfa\n\nused = tfa.{file}.{name}",
    ]


@pytest.mark.parametrize("name", WRITTEN)
def test_each_definition_has_the_parameters_that_it_had(name: str) -> None:
    then = ADDONS.recorded.names[HOMES[name]].parameters
    now = definition(name).parameters
    old, new = (ast.parse(f"def made({text}): pass").body[0].args for text in (then, now))
    # `AdamW` takes it among its keywords, and `typechecked` names of no use are not written out.
    own = {"exclude_from_weight_decay"}
    assert [e.arg for e in old.args] == [
        e.arg for e in new.args if e.arg not in own or e.arg in then
    ]
    defaults = [ast.unparse(each) for each in old.defaults]
    same = {"'auto'": "'sum_over_batch_size'", "0.3333333333333333": "1 / 3"}
    shown = [ast.unparse(each) for each in new.defaults]
    same = {} if "mode='auto'" in now else same  # of files to save, not of a loss
    assert [same.get(each, each) for each in defaults] == shown[: len(defaults)]


def test_each_definition_of_a_public_name_is_written_out() -> None:
    files = sorted((Path(reference.__file__).parent / "addons").glob("*.py"))
    trees = [ast.parse(each.read_text("utf-8")) for each in files]
    defined = {each.name for tree in trees for each in tree.body if hasattr(each, "name")}
    defined |= {e.targets[0].id for tree in trees for e in tree.body if isinstance(e, ast.Assign)}
    assert defined & {*HOMES} == {*WRITTEN}


@pytest.mark.parametrize("name", SUCCESSORS)
def test_each_successor_has_the_parameters_that_it_had(name: str) -> None:
    stated = SUCCESSORS[name].parameters
    if not stated:
        return
    then = ADDONS.recorded.names[SUCCESSORS[name].name].parameters.removesuffix(", **kwargs")
    assert stated[1:-1].removesuffix(", y_shape=None") == then


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_fixed_however_it_is_imported(tmp_path: Path, name: str) -> None:
    called = name in SUCCESSORS and SUCCESSORS[name].parameters
    for source in random.Random(name).sample(spellings(name), 3):  # noqa: S311 - test data
        before = (
            f"{source}{'()' if called == '(**kwargs)' else '(num_classes=3)' if called else ''}\n"
        )
        before = before.replace("RSquare(num_classes=3)", "RSquare()")
        before = before.replace(
            "other(num_classes=3)", "other()" if name == "RSquare" else "other(3)"
        )
        fixed, done = fix(tmp_path, before)
        assert "tensorflow_addons" not in fixed, before
        assert done.left.findings == ()
        assert fix(tmp_path, fixed)[0] == fixed


def test_what_is_safe_says_so_and_the_rest_why_not(tmp_path: Path) -> None:
    for name in NAMES:
        path = tmp_path / "mine.py"
        path.write_text(
            f"from tensorflow_addons.{HOMES[name].rpartition('.')[0]} import {name}\n{name}\n"
        )
        (found,) = engine.scan([path], isolated=True).findings
        if found.fix is None:
            assert name in SUCCESSORS  # it takes other parameters: only its calls are rewritten
            continue
        unlike = next((each.unlike for each in ADDONS.all() if each.leaf == name), "")
        assert (found.fix.applicability is Applicability.SAFE) is not bool(unlike), name
        assert found.fix.unsafe_because == unlike


def test_names_without_a_definition_stay_beside_those_that_go(tmp_path: Path) -> None:
    before = (
        "import tensorflow_addons as tfa\n\nlayers = tfa.register_all(), tfa.layers.GELU()\n"
        "done = tfa.activations.mish(1.0)  # smooth\n"
    )
    fixed, done = fix(tmp_path, before)
    assert "layers = tfa.register_all(), GELU()\n" in fixed
    assert "done = mish(1.0)  # smooth\n" in fixed
    assert fixed.startswith("import tensorflow_addons as tfa\n")
    (left,) = done.left.findings
    assert left.code == "KD704"


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import tensorflow_addons as tfa\nexcept ImportError:\n    tfa = None\nprint(tfa)\n",
        "import my_addons as tfa\n\ntfa.layers.GELU()\n",
        (
            "import os\n\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nimport tensorflow_addons as tfa\n\n"
            "print(tfa.layers.GELU())\n"
        ),
    ],
)
def test_what_is_guarded_of_others_or_for_keras_2_stays(tmp_path: Path, source: str) -> None:
    assert fix(tmp_path, source)[0] == source


@pytest.mark.parametrize(
    "start",
    [
        "import tensorflow_addons as tfa\nmade = tfa.optimizers.AdamW",
        "from tensorflow_addons.optimizers import AdamW\nmade = AdamW",
    ],
)
def test_the_rate_is_called_what_keras_3_calls_it(tmp_path: Path, start: str) -> None:
    fixed, done = fix(tmp_path, f"{start}(lr=0.01, weight_decay=0.1)  # slow\n")
    assert "made = AdamW(learning_rate=0.01, weight_decay=0.1)  # slow\n" in fixed
    assert done.left.findings == ()
    (found,) = done.found.findings
    assert found.fix.applicability is Applicability.SAFE


def test_an_argument_that_does_something_is_not_dropped(tmp_path: Path) -> None:
    before = (
        "import tensorflow_addons as tfa\n\n"
        "made = tfa.metrics.F1Score(num_classes=numbers.pop()), tfa.metrics.F1Score(len(names))\n"
    )
    fixed, _ = fix(tmp_path, before)
    assert "made = F1Score(num_classes=numbers.pop()), F1Score(len(names))\n" in fixed
    assert "class F1Score(" in fixed


@pytest.mark.frameworks
@pytest.mark.parametrize("name", ["rotate", "F1Score", "mish", "GIoULoss", "GELU", "CohenKappa"])
def test_what_is_recorded_is_what_it_gives_today(name: str) -> None:
    run(name)


@pytest.mark.frameworks
@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", [each for each in NAMES if each not in NOT_COMPARED])
def test_what_is_recorded_is_what_each_gives_today(name: str) -> None:
    run(name)


def run(name: str, spoil=lambda made: made) -> None:
    from kdoctor.verify.addons import compare  # noqa: PLC0415 - imports TensorFlow

    proofs = {"new": _addons.proof_of(SUCCESSORS[name])} if name in SUCCESSORS else {}
    proofs |= {name: proof_of(name)} if name in WRITTEN else {}
    for made, proof in proofs.items():
        found: dict[str, object] = {"keras": keras, "tf": tf}
        exec(proof.after, found)  # noqa: S102 - what is to be proven
        compare(name, spoil(found[made]))


@pytest.mark.frameworks
def test_a_comparison_notices_another_number() -> None:
    spoiled = {
        "mish": lambda made: lambda x: made(x) * 1.001,
        "rotate": lambda made: lambda images, angles, **more: made(images, angles + 0.3, **more),
    }
    for name, spoil in spoiled.items():
        with pytest.raises(AssertionError, match=name):
            run(name, spoil)


def test_each_definition_fits_a_line_and_reads_what_comes_with_keras_and_tensorflow() -> None:
    for name in WRITTEN:
        for each in with_needs(name):
            assert max(map(len, each.text.splitlines())) <= 88
            assert "# " not in each.text
            used = {line.split()[1] for line in each.imports}
            assert used <= {"keras", "numpy", "tensorflow", *sys.stdlib_module_names}


def test_several_names_of_a_file_come_at_once_and_share_what_they_need(tmp_path: Path) -> None:
    uses = "".join(f"print(tfa.{HOMES[each]})\n" for each in WRITTEN)
    fixed, done = fix(tmp_path, f"import tensorflow_addons as tfa\n\n{uses}")
    body = ast.parse(fixed).body
    names = [each.name for each in body if hasattr(each, "name")]
    names += [each.targets[0].id for each in body if isinstance(each, ast.Assign)]
    assert sorted(names) == sorted(set(names))
    assert set(names) >= set(WRITTEN)
    needed = list(itertools.chain.from_iterable(with_needs(each) for each in WRITTEN))
    assert set(names) == {each.name for each in needed}
    assert inspect.cleandoc(done.files[0].after.decode())


OTHERWISE = {
    "tfa.optimizers.AdamW(0.1, 0.2, lr=0.01)": "no argument `lr`",
    "tfa.optimizers.LAMB(0.01, decay=0.1)": "no argument `decay`",
    "tfa.optimizers.LAMB(0.01, weight_decay_rate=0.1)": "no argument `weight_decay_rate`",
    "tfa.optimizers.AdamW(**{'lr': 0.01, 'weight_decay': 0.1})": "no argument `lr`",
    "made = tfa.optimizers.AdamW\nmade(lr=0.01, weight_decay=0.1)": "no argument `lr`",
    "opt = tfa.optimizers.RectifiedAdam()\nprint(opt.lr)": "no `lr`",
    "opt = tfa.optimizers.RectifiedAdam()\nopt.minimize(loss, [v])": "no `minimize`",
    (
        "opt = tfa.optimizers.AdamW(0.1)\nopt.apply_gradients(pairs, decay_var_list=[v])"
    ): "no argument `decay_var_list`",
    (
        "rate = 0.1 * schedule(step)\nopt = tfa.optimizers.AdamW(0.1, learning_rate=rate)"
    ): "take no tensor as learning rate",
    "tfa.optimizers.RectifiedAdam(schedule(0) / 2)": "take no tensor as learning rate",
    "opt = tfa.optimizers.SGDW(0.1)\nopt.weight_decay = 0.2": "to set `weight_decay` later",
}


@pytest.mark.parametrize("use", OTHERWISE)
@pytest.mark.parametrize("by_name", [False, True])
def test_what_optimizers_of_keras_3_refuse_is_not_safe(
    tmp_path: Path, use: str, *, by_name: bool
) -> None:
    source = f"import tensorflow_addons as tfa\n\n{use}\n"
    if by_name:
        name = next(each for each in NAMES if f"tfa.optimizers.{each}" in use)
        used = use.replace("tfa.optimizers.", "")
        source = f"from tensorflow_addons.optimizers import {name}\n\n{used}\n"
    path = tmp_path / "mine.py"
    path.write_text(source)
    found = next(e for e in engine.scan([path], isolated=True).findings if e.code == "KD704")
    assert found.fix.applicability is Applicability.UNSAFE
    assert OTHERWISE[use] in found.fix.unsafe_because


@pytest.mark.parametrize(
    "use",
    [
        "opt = tfa.optimizers.AdamW(args.lr, learning_rate=args.lr, clipnorm=1.0)",
        "def train(lr=0.1, decay=0.2):\n    return tfa.optimizers.RectifiedAdam(lr, weight_decay=decay)",
        "tfa.losses.ContrastiveLoss()\nopt.minimize(loss)",
        "class Mine:\n    def set(self):\n        self.weight_decay = 1\n\n\ntfa.optimizers.LAMB(0.1)",
    ],
)
def test_what_only_looks_like_an_optimizer_of_keras_2_is_safe(tmp_path: Path, use: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"import tensorflow_addons as tfa\n\n{use}\n")
    found = next(e for e in engine.scan([path], isolated=True).findings if e.code == "KD704")
    assert found.fix.applicability is Applicability.SAFE


@pytest.mark.frameworks
def test_images_of_unknown_rank_are_turned_and_moved_as_known_ones_are() -> None:
    found: dict[str, object] = {"keras": keras, "tf": tf}
    for name in ("rotate", "translate", "gaussian_filter2d"):
        exec(proof_of(name).after, found)  # noqa: S102 - what is to be proven
    changes = {
        "rotate": lambda images: found["rotate"](images, 0.4),
        "translate": lambda images: found["translate"](images, [1.0, 2.0]),
        "gaussian_filter2d": found["gaussian_filter2d"],
    }
    for name, change in changes.items():
        unknown = tf.function(change, input_signature=[tf.TensorSpec(None, tf.float32)])
        for shape in ((5, 6), (5, 6, 3), (2, 5, 6, 3)):
            images = tf.reshape(tf.range(5.0 * 6 * 3 * 2), (-1,))[: int(np.prod(shape))]
            images = tf.reshape(images, shape)
            np.testing.assert_allclose(unknown(images), change(images), err_msg=name)


def test_regressors_of_r_square_are_written_out_as_fit_of_keras_3_fails_of_them(
    tmp_path: Path,
) -> None:
    for given, is_own in (("", True), ("num_regressors=0", True), ("num_regressors=4", False)):
        source = f"import tensorflow_addons as tfa\n\nused = tfa.metrics.RSquare({given})\n"
        fixed, _ = fix(tmp_path, source)
        assert "tensorflow_addons" not in fixed
        assert ("class RSquare(" not in fixed) is is_own


@pytest.mark.frameworks
def test_r_square_with_regressors_is_computed_in_fit() -> None:
    found: dict[str, object] = {"keras": keras}
    exec(proof_of("RSquare").after, found)  # noqa: S102 - what is written into files
    metric = found["RSquare"](num_regressors=2)
    x = np.random.default_rng(0).normal(size=(12, 2)).astype("float32")
    y = x @ np.array([[1.0], [2.0]], "float32") + 0.1 * x[:, :1] ** 2
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=[metric])
    (fitted,) = model.fit(x, y, batch_size=12, verbose=0).history["r_square"]
    apart = np.sum((y - model.predict(x, verbose=0)) ** 2) / np.sum((y - y.mean()) ** 2)
    np.testing.assert_allclose(fitted, 1 - apart * 11 / 9, rtol=1e-4)


@pytest.mark.frameworks
@pytest.mark.parametrize("update", [True, False])
def test_averages_are_saved_and_left_in_the_model_if_it_is_to_be_updated(
    tmp_path: Path, *, update: bool
) -> None:
    found: dict[str, object] = {"keras": keras}
    for name in ("MovingAverage", "AverageModelCheckpoint"):
        exec(proof_of(name).after, found)  # noqa: S102 - what is written into files
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile(found["MovingAverage"](keras.optimizers.SGD(0.1), 0.5), "mse")
    file = tmp_path / "mine.weights.h5"
    saver = found["AverageModelCheckpoint"](update, str(file), "loss", 0, False, True)
    x = np.ones((4, 2), "float32")
    model.fit(x, x[:, :1], batch_size=4, verbose=0, callbacks=[saver])
    first, trained = np.ones(2), np.ones(2) - 0.2
    left = model.get_weights()[0]
    kept = (first + trained) / 2 if update else trained
    np.testing.assert_allclose(left[:, 0], kept, rtol=1e-6)
    model.load_weights(file)
    np.testing.assert_allclose(model.get_weights()[0][:, 0], (first + trained) / 2, rtol=1e-6)


def test_a_focal_loss_under_mixed_float16_is_unsafe(tmp_path: Path) -> None:
    """Measured: the loss scale falls from 32,768 to 32 in 60 steps here, as of Keras' own losses."""
    use = "import tensorflow_addons as tfa\n\nloss = tfa.losses.SigmoidFocalCrossEntropy()\n"
    for more, because in (("", ""), ("policy = 'mixed_float16'\n", "took the logits of a sigmoid")):
        path = tmp_path / "mine.py"
        path.write_text(use + more)
        (found,) = engine.scan([path], isolated=True).findings
        assert because in found.fix.unsafe_because
        assert (found.fix.applicability is Applicability.SAFE) is not bool(because)


@pytest.mark.frameworks
def test_rectangles_are_cut_out_somewhere_of_the_size_that_is_asked_for() -> None:
    found: dict[str, object] = {"tf": tf}
    exec(proof_of("random_cutout").after, found)  # noqa: S102 - what is written into files
    cut = found["random_cutout"](np.ones((50, 9, 7, 2), "float32"), (4, 2), seed=1).numpy() == 0
    assert (cut.sum(axis=(1, 2, 3)) == 4 * 2 * 2).all()
    assert len({each.tobytes() for each in cut}) > 10
    with pytest.raises(tf.errors.InvalidArgumentError):
        found["random_cutout"](np.ones((1, 9, 7, 2), "float32"), 3)


VALUES = {
    "custom_objects={'RSquare': tfa.metrics.RSquare}": "RSquare",
    "class Mine(tfa.metrics.F1Score):\n    pass": "F1Score",
    "norms = [tfa.layers.InstanceNormalization, tfa.layers.InstanceNormalization()]": (
        "InstanceNormalization"
    ),
}


@pytest.mark.parametrize("use", VALUES)
def test_classes_with_a_successor_are_written_out_where_they_are_values(
    tmp_path: Path, use: str
) -> None:
    source = f"import tensorflow_addons as tfa\n\nmade = dict({use})\n"
    if not use.startswith("custom"):
        source = f"import tensorflow_addons as tfa\n\n{use}\n"
    fixed, done = fix(tmp_path, source)
    assert "tensorflow_addons" not in fixed
    assert fixed.endswith(
        source.partition("\n\n")[2].replace("tfa.metrics.", "").replace("tfa.layers.", "")
    )
    assert f"\nclass {VALUES[use]}(" in fixed
    (found,) = done.found.findings
    assert found.fix.applicability is Applicability.SAFE


def test_one_use_that_stays_holds_back_no_other(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    before = (
        "import keras\nimport tensorflow_addons as tfa\n\nfirst = tfa.layers.GELU()\n\n\n"
        "def later(x):\n    return tfa.layers.StochasticDepth()(x) + tfa.register_all(x)\n"
    )
    path.write_text(before)
    done = engine.fix([path], apply=True, isolated=True)
    safe = path.read_text()
    assert "first = GELU()\n" in safe
    assert "    return tfa.layers.StochasticDepth()(x) + tfa.register_all(x)\n" in safe
    assert [each.fix.applicability for each in done.left.findings] == [Applicability.UNSAFE]
    fixed, done = fix(tmp_path, before)
    assert "    import tensorflow_addons as tfa\n    return StochasticDepth()(x) + tfa" in fixed
    assert fixed.count("import tensorflow_addons") == 1


def test_an_import_that_is_put_off_is_unsafe(tmp_path: Path) -> None:
    """The proof of imports that are put off is of names of Keras."""
    path = tmp_path / "mine.py"
    path.write_text(
        "import tensorflow_addons as a\n\n\ndef f(x):\n    return a.text.crf_decode(x)\n"
    )
    (found,) = engine.scan([path], isolated=True).findings
    assert found.fix.title == "Import it in the functions that use it"
    assert found.fix.applicability is Applicability.UNSAFE


def test_a_name_that_is_taken_gets_another(tmp_path: Path) -> None:
    source = (
        "import tensorflow_addons as tfa\n\n\ndef loss(y, x):\n"
        "    giou_loss = tfa.losses.giou_loss(y, x)\n    return giou_loss\n\n\n"
        "class AdamW:\n    made = tfa.optimizers.AdamW(0.1)\n\n\n"
        "def cutout(x):\n    return tfa.image.random_cutout(x, 4)\n"
    )
    fixed, done = fix(tmp_path, source)
    assert "    giou_loss = addons_giou_loss(y, x)\n" in fixed
    assert "\ndef addons_giou_loss(" in fixed
    assert "class AdamW:\n    made = AddonsAdamW(0.1)\n" in fixed
    assert "def cutout(x):\n    return random_cutout(x, 4)\n" in fixed
    assert "    return addons_cutout(" in fixed
    assert done.left.findings == ()


def test_a_file_that_imports_keras_in_functions_gets_it_at_the_top_if_asked(tmp_path: Path) -> None:
    source = (
        "def made(rate):\n    import tensorflow_addons as tfa\n\n"
        "    return tfa.optimizers.LazyAdam(rate)\n"
    )
    fixed, done = fix(tmp_path, source)
    assert fixed.startswith("import keras\n\n\ndef rows_of(")
    assert "    return LazyAdam(rate)\n" in fixed
    (found,) = done.found.findings
    assert "Keras is imported with this file" in found.fix.unsafe_because
