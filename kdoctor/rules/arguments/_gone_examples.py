"""Examples of ``argument_gone``: older names in ``**kwargs``, and what is said of the data."""

from __future__ import annotations

from kdoctor.rules.arguments._instead import PERIODIC_CHECKPOINT
from kdoctor.rules.rule import Example

_LAYERS = "import keras\nimport numpy as np\n\nx = np.array([[1, 2], [3, 0]])\n"
_VECTORS = _LAYERS + "z = np.ones((1, 3, 2), 'float32')\n"
_LOOKUP = "{0}=4, vocabulary=[1, 2], {1}=0, {2}=-7, num_oov_indices=1"
UNDER_OLDER_NAMES = [
    # What the layers of preprocessing took under older names.
    Example(
        before=_LAYERS + "y = keras.layers.CategoryEncoding(max_tokens=4)(x)",
        after=_LAYERS + "y = keras.layers.CategoryEncoding(num_tokens=4)(x)",
        raises="ValueError: Unrecognized keyword arguments passed to CategoryEncoding: "
        "{'max_tokens': 4}",
        on_keras_2=True,
        same="np.array(y).tolist()",
    ),
    Example(
        before=_LAYERS + "y = keras.layers.Discretization(bins=[0.5, 2.5])(x)",
        after=_LAYERS + "y = keras.layers.Discretization(bin_boundaries=[0.5, 2.5])(x)",
        raises="TypeError: Discretization.__init__() got an unexpected keyword argument 'bins'",
        on_keras_2=True,
        same="np.array(y).tolist()",
    ),
    Example(
        before=_LAYERS
        + f"lookup = keras.layers.IntegerLookup({_LOOKUP})".format(
            "max_values", "mask_value", "oov_value"
        )
        + "\ny = lookup(x)",
        after=_LAYERS
        + f"lookup = keras.layers.IntegerLookup({_LOOKUP})".format(
            "max_tokens", "mask_token", "oov_token"
        )
        + "\ny = lookup(x)",
        raises="ValueError: Unrecognized keyword argument(s): {'max_values': 4",
        on_keras_2=True,
        findings=3,
        same="np.array(y).tolist()",
    ),
    Example(
        before=_VECTORS + "y = keras.layers.Embedding(4, 2, 'ones', use_one_hot_matmul=True)(x)\n"
        "w = keras.layers.LSTM(2, kernel_initializer='ones', recurrent_initializer='ones', "
        "enable_caching_device=True)(z)",
        after=_VECTORS + "y = keras.layers.Embedding(4, 2, 'ones')(x)\n"
        "w = keras.layers.LSTM(2, kernel_initializer='ones', recurrent_initializer='ones')(z)",
        raises="ValueError: Unrecognized keyword arguments passed to Embedding: ",
        on_keras_2=True,
        findings=2,
        same="[np.array(y).tolist(), np.array(w).round(5).tolist()]",
    ),
    Example(
        before=_VECTORS + "y = keras.layers.Attention(causal=True)([z, z])",
        raises="ValueError: Unrecognized keyword arguments passed to Attention: {'causal': ",
    ),
    Example(
        before=_VECTORS + "y = keras.layers.AdditiveAttention(causal=False)([z, z])",
        after=_VECTORS + "y = keras.layers.AdditiveAttention()([z, z])",
        raises="ValueError: Unrecognized keyword arguments passed to AdditiveAttention: "
        "{'causal': ",
    ),
    Example(
        before="from keras.utils import image_dataset_from_directory\n\n"
        "data = image_dataset_from_directory(\n    'images', shuffle=False, image_size=(2, 2), "
        "smart_resize=True\n)",
        after="from keras.utils import image_dataset_from_directory\n\n"
        "data = image_dataset_from_directory(\n    'images', shuffle=False, image_size=(2, 2), "
        "crop_to_aspect_ratio=True\n)",
        raises="TypeError: image_dataset_from_directory() got an unexpected keyword argument "
        "'smart_resize'",
        prelude="import os\nimport numpy as np\nfrom PIL import Image\n"
        "for each in 'ab':\n    os.makedirs(f'images/{each}', exist_ok=True)\n"
        "    Image.fromarray(np.arange(72, dtype='uint8').reshape(4, 6, 3))"
        ".save(f'images/{each}/1.png')",
        on_keras_2=True,
        same="next(iter(data))[0].numpy().round(3).tolist()",
    ),
]

