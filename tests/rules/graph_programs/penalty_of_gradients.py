import numpy as np
from keras import backend as K

model = make_model()
x = np.linspace(0, 1, 384).reshape(2, 8, 8, 3)
gradients = K.gradients(model.output[:, 0], model.input)[0]
norm = K.sqrt(K.sum(K.square(gradients), axis=[1, 2, 3]))
penalty = K.mean(K.square(1 - norm))
of_weights = K.gradients(penalty, model.trainable_weights)
# The last bias moves nothing: there is no gradient.
known = [each for each in of_weights if each is not None]
second = K.gradients(penalty, model.input)
function = K.function([model.input], [penalty] + known + second)
result = function([x]) + [np.array([each is None for each in of_weights])]
