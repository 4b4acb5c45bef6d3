import numpy as np
from keras import backend as K
from keras.layers import Dense, Input
from keras.models import Model
from keras.optimizers import Adam

random = np.random.RandomState(3)


def network(inputs, units, activation):
    hidden = Dense(6, activation="tanh")(inputs)
    model = Model(inputs, Dense(units, activation=activation)(hidden))
    model.set_weights([random.normal(0, 0.3, each.shape) for each in model.get_weights()])
    return model


class Actor:
    def __init__(self):
        self.model = network(Input((4,)), 2, "softmax")
        self.action_pl = K.placeholder(shape=(None, 2))
        self.advantages_pl = K.placeholder(shape=(None,))
        self.rms_optimizer = Adam(0.02, beta_1=0.8)

    def optimizer(self):
        weighted = K.sum(self.action_pl * self.model.output, axis=1)
        eligibility = K.log(weighted + 1e-10) * K.stop_gradient(self.advantages_pl)
        entropy = K.sum(self.model.output * K.log(self.model.output + 1e-10), axis=1)
        loss = 0.001 * entropy - K.sum(eligibility)
        updates = self.rms_optimizer.get_updates(loss, self.model.trainable_weights)
        return K.function(
            [self.model.input, self.action_pl, self.advantages_pl], [loss], updates=updates
        )


actor = Actor()
train = actor.optimizer()
states = random.normal(size=(6, 4))
actions, advantages = np.eye(2)[[0, 1, 1, 0, 1, 0]], random.normal(size=6)
losses = [train([states, actions, advantages]) for _ in range(3)]
result = [[each[0] for each in losses], actor.model.predict(states)]