MODEL = (
    "import keras\nimport numpy as np\n\n"
    "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])\n"
)
COMPILED = f"{MODEL}model.compile('sgd', 'mse')\n"
OF_THE_DATA = [
    Example(
        before=f"{COMPILED}model.fit(np.ones((2, 4)), np.ones((2, 3)), workers=1, verbose=0)",
        after=f"{COMPILED}model.fit(np.ones((2, 4)), np.ones((2, 3)), verbose=0)",
        raises="TypeError: TensorFlowTrainer.fit() got an unexpected keyword argument 'workers'",
    ),
    Example(
        before=f"{COMPILED}model.predict(np.ones((2, 4)), workers=4, use_multiprocessing=True)",
        after=f"{COMPILED}model.predict(np.ones((2, 4)))",
        raises="TypeError: TensorFlowTrainer.predict() got an unexpected keyword argument "
        "'workers'",
        findings=2,
        unsafe=True,
    ),
    Example(
        before=f"{COMPILED}model.evaluate(np.ones((2, 4)), np.ones((2, 3)), workers=1, verbose=0)",
        after=f"{COMPILED}model.evaluate(np.ones((2, 4)), np.ones((2, 3)), verbose=0)",
        raises="ValueError: Arguments not recognized: {'workers': 1}",
    ),
    Example(
        before=f"{COMPILED}model.evaluate(\n    np.ones((2, 4)), np.ones((2, 3)), "
        "max_queue_size=3,\n    use_multiprocessing=True)",
        after=f"{COMPILED}model.evaluate(\n    np.ones((2, 4)), np.ones((2, 3)))",
        raises="ValueError: Arguments not recognized: {'max_queue_size': 3",
        findings=2,
        unsafe=True,
    ),
]

_PARTIAL = "from functools import partial\n\nimport keras\n\n"
GIVEN_IN_A_PARTIAL = [
    Example(
        before=f"{_PARTIAL}Norm = partial(keras.layers.BatchNormalization, fused=True)\n"
        "y = Norm()(keras.Input((3,)))\n",
        after=f"{_PARTIAL}Norm = partial(keras.layers.BatchNormalization)\n"
        "y = Norm()(keras.Input((3,)))\n",
        raises="ValueError: Unrecognized keyword arguments passed to BatchNormalization: "
        "{'fused': ",
        check="assert y.shape == (None, 3)",
    ),
    Example(
        before=f"{_PARTIAL}make = partial(keras.optimizers.Adam, lr=0.1, beta_1=0.5)\n"
        "optimizer = make()\n",
        after=f"{_PARTIAL}make = partial(keras.optimizers.Adam, learning_rate=0.1, beta_1=0.5)\n"
        "optimizer = make()\n",
        raises="ValueError: Argument(s) not recognized: {'lr': 0.1}",
        check="assert round(float(optimizer.learning_rate), 6) == 0.1",
    ),
    # A class of one's own would have to stand in its place.
    Example(
        before=f"{_PARTIAL}save = partial(keras.callbacks.ModelCheckpoint, period=2)\n"
        "save('a.keras')\n",
        raises="TypeError: ModelCheckpoint.__init__() got an unexpected keyword argument 'period'",
    ),
]

# TensorFlow lends these modules of Keras.
LENT = [
    Example(
        before="import tensorflow as tf\n\noptimizer = tf.optimizers.Adam(lr=0.1)\n",
        after="import tensorflow as tf\n\noptimizer = tf.optimizers.Adam(learning_rate=0.1)\n",
        raises="ValueError: Argument(s) not recognized: {'lr': 0.1}",
        check="assert round(float(optimizer.learning_rate), 6) == 0.1",
    ),
    Example(
        before="from tensorflow import optimizers\n\n"
        "optimizer = optimizers.SGD(lr=0.1, momentum=0.9)\n",
        after="from tensorflow import optimizers\n\n"
        "optimizer = optimizers.SGD(learning_rate=0.1, momentum=0.9)\n",
        raises="ValueError: Argument(s) not recognized: {'lr': 0.1}",
        check="assert round(float(optimizer.learning_rate), 6) == 0.1",
    ),
]

