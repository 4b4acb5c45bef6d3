import numpy as np
from keras import backend as K


def compile_saliency_function(model, activation_layer="conv2"):
    input_image = model.input
    layer_output = model.get_layer(activation_layer).output
    max_output = K.max(layer_output, axis=3)
    saliency = K.gradients(K.sum(max_output), input_image)[0]
    return K.function([input_image, K.learning_phase()], [saliency])


saliency_function = compile_saliency_function(make_model())
x = np.linspace(0, 2, 384).reshape(2, 8, 8, 3)
result = saliency_function([x, 0]) + [np.abs(saliency_function([x, 0])[0]).max(axis=-1)]
