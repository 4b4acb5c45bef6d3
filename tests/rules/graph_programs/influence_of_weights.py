import keras
import numpy as np
from keras import backend as K


class Fisher:
    def __init__(self, model):
        weights = model.trainable_weights
        target = K.one_hot(K.argmax(model.output, axis=1), 3)
        loss = K.sum(keras.losses.categorical_crossentropy(target, model.output))
        grads = K.concatenate([K.flatten(each) for each in K.gradients(loss, weights)], axis=-1)
        self.function = K.function([model.input, K.learning_phase()], [grads])

    def of(self, x):
        return np.mean([self.function([each[None], 0])[0] ** 2 for each in x], axis=0)


result = [Fisher(make_model()).of(np.linspace(0, 1, 576).reshape(3, 8, 8, 3))]