_SEVEN = (
    "for epochs in (5, 2):\n    model.fit(np.ones((4, 4)), np.ones((4, 3)), "
    "epochs=epochs, verbose=0, callbacks=[save])\n"
)
OF_EVERY_FEW_EPOCHS = [
    Example(
        before="import keras\n\nsave = keras.callbacks.ModelCheckpoint('a.keras', period=1)",
        after="import keras\n\nsave = keras.callbacks.ModelCheckpoint('a.keras')",
        raises="TypeError: ModelCheckpoint.__init__() got an unexpected keyword argument 'period'",
        check="assert save.save_freq == 'epoch'",
    ),
    Example(
        before=f"{COMPILED}save = keras.callbacks.ModelCheckpoint(\n"
        f"    'of_{{epoch}}.keras', period=3\n)\n{_SEVEN}",
        after=f"{COMPILED}\n\n{PERIODIC_CHECKPOINT.format(base='keras.callbacks.ModelCheckpoint')}\n\n\n"
        "save = PeriodicCheckpoint(\n    'of_{epoch}.keras', period=3\n)\n"
        f"{_SEVEN}",
        raises="TypeError: ModelCheckpoint.__init__() got an unexpected keyword argument 'period'",
        unsafe=True,
        same="sorted(__import__('glob').glob('of_*.keras'))",
    ),
    # What is monitored is there at the end of an epoch, not of a batch.
    Example(
        before="from keras.callbacks import ModelCheckpoint\n\n\ndef saver(path):\n"
        "    return ModelCheckpoint(path, 'val_loss', 0, True, period=2)\n\n\n"
        "save = saver('best_{epoch}.keras')\n",
        after="from keras.callbacks import ModelCheckpoint\n\n\n"
        f"{PERIODIC_CHECKPOINT.format(base='ModelCheckpoint')}\n\n\ndef saver(path):\n"
        "    return PeriodicCheckpoint(path, 'val_loss', 0, True, period=2)\n\n\n"
        "save = saver('best_{epoch}.keras')\n",
        raises="TypeError: ModelCheckpoint.__init__() got an unexpected keyword argument 'period'",
        prelude=COMPILED,
        check="x, y = np.ones((4, 4)), np.ones((4, 3))\n"
        "model.fit(x, y, validation_data=(x, y), epochs=5, verbose=0, callbacks=[save])\n"
        "import glob\nassert sorted(glob.glob('best_*')) == ['best_2.keras', 'best_4.keras']",
        unsafe=True,
        on_keras_2=True,
    ),
    Example(
        before="import keras\n\nkeras.callbacks.ModelCheckpoint('a.keras', period=5, save_freq=9)",
        raises="TypeError: ModelCheckpoint.__init__() got an unexpected keyword argument 'period'",
    ),
]

