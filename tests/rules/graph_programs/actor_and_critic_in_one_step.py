import numpy as np
from keras import backend as K
from keras.layers import Dense, Input
from keras.models import Model
from keras.optimizers import SGD

random = np.random.RandomState(3)


def network(inputs, units, activation):
    hidden = Dense(6, activation="tanh")(inputs)
    model = Model(inputs, Dense(units, activation=activation)(hidden))
    model.set_weights([random.normal(0, 0.3, each.shape) for each in model.get_weights()])
    return model


x = Input((4,))
actor, critic = network(x, 3, "softmax"), network(x, 1, "linear")
action, reward = K.placeholder(shape=(None, 3)), K.placeholder(shape=(None, 1))
advantage = reward - critic.output
policy_loss = -K.mean(
    K.log(K.sum(action * actor.output, axis=1, keepdims=True)) * K.stop_gradient(advantage)
)
value_loss = K.mean(K.square(advantage))
updates = SGD(0.05, momentum=0.9).get_updates(policy_loss, actor.trainable_weights)
of_critic = SGD(0.1).get_updates(loss=value_loss, params=critic.trainable_weights)
train = K.function([x, action, reward], [policy_loss, value_loss], updates=updates + of_critic)

states = random.normal(size=(5, 4))
actions, rewards = np.eye(3)[[1, 1, 0, 2, 0]], random.normal(size=(5, 1))
losses = [train([states, actions, rewards]) for _ in range(4)]
result = [np.array(losses), actor.predict(states), critic.predict(states)]
