"""KD102 beyond its examples: where it speaks, what it mends, and what it calls safe."""

import pytest

from kdoctor.analysis import facts
from kdoctor.engine import fix, scan
from kdoctor.model import Fix
from kdoctor.rules.names._moved_calls import WRITTEN_OUT
from kdoctor.rules.names.missing_name import check


@pytest.fixture
def proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule's own examples count as proven, so that its own judgement shows."""
    monkeypatch.setattr(facts, "proofs_that_hold", lambda: {each.id for each in check.invalid})


def findings(source: str, target: str | None = None):
    return scan(["-"], stdin=source.encode(), select=["KD102"], target=target).findings


def mended(source: str) -> str:
    result = fix(["-"], stdin=source.encode(), select=["KD102"], unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else source


def safety(source: str) -> list[str]:
    return [str(each.fix.applicability) for each in findings(source) if each.fix]


def test_each_alias_of_an_import_is_a_place_of_its_own() -> None:
    found = findings("from keras.layers.core import Dense, Dropout")
    assert [(each.symbol, each.place.column) for each in found] == [
        ("keras.layers.core.Dense", 31),
        ("keras.layers.core.Dropout", 38),
    ]


def test_a_name_that_is_read_through_tensorflow_is_reported() -> None:
    (found,) = findings("import tensorflow as tf\ntf.keras.layers.DenseFeatures(columns)")
    assert found.symbol == "tensorflow.keras.layers.DenseFeatures"
    assert "module 'keras._tf_keras.keras.layers' has no attribute" in found.message


def test_uses_of_a_missing_import_are_not_reported_again() -> None:
    assert len(findings("from keras.models import Input\nInput((3,))\nInput((4,))")) == 1


def test_a_use_that_cannot_be_rewritten_is_reported_and_keeps_the_import() -> None:
    source = "from keras.utils import np_utils\n\nnp_utils.to_categorical(y)\nnp_utils.nothing(y)\n"
    use = findings(source)[1]
    assert (use.place.line, use.symbol) == (4, "keras.utils.np_utils.nothing")
    assert use.no_fix_because
    after = mended(source)
    assert "utils.to_categorical(y).astype('float32')\nnp_utils.nothing(y)\n" in after
    assert "import np_utils" in after
    assert mended(after) == after


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("('mixed_float16', loss_scale=1024)", "does not accept `loss_scale=`"),
        ("('mixed_float16', 'dynamic')", "does not accept `loss_scale`"),
    ],
)
def test_a_namesake_is_no_fix_where_it_surely_refuses_what_is_passed(call, why) -> None:
    line = "from tensorflow.keras.mixed_precision import experimental as mp\n\n"
    source = f"{line}a = mp.Policy{call}\nmp.set_policy(a)\n"
    use = findings(source)[1]
    assert use.no_fix_because == f"`keras.mixed_precision.Policy` {why}"
    assert use.help
    assert call in mended(source)
    accepted = f"{line}a = mp.Policy{call.partition(',')[0]})\n"
    assert f" mixed_precision.Policy{call.partition(',')[0]})\n" in mended(accepted)


@pytest.mark.parametrize(
    ("passed", "kept"),
    [
        ("mine, 'dynamic'", "mine"),
        ("mine, loss_scale='dynamic'", "mine"),
        ("loss_scale='dynamic', optimizer=mine", "inner_optimizer=mine"),
    ],
)
def test_the_scale_that_adapts_itself_is_no_second_argument_any_more(passed, kept) -> None:
    line = "import tensorflow as tf\n\na = tf.keras.mixed_precision.{}LossScaleOptimizer({})\n"
    assert mended(line.format("experimental.", passed)) == line.format("", kept)


def test_a_place_that_a_namesake_keeps_for_something_else_is_no_fix() -> None:
    module = "tensorflow.python.keras.mixed_precision.experimental.loss_scale_optimizer"
    source = f"from {module} import LossScaleOptimizer\n\nLossScaleOptimizer(mine{{}})\n"
    assert findings(source.format(", 'dynamic'"))[0].no_fix_because == (
        "`keras.mixed_precision.LossScaleOptimizer` takes `initial_scale` where `loss_scale` is "
        "passed"
    )
    assert findings(source.format(""))[0].fix


