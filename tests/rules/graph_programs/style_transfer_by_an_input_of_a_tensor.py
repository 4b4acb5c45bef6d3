import numpy as np
from keras import backend as K
from keras.layers import Conv2D, Input
from keras.models import Model

random = np.random.RandomState(21)
content = K.variable(random.uniform(size=(1, 8, 8, 3)))
style = K.variable(random.uniform(size=(1, 8, 8, 3)))
generated = K.placeholder((1, 8, 8, 3))
images = K.concatenate([content, style, generated], axis=0)

ip = Input(tensor=images, batch_shape=(3, 8, 8, 3))
x = Conv2D(4, (3, 3), activation="tanh", name="first")(ip)
x = Conv2D(5, (3, 3), activation="relu", name="second")(x)
model = Model(ip, x)
model.set_weights([random.normal(0, 0.5, each.shape) for each in model.get_weights()])
outputs = dict([(layer.name, layer.output) for layer in model.layers])


def gram(features):
    rows = K.batch_flatten(K.permute_dimensions(features, (2, 0, 1)))
    return K.dot(rows, K.transpose(rows))


first, second = outputs["first"], outputs["second"]
loss = K.sum(K.square(second[2] - second[0]))
loss = loss + 0.01 * K.sum(K.square(gram(first[1]) - gram(first[2])))
grads = K.gradients(loss, generated)
step = K.function([generated], [loss] + grads)

image, history = random.uniform(size=(1, 8, 8, 3)), []
for _ in range(3):
    value, gradient = step([image])
    history.append(value)
    image = image - 0.01 * gradient
result = [image, np.array(history)]
