"""Functions, sessions and the learning phase as KD101 mends them: its examples of them."""

from __future__ import annotations

from kdoctor.rules.names._backend.functions import HELPER
from kdoctor.rules.rule import Example

_FED = (
    "import keras\nfrom keras import backend as K\n\n\nclass Triple(keras.layers.Layer):\n"
    "    def call(self, x, training=False):\n        return x * 3 if training else x\n\n\n"
    "start = keras.Input((4,))\nmodel = keras.Model(start, Triple()(start))\n"
    "x = keras.ops.ones((3, 4))\n"
    "f = {}\nout = f([{}\nnoisy = {}\n"
)

_NODES = (
    "import keras\nfrom keras import backend as K\nfrom keras import {}\n\nx = keras.Input((2,))\n"
    "model = keras.Model(x, layers.Dense(3, name='wide')(x))\n"
    "nodes = {{each.name: each.output for each in model.layers[1:]}}\n{}"
)
_RUNS = (
    "features = {0}([model.input], [model.layers[-1].output]{1})\n"
    "every = {0}(model.inputs, nodes.values())\n"
)
# Given with and without a list, as integers; and the values of a dict.
FUNCTION = Example(
    before=_NODES.format("layers", _RUNS.format("K.function", ", name='f'")),
    after=_NODES.format(
        "layers, ops",
        "\n\n"
        + HELPER.format(
            model="keras.Model",
            is_keras_tensor="K.is_keras_tensor",
            convert_to_numpy="ops.convert_to_numpy",
        )
        + "\n\n\n"
        + _RUNS.format("keras_function", ""),
    ),
    raises="AttributeError: module 'keras.backend' has no attribute 'function'",
    findings=2,
    check="import numpy as np\nx = np.ones((5, 2), int)\nfirst = features([x])[0]\n"
    "assert isinstance(first, np.ndarray) and first.shape == (5, 3)\n"
    "assert all((each == first).all() for each in (features(x)[0], every((x,))[0]))",
)

SESSIONS = (
    Example(
        before=_FED.format(
            "K.function([model.input, K.learning_phase()], [model.output])",
            "x, 0])[0]",
            "f([x, 1])",
        ),
        after=_FED.format(
            "keras.Model([model.input], [model.output])",
            "x], training=False)",
            "[f([x], training=True)]",
        ).replace("from keras import backend as K\n", ""),
        unsafe=True,
        findings=2,
        raises="AttributeError: module 'keras.backend' has no attribute ",
        check="assert float(keras.ops.sum(out)) == 12 and float(keras.ops.sum(noisy[0])) == 36",
    ),
    # Of a session that only lets memory grow, made by a function of its own.
    Example(
        before="import tensorflow as tf\nfrom keras.backend.tensorflow_backend import "
        "set_session\n\n\ndef get_session():\n    config = tf.compat.v1.ConfigProto("
        "allow_soft_placement=True)\n    config.gpu_options.allow_growth = True\n"
        "    return tf.compat.v1.Session(config=config)\n\n\nset_session(get_session())\n",
        after="import tensorflow as tf\n\n\ndef get_session():\n"
        '    for gpu in tf.config.list_physical_devices("GPU"):\n'
        "        tf.config.experimental.set_memory_growth(gpu, True)\n"
        "    tf.config.set_soft_device_placement(True)\n\n\nget_session()\n",
        unsafe=True,
        raises="ModuleNotFoundError: No module named 'keras.backend.tensorflow_backend'",
        check="assert tf.config.get_soft_device_placement()",
    ),
    Example(
        before="import tensorflow as tf\nfrom keras import backend as K\n\n"
        "options = tf.compat.v1.GPUOptions(visible_device_list='0')\n"
        "config = tf.compat.v1.ConfigProto(gpu_options=options, log_device_placement=False)\n"
        "K.set_session(tf.compat.v1.Session(config=config))\n",
        after="import tensorflow as tf\n\n"
        'gpus = tf.config.list_physical_devices("GPU")\n'
        "tf.config.set_visible_devices("
        "[each for each in gpus if each.name.split(':')[-1] in '0'.split(',')], 'GPU')\n"
        "tf.debugging.set_log_device_placement(False)\n",
        unsafe=True,
        raises="AttributeError: module 'keras.backend' has no attribute 'set_session'",
        check="assert tf.config.get_visible_devices('GPU') == gpus[:1]",
    ),
    # An empty list of devices is the default: all of them.
    Example(
        before="import tensorflow as tf\nfrom keras import backend as K\n\n"
        "config = tf.compat.v1.ConfigProto()\nconfig.log_device_placement = False\n"
        "config.gpu_options.visible_device_list = ''\n"
        "K.set_session(tf.compat.v1.Session(config=config))\n",
        after="import tensorflow as tf\n\ntf.debugging.set_log_device_placement(False)\n",
        unsafe=True,
        raises="AttributeError: module 'keras.backend' has no attribute 'set_session'",
        check="gpus = tf.config.list_physical_devices('GPU')\n"
        "assert tf.config.get_visible_devices('GPU') == gpus",
    ),
    Example(
        before="import keras\nimport tensorflow as tf\nfrom keras import backend as K\n\n"
        "K.get_session().run(tf.compat.v1.global_variables_initializer())\n"
        "x = keras.Variable([1.0, 2.0])\n"
        "values = K.get_session().run(x)\n"
        "more = (x + 1).eval(session=K.get_session())\n",
        after="import keras\nfrom keras import ops\n\n"
        "x = keras.Variable([1.0, 2.0])\n"
        "values = ops.convert_to_numpy(x)[()]\n"
        "more = ops.convert_to_numpy(x + 1)[()]\n",
        unsafe=True,
        findings=3,
        raises="AttributeError: module 'keras.backend' has no attribute 'get_session'",
        check="assert (values.tolist(), more.tolist()) == ([1, 2], [2, 3])",
    ),
)