@pytest.mark.parametrize("scale", ["128", "loss_scale=128", "loss_scale=asked", "*asked"])
def test_what_another_scale_is_today_is_not_guessed(scale) -> None:
    source = f"import keras\nkeras.mixed_precision.experimental.LossScaleOptimizer(mine, {scale})\n"
    assert findings(source)[0].no_fix_because
    assert mended(source) == source


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("from keras.utils import multi_gpu_model", "multi_gpu_model(model)"),
        ("from keras.utils import np_utils", "np_utils.to_categorical(y)"),
        ("import keras.utils.np_utils", "keras.utils.np_utils.to_categorical(y)"),
        ("from keras.backend import control_flow_ops", "control_flow_ops(y)"),
    ],
)
def test_an_import_stays_that_only_code_for_an_older_keras_names(line: str, use: str) -> None:
    source = f"import keras\n{line}\n\nif keras.__version__ < '3':\n    {use}\n"
    found = scan(["-"], stdin=source.encode(), select=["KD101", "KD102"]).findings
    assert [each.place.line for each in found] == [2]
    assert "never reaches" in str(found[0].no_fix_because)

    others = f"{source}else:\n    {use}\n"
    assert line in mended(mended(others))


def test_what_an_alias_stands_for_is_reported_where_it_is_bound() -> None:
    found = findings("import keras\nL = keras.layers.core\nL.Dense(3)")
    assert [(each.place.line, each.symbol) for each in found] == [(2, "keras.layers.core")]


def test_only_the_missing_part_of_a_name_is_marked() -> None:
    (found,) = findings("import keras\nkeras.layers.core.Dense(3)")
    assert (found.place.column, found.place.end_column) == (1, 18)


def test_a_star_import_of_a_missing_module_is_left_to_people() -> None:
    (found,) = findings("from keras.layers.core import *\nprint(3)")
    assert "ModuleNotFoundError: No module named 'keras.layers.core'" in found.message
    assert found.no_fix_because


@pytest.mark.parametrize("later", ["keras.models", "keras.callbacks"])
def test_what_a_later_star_import_binds_no_more_an_earlier_one_still_does(later: str) -> None:
    stars = f"from keras.layers import *\nfrom {later} import *\n"
    assert not findings(f"{stars}Input((3,))\nclass Own(Layer): pass")


def test_a_string_annotation_raises_nothing() -> None:
    assert not findings("import keras\nx: 'keras.layers.core.Dense'")


def test_a_name_that_another_root_still_has_says_so() -> None:
    (found,) = findings("from keras.preprocessing.image import ImageDataGenerator")
    assert "tensorflow.keras.preprocessing.image.ImageDataGenerator" in found.help


def test_on_keras_2_the_old_names_are_there() -> None:
    source = "from keras.utils import np_utils\nfrom keras.layers.core import Dense"
    assert not findings(source, "keras==2.10")
    assert len(findings(source, "keras==3.15.1")) == 2


@pytest.mark.usefixtures("proven")
@pytest.mark.parametrize(
    "call",
    [
        "from keras.models import Input\nInput(shape=(4,))",
        "from keras.utils.np_utils import to_categorical\nto_categorical(y, 10)",
        "from keras.layers.core import Dense\nDense(10, activation='relu')",
        "from keras.engine.topology import Layer\n\n\nclass Mine(Layer):\n    pass",
        "from keras.layers.normalization import BatchNormalization\nBatchNormalization()",
        "from keras.layers.advanced_activations import LeakyReLU\nLeakyReLU(alpha=0.1)",
        "from keras.layers.embeddings import Embedding\nEmbedding(9, 3, input_length=4)",
        "from keras.utils.generic_utils import CustomObjectScope\nCustomObjectScope(objects)",
    ],
)
def test_a_call_that_binds_the_same_parameters_makes_the_fix_safe(call: str) -> None:
    assert safety(call) == ["safe"]


@pytest.mark.usefixtures("proven")
def test_what_a_call_is_refused_for_is_told_apart_from_the_import() -> None:
    use = "B(weights=w, mode=0)\n"
    source = f"from keras.layers.normalization import BatchNormalization as B\n{use}"
    assert safety(source) == ["safe"]
    assert mended(source) == f"from keras.layers import BatchNormalization as B\n{use}"
    left = scan(["-"], stdin=mended(source).encode(), target="keras==3.15.1").findings
    assert [each.code for each in left] == ["KD311", "KD310"]


