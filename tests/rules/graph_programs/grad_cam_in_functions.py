import keras.backend as K
import numpy as np


def normalize(tensor):
    return tensor / (K.sqrt(K.mean(K.square(tensor))) + 1e-5)


def compile_gradient_function(model, category, layer_name):
    one_hot = K.one_hot([category], model.output_shape[-1])
    loss = K.sum(model.layers[-1].output * one_hot)
    conv_output = model.get_layer(layer_name).output
    gradients = normalize(K.gradients(loss, conv_output)[0])
    return K.function([model.input, K.learning_phase()], [conv_output, gradients])


def class_activation_map(gradient_function, image):
    output, evaluated_gradients = gradient_function([image, False])
    output, evaluated_gradients = output[0, :], evaluated_gradients[0, :, :, :]
    weights = np.mean(evaluated_gradients, axis=(0, 1))
    cam = np.ones(output.shape[0:2], dtype=np.float32)
    for index, weight in enumerate(weights):
        cam += weight * output[:, :, index]
    return np.maximum(cam, 0)


image = np.linspace(-1, 1, 192).reshape(1, 8, 8, 3)
result = [
    class_activation_map(compile_gradient_function(make_model(), category, name), image)
    for category in (0, 2)
    for name in ("conv1", "conv2")
]
