"""Look into a built model."""
import keras
from keras import backend as K
from keras import ops


def producers(model: keras.Model):
    """The names of the layers that made the outputs."""
    return [tensor._keras_history.operation.name for tensor in model.outputs]


def first_producer(model: keras.Model):
    return model.outputs[0]._keras_history[0].name


def describe(model: keras.Model):
    total = keras.ops.sum(
        [
            ops.prod(ops.convert_to_tensor(tuple(w.shape), dtype=keras.config.floatx()))
            for w in model.weights
        ]
    )
    print('parameters:', ops.convert_to_numpy(total)[()])
    for weight in model.weights:
        print(weight.unique_object_name, tuple(weight.shape))


def fresh_name(prefix):
    return K.unique_object_name(prefix)
