#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""Sort headlines into four desks with a small text CNN."""
from __future__ import print_function

import sys
from collections import Counter

import numpy as np
from keras import Input, ops, utils
from keras.layers import Activation, Conv1D, Dense, Dropout, Embedding, Flatten, Lambda
from keras.models import Model, Sequential
from keras.preprocessing.sequence import pad_sequences

MAX_WORDS, MAX_LENGTH = 60, 6
DESKS = ['sport', 'money', 'science', 'city']
CLASSES = len(DESKS)
HEADLINES = [
    (u'late goal wins the cup', 0), (u'keeper saves two penalties', 0), (u'captain out for the season', 0),
    (u'bank raises its rate again', 1), (u'shares fall after the report', 1), (u'rate cut lifts shares', 1),
    (u'telescope finds a new moon', 2), (u'new cell type found in mice', 2), (u'moon dust reaches the lab', 2),
    (u'tram line opens in march', 3), (u'council votes on the market', 3), (u'market hall reopens in may', 3),
]


def vocabulary(texts):
    counts = Counter(word for text in texts for word in text.split())
    return {word: rank + 1 for rank, (word, _) in enumerate(counts.most_common(MAX_WORDS - 1))}


def load():
    texts = [text for text, _ in HEADLINES]
    index = vocabulary(texts)
    x = pad_sequences([[index.get(word, 0) for word in text.split()] for text in texts], maxlen=MAX_LENGTH)
    y = utils.to_categorical([desk for _, desk in HEADLINES], len(DESKS)).astype('float32')
    return x, y


def max_over_time(x):
    return ops.max(x, axis=1)


def text_cnn():
    words = Input(shape=(MAX_LENGTH,), dtype='int32')
    embedded = Embedding(MAX_WORDS, 16)(words)
    convolved = Activation('relu')(Conv1D(24, 3, padding='same')(embedded))
    print('after the convolution:', tuple(convolved.shape))
    pooled = Lambda(max_over_time, output_shape=(24,))(convolved)
    return Model(words, Dense(CLASSES, activation='softmax')(Dropout(0.2)(pooled)))


def bag_of_words():
    model = Sequential()
    model.add(Input(shape=(MAX_LENGTH,)))
    model.add(Dense(16, activation='relu'))
    model.add(Dense(CLASSES, activation='softmax'))
    return model


def compare(x, y):
    """The baseline that the CNN has to beat."""
    baseline = Sequential([Embedding(MAX_WORDS, 8, input_length=MAX_LENGTH), Flatten(), Dense(CLASSES, activation='softmax')])
    baseline.compile(optimizer='adam', loss='categorical_crossentropy')
    baseline.fit(x, y, epochs=1, verbose=0)
    loss, acc = baseline.evaluate(x, y, verbose=0)
    print('baseline accuracy:', acc)


def autoencoder(width):
    model = Sequential([Dense(4, input_dim=width), Flatten(), Dense(width)])
    model.compile(optimizer='sgd', loss='mse')
    return model


def main(argv):
    x, y = load()
    model = text_cnn()
    model.compile(optimizer='adam', loss='categorical_crossentropy', metrics=['accuracy'])
    model.fit(x, y, epochs=2, batch_size=4, verbose=0)
    loss, acc = model.evaluate(x, y, verbose=0)
    print('cnn: loss finite:', bool(np.isfinite(loss)), 'answers:', model.predict(x, verbose=0).shape)

    print('bag of words:', bag_of_words().predict(x, verbose=0).shape)
    print('autoencoder:', autoencoder(MAX_LENGTH).predict(x, verbose=0).shape)
    if '--compare' in argv:
        compare(x, y)


if __name__ == '__main__':
    main(sys.argv[1:])
