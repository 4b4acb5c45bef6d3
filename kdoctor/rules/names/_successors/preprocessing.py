"""What only `tf.keras` still has of the old preprocessing, run against Keras 2."""

from __future__ import annotations

from kdoctor.rules.rule import Example

_IMAGES = Example(
    before="from keras.preprocessing.image import ImageDataGenerator\n\n"
    "generator = ImageDataGenerator(rotation_range=20, zoom_range=0.2, horizontal_flip=True)\n",
    after="from tensorflow.keras.preprocessing.image import ImageDataGenerator\n\n"
    "generator = ImageDataGenerator(rotation_range=20, zoom_range=0.2, horizontal_flip=True)\n",
    raises="ImportError: cannot import name 'ImageDataGenerator' from 'keras.preprocessing.image'",
    check="""
import numpy as np
import tensorflow as tf
import tf_keras

new, old = tf.keras.preprocessing.image, tf_keras.preprocessing.image
images = np.random.default_rng(0).uniform(0, 255, (4, 8, 8, 3)).astype("float32")
labels = np.array([0, 1, 0, 1])
settings = dict(rotation_range=20, zoom_range=0.2, horizontal_flip=True, width_shift_range=0.1,
                brightness_range=(0.5, 1.5), channel_shift_range=9.0, rescale=0.1,
                featurewise_center=True, featurewise_std_normalization=True, zca_whitening=True,
                validation_split=0.5)
batches = []
for module in (new, old):
    maker = module.ImageDataGenerator(**settings)
    maker.fit(images, seed=1)
    flow = maker.flow(images, labels, batch_size=2, seed=3, subset="training")
    assert isinstance(flow, module.NumpyArrayIterator) and isinstance(flow, module.Iterator)
    batches.append([*next(flow), *next(flow)])
for one, other in zip(*batches, strict=True):
    np.testing.assert_allclose(one, other)
calls = {
    "random_rotation": (30,), "random_shift": (0.2, 0.2), "random_shear": (20,),
    "random_zoom": ((0.5, 1.5),), "random_channel_shift": (20,), "random_brightness": ((0.5, 2),),
    "apply_affine_transform": (10, 1, 1), "apply_brightness_shift": (0.5,),
    "apply_channel_shift": (9.0,),
}
for name, arguments in calls.items():
    found = []
    for module in (new, old):
        np.random.seed(5)
        found.append(getattr(module, name)(images[0], *arguments))
    np.testing.assert_allclose(*found, err_msg=name)
assert type(generator) is new.ImageDataGenerator
""",
)
_TEXTS = Example(
    before="from keras.preprocessing.text import Tokenizer, text_to_word_sequence\n\n"
    "tokenizer = Tokenizer(num_words=10)\n"
    "words = text_to_word_sequence('Doctor, doctor!')\n",
    after="from tensorflow.keras.preprocessing.text import Tokenizer, text_to_word_sequence\n\n"
    "tokenizer = Tokenizer(num_words=10)\n"
    "words = text_to_word_sequence('Doctor, doctor!')\n",
    raises="ModuleNotFoundError: No module named 'keras.preprocessing.text'",
    findings=2,
    check="""
import tensorflow as tf
import tf_keras

new, old = tf.keras.preprocessing.text, tf_keras.preprocessing.text
texts = ["The cat sat on the mat.", "A dog\\tate my homework!", "", "the THE the cat"]
found = []
for module in (new, old):
    made = module.Tokenizer(num_words=8, oov_token="?")
    made.fit_on_texts(texts)
    again = module.tokenizer_from_json(made.to_json())
    found.append([
        made.word_index, made.texts_to_sequences(texts), again.word_index, again.word_counts,
        made.sequences_to_texts(made.texts_to_sequences(texts)),
        *(made.texts_to_matrix(texts[:2], mode).tolist()
          for mode in ("binary", "count", "tfidf", "freq")),
        module.text_to_word_sequence(texts[1]),
        module.text_to_word_sequence("A-b, C", filters=",", lower=False, split="-"),
        module.one_hot(texts[0], 20),
        module.hashing_trick(texts[0], 20, hash_function="md5"),
    ])
assert found[0] == found[1]
assert words == ["doctor", "doctor"] and tokenizer.num_words == 10
""",
)
_SEQUENCES = Example(
    before="from keras.preprocessing.sequence import skipgrams\n\n"
    "couples, labels = skipgrams([1, 2, 3], 4, seed=1)\n",
    after="from tensorflow.keras.preprocessing.sequence import skipgrams\n\n"
    "couples, labels = skipgrams([1, 2, 3], 4, seed=1)\n",
    raises="ImportError: cannot import name 'skipgrams' from 'keras.preprocessing.sequence'",
    prelude="import numpy as np\n",
    check="""
import random
import tensorflow as tf
import tf_keras

new, old = tf.keras.preprocessing.sequence, tf_keras.preprocessing.sequence
data, targets = np.arange(40.0).reshape(20, 2), np.arange(20)
found = []
for module in (new, old):
    np.random.seed(1)
    random.seed(1)
    made = module.TimeseriesGenerator(
        data, targets, length=4, sampling_rate=2, stride=3, start_index=1, batch_size=2,
        shuffle=True, reverse=True,
    )
    table = module.make_sampling_table(9)
    pairs = module.skipgrams([1, 2, 3, 4, 0, 5], 9, sampling_table=table, seed=4)
    batches = [[part.tolist() for part in made[i]] for i in range(len(made))]
    found.append([batches, table.tolist(), pairs])
assert found[0] == found[1]
assert len(couples) == len(labels) > 0
""",
)
_THRESHOLDED = Example(
    before="from keras.layers import ThresholdedReLU\n\nlayer = ThresholdedReLU(theta=0.5)\n",
    after="from tensorflow.keras.layers import ThresholdedReLU\n\n"
    "layer = ThresholdedReLU(theta=0.5)\n",
    raises="ImportError: cannot import name 'ThresholdedReLU' from 'keras.layers'",
    check="""
import keras
import numpy as np
import tf_keras

x = np.linspace(-2, 2, 21).astype("float32")
old = tf_keras.layers.ThresholdedReLU(theta=0.5)
np.testing.assert_allclose(layer(x), old(x))
assert layer.get_config()["theta"] == old.get_config()["theta"]
inputs = keras.Input((21,))
assert keras.Model(inputs, layer(inputs)).predict(x[None], verbose=0).shape == (1, 21)
""",
)

# The names that a run has shown to do what they did.
IN_TF_KERAS = {
    **{
        f"preprocessing.image.{name}": _IMAGES
        for name in (
            "ImageDataGenerator", "Iterator", "NumpyArrayIterator", "apply_affine_transform",
            "apply_brightness_shift", "apply_channel_shift", "random_brightness",
            "random_channel_shift", "random_rotation", "random_shear", "random_shift",
            "random_zoom",
        )
    },
    **{
        f"preprocessing.text.{name}": _TEXTS
        for name in (
            "Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json",
        )
    },
    **{
        f"preprocessing.sequence.{name}": _SEQUENCES
        for name in ("TimeseriesGenerator", "make_sampling_table", "skipgrams")
    },
    "layers.ThresholdedReLU": _THRESHOLDED,
}  # fmt: skip

# Where the two are not the same after all.
UNLIKE = {
    "losses.Reduction": "Keras 3 rejects Reduction.AUTO ('auto'): omit reduction there",
    "preprocessing.sequence.TimeseriesGenerator": "its get_config() and to_json() raise in Keras 3",
}
