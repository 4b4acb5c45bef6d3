import numpy as np
import keras.backend as K


def gram(features):
    flat = K.reshape(features, (-1, int(features.shape[-1])))
    return K.dot(K.transpose(flat), flat)


def targets_of(model, names, image):
    function = K.function([model.input], [model.get_layer(each).output for each in names])
    return function([image])


def transfer(model, content, style, names=("conv1", "conv2"), steps=4):
    content_target = targets_of(model, names[-1:], content)[0]
    loss = K.mean(K.square(model.get_layer(names[-1]).output - K.constant(content_target)))
    for name, target in zip(names, targets_of(model, names, style)):
        loss += 0.1 * K.mean(
            K.square(gram(model.get_layer(name).output) - gram(K.constant(target)))
        )
    step = K.function([model.input], [loss] + K.gradients(loss, model.input))
    image, history = content.copy(), []
    for _ in range(steps):
        value, gradient = step([image])
        history.append(value)
        image -= 0.05 * gradient
    return image, np.array(history)


random = np.random.RandomState(6)
result = list(
    transfer(make_model(), random.uniform(size=(1, 8, 8, 3)), random.uniform(size=(1, 8, 8, 3)))
)
