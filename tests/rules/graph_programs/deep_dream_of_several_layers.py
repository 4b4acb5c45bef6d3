import numpy as np
from keras import backend as K

K.set_learning_phase(0)
model = make_model()
dream = model.input
layer_dict = dict([(layer.name, layer) for layer in model.layers])
settings = {"features": {"conv1": 0.2, "conv2": 0.5}}

loss = K.variable(0.0)
for layer_name in settings["features"]:
    coeff = settings["features"][layer_name]
    x = layer_dict[layer_name].output
    scaling = K.prod(K.cast(K.int_shape(x)[1:], "float32"))
    loss = loss + coeff * K.sum(K.square(x[:, 2:-2, 2:-2, :])) / scaling

grads = K.gradients(loss, dream)[0]
grads /= K.maximum(K.mean(K.abs(grads)), K.epsilon())
outputs = [loss, grads]
fetch_loss_and_grads = K.function([dream], outputs)


def eval_loss_and_grads(x):
    outs = fetch_loss_and_grads([x])
    loss_value = outs[0]
    grad_values = outs[1]
    return loss_value, grad_values


def gradient_ascent(x, iterations, step, max_loss=None):
    for i in range(iterations):
        loss_value, grad_values = eval_loss_and_grads(x)
        if max_loss is not None and loss_value > max_loss:
            break
        x += step * grad_values
    return x


result = [gradient_ascent(np.linspace(0, 1, 192).reshape(1, 8, 8, 3), 5, 0.01)]
