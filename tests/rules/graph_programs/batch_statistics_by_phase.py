import numpy as np
from keras import backend as K
from keras.layers import BatchNormalization, Dense, Input
from keras.models import Model

x = Input((4,))
y = Dense(2, kernel_initializer="ones")(BatchNormalization(name="norm")(x))
model = Model(x, y)


def functions(model):
    inner = model.get_layer("norm").output
    gradient = K.gradients(K.sum(K.square(model.output)), model.input)[0]
    return [
        K.function([model.input, K.learning_phase()], [model.output, inner]),
        K.function(model.inputs + [K.learning_phase()], [gradient]),
    ]


data = np.linspace(-3, 5, 12).reshape(3, 4)
result = [each for run in functions(model) for phase in (0, 1, False, True) for each in run([data, phase])]
