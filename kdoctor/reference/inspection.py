"""Look into a model without private attributes such as ``_keras_history``."""

import keras


def intermediate_outputs(model, inputs, names=None):
    """Return what the layers of a functional or sequential model give, as NumPy arrays by name.

    Args:
        model: a built functional or sequential model.
        inputs: one batch, as ``model`` takes it.
        names: the layers wanted; None for all but the inputs.

    Raises:
        ValueError: a name is of no layer, or of a layer that was called several times (each call
            has an output of its own: make a ``keras.Model`` with the one that you want).
    """
    layers = [model.get_layer(name) for name in names] if names else _computing(model)
    symbolic = {layer.name: layer.output for layer in layers}
    outputs = keras.Model(model.input, symbolic)(inputs, training=False)
    # In the order of the layers: what a model returns may be sorted by name.
    return {
        name: keras.tree.map_structure(keras.ops.convert_to_numpy, outputs[name])
        for name in symbolic
    }


def _computing(model):
    return [layer for layer in model.layers if not isinstance(layer, keras.layers.InputLayer)]


def made_by(tensor, model):
    """Return the layer of ``model`` that made a symbolic tensor, or None.

    Layers that were called several times are asked through ``layer.output`` too, which Keras
    refuses for them: they are passed over.
    """
    for layer in model.layers:
        try:
            outputs = keras.tree.flatten(layer.output)
        except (AttributeError, ValueError):
            continue
        if any(output is tensor for output in outputs):
            return layer
    return None


def unique_name(prefix):
    """Return ``prefix_1``, ``prefix_2`` … : a name that this process did not give out before.

    The counter is the one that Keras names layers with; ``keras.backend.clear_session()`` sets
    it back.
    """
    return f"{prefix}_{keras.backend.get_uid(prefix)}"