_ADAM = "optimizer = keras.optimizers.Adam(**options)\n"
_RATE = "assert round(float(optimizer.learning_rate), 6) == 0.1"
_NOT_LR = "ValueError: Argument(s) not recognized: {'lr': 0.1}"
HELD_BY_A_DICT = [
    Example(
        before="import keras\n\noptimizer = keras.optimizers.Adam(**{'lr': 0.1, 'beta_1': 0.5})\n",
        after="import keras\n\n"
        "optimizer = keras.optimizers.Adam(**{'learning_rate': 0.1, 'beta_1': 0.5})\n",
        raises=_NOT_LR,
        check=_RATE,
    ),
    Example(
        before=f"import keras\n\noptions = dict(lr=0.1, beta_1=0.5)  # slow\n{_ADAM}",
        after=f"import keras\n\noptions = dict(learning_rate=0.1, beta_1=0.5)  # slow\n{_ADAM}",
        raises=_NOT_LR,
        check=_RATE,
    ),
    Example(
        before='import keras\n\n\ndef make(rate):\n    options = {"lr": rate}\n'
        "    return keras.optimizers.SGD(momentum=0.9, **options)\n\n\noptimizer = make(0.1)\n",
        after='import keras\n\n\ndef make(rate):\n    options = {"learning_rate": rate}\n'
        "    return keras.optimizers.SGD(momentum=0.9, **options)\n\n\noptimizer = make(0.1)\n",
        raises="ValueError: Argument(s) not recognized: {'lr': ",
        check=_RATE,
    ),
    # What else is read of the dict would not find it under another name.
    Example(
        before="import keras\n\noptions = {'lr': 0.1}\noptions['beta_1'] = 0.5\n"
        f"print(options['lr'])\n{_ADAM}",
        raises=_NOT_LR,
    ),
    Example(
        before=f"{COMPILED}options = {{'workers': 4}}\n"
        "model.fit(np.ones((2, 4)), np.ones((2, 3)), **options)\n",
        raises="TypeError: TensorFlowTrainer.fit() got an unexpected keyword argument 'workers'",
    ),
]
KEPT_BY_A_DICT = [
    # It may lack the key by then, or be another dict.
    f"import keras\noptions = {{'lr': 0.1}}\noptions['learning_rate'] = options.pop('lr')\n{_ADAM}",
    f"import keras\noptions = {{'lr': 0.1}}\ndel options['lr']\n{_ADAM}",
    f"import keras\noptions = other = {{'lr': 0.1}}\nother.clear()\n{_ADAM}",
    f"import keras\noptions = {{'lr': 0.1}}\nmodernized(options)\n{_ADAM}",
    f"import keras\noptions = {{'lr': 0.1}}\nif new:\n    options = {{}}\n{_ADAM}",
    (
        "import keras\noptions = {'lr': 0.1}\n\n\ndef make():\n"
        "    return keras.optimizers.Adam(**options)\n"
    ),
    f"import keras\noptions = {{'learning_rate': 0.1, name: 3}}\n{_ADAM}",
    f"import keras\nfrom mine import dict\noptions = dict(lr=0.1)\n{_ADAM}",
]

OF_CATEGORIES = [
    Example(
        before="import keras\n\ny = keras.utils.to_categorical([0, 2], 3, dtype='int32')",
        after="import keras\n\ny = keras.utils.to_categorical([0, 2], 3).astype('int32')",
        raises="TypeError: to_categorical() got an unexpected keyword argument 'dtype'",
        same="y.tolist(), str(y.dtype)",
        unsafe=True,
    ),
    Example(
        before="import keras\n\ny = keras.utils.to_categorical([0, 1], nb_classes=3)",
        after="import keras\n\ny = keras.utils.to_categorical([0, 1], num_classes=3)",
        raises="TypeError: to_categorical() got an unexpected keyword argument 'nb_classes'",
        check="assert y.tolist() == [[1, 0, 0], [0, 1, 0]]",
    ),
]
_IMAGE = "import keras\nimport numpy as np\n\nkeras.utils.save_img('a.png', np.ones((4, 4, 3)))\n"
OF_GREY_IMAGES = [
    Example(
        before="import keras\n\nimage = keras.utils.load_img('a.png', grayscale=True)",
        after="import keras\n\nimage = keras.utils.load_img('a.png', color_mode='grayscale')",
        raises="TypeError: load_img() got an unexpected keyword argument 'grayscale'",
        prelude=_IMAGE,
        check="assert image.mode == 'L'",
    ),
    Example(
        before="import keras\n\n\ndef read(path, grey):\n"
        "    return keras.utils.load_img(path, grayscale=grey, target_size=(2, 2))\n",
        after="import keras\n\n\ndef read(path, grey):\n"
        "    return keras.utils.load_img(path, color_mode='grayscale' if grey else 'rgb', "
        "target_size=(2, 2))\n",
        prelude=_IMAGE,
        check="assert [read('a.png', each).mode for each in (True, False)] == ['L', 'RGB']",
    ),
]
MOVED_WITH_THE_SHAPE = [
    Example(
        before="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.layers.LSTM(3, input_shape=(4, 1), batch_size=2, stateful=True))\n"
        "model.add(keras.layers.Dense(1))",
        after="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.Input(shape=(4, 1), batch_size=2))\n"
        "model.add(keras.layers.LSTM(3, stateful=True))\n"
        "model.add(keras.layers.Dense(1))",
        raises="ValueError: Unrecognized keyword arguments passed to LSTM: {'batch_size': 2}",
        on_keras_2=True,
        check="assert model.input_shape == (2, 4, 1)",
    ),
    Example(
        before="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.layers.GRU(3, input_dim=1, batch_size=2, stateful=True))",
        after="import keras\n\nmodel = keras.Sequential()\n"
        "model.add(keras.Input(shape=(None, 1), batch_size=2))\n"
        "model.add(keras.layers.GRU(3, stateful=True))",
        raises="ValueError: Unrecognized keyword arguments passed to GRU: {'batch_size': 2}",
        on_keras_2=True,
        check="assert model.input_shape == (2, None, 1)",
    ),
]

