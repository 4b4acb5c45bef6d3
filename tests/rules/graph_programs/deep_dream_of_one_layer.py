import numpy as np
from keras import backend as K


def dreamer(model, name, power):
    layer_output = model.get_layer(name).output
    loss = K.mean(K.pow(layer_output, power)) - 0.1 * K.mean(K.square(model.input))
    (gradient,) = K.gradients(loss, [model.input])
    step = K.function([model.input], [loss, K.sign(gradient)])

    def dream(image, steps):
        losses = []
        for _ in range(steps):
            loss_value, direction = step([image])
            image = np.clip(image + 0.01 * direction, 0, 1)
            losses.append(loss_value)
        return image, np.array(losses)

    return dream


model = make_model()
start = np.linspace(0, 1, 192).reshape(1, 8, 8, 3)
result = [*dreamer(model, "conv2", 2)(start, 4), *dreamer(model, "conv1", 3)(start, 3)]