@pytest.mark.usefixtures("proven")
@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("from keras.layers.core import Dense\nDense(*sizes)", "what is given cannot be told"),
        ("from keras.utils.generic_utils import CustomObjectScope\nCustomObjectScope(a, b)", "two"),
        ("from keras.layers.recurrent import LSTM\nLSTM(3)", "another default"),
        ("from keras.layers.core import Dense\nDense(3)\nDense(**sizes)", "one of two"),
        ("from keras.layers.recurrent import GRU\nGRU(3, 'tanh')", "a default of two is kept"),
    ],
)
def test_a_call_that_may_mean_something_else_makes_the_fix_unsafe(call: str, why: str) -> None:
    assert safety(call) == ["unsafe"], why


@pytest.mark.usefixtures("proven")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from keras.utils.generic_utils import Progbar\n\nProgbar(9)\nProgbar(9, 5)\n",
            "from keras.utils import Progbar\n\nProgbar(9, width=30)\nProgbar(9, 5)\n",
        ),
        (
            "from keras.utils import generic_utils\n\ngeneric_utils.Progbar(target=9)\n",
            "from keras import utils\n\nutils.Progbar(target=9, width=30)\n",
        ),
        (
            "import keras\n\nkeras.utils.generic_utils.Progbar(f(keras.layers.core.Dense(2)))\n",
            "import keras\n\nkeras.utils.Progbar(f(keras.layers.Dense(2)), width=30)\n",
        ),
        (
            "from keras.layers.pooling import AveragePooling2D as P\n\nP(P().strides[0])\n",
            "from keras.layers import AveragePooling2D as P\n\nP(P(pool_size=(2, 2)).strides[0])\n",
        ),
        (
            "from keras.layers.recurrent import GRU\n\nGRU(3, 'tanh', 'sigmoid')\n",
            "from keras.layers import GRU\n\nGRU(3, 'tanh', 'sigmoid', reset_after=False)\n",
        ),
    ],
)
def test_the_old_default_is_written_at_the_calls_that_rest_on_it(before: str, after: str) -> None:
    assert set(safety(before)) == {"safe"}
    assert mended(before) == after


@pytest.mark.parametrize("call", ["Progbar(*sizes)", "Progbar(**sizes)", "Progbar"])
def test_no_default_is_written_where_it_may_be_given(call: str) -> None:
    after = mended(f"from keras.utils.generic_utils import Progbar\n\n{call}\n")
    assert after == f"from keras.utils import Progbar\n\n{call}\n"


def test_an_example_runs_each_parameter_of_which_the_old_default_is_written() -> None:
    moved = {each.id for each in check.group("moved")}
    fixed = "\n".join(each.after or "" for each in check.invalid if each.id in moved)
    assert {each for each in WRITTEN_OUT if f"{each}=" not in fixed} == set()


def test_a_name_that_came_after_the_target_is_not_said_to_be_gone() -> None:
    (found,) = findings("from keras.losses import Loss", target="keras==2.2.4")
    assert "`keras.losses.Loss` does not exist yet (first in keras 2.3.0)" in found.message


def test_the_fallback_of_a_private_module_that_went_is_reported() -> None:
    source = (
        "try:\n    from keras.src.engine import base_layer\nexcept ImportError:\n"
        "    from keras.engine import base_layer\nbase_layer.Layer()"
    )
    assert [each.symbol for each in findings(source)] == ["keras.engine.base_layer"]


def test_what_only_tf_keras_has_takes_another_name_than_what_keras_has_too() -> None:
    source = (
        "from keras.layers.preprocessing import image_preprocessing as images\n\n"
        "both = [images.RandomFlip(), images.RandomHeight(0.1)]\n"
    )
    result = fix(["-"], stdin=source.encode(), unsafe=True, target="keras==3.15.1")
    assert result.found.unreadable == ()
    assert result.files[0].after.decode() == (
        "from keras import layers\nfrom tensorflow.keras import layers as keras_layers\n\n"
        "both = [layers.RandomFlip(), keras_layers.RandomHeight(0.1)]\n"
    )


