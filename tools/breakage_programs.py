"""One small program, or a few, for each pattern of old code in the table of breakages.

``tools/check_breakages.py`` runs them. The keys are the patterns' names in that table; what is known
to break, or to change, without having been counted there stands in ``breakage_facts.py``.
Each program follows the prelude of ``breakage_code.py``. Whether it runs on Keras 3 is not said here: it is tried.
"""

from breakage_code import (
    CALL,
    CHECKPOINT,
    DENSE_UPDATE,
    GET_UPDATES,
    IMAGES,
    LAYER,
    USE,
    built,
    in_layer,
    with_optimizer,
)

PROGRAMS: dict[str, tuple[str, ...]] = {
    "class subclasses Layer/Model": (
        in_layer("return x * 2"),
        "class Mine(keras.Model):\n" + CALL + "        return x\n" + USE,
    ),
    "compile(metrics=['acc'|'accuracy']) (context)": (
        "model.compile('sgd', 'mse', metrics=['acc'])",
        "model.compile('sgd', 'mse', metrics=['accuracy'])\nmodel.fit(x, y, verbose=0)",
    ),
    "Lambda layer (any)": (
        "layers.Lambda(lambda t: t * 2)(inputs)",
        "layers.Lambda(lambda t: tf.reduce_sum(t, axis=1), output_shape=())(inputs)",
    ),
    "optimizer(lr=)": (
        "keras.optimizers.Adam(lr=0.1)",
        "keras.optimizers.SGD(lr=0.1, momentum=0.9, nesterov=True)",
    ),
    "layer(input_shape=)": (
        "keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.Dense(2)])",
    ),
    ".fit_generator": ("model.fit_generator(batches(), steps_per_epoch=1, epochs=1)",),
    "attribute set on Layer/Model before super().__init__()": (
        (
            f"{LAYER}    def __init__(self):\n        self.size = 3\n        super().__init__()\n\n\n"
            "Mine()"
        ),
    ),
    "layer(input_dim=)": ("keras.Sequential([layers.Dense(3, input_dim=4)])",),
    "save_weights(path not ending .weights.h5)": (
        "model.save_weights('model.h5')",
        "model.save_weights('weights')",
    ),
    ".output_shape read on a layer/model (not self)": (
        "size = model.output_shape[-1]",
        "size = dense.output_shape[-1]",
        "size = model.layers[-1].output_shape",
    ),
    "layer(output_dim=)": ("layers.Dense(output_dim=3)",),
    "TF1-only API in keras file (tf.Session, tf.contrib, tf.placeholder ...) [outside keras]": (
        (
            "config = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
            "K.set_session(tf.Session(config=config))"
        ),
    ),
    "K.<op>(symbolic functional tensor)": (
        "mean = K.mean(outputs, axis=1)",
        "total = K.sum(outputs)",
        "joined = K.concatenate([inputs, outputs], axis=-1)",
        "import tensorflow.keras.backend as B\nmean = B.mean(outputs, axis=1)",
    ),
    "save_weights(<non-literal path>)": (
        "def store(model: keras.Model, path: str) -> None:\n    model.save_weights(path)\n",
    ),
    "model.save('*.h5') (works, legacy warning)": ("model.save('model.h5')",),
    ".input_shape read on a layer/model (not self)": (
        "size = model.input_shape",
        "size = dense.input_shape[-1]",
    ),
    "load_weights(by_name=True)": ("model.save('m.h5')\nmodel.load_weights('m.h5', by_name=True)",),
    "tf.<op>(symbolic functional tensor)": (
        "total = tf.reduce_sum(outputs, axis=1)",
        "joined = tf.concat([inputs, outputs], axis=1)",
        "top = tf.nn.relu(outputs)",
    ),
    "Keras-1 kwarg (any of nb_epoch, border_mode, W_regularizer, ...)": (
        "model.fit(x, y, nb_epoch=1, verbose=0)",
        f"{IMAGES}layers.Conv2D(4, 3, border_mode='same')(image)",
        "layers.Dense(3, W_regularizer=keras.regularizers.l2(0.1))",
    ),
    ".optimizer.lr attribute": (
        "rate = float(model.optimizer.lr)",
        "import tensorflow.keras.backend as B\nrate = B.get_value(model.optimizer.lr)",
        "rate = K.get_value(model.optimizer.lr)",
        "K.set_value(model.optimizer.lr, 0.1)",
    ),
    "layer(input_length=)": ("layers.Embedding(5, 3, input_length=4)",),
    "optimizer(decay=)": ("keras.optimizers.SGD(0.1, decay=1e-6)",),
    ".reset_states()": (
        "model.reset_states()",
        "mean = keras.metrics.Mean()\nmean.reset_states()",
        "layers.LSTM(3, stateful=True).reset_states()",
    ),
    "layer(weights=)": (
        "layers.Dense(3, weights=[np.ones((4, 3)), np.zeros(3)])(inputs)",
        "layers.Embedding(5, 3, weights=[np.ones((5, 3))])",
    ),
    "history['acc'/'val_acc'] key": (
        (
            "model.compile('sgd', 'mse', metrics=['accuracy'])\n"
            "history = model.fit(x, y, validation_data=(x, y), verbose=0)\nhistory.history['val_acc']"
        ),
    ),
    "Keras-1 kwarg nb_epoch=": ("model.fit(x, y, nb_epoch=1, verbose=0)",),
    "Model(input=, output=)": ("keras.Model(input=inputs, output=outputs)",),
    "model.save(path without .keras/.h5 -> SavedModel)": ("model.save('saved_model')",),
    ".add_loss( on a model/layer object": (
        "model.add_loss(keras.ops.mean(outputs))",
        "model.add_loss(K.mean(outputs))",
    ),
    "ModelCheckpoint(save_weights_only=True, path not .weights.h5)": (
        "keras.callbacks.ModelCheckpoint('w.h5', save_weights_only=True)",
    ),
    "callback(monitor='acc'/'val_acc')": (
        "model.compile('sgd', 'mse', metrics=['accuracy'])\n"
        "checkpoint = keras.callbacks.ModelCheckpoint(\n"
        "    'm.keras', monitor='val_acc', save_best_only=True\n)" + CHECKPOINT,
        "model.compile('sgd', 'mse', metrics=['accuracy'])\n"
        "checkpoint = keras.callbacks.EarlyStopping(monitor='val_acc')" + CHECKPOINT,
    ),
    "model.save(save_format=)": (
        "model.save('m.h5', save_format='h5')",
        "model.save('m', save_format='tf')",
    ),
    ".add_loss( on self (inside Layer/Model)": (
        in_layer("self.add_loss(keras.ops.sum(x))", "return x"),
    ),
    "fit/predict/evaluate(nb_epoch=)": ("model.fit(x, y, nb_epoch=2, verbose=0)",),
    "add_weight('name', ...) positional name": (
        built("self.w = self.add_weight('w', (4,), initializer='ones')"),
        built("self.w = self.add_weight('w', shape=(4,), initializer='ones', trainable=True)"),
    ),
    "Keras-1 kwarg border_mode=": (f"{IMAGES}layers.Conv2D(4, 3, border_mode='same')(image)",),
    "TensorBoard(removed kwarg write_grads/batch_size/embeddings_*)": (
        "keras.callbacks.TensorBoard('logs', write_grads=True, batch_size=32)",
    ),
    ".predict_generator": ("model.predict_generator(batches(), steps=1)",),
    "ModelCheckpoint(period=)": ("keras.callbacks.ModelCheckpoint('m.keras', period=5)",),
    "ModelCheckpoint(path not .keras/.h5, full model)": (
        "keras.callbacks.ModelCheckpoint('model')",
    ),
    "optimizer subclass: OptimizerV2 protocol (_create_slots/_resource_apply_*)": (
        with_optimizer(DENSE_UPDATE),
    ),
    "._keras_shape": ("size = outputs._keras_shape[-1]",),
    "layer(batch_input_shape=)": (
        "keras.Sequential([layers.LSTM(2, batch_input_shape=(2, 3, 4), stateful=True)])",
    ),
    "add_weight(shape, ...) positional shape": (
        built("self.w = self.add_weight((4,), 'ones', name='w')"),
    ),
    "ModelCheckpoint('*.hdf5')": (
        "keras.callbacks.ModelCheckpoint('w.{epoch:02d}.hdf5', save_best_only=True)",
    ),
    "._get_hyper": (with_optimizer(DENSE_UPDATE),),
    "Keras-1 kwarg W_regularizer=": ("layers.Dense(3, W_regularizer=keras.regularizers.l2(0.1))",),
    "model._layers": ("model._layers",),
    "Keras-1 kwarg samples_per_epoch=": (
        "model.fit_generator(batches(), samples_per_epoch=4, nb_epoch=1)",
    ),
    "Keras-1 kwarg subsample=": (f"{IMAGES}layers.Conv2D(4, 3, subsample=(2, 2))(image)",),
    "multi_gpu_model(": (
        "from keras.utils import multi_gpu_model\nparallel = multi_gpu_model(model, gpus=2)",
    ),
    ".compiled_metrics": (
        "model.fit(x, y, verbose=0)\nnames = [e.name for e in model.compiled_metrics.metrics]",
        (
            "class Mine(keras.Model):\n    def train_step(self, data):\n        x, y = data\n"
            "        predicted = self(x)\n        self.compiled_metrics.update_state(y, predicted)\n"
            "        return {'loss': self.compiled_loss(y, predicted)}\n\n\n"
            "mine = Mine(inputs, outputs)\nmine.compile('sgd', 'mse', metrics=['mae'])\n"
            "mine.fit(x, y, verbose=0)"
        ),
    ),
    ".get_updates": (
        GET_UPDATES,
        "model.optimizer.get_updates(loss=outputs, params=model.weights)",
    ),
    "._set_hyper": (with_optimizer(DENSE_UPDATE),),
    "class subclasses RNN/LSTM/GRU/Recurrent": (
        "class Mine(layers.LSTM):\n    pass\n\n\nMine(3)(np.ones((2, 3, 4)))",
        "from keras.layers import Recurrent\n\n\nclass Mine(Recurrent):\n    pass\n",
    ),
    "load_model(dir SavedModel)": (
        "model.export('saved', verbose=False)\nloaded = keras.models.load_model('saved')",
    ),
    "load_weights(path without .h5/.hdf5/.keras; TF checkpoint)": (
        "model.load_weights('checkpoint/cp.ckpt')",
    ),
    ".compiled_loss": ("model.fit(x, y, verbose=0)\nmodel.compiled_loss(y, model(x))",),
    ".predict_classes": (
        (
            "net = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation='softmax')])\n"
            "net.predict_classes(x)"
        ),
        (
            "net = keras.Sequential([keras.Input((4,)), layers.Dense(1, activation='sigmoid')])\n"
            "net.predict_classes(x)"
        ),
    ),
    "Keras-1 kwarg nb_val_samples=": (
        "model.fit_generator(batches(), 4, 1, validation_data=batches(), nb_val_samples=4)",
    ),
    "layer(init=)": ("layers.Dense(3, init='uniform')",),
    ".add_update( on self (inside Layer/Model)": (
        (
            f"{LAYER}    def build(self, shape):\n"
            "        self.n = self.add_weight(name='n', shape=(), trainable=False)\n\n"
            f"{CALL}        self.add_update(self.n.assign(self.n + 1))\n        return x{USE}"
        ),
        (
            f"{LAYER}    def build(self, shape):\n"
            "        self.n = self.add_weight(name='n', shape=(), trainable=False)\n\n"
            f"{CALL}        self.add_update([K.update(self.n, self.n + 1)])\n        return x{USE}"
        ),
    ),
    "Keras-1 kwarg nb_filter=": (
        f"{IMAGES}layers.Convolution2D(nb_filter=4, nb_row=3, nb_col=3)(image)",
    ),
    "layer.add_variable(": (built("self.w = self.add_variable('w', shape=(4,))"),),
    "optimizer subclass: def get_updates (Keras-2.0-2.10 optimizer protocol)": (GET_UPDATES,),
    ".evaluate_generator": ("model.evaluate_generator(batches(), steps=1)",),
    "fit/predict/evaluate(use_multiprocessing=)": (
        "model.fit(x, y, use_multiprocessing=True, verbose=0)",
    ),
    "compile(loss=lambda ...)": (
        "model.compile('sgd', loss=lambda true, predicted: predicted)\nmodel.fit(x, y, verbose=0)",
    ),
    "._uses_learning_phase": ("flag = outputs._uses_learning_phase",),
    ".add_metric( on self (inside Layer/Model)": (
        in_layer("self.add_metric(keras.ops.sum(x), name='sum')", "return x"),
    ),
    "save_weights(save_format=)": ("model.save_weights('w.weights.h5', save_format='h5')",),
    ".total_loss": ("loss = model.total_loss",),
    "model.updates": ("updates = model.updates",),
    "compile(sample_weight_mode=)": ("model.compile('sgd', 'mse', sample_weight_mode='temporal')",),
    "._trainable_weights": (
        (
            f"{LAYER}    def build(self, shape):\n"
            "        self.w = keras.Variable(np.ones(4))\n"
            f"        self._trainable_weights.append(self.w)\n\n{CALL}        return x * self.w{USE}"
        ),
        (
            f"{LAYER}    def build(self, shape):\n"
            "        self.w = self.add_weight(name='w', shape=(4,))\n"
            f"        self._trainable_weights = [self.w]\n\n{CALL}        return x * self.w{USE}"
        ),
    ),
    ".add_metric( on a model/layer object": ("model.add_metric(outputs, name='mean')",),
    "fit/predict/evaluate(workers=)": ("model.fit(x, y, workers=4, verbose=0)",),
    "._resource_apply_dense": (with_optimizer(DENSE_UPDATE),),
    "._losses": ("losses = model._losses", in_layer("self._losses = []", "return x")),
    "._keras_history": (
        "layer = outputs._keras_history[0]",
        "layer = outputs._keras_history.layer",
    ),
    "add_weight(aggregation=)": (
        built(
            "self.w = self.add_weight(name='w', shape=(4,), "
            "aggregation=tf.VariableAggregation.MEAN)"
        ),
        built(
            "self.w = self.add_weight(name='w', shape=(4,), "
            "aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)"
        ),
    ),
    ".inbound_nodes": ("nodes = dense.inbound_nodes",),
    "Keras-1 kwarg b_regularizer=": ("layers.Dense(3, b_regularizer=keras.regularizers.l2(0.1))",),
    "._is_graph_network": ("flag = model._is_graph_network",),
    "._non_trainable_weights": (
        (
            f"{LAYER}    def build(self, shape):\n"
            "        self.w = keras.Variable(np.ones(4))\n"
            "        self._non_trainable_weights.append(self.w)\n\n"
            f"{CALL}        return x * self.w{USE}"
        ),
    ),
    "._create_slots": (
        with_optimizer(
            "_create_slots(self, var_list):\n        for each in var_list:\n"
            "            self.add_slot(each, 'm')"
        ),
    ),
    "Keras-1 kwarg max_q_size=": (
        "model.fit_generator(batches(), steps_per_epoch=1, max_q_size=2)",
    ),
    "compile(experimental_run_tf_function=)": (
        "model.compile('sgd', 'mse', experimental_run_tf_function=False)",
    ),
    "._inbound_nodes": ("nodes = dense._inbound_nodes",),
    "model.outputs = [...] / model.layers.pop() surgery": (
        "model.outputs = [model.layers[-1].output]",
        (
            "model.layers.pop()\nmodel.outputs = [model.layers[-1].output]\n"
            "model.layers[-1].outbound_nodes = []"
        ),
    ),
    "CuDNNLSTM/CuDNNGRU call": (
        "from keras.layers import CuDNNLSTM\nCuDNNLSTM(3, return_sequences=True)",
        "layers.CuDNNGRU(3)",
    ),
    ".get_updates_for": ("model.get_updates_for(inputs)",),
    "fit/predict/evaluate(max_queue_size=)": ("model.fit(x, y, max_queue_size=5, verbose=0)",),
    "compile(metrics='accuracy') bare string (not list)": (
        "model.compile('sgd', 'mse', metrics='accuracy')",
    ),
    ".predict_proba": (
        "net = keras.Sequential([keras.Input((4,)), layers.Dense(3)])\nnet.predict_proba(x)",
    ),
    "._obtain_input_shape": ("from keras.applications.imagenet_utils import _obtain_input_shape",),
    "add_weight(synchronization=)": (
        built(
            "self.w = self.add_weight(name='w', shape=(4,), "
            "synchronization=tf.VariableSynchronization.ON_READ)"
        ),
    ),
    ".get_losses_for": ("model.get_losses_for(inputs)",),
    "Keras-1 kwarg pickle_safe=": (
        "model.fit_generator(batches(), steps_per_epoch=1, pickle_safe=True)",
    ),
    "Keras-1 kwarg nb_worker=": ("model.fit_generator(batches(), steps_per_epoch=1, nb_worker=2)",),
    "._feed_inputs": ("feeds = model._feed_inputs",),
    ".metrics_tensors": ("model.metrics_tensors.append(outputs)",),
    ".get_output_at": ("out = dense.get_output_at(0)",),
    "._outbound_nodes": ("nodes = dense._outbound_nodes",),
    "._make_train_function": ("model._make_train_function()",),
    ".get_output_shape_at": ("size = dense.get_output_shape_at(0)",),
    "._batch_input_shape": ("size = model.layers[0]._batch_input_shape",),
    "Keras-1 kwarg val_samples=": ("model.evaluate_generator(batches(), val_samples=4)",),
    "layer(time_major=)": ("layers.LSTM(3, time_major=True)",),
    ".outbound_nodes": ("nodes = dense.outbound_nodes",),
    "Keras-1 kwarg dim_ordering=": (f"{IMAGES}layers.MaxPooling2D(dim_ordering='tf')(image)",),
    "Keras-1 kwarg nb_col=": (
        f"{IMAGES}layers.Convolution2D(nb_filter=4, nb_row=3, nb_col=3)(image)",
    ),
    "Keras-1 kwarg nb_row=": (f"{IMAGES}layers.Convolution2D(4, nb_row=3, nb_col=3)(image)",),
    ".train_function": ("function = model.train_function",),
    "ReduceLROnPlateau(epsilon=)": ("keras.callbacks.ReduceLROnPlateau(epsilon=0.01)",),
    "layer(fused=)": ("layers.BatchNormalization(fused=True)",),
    "layer(implementation=)": ("layers.LSTM(3, implementation=2)",),
    ".get_input_shape_at": ("size = dense.get_input_shape_at(0)",),
    "Keras-1 kwarg inner_init=": ("layers.LSTM(3, inner_init='orthogonal')",),
    "Keras-1 kwarg dropout_U=": ("layers.LSTM(3, dropout_U=0.2)",),
    "Keras-1 kwarg dropout_W=": ("layers.LSTM(3, dropout_W=0.2)",),
    ".get_input_at": ("tensor = dense.get_input_at(0)",),
    "Keras-1 kwarg nb_class=": ("keras.utils.to_categorical([0, 1], nb_classes=2)",),
    "._make_predict_function": ("model._make_predict_function()",),
    "compile(target_tensors=)": ("model.compile('sgd', 'mse', target_tensors=[outputs])",),
    ".add_update( on a model/layer object": ("model.add_update([])",),
    "._feed_input_names": ("names = model._feed_input_names",),
    ".state_updates": ("updates = model.state_updates",),
    ".container_nodes": ("nodes = model.container_nodes",),
    "compile(metrics=['fmeasure'|'precision'|...]) Keras-1 metric strings": (
        "model.compile('sgd', 'mse', metrics=['precision'])\nmodel.fit(x, y, verbose=0)",
        "model.compile('sgd', 'mse', metrics=['fmeasure'])\nmodel.fit(x, y, verbose=0)",
    ),
    ".input_mask": ("mask = dense.input_mask",),
    ".output_mask": ("mask = dense.output_mask",),
    "._set_inputs": ("model._set_inputs(inputs)",),
    "._standardize_user_data": ("model._standardize_user_data(x, y)",),
    "model.sample_weights": ("weights = model.sample_weights",),
    "add_weight(use_resource=)": (
        built("self.w = self.add_weight(name='w', shape=(4,), use_resource=True)"),
    ),
    "add_weight(experimental_autocast=)": (
        built("self.w = self.add_weight(name='w', shape=(4,), experimental_autocast=False)"),
    ),
    "._nodes_by_depth": ("nodes = model._nodes_by_depth",),
    "._collected_trainable_weights": ("weights = model._collected_trainable_weights",),
}
