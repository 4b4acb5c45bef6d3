import numpy as np
from keras import backend as K

img_nrows = img_ncols = 8
random = np.random.RandomState(5)
base_image = K.variable(random.uniform(size=(1, 8, 8, 3)))
style_reference_image = K.variable(random.uniform(size=(1, 8, 8, 3)))
combination_image = K.placeholder((1, img_nrows, img_ncols, 3))
input_tensor = K.concatenate([base_image, style_reference_image, combination_image], axis=0)
model = make_model(input_tensor)
outputs_dict = dict([(layer.name, layer.output) for layer in model.layers])


def gram_matrix(x):
    assert K.ndim(x) == 3
    features = K.batch_flatten(K.permute_dimensions(x, (2, 0, 1)))
    gram = K.dot(features, K.transpose(features))
    return gram


def style_loss(style, combination):
    S = gram_matrix(style)
    C = gram_matrix(combination)
    channels = 3
    size = img_nrows * img_ncols
    return K.sum(K.square(S - C)) / (4.0 * (channels**2) * (size**2))


def content_loss(base, combination):
    return K.sum(K.square(combination - base))


def total_variation_loss(x):
    a = K.square(x[:, : img_nrows - 1, : img_ncols - 1, :] - x[:, 1:, : img_ncols - 1, :])
    b = K.square(x[:, : img_nrows - 1, : img_ncols - 1, :] - x[:, : img_nrows - 1, 1:, :])
    return K.sum(K.pow(a + b, 1.25))


loss = K.variable(0.0)
layer_features = outputs_dict["conv2"]
loss = loss + 0.025 * content_loss(layer_features[0, :, :, :], layer_features[2, :, :, :])
for layer_name in ["conv1", "conv2"]:
    layer_features = outputs_dict[layer_name]
    sl = style_loss(layer_features[1, :, :, :], layer_features[2, :, :, :])
    loss = loss + (1.0 / 2) * sl
loss = loss + 0.5 * total_variation_loss(combination_image)

grads = K.gradients(loss, combination_image)
outputs = [loss]
if isinstance(grads, (list, tuple)):
    outputs += grads
else:
    outputs.append(grads)
f_outputs = K.function([combination_image], outputs)


class Evaluator(object):
    def __init__(self):
        self.loss_value = None
        self.grads_values = None

    def loss(self, x):
        assert self.loss_value is None
        outs = f_outputs([x.reshape((1, img_nrows, img_ncols, 3))])
        self.loss_value = outs[0]
        self.grad_values = outs[1].flatten().astype("float64")
        return self.loss_value

    def grads(self, x):
        grad_values = np.copy(self.grad_values)
        self.loss_value = None
        return grad_values


evaluator = Evaluator()
x = random.uniform(size=(1, 8, 8, 3)).flatten()
losses = []
for i in range(4):
    losses.append(evaluator.loss(x))
    x -= 0.01 * evaluator.grads(x)
result = [np.array(losses), x]
