"""Find which of eight steps carries the signal. Runs in seconds."""
import numpy as np
from keras.layers import Dense, Input, PReLU
from keras.models import Model

from attentive import ClippedDense, DotAttention, WordAttention
from attentive.inspection import producers

STEPS, FEATURES = 8, 6


def build():
    steps = Input(shape=(STEPS, FEATURES), name='steps')
    pooled = WordAttention(10, W_reg='l2', name='words')(steps)
    attended = DotAttention(temperature=0.5, name='dots')([pooled, steps])
    hidden = ClippedDense(12, name='clipped')(attended)
    hidden = Dense(8, activation=PReLU(), name='bent')(hidden)
    return Model(steps, Dense(1, activation='sigmoid', name='answer')(hidden))


def data(count=64):
    rng = np.random.RandomState(1)
    x = rng.normal(size=(count, STEPS, FEATURES)).astype('float32')
    y = (x[:, :, 0].max(axis=1) > 1.2).astype('float32')
    x[:, 3, 1] += 2 * y
    return x, y[:, None]


def main():
    x, y = data()
    model = build()
    model.compile(optimizer='adam', loss='binary_crossentropy', metrics=['accuracy'])
    model.fit(x, y, epochs=2, batch_size=16, verbose=0)
    loss, accuracy = model.evaluate(x, y, verbose=0)
    print('made by', producers(model), 'loss finite:', bool(np.isfinite(loss)), 'answers:', model.predict(x, verbose=0).shape)


if __name__ == '__main__':
    main()
