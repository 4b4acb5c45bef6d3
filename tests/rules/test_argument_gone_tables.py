"""What is said of keyword arguments, held against the release data and the installed Keras."""

import inspect
import operator
import re

import pytest

from kdoctor import keras_api
from kdoctor.analysis.keras_calls import BASES, RELEASES
from kdoctor.analysis.keyword_changes import CHANGES, REFUSALS, TAKEN, is_taken, was_taken
from kdoctor.engine import fix, scan
from kdoctor.keras_api import newest_target, resolve_target
from kdoctor.rules.arguments.argument_gone import _LOOKUPS
from kdoctor.value_types import Kind

TARGET = newest_target()
OLD = [resolve_target(f"keras=={release}", "test") for release in RELEASES]
# One callable for each word that a row goes by.
CALLABLES = {
    Kind.OPTIMIZER: "keras.optimizers.Adam",
    Kind.LAYER: "keras.layers.LSTM",
    **{name: f"keras.optimizers.{name}" for name in ("Nadam",)},
    **{name: f"keras.Model.{name}" for name in ("fit", "evaluate", "predict", "compile")},
    "adapt": "keras.layers.Normalization.adapt",
    "reset_states": "keras.layers.LSTM.reset_states",
    **{name: f"keras.callbacks.{name}" for name in ("ModelCheckpoint", "TensorBoard")},
    **{name: f"keras.layers.{name}" for name in ("BatchNormalization", "Embedding")},
    **{
        f"{sort}{rank}D": f"keras.layers.{sort}{rank}D"
        for sort in ("SeparableConv", "SeparableConvolution", "DepthwiseConv")
        for rank in (1, 2)
    },
    **{
        name: f"keras.layers.{name}"
        for name in ("Attention", "AdditiveAttention", "LSTM", "GRU", "SimpleRNN")
    },
    **{
        name: f"keras.layers.{name}"
        for name in ("CategoryEncoding", "Discretization", "IntegerLookup")
    },
    "image_dataset_from_directory": "keras.utils.image_dataset_from_directory",
    **{name: f"keras.regularizers.{name}" for name in ("l1", "l2")},
    **{name: f"keras.utils.{name}" for name in ("to_categorical", "load_img", "plot_model")},
    **{name: f"keras.layers.{name}" for name in ("serialize", "deserialize")},
    "Input": "keras.Input",
    "relu": "keras.activations.relu",
    **{each: f"keras.layers.Layer.{each}" for each in ("add_weight", "add_loss", "compute_mask")},
    **{each: f"keras.Model.{each}" for each in ("train_on_batch", "test_on_batch")},
    ("add_weight", "aggregation"): "keras.metrics.Metric.add_weight",  # a layer takes it still
    "apply_gradients": "keras.optimizers.Optimizer.apply_gradients",
}


@pytest.mark.parametrize(("word", "keyword"), CHANGES, ids=str)
def test_each_keyword_of_the_table_was_there_and_is_gone(word, keyword):
    name = CALLABLES.get((word, keyword)) or CALLABLES[word]
    kind = word if isinstance(word, Kind) else None
    new = keras_api.signature(name, TARGET)
    olds = [found for each in OLD if (found := keras_api.signature(name, each)) is not None]

    assert new.parameter(keyword) is None
    leaf = name.rpartition(".")[2]
    assert was_taken(leaf, kind, keyword) or any(each.parameter(keyword) for each in olds)
    if renamed := CHANGES[word, keyword].renamed:
        assert new.parameter(renamed) is not None


@pytest.mark.parametrize(
    ("release", "ratings"),
    [
        ("3.3.3", {"True": "unsafe", "False": None}),
        ("3.14.1", {"True": "unsafe", "False": None}),
        ("3.15.1", {"True": "safe", "False": "unsafe"}),
    ],
)
@pytest.mark.parametrize("method", ["train_on_batch", "test_on_batch"])
def test_metrics_of_a_batch_are_no_others_from_3_15_on(method, release, ratings):
    # Run: three batches of error 1, 3 and 5 have a mean of 1, 9 and 25 on 3.15.1, as on Keras 2,
    # and of 1, 5 and 11.67, as with `reset_metrics=False` there, on 3.3.3, 3.6.0, 3.10.0, 3.13.2,
    # 3.14.0 and 3.14.1.
    for value, rating in ratings.items():
        source = (
            "import keras\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
            f"model.{method}(x, y, reset_metrics={value})\n"
        )
        found = scan(["-"], stdin=source.encode(), select=["KD303"], target=f"keras=={release}")
        assert [each.fix and each.fix.applicability for each in found.findings] == [rating]


def test_before_3_15_the_metrics_are_reset_where_they_were():
    source = """import keras
model = keras.Sequential([keras.layers.Dense(1)])
for x, y in data:
    loss = model.train_on_batch(x, y, reset_metrics=True)
    mean = model.test_on_batch(x, y, reset_metrics=False)
"""
    wanted = """import keras
model = keras.Sequential([keras.layers.Dense(1)])
for x, y in data:
    model.reset_metrics()
    loss = model.train_on_batch(x, y)
    mean = model.test_on_batch(x, y, reset_metrics=False)
"""
    fixed = fix(["-"], stdin=source.encode(), unsafe=True, target="keras==3.14.1")
    assert fixed.files[0].after.decode() == wanted


