"""Functions of `keras.backend` as KD101 mends them: its examples.

``SPECIAL`` are of what no template can say; how safe that is, these runs show.
"""

from __future__ import annotations

from kdoctor.rules.names._backend import statement_rewrites
from kdoctor.rules.names._backend.dots import EXAMPLES as DOTS
from kdoctor.rules.names._backend.session_examples import FUNCTION, SESSIONS
from kdoctor.rules.rule import Example

_COMPILED = (
    "import keras\nfrom keras import backend as K\n\n"
    "model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
    'model.compile("sgd", "mse")\n'
)
SPECIAL = {
    "function": FUNCTION,
    "image_dim_ordering": Example(
        before="from keras import backend as K\n\n"
        "axis = 1 if K.image_dim_ordering() == 'th' else -1\n"
        'last = "tf" == K.image_dim_ordering()\n',
        after="from keras import config\n\n"
        "axis = 1 if config.image_data_format() == 'channels_first' else -1\n"
        'last = "channels_last" == config.image_data_format()\n',
        raises="AttributeError: module 'keras.backend' has no attribute 'image_dim_ordering'",
        findings=2,
        check="assert (axis, last) == (-1, True)",
    ),
    "set_value": Example(
        before=_COMPILED + "K.set_value(model.optimizer.learning_rate, 0.5)\n",
        after=_COMPILED.replace("from keras import backend as K\n", "")
        + "model.optimizer.learning_rate = 0.5\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'set_value'",
        check="assert float(model.optimizer.learning_rate) == 0.5",
    ),
    "shape": Example(
        before="import keras\n\nx = keras.Input((4,))\n"
        "y = keras.backend.reshape(x, (keras.backend.shape(x)[0], 2, 2))\n",
        after="import keras\n\nx = keras.Input((4,))\ny = keras.ops.reshape(x, (-1, 2, 2))\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'reshape'",
        findings=2,
        check="assert y.shape == (None, 2, 2)",
    ),
    # Keras 2.3.1: a function so marked ran in Keras' graph, which was the only one it had.
    "symbolic": Example(
        before="from keras import backend as K\n\n\n@K.symbolic\ndef double(x):\n"
        "    return x * 2\n",
        after="def double(x):\n    return x * 2\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'symbolic'",
        check="assert double(2) == 4",
    ),
}
_IMPORT = "from keras import backend as K\n"
_NOISE = (
    f"import keras\n{_IMPORT}\n\nclass Noise(keras.layers.Layer):\n"
    "    def call(self, x, training=None):\n        def noisy():\n            return x + 1\n\n"
    "        return {}\n\n\ny = Noise()(keras.ops.ones(()), training=True)\n"
)
_NOISE_CHECK = "assert float(y) == 2.0 and float(Noise()(keras.ops.ones(()))) == 1.0"
_PHASE = (
    f"import keras\n{_IMPORT}\n\nclass Twice(keras.layers.Layer):\n"
    "    def call(self, x, training=None):\n        if training is None:\n"
    "            training = {}\n        return x * 2 if training else x\n\n\n"
    "y = Twice()(keras.ops.ones(()))\n"
)

