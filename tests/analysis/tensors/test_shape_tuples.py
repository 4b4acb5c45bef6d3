"""The layers of the table make a tuple of whatever shape they are asked about."""

import pytest

from kdoctor.analysis.tensors.shapes import _MAKE_A_TUPLE

CREATED = {
    "Bidirectional": "layers.Bidirectional(layers.LSTM(2))",
    "Embedding": "layers.Embedding(9, 2)",
    "Permute": "layers.Permute((2, 1))",
    "RepeatVector": "layers.RepeatVector(3)",
    "Reshape": "layers.Reshape((-1,))",
    "TimeDistributed": "layers.TimeDistributed(layers.Dense(2))",
    **{name: f"layers.{name}(2)" for name in ("Dense", "GRU", "LSTM", "SimpleRNN")},
}
AXES = {"Dense": 3, "Embedding": 2, "Flatten": 3, "RepeatVector": 2}


@pytest.mark.frameworks
@pytest.mark.parametrize("name", sorted(_MAKE_A_TUPLE))
def test_a_layer_makes_a_tuple_of_a_list_and_of_a_tensor_shape(name):
    import tensorflow as tf  # noqa: PLC0415
    from keras import layers  # noqa: PLC0415

    size = "2, 2" if "Conv" in name and not name.startswith("Depthwise") else "2"
    is_sized = "Conv" in name or name.startswith("Average")
    plain = f"layers.{name}({size if is_sized else ''})"
    layer = eval(CREATED.get(name, plain), {"layers": layers})  # noqa: S307 - the table's own
    axes = AXES.get(name) or (int(name[-2]) + 2 if name.endswith("D") else 3)
    sizes = [None, *(8,) * (axes - 1)]
    for shape in (sizes, tuple(sizes)):
        assert type(layer.compute_output_shape(shape)) is tuple
    if name == "TimeDistributed":
        with pytest.raises(ValueError, match="at least 3 dimensions"):
            layer.compute_output_shape(tf.TensorShape(sizes))
    else:
        assert type(layer.compute_output_shape(tf.TensorShape(sizes))) is tuple
