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


class Agent:
    def __init__(self):
        self.model = network(Input((4,)), 3, "softmax")
        self.train = self.make_train()

    def make_train(self):
        action = K.placeholder(name="action", shape=(None, 3))
        returns = K.placeholder(name="returns", shape=(None,))
        chosen = K.sum(action * self.model.output, axis=1)
        loss = K.mean(-K.log(chosen) * returns)
        updates = Adam(0.01).get_updates(params=self.model.trainable_weights, loss=loss)
        return K.function(
            inputs=[self.model.input, action, returns], outputs=[loss], updates=updates
        )


agent = Agent()
states = random.normal(size=(5, 4))
actions, returns = np.eye(3)[[0, 2, 1, 1, 0]], random.normal(size=5)
losses = [agent.train([states, actions, returns])[0] for _ in range(4)]
result = [losses, agent.model.predict(states), *agent.model.get_weights()]
