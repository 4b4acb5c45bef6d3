"""Inferred shapes of symbolic tensors are those that Keras makes of the same code."""

import pytest

from kdoctor.analysis.models.layer_inputs import shape_of_symbolic
from kdoctor.analysis.tensors.layer_shapes import AXES_OF, KEEP_SHAPE, MERGING, POOLED_AXES
from tests.analysis.conftest import asked_in

PRELUDE = "import keras\nfrom keras import layers, ops, Input\n"
SIZES = {2: "(12,)", 3: "(8, 12)", 4: "(8, 8, 12)", 5: "(8, 8, 8, 12)"}
ARGUMENTS = {"Activation": "'relu'", "GroupNormalization": "2", "Rescaling": "2.0"}


def _arguments(name: str) -> str:
    if name.startswith("Depthwise"):
        return "2"
    if "Conv" in name:
        return "3, 2"
    if name.startswith("AveragePooling"):
        return "2"
    rate = "0.1" if "Dropout" in name or "Noise" in name else ""
    return ARGUMENTS.get(name, rate)


OF_ANY_RANK = [
    f"layers.{name}({_arguments(name)})(Input({sizes}))"
    for name in sorted(KEEP_SHAPE)
    for rank, sizes in SIZES.items()
    if not name.endswith("D") or int(name[-2]) + 2 == rank
]
OF_ONE_RANK = [
    f"layers.{name}({_arguments(name)})(Input({SIZES[rank]}))"
    for name, rank in sorted((AXES_OF | POOLED_AXES).items())
]
MERGED = [f"layers.{name}()([Input((3, 4)), Input((3, 4))])" for name in sorted(MERGING)]
WRITTEN = [
    "layers.MaxPool1D()(Input((8, 12)))",
    "layers.GlobalAvgPool2D()(Input((8, 8, 12)))",
    "layers.Convolution1D(3, 2)(Input((8, 12)))",
    "Input((3, 4))",
    "Input(shape=[None, 4])",
    "Input(batch_shape=(2, 3))",
    "Input(())",
    "layers.Dense(5)(Input((3, 4)))",
    "layers.Dense(units=5)(Input((3,)))",
    "layers.Embedding(10, 6)(Input((7,)))",
    "layers.Flatten()(Input((3, 4)))",
    "layers.Flatten()(Input(()))",
    "layers.RepeatVector(3)(Input((4,)))",
    "layers.Reshape((2, 6))(Input((3, 4)))",
    "layers.Reshape([-1, 6])(Input((3, 4)))",
    "layers.Permute((2, 1))(Input((3, 4)))",
    "layers.LSTM(5)(Input((3, 4)))",
    "layers.GRU(5, return_sequences=True)(Input((3, 4)))",
    "layers.SimpleRNN(5)(Input((3, 4)))",
    "layers.Bidirectional(layers.LSTM(5, return_sequences=True))(Input((3, 4)))",
    "layers.Bidirectional(layers.LSTM(5), merge_mode='sum')(Input((3, 4)))",
    "layers.TimeDistributed(layers.Dense(5))(Input((3, 4)))",
    "layers.TimeDistributed(layers.GlobalMaxPooling1D())(Input((3, 4, 5)))",
    "layers.Concatenate()([Input((3, 4)), Input((3, 5))])",
    "layers.Concatenate(axis=1)([Input((3, 4)), Input((2, 4))])",
    "ops.sum(Input((3, 4)), axis=-1)",
    "ops.mean(Input((3, 4)), axis=[1, 2])",
    "ops.max(Input((3, 4)), axis=1, keepdims=True)",
    "ops.std(Input((3, 4)), 1)",
    "ops.expand_dims(Input((3, 4)), 1)",
    "ops.expand_dims(Input((3, 4)), axis=-1)",
    "ops.squeeze(Input((1, 4)), axis=1)",
    "ops.reshape(Input((3, 4)), (-1, 12))",
    "ops.transpose(Input((3, 4)), (0, 2, 1))",
    "ops.concatenate([Input((3, 4)), Input((3, 5))], axis=-1)",
    "ops.stack([Input((3,)), Input((3,))], axis=1)",
    "ops.stack([Input((3,)), Input((3,))])",
    "ops.matmul(Input((3, 4)), Input((4, 5)))",
    "Input((3, 4)) @ Input((4, 5))",
    "ops.softmax(Input((3, 4)))",
    "ops.cast(Input((3, 4)), 'float16')",
    "ops.clip(Input((3, 4)), 0, 1)",
    "ops.maximum(Input((3, 1)), Input((1, 4)))",
    "Input((3, 4)) * Input((4,))[:, None]",
    "2 * Input((3, 4)) - 1.5",
    "-Input((3, 4)) / 2",
    "Input((3, 4))[:, 0]",
    "Input((3, 4))[:, -1, :]",
    "Input((3, 4))[..., 0]",
    "Input((3, 4))[:, :, None]",
    "Input((3, 4))[..., None]",
    "Input((3, 4))[:, 1:]",
]


@pytest.mark.frameworks
@pytest.mark.parametrize("code", [*OF_ANY_RANK, *OF_ONE_RANK, *MERGED, *WRITTEN])
def test_an_inferred_shape_is_that_of_keras(code):
    inferred = _inferred(code)
    run: dict[str, object] = {}
    exec(f"{PRELUDE}made = {code}", run)  # noqa: S102 - it is written above
    real = tuple(run["made"].shape)

    assert inferred is not None, "not known"
    assert len(inferred) == len(real)
    assert all(each in (None, size) for each, size in zip(inferred, real, strict=True))


@pytest.mark.parametrize(
    "code",
    [
        "layers.LSTM(5, return_state=True)(Input((3, 4)))",
        "layers.Conv1D(3, 2)(Input((3, 4, 5)))",
        "layers.Dense(*given)(Input((3, 4)))",
        "layers.GlobalMaxPooling1D(keepdims=True)(Input((3, 4)))",
        "layers.Reshape(shape)(Input((3, 4)))",
        "Input(shape)",
        "ops.sum(Input((3, 4)), axis=axis)",
        "ops.sum(Input((3, 4)), axis=1, keepdims=flag)",
        "ops.squeeze(Input((3, 4)))",
        "ops.dot(Input((3, 4)), Input((3, 4)))",
        "Input((3, 4))[:, index]",
        "layers.Concatenate()(tensors)",
    ],
)
def test_what_the_code_does_not_tell_is_not_known(code):
    assert _inferred(code) is None


def _inferred(code):
    module, node = asked_in(f"{PRELUDE}here({code})\n")
    return shape_of_symbolic(module, node)