_ADAPTED = "import keras\nimport numpy as np\n\nx = np.array([[1.0, 2.0], [3.0, 6.0]])\n"
_STATES = (
    "import keras\nimport numpy as np\n\nlayer = keras.layers.GRU(2, stateful=True)\n"
    "y = layer(np.ones((1, 4, 3), 'float32'))\n"
)
_KEYWORD = "got an unexpected keyword argument"
OF_SOME_LAYERS = [
    Example(
        before=_ADAPTED + "layer = keras.layers.Normalization()\nlayer.adapt(x, batch_size=8)",
        after=_ADAPTED + "layer = keras.layers.Normalization()\nlayer.adapt(x)",
        raises=f"TypeError: Normalization.adapt() {_KEYWORD} 'batch_size'",
        on_keras_2=True,
        same="np.asarray(layer(x)).round(4).tolist()",
    ),
    Example(
        before=_ADAPTED + "layer = keras.layers.IntegerLookup()\n"
        "layer.adapt(data=x.astype(int), batch_size=8, steps=None)",
        after=_ADAPTED + "layer = keras.layers.IntegerLookup()\n"
        "layer.adapt(data=x.astype(int), steps=None)",
        raises=f"TypeError: IntegerLookup.adapt() {_KEYWORD} 'batch_size'",
        on_keras_2=True,
        same="[int(each) for each in layer.get_vocabulary()]",
    ),
    Example(
        before=_ADAPTED + "layer = keras.layers.Normalization()\nlayer.adapt(x, steps=1)",
        raises=f"TypeError: Normalization.adapt() {_KEYWORD} 'steps'",
        on_keras_2=True,
    ),
    Example(
        before=_STATES + "layer.reset_states(states=None)",
        after=_STATES + "layer.reset_states()",
        raises=f"TypeError: RNN.reset_states() {_KEYWORD} 'states'",
        on_keras_2=True,
        same="np.asarray(layer.states[0]).tolist()",
    ),
    Example(
        before=_STATES + "layer.reset_states(states=[np.ones((1, 2))])",
        raises=f"TypeError: RNN.reset_states() {_KEYWORD} 'states'",
        on_keras_2=True,
    ),
]
TAKEN_BY_SOME_LAYERS = [
    _ADAPTED + "keras.layers.TextVectorization().adapt(texts, batch_size=8, steps=2)\n"
    "keras.layers.StringLookup().adapt(texts, steps=2)\nadapter.adapt(x, batch_size=8)",
    _ADAPTED + "\n\nclass Mine(keras.layers.Normalization):\n"
    "    def adapt(self, data, batch_size=None):\n        super().adapt(data)\n\n\n"
    "Mine().adapt(x, batch_size=8)\nkeras.layers.GRU(2).get_initial_state(batch_size=2)",
]