@pytest.mark.parametrize("above", ["", "from keras.models import Model\n"])
def test_what_only_tf_keras_has_comes_from_there_in_a_function_too(above: str) -> None:
    source = (
        f"{above}def f():\n"
        "    from keras.layers.advanced_activations import ThresholdedReLU\n"
        "    return ThresholdedReLU()\n"
    )
    assert mended(source) == source.replace(
        "keras.layers.advanced_activations", "tensorflow.keras.layers"
    )


def test_what_the_copy_of_keras_2_has_elsewhere_is_not_looked_for_in_keras() -> None:
    source = "from tensorflow.python.keras.utils import GeneratorEnqueuer\n\nGeneratorEnqueuer(x)\n"
    (found,) = scan(["-"], stdin=source.encode(), select=["KD102"]).findings
    assert found.fix is None


def test_what_is_read_off_a_module_that_another_file_hands_on_is_reported(tmp_path) -> None:
    (tmp_path / "pk").mkdir()
    (tmp_path / "pk" / "__init__.py").write_text("")
    (tmp_path / "pk" / "backend.py").write_text(
        "from tensorflow import keras\nfrom keras.utils import np_utils\n"
    )
    (tmp_path / "pk" / "use.py").write_text(
        "from pk.backend import keras, np_utils\n\nkeras.layers.CuDNNLSTM(3)\n"
        "np_utils.to_categorical(y)\nkeras.layers.Dense(3)\n"
    )
    found = scan([str(tmp_path)], select=["KD102"]).findings
    # What is not there to be handed on is told of where it is imported.
    assert [(each.place.path.rpartition("/")[2], each.place.line) for each in found] == [
        ("backend.py", 2),
        ("use.py", 3),
    ]


@pytest.mark.parametrize(
    ("use", "line"),
    [
        ("from pk import parts as K\n\nx = K.initializers.normal()\n", 3),
        ("import pk.parts\n\nx = pk.parts.initializers.normal()\n", 3),
        ("import pk.parts as K\n\ninits = K.initializers\nx = inits.normal()\n", 4),
        ("from pk.parts import initializers\n\nx = initializers.normal()\n", 3),
    ],
)
def test_what_is_read_off_a_module_of_the_project_is_reported_where_it_is_written(
    tmp_path, use: str, line: int
) -> None:
    (tmp_path / "pk").mkdir()
    (tmp_path / "pk" / "__init__.py").write_text("")
    (tmp_path / "pk" / "parts.py").write_text(
        "import os\n\nif os.environ.get('ROOT') == 'keras':\n    from keras import initializers\n"
        "else:\n    from tensorflow.keras import initializers\n"
    )
    (tmp_path / "pk" / "use.py").write_text(use)
    found = scan([str(tmp_path)], select=["KD102"]).findings
    assert [(each.place.path.rpartition("/")[2], each.place.line) for each in found] == [
        ("use.py", line)
    ]
    assert all(isinstance(each.fix, Fix) or line == 4 for each in found)


def test_what_a_module_of_the_project_lacks_itself_is_reported_there_alone(tmp_path) -> None:
    (tmp_path / "parts.py").write_text("from keras.layers import CuDNNLSTM\n")
    (tmp_path / "use.py").write_text("import parts\n\nx = parts.CuDNNLSTM(3).input\n")
    found = scan([str(tmp_path)], select=["KD102"]).findings
    assert [each.place.path.rpartition("/")[2] for each in found] == ["parts.py"]


@pytest.mark.parametrize(
    "source",
    [
        "from keras.layers.core import *\n",
        "from keras.engine.topology import *\n\nLayer()\n",
        # In the package there is nothing of that name.
        "from keras.layers.core import *\n\nDense(TFOpLambda)\n",
    ],
)
def test_a_star_import_stays_where_the_package_may_not_have_all(source) -> None:
    assert mended(source) == source


def test_what_only_a_private_name_has_now_goes_where_nothing_uses_it() -> None:
    imports = "from keras.layers.pooling import _Pooling1D\nfrom keras.layers import Dense\n"
    assert mended(f"{imports}Dense(1)\n") == "from keras.layers import Dense\nDense(1)\n"
    derived = f"{imports}\n\nclass Mine(_Pooling1D):\n    pass\n"
    assert mended(derived) == derived
    assert mended(f"{imports}__all__ = ['_Pooling1D', 'Dense']\n").startswith(imports)
