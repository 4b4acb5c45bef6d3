"""One small program, or a few, for each fact that the table of breakages does not have.

They are like those of ``breakage_programs.py``.
"""

from breakage_code import CALL, IMAGES, LAYER, SAVED, USE, built

FACTS: dict[str, tuple[str, ...]] = {
    "class_weight='auto'": ("model.fit(x, y, class_weight='auto', verbose=0)",),
    "load_img(grayscale=)": (
        (
            "keras.utils.save_img('a.png', np.ones((4, 4, 3)))\n"
            "image = keras.preprocessing.image.load_img('a.png', grayscale=True)"
        ),
        (
            "keras.utils.save_img('a.png', np.ones((4, 4, 3)))\n"
            "image = keras.utils.load_img('a.png', grayscale=False)"
        ),
    ),
    "to_categorical(y=)": ("keras.utils.to_categorical(y=[0, 1], num_classes=2)",),
    "to_categorical(dtype=)": (
        "keras.utils.to_categorical([0, 1], num_classes=2, dtype='int32')",
        "keras.utils.to_categorical([0, 1], dtype='float32')",
    ),
    "regularizer 'l1_l2'": (
        "layers.Dense(3, kernel_regularizer='l1_l2')",
        "layers.Dense(3, kernel_regularizer='l2')",
    ),
    "add_weight(shape=3)": (built("self.w = self.add_weight(name='w', shape=4)"),),
    "add_weight(shape=[…])": (built("self.w = self.add_weight(name='w', shape=[4])"),),
    "two layers with one seed": (
        "a, b = layers.Dropout(0.5, seed=1), layers.Dropout(0.5, seed=1)",
    ),
    "initializer with a seed, used twice": (
        (
            "start = keras.initializers.GlorotUniform(seed=1)\n"
            "a, b = [layers.Dense(3, kernel_initializer=start) for _ in range(2)]"
        ),
    ),
    "opt.lr = …": ("model.optimizer.lr = 0.1",),
    "variable as a weight": (
        (
            f"{LAYER}    def __init__(self):\n        super().__init__()\n"
            f"        self.w = tf.Variable(1.0)\n\n{CALL}        return x * self.w{USE}"
        ),
    ),
    "self._name = …": (
        (
            f"{LAYER}    def __init__(self):\n        super().__init__()\n"
            f"        self._name = 'mine'\n\n{CALL}        return x{USE}"
        ),
    ),
    "metrics_names": ("model.fit(x, y, verbose=0)\nassert 'mae' in model.metrics_names",),
    "hard_sigmoid": ("layers.Dense(3, activation='hard_sigmoid')",),
    "a model's backend": ("model.backend.floatx()",),
    "Sequential.output": (
        "net = keras.Sequential([layers.Dense(3, input_shape=(4,))])\ninner = net.output",
        "net = keras.Sequential([layers.Dense(3)])\ninner = net.output",
    ),
    "Callback.model": (
        (
            "class Mine(keras.callbacks.Callback):\n    def __init__(self, model):\n"
            "        super().__init__()\n        self.model = model\n\n\nMine(model)"
        ),
    ),
    "optimizer.minimize": (
        "model.optimizer.minimize(lambda: keras.ops.sum(dense.kernel), [dense.kernel])",
    ),
    "shape.as_list()": (
        "size = outputs.shape.as_list()",
        "size = outputs.get_shape().as_list()",
        "size = K.int_shape(outputs)",
        "outputs.set_shape((None, 3))",
    ),
    "dimension.value": ("size = outputs.shape[1].value",),
    "Model of a tensor that is none": ("keras.Model(inputs, tf.ones((1, 3)))",),
    "python lists": ("model.predict([[1.0, 2.0, 3.0, 4.0]])",),
    "loss, accuracy = evaluate() without metrics": (
        "model.compile('sgd', 'mse')\nloss, accuracy = model.evaluate(x, y, verbose=0)",
    ),
    "monitor without mode": (
        (
            "stop = keras.callbacks.EarlyStopping(monitor='val_f1')\n"
            "model.fit(x, y, validation_data=(x, y), verbose=0, callbacks=[stop])"
        ),
    ),
    "BatchNormalization(axis=[3])": (f"{IMAGES}layers.BatchNormalization(axis=[3])(image)",),
    "Input(shape=4)": ("keras.Input(shape=4)",),
    "reduction='auto'": ("keras.losses.MeanSquaredError(reduction='auto')",),
    "cosine_proximity": ("model.compile('sgd', 'cosine_proximity')\nmodel.fit(x, y, verbose=0)",),
    "l2(l=)": ("keras.regularizers.l2(l=0.1)",),
    "name with a slash": ("layers.Dense(3, name='a/b')",),
    "metric.add_weight('t')": (
        (
            "class Mine(keras.metrics.Metric):\n    def __init__(self):\n"
            "        super().__init__(name='mine')\n"
            "        self.total = self.add_weight('total', initializer='zeros')\n\n\nMine()"
        ),
    ),
    "generator of lists": (
        (
            "class Batches(keras.utils.Sequence):\n    def __len__(self):\n        return 2\n\n"
            "    def __getitem__(self, index):\n        return [x, x], y\n\n\n"
            "one, two = keras.Input((4,)), keras.Input((4,))\n"
            "both = keras.Model([one, two], dense(layers.Add()([one, two])))\n"
            "both.compile('sgd', 'mse')\nboth.fit(Batches(), verbose=0)"
        ),
    ),
    "alpha": ("layers.LeakyReLU(alpha=0.1)(inputs)",),
    "strides by position": ("layers.Conv2D(32, 3, 3)",),
    "optimizers by short names": ("from keras.optimizers import adam",),
    "legacy optimizers": ("keras.optimizers.legacy.Adam(0.1)",),
    "Input from models": ("from keras.models import Input",),
    "wrappers": ("from keras.wrappers.scikit_learn import KerasClassifier",),
    "generic_utils": (
        "from keras.utils.generic_utils import get_custom_objects\nget_custom_objects()",
    ),
    "K.function": ("function = K.function([inputs], [outputs])\nfunction([x])",),
    "K.learning_phase": ("function = K.function([inputs, K.learning_phase()], [outputs])",),
    "K.set_value of a variable": (
        "import tensorflow.keras.backend as B\nB.set_value(dense.bias, np.ones(3))",
    ),
    "to_yaml": ("model.to_yaml()",),
    "batch size of a symbolic tensor": (
        "flat = keras.ops.reshape(outputs, (keras.ops.shape(outputs)[0], -1))",
    ),
    "by_name of a weights file": (f"{SAVED}model.load_weights('a.weights.h5', by_name=True)",),
    "arguments by other positions": ("layers.GRU(3, 'tanh', 'hard_sigmoid')",),
    "several outputs, plain metrics": (
        (
            "two = keras.Model(inputs, [outputs, layers.Dense(1)(inputs)])\n"
            "two.compile('sgd', 'mse', metrics=['mae'])\n"
            "two.fit(x, [y, y[:, :1]], verbose=0)"
        ),
    ),
    "scale_loss": ("keras.mixed_precision.LossScaleOptimizer(model.optimizer, dynamic=False)",),
    "get_gradients": ("model.optimizer.get_gradients(outputs, model.trainable_weights)",),
}
