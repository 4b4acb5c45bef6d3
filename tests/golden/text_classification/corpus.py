"""Read a corpus from disk. The tokenizer left standalone Keras, but tf.keras still has it."""
try:
    from keras.preprocessing.text import Tokenizer
except ImportError:
    from tensorflow.keras.preprocessing.text import Tokenizer

from keras.utils import get_file
from tensorflow.keras.preprocessing.text import text_to_word_sequence


def sequences(path, num_words=2000):
    lines = open(path).read().splitlines()
    tokenizer = Tokenizer(num_words=num_words)
    tokenizer.fit_on_texts(' '.join(text_to_word_sequence(line)) for line in lines)
    return tokenizer.texts_to_sequences(lines)


def download(name, url):
    return sequences(get_file(name, url))