@pytest.mark.frameworks
def test_what_keras_3_takes_out_of_its_kwargs_is_what_its_sources_say():
    import keras  # noqa: PLC0415

    found = {}
    for name, cls in {**vars(keras.layers), **vars(keras.optimizers)}.items():
        init = vars(cls).get("__init__") if inspect.isclass(cls) else None
        if init is not None:
            source = inspect.getsource(init)
            names = re.findall(r"kwargs\.pop\(\s*[\"'](\w+)", source)
            names += re.findall(r"[\"'](\w+)[\"'] in kwargs", source)
            found[name] = set(names)
    own = {"trainable", "dtype"}  # parameters of every layer
    assert found["Layer"] == {"input_dim", "input_shape"}
    for name, names in found.items():
        if name != "Layer":
            assert names - own == TAKEN.get(name, frozenset()), name


@pytest.mark.frameworks
def test_a_layer_and_an_optimizer_refuse_what_is_not_said_to_be_taken():
    import keras  # noqa: PLC0415

    for keyword in ("weights", "batch_size", "dynamic", "time_major", "batch_input_shape"):
        assert is_taken("Dense", Kind.LAYER, keyword) is False
        with pytest.raises(ValueError, match="Unrecognized keyword"):
            keras.layers.Dense(3, **{keyword: 1})
    for keyword in ("lr", "jit_compile"):
        assert is_taken("Adam", Kind.OPTIMIZER, keyword) is False
        with pytest.raises(ValueError, match="not recognized"):
            keras.optimizers.Adam(**{keyword: 1})
    assert is_taken("Adam", Kind.OPTIMIZER, "decay")
    with pytest.warns(UserWarning, match="no longer supported"):
        keras.optimizers.Adam(decay=0.1)


@pytest.mark.frameworks
def test_methods_refuse_the_rest_of_their_kwargs_where_their_sources_say_so():
    import keras  # noqa: PLC0415

    found = {}
    for base in BASES.values():
        for leaf, method in inspect.getmembers(operator.attrgetter(base[6:])(keras), callable):
            olds = (keras_api.signature(f"{base}.{leaf}", each) for each in OLD)
            if not leaf.startswith("_") and any(each is not None for each in olds):
                source = inspect.getsource(method)
                if re.search(r"if kwargs:\n\s+raise", source):
                    found[leaf] = re.findall(r"kwargs\.pop\(\s*[\"'](\w+)", source)

    assert list(found) == list(REFUSALS) == ["evaluate"]
    assert all(is_taken(leaf, None, each) for leaf, names in found.items() for each in names)
    assert not is_taken("evaluate", None, "workers")
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=re.escape("Arguments not recognized: {'workers': 2}")):
        model.evaluate(keras.ops.ones((1, 1)), keras.ops.ones((1, 1)), workers=2)


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(_LOOKUPS))
def test_lookups_refuse_keywords_in_words_of_their_own(name):
    import keras  # noqa: PLC0415

    with pytest.raises(ValueError, match=r"^Unrecognized keyword argument\(s\): {'bins': 1}"):
        getattr(keras.layers, name)(bins=1)


@pytest.mark.parametrize(
    ("source", "gone"),
    [
        ("from keras.optimizers import Adam\nAdam(lr=1)", ["lr"]),
        ("from keras import optimizers as o\no.SGD(0.1, lr=1)", ["lr"]),
        # A moved name is what it is now: the fix of the move must not hide the argument.
        ("from keras.layers.normalization import BatchNormalization as B\nB(fused=1)", ["fused"]),
        ("from keras.layers import Embedding\nEmbedding(1, 2, weights=[w], sparse=1)", ["sparse"]),
        ("import keras\nkeras.optimizers.legacy.Adam(lr=1)", []),
        ("import keras\nkeras.layers.Dense(3, nonsense=1)", []),
        ("import keras\nkeras.Sequential().evaluate(1, 2, workers=2)", ["workers"]),
        ("import keras\nkeras.Sequential().evaluate(1, 2, nonsense=2)", []),
        ("import keras\nkeras.Sequential().evaluate(1, 2, **{'workers': 2})", ["workers"]),
        ("import keras\nkeras.Sequential().evaluate(1, 2, **given)", []),
        ("import keras\nkeras.utils.get_file('a', 'b', nonsense=1)", []),
        ("from tensorflow.keras.callbacks import TensorBoard as T\nT('l', batch_size=3)",
         ["batch_size"]),
    ],
)  # fmt: skip
def test_gone_keywords_are_found_under_any_name(source, gone):
    findings = scan(["-"], stdin=source.encode(), select=["KD303"]).findings

    assert [each.symbol.partition("(")[2][:-1] for each in findings] == gone