FINE = [
    # Put there by hand.
    "from keras import backend as K\nK.dtype = str\nK.dtype(1.0)",
    "from keras import backend as K\ndef f(x): return K.dtype(x)\nK.dtype = str",
    "from keras import backend as K\nsetattr(K, 'dtype', str)\nK.dtype(1.0)",
    # These are still there.
    "from keras import backend as K\nK.epsilon() + float(K.floatx() == 'float32')",
    # The root decides.
    "from tensorflow.keras import backend as K\nK.sum(1.0)",
    "import tf_keras.backend as K\nK.sum(1.0)",
    # A fallback that works.
    (
        "try:\n    import keras.backend.tensorflow_backend as KTF\nexcept ImportError:\n"
        "    KTF = None\nif KTF:\n    KTF.set_session(None)"
    ),
    (
        "from keras import backend as K\ntry:\n    total = K.sum\n"
        "except AttributeError:\n    total = None\nif total:\n    total(1.0)"
    ),
    (
        "from keras import backend as K\ntry:\n    total = K.sum\n"
        "except AttributeError:\n    from keras.ops import sum as total"
    ),
    # Not Keras' backend.
    "class K:\n    sum = sum\n\nK.sum([1])",
]
BROKEN = [
    Example(
        before="from keras import backend as K\n\n"
        "def loss(y_true, y_pred):\n"
        "    return K.mean(K.square(y_pred - y_true), axis=-1)\n",
        after="from keras import ops\n\n"
        "def loss(y_true, y_pred):\n"
        "    return ops.mean(ops.square(y_pred - y_true), axis=-1)\n",
        raises=None,
        findings=2,
        check="assert float(loss(ops.ones((2,)), ops.zeros((2,)))) == 1.0",
    ),
    Example(
        before="import keras.backend as K\n\nx = K.constant([1, 2])\n",
        after="from keras import config, ops\n\n"
        "x = ops.convert_to_tensor([1, 2], dtype=config.floatx())\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'constant'",
        check="import keras\nassert keras.backend.standardize_dtype(x.dtype) == 'float32'",
    ),
    Example(
        before="from keras import backend as K\n\nroot = K.sqrt(K.abs(-4.0))\n",
        after="from keras import ops\n\nroot = ops.sqrt(ops.abs(-4.0))\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'sqrt'",
        findings=2,
        check="assert float(root) == 2.0",
    ),
    Example(
        before="import keras\n\nx = keras.ops.ones((2, 3))\ntop = keras.backend.argmax(x) + 1\n",
        after="import keras\n\nx = keras.ops.ones((2, 3))\n"
        'top = keras.ops.cast(keras.ops.argmax(x, axis=-1), "int64") + 1\n',
        raises="AttributeError: module 'keras.backend' has no attribute 'argmax'",
        check="assert keras.backend.standardize_dtype(top.dtype) == 'int64'",
    ),
    Example(
        before="from tensorflow.keras import backend as K\n\nproduct = K.multiply(2.0, 3.0)\n",
        after="from tensorflow.keras import ops\n\nproduct = ops.multiply(2.0, 3.0)\n",
        raises="AttributeError: module 'keras._tf_keras.keras.backend' has no attribute 'multiply'",
        check="assert float(product) == 6.0",
    ),
    Example(
        before="from keras import backend as K\n\nnumbers = K.convert_to_numpy([1.0])\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'convert_to_numpy'",
    ),
    # For integers it would be another number: Keras 2 gives 1.
    Example(
        before="from keras import backend as K\n\ndef centre(x):\n    return K.mean(x, axis=1)\n",
        after="from keras import ops\n\ndef centre(x):\n    return ops.mean(x, axis=1)\n",
        unsafe=True,
        check="assert centre(ops.ones((2, 3))).shape == (2,)",
    ),
    statement_rewrites.HYPERPARAMETER,
    statement_rewrites.RATE_BY_NAME,
    *SPECIAL.values(),
    Example(
        before="from keras import backend as K\n\n\ndef call(x, training=None):\n"
        "    return K.in_train_phase(lambda: x * 2, lambda: x, training=training)\n",
        after="def call(x, training=None):\n"
        "    return (lambda: x * 2)() if training else (lambda: x)()\n",
        check="assert (call(1, True), call(1)) == (2, 1)",
    ),
    Example(
        before=_NOISE.format("K.in_train_phase(noisy, x)"),
        after=_NOISE.format("noisy() if training else x").replace(_IMPORT, ""),
        unsafe=True,
        raises="AttributeError: ",
        check=_NOISE_CHECK,
    ),
    Example(
        before=_NOISE.format("(1 + K.in_test_phase(\n            x, lambda: x + 1)) - 1"),
        after=_NOISE.format("(1 + (x + 1 if training else x)) - 1").replace(_IMPORT, ""),
        unsafe=True,
        raises="AttributeError: ",
    ),
    Example(
        before=_NOISE.format("K.in_train_phase(noisy, x) * K.learning_phase()"),
        after=_NOISE.format("(noisy() if training else x) * training").replace(_IMPORT, ""),
        unsafe=True,
        findings=2,
        raises="AttributeError: ",
    ),
    Example(
        before=_PHASE.format("K.learning_phase()"),
        after=_PHASE.format("False").replace(_IMPORT, ""),
        unsafe=True,
        raises="AttributeError: ",
        check="assert float(Twice()(keras.ops.ones(()))) == 1.0\n"
        "assert float(Twice()(keras.ops.ones(()), training=True)) == 2.0",
    ),
    # A layer makes a weight of what is given to its attributes.
    Example(
        before="import keras\nfrom keras import backend as K\n\n\n"
        "class Scale(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.factor = K.variable(2.0)\n\n"
        "    def call(self, x):\n        return x * self.factor\n",
        after="import keras\n\n\n"
        "class Scale(keras.layers.Layer):\n    def build(self, shape):\n"
        "        self.factor = keras.Variable(2.0, dtype=keras.config.floatx())\n\n"
        "    def call(self, x):\n        return x * self.factor\n",
        unsafe=True,
        check="layer = Scale()\nassert float(layer(keras.ops.ones(()))) == 2.0\n"
        "assert len(layer.trainable_weights) == 1",
    ),
    Example(
        before="import keras\nfrom keras import backend as K\n\na = keras.Variable(1.0)\n"
        "pairs = [(a, 3.0)]\nK.batch_set_value(pairs)\n",
        after="import keras\n\na = keras.Variable(1.0)\n"
        "pairs = [(a, 3.0)]\nfor variable, value in pairs:\n    variable.assign(value)\n",
        unsafe=True,
        raises="AttributeError: module 'keras.backend' has no attribute 'batch_set_value'",
        check="assert float(a) == 3.0",
    ),
    Example(
        before="import keras\nimport tensorflow as tf\nfrom keras import backend as K\n\n"
        "config = tf.compat.v1.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
        "session = tf.compat.v1.Session(config=config)\nK.set_session(session)\n"
        "print(keras.__version__)\n",
        after="import keras\nimport tensorflow as tf\n\n"
        'for gpu in tf.config.list_physical_devices("GPU"):\n'
        "    tf.config.experimental.set_memory_growth(gpu, True)\n"
        "print(keras.__version__)\n",
        unsafe=True,
        raises="AttributeError: module 'keras.backend' has no attribute 'set_session'",
    ),
    *SESSIONS,
    *DOTS,
    Example(
        before="import keras\nfrom keras import backend as K\n\nx = keras.Input((2,))\n"
        "run = K.function([x, K.learning_phase()], [x])\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'function'",
        findings=2,
    ),
    Example(
        before="import keras\nfrom keras import backend as K\n\n\n"
        "def infer():\n    K.set_learning_phase(0)\n\n\n"
        "K.set_learning_phase(0)\ninfer()\n",
        after="import keras\n\n\ndef infer():\n    pass\n\n\ninfer()\n",
        unsafe=True,
        raises="AttributeError: module 'keras.backend' has no attribute 'set_learning_phase'",
        findings=2,
    ),
    # Whoever sets it to 1 wants what only `training=True` gives now.
    Example(
        before="from keras import backend as K\n\nK.set_learning_phase(1)\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'set_learning_phase'",
    ),
    Example(
        before="from keras import backend as K\n\nordering = K.image_dim_ordering()\n",
        after="from keras import config\n\n"
        'ordering = "tf" if config.image_data_format() == "channels_last" else "th"\n',
        raises="AttributeError: module 'keras.backend' has no attribute 'image_dim_ordering'",
        check="assert ordering == 'tf'",
    ),
    # The session is used for more.
    Example(
        before="import tensorflow as tf\nfrom keras import backend as K\n\n"
        "config = tf.compat.v1.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
        "session = tf.compat.v1.Session(config=config)\nK.set_session(session)\n"
        "session.run([])\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'set_session'",
    ),
    Example(
        before="from keras import backend as K\n\nK.set_session(None)\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'set_session'",
    ),
    Example(
        before="from keras import backend as K\n\nprint(K.unique_object_name('dense'))\n",
        after="from keras import backend as K\n\nprint(f\"dense_{K.get_uid('dense')}\")\n",
        raises="AttributeError: module 'keras.backend' has no attribute 'unique_object_name'",
    ),
]
