"""What to write where no rewrite can stand for a name, by the name or what it stands under."""

from __future__ import annotations

from collections.abc import Sequence

_ENQUEUERS = (
    "Pass a generator, a keras.utils.PyDataset or a tf.data.Dataset to model.fit, which queues the "
    "batches itself: workers= and use_multiprocessing= are arguments of PyDataset"
)
_FEATURES = (
    "Feature columns are gone: make one keras.Input per column and preprocess it with "
    "keras.layers.Normalization, StringLookup, CategoryEncoding, Hashing or Embedding, or all at "
    "once with keras.utils.FeatureSpace"
)
_TESTS = (
    "It is a helper for Keras' own tests: copy the parts that you need, or run the layer on an "
    "array and compare the results"
)
_LOCAL = (
    "Keras 3 has no locally connected layers: copy the one that `kdoctor rules KD102` shows, which "
    "loads the old weights, or stay with tf_keras"
)
_KERAS_1_RNN = (
    "Write a cell (a layer with `call(inputs, states)` and `state_size`) and pass it to "
    "keras.layers.RNN"
)
_BASE = (
    "It is a private base class: derive from keras.layers.Layer, or use the public classes with "
    "isinstance"
)
_ADDRESS = (
    "The URLs of weights are private in Keras 3: build the application with weights='imagenet', or "
    "pass the URL to keras.utils.get_file"
)
_ARITHMETIC = (
    "It is private in Keras 3: for padding 'same' write -(-length // stride), for 'valid' (length "
    "- dilation * (kernel - 1) - 1) // stride + 1, and None where the length is None"
)

BY_HAND = {
    "__internal__": "It was internal to TensorFlow's own packages: look for a public equivalent in "
    "keras",
    "applications.mobilenet.mobilenet": _ADDRESS,
    "applications.vgg16.vgg16": _ADDRESS,
    "applications.vgg19.vgg19": _ADDRESS,
    "backend._BACKEND": "Write keras.backend.backend()",
    "callbacks.BaseLogger": "Keras averages the metrics itself: remove the callback, or write a "
    "custom keras.callbacks.Callback",
    "dtensor": "Distribute with keras.distribution (on JAX) or with tf.distribute and tf.keras",
    "engine.merge": "The merging layers are keras.layers.Add, Concatenate, Multiply and so on",
    "engine.saving": "Write keras.saving.load_model, model.save and model.save_weights",
    "engine.saving.load_weights_from_hdf5_group": "Write model.load_weights(path)",
    "engine.saving.load_weights_from_hdf5_group_by_name": "Write model.load_weights(path, "
    "by_name=True): it takes .h5 files",
    "engine.topology.Merge": "Use keras.layers.Concatenate()([a, b]), Add, Multiply … in a "
    "functional model: a Sequential has no branches",
    "engine.topology.Node": "The graph of a model is private: use model.layers and "
    "model.operations",
    "engine.training.GeneratorEnqueuer": _ENQUEUERS,
    "estimator": "TensorFlow has removed estimators as well: train the model itself with model.fit",
    "experimental.LinearModel": "Write keras.Sequential([keras.layers.Dense(units)])",
    "experimental.PeepholeLSTMCell": _KERAS_1_RNN,
    "experimental.SequenceFeatures": _FEATURES,
    "experimental.WideDeepModel": "Build it as a functional model: "
    "keras.layers.add([linear(x), deep(x)])",
    "feature_column": _FEATURES,
    "initializations": "It is the Keras 1 name of keras.initializers. Write "
    "keras.initializers.RandomUniform(), GlorotUniform() … and call it with the shape",
    "initializers._compute_fans": "Copy it: it returns the sizes of a kernel's input and output",
    "layers.AbstractRNNCell": "Derive from keras.layers.Layer and define state_size, output_size "
    "and call(inputs, states)",
    "layers.AtrousConvolution1D": "Write keras.layers.Conv1D(filters, kernel_size, "
    "dilation_rate=…)",
    "layers.AtrousConvolution2D": "Write keras.layers.Conv2D(filters, (rows, cols), "
    "dilation_rate=…)",
    "layers.Concat": "Write keras.layers.Concatenate(axis=…)",
    "layers.Deconvolution2D": "Write keras.layers.Conv2DTranspose(filters, (rows, cols), "
    "strides=…): it computes the output shape itself",
    "layers.Deconvolution3D": "Write keras.layers.Conv3DTranspose(filters, kernel_size, "
    "strides=…): it computes the output shape itself",
    "layers.DenseFeatures": _FEATURES,
    "layers.Highway": "Write a custom layer: t * h(x) + (1 - t) * x with two Dense layers",
    "layers.LocallyConnected1D": _LOCAL,
    "layers.LocallyConnected2D": _LOCAL,
    "layers.MaxoutDense": "Write keras.layers.Dense(units * k), keras.layers.Reshape((k, units)) "
    "and take the maximum over axis 1",
    "layers.Merge": "Use keras.layers.Concatenate()([a, b]), Add, Multiply … in a functional "
    "model: a Sequential has no branches",
    "layers.Recurrent": _KERAS_1_RNN,
    "layers.TimeDistributedDense": "Write keras.layers.TimeDistributed(keras.layers.Dense(units)); "
    "Dense alone does the same",
    "layers.convolutional._Conv": _BASE,
    "layers.core.TimeDistributedDense": "Write "
    "keras.layers.TimeDistributed(keras.layers.Dense(units)); Dense alone does the same",
    "layers.experimental.RandomFourierFeatures": "Write a custom layer: cos(x @ kernel + bias) "
    "with a non-trainable kernel",
    "layers.experimental.preprocessing": "Its layers are in keras.layers",
    "layers.experimental.preprocessing.PreprocessingLayer": "Derive from keras.layers.Layer and "
    "define adapt yourself",
    "layers.merge._Merge": "Derive from keras.layers.Layer",
    "layers.pooling._GlobalPooling1D": _BASE,
    "layers.pooling._GlobalPooling2D": _BASE,
    "layers.pooling._Pooling1D": _BASE,
    "layers.pooling._Pooling2D": _BASE,
    "layers.pooling._Pooling3D": _BASE,
    "layers.recurrent.Recurrent": _KERAS_1_RNN,
    "legacy.interfaces": "It translated Keras 1 arguments: write the current ones",
    "metrics.fbeta_score": "Write keras.metrics.FBetaScore()",
    "metrics.fmeasure": "Write keras.metrics.F1Score()",
    "metrics.precision": "Write keras.metrics.Precision()",
    "metrics.recall": "Write keras.metrics.Recall()",
    "mixed_precision.experimental.LossScaleOptimizer": "Write "
    "keras.mixed_precision.LossScaleOptimizer(optimizer, initial_scale=…), whose scale is dynamic; "
    "for a fixed one pass loss_scale_factor= to the optimizer itself",
    "mixed_precision.experimental.Policy": "Remove loss_scale=: "
    "keras.mixed_precision.LossScaleOptimizer sets the scale, and compile() uses it for "
    "mixed_float16",
    "models.model_from_yaml": "YAML could execute arbitrary code and is gone: save the "
    "architecture with model.to_json(), load it with keras.models.model_from_json",
    "optimizer_v2.optimizer_v2.OptimizerV2": "Derive from keras.optimizers.Optimizer and define "
    "build(variables) and update_step(gradient, variable, learning_rate)",
    "optimizers.TFOptimizer": "Pass one of keras.optimizers; tf.compat.v1.train optimizers do not "
    "train a Keras 3 model",
    "optimizers.clip_norm": "Pass clipnorm= to the optimizer",
    "premade": "Build the model yourself: keras.Sequential([keras.layers.Dense(units)])",
    "testing_infra": _TESTS,
    "testing_utils": _TESTS,
    "utils.GeneratorEnqueuer": _ENQUEUERS,
    "utils.OrderedEnqueuer": _ENQUEUERS,
    "utils.SequenceEnqueuer": _ENQUEUERS,
    "utils.DeterministicRandomTestTool": "It compared TensorFlow 1 and 2 models: Keras 3 does not "
    "run TensorFlow 1 models",
    "utils.SidecarEvaluator": "Evaluate each checkpoint in your own loop: keras.models.load_model "
    "and model.evaluate",
    "utils.conv_utils": _ARITHMETIC,
    "utils.convert_all_kernels_in_model": "Only kernels trained with Theano needed it: remove it",
    "utils.experimental.DatasetCreator": "Call the function yourself and pass its tf.data.Dataset",
    "utils.generic_utils.object_list_uid": "Copy it: it joined the ids of the objects in a list",
    "utils.layer_utils.convert_all_kernels_in_model": "Only kernels trained with Theano needed it: "
    "remove it",
    "utils.layer_utils.convert_dense_weights_data_format": "It reordered a kernel for the other "
    "image_data_format: transpose it with NumPy",
    "utils.losses_utils": "Derive from keras.losses.Loss: it applies weights and the reduction "
    "itself; reduction is 'sum_over_batch_size', 'sum' or None",
    "utils.multi_gpu_model": "Build and compile the model under "
    "tf.distribute.MirroredStrategy().scope() (tf.keras), and fit the model itself",
    "utils.np_utils.conv_output_length": _ARITHMETIC,
    "utils.test_utils": _TESTS,
    "utils.tf_utils": "It was the private TensorFlow part of Keras: look for an equivalent in "
    "keras.ops and keras.tree",
    "utils.get_or_create_layer": "It helped to migrate TensorFlow 1 models: create the layer in "
    "__init__ and keep it",
    "utils.track_tf1_style_variables": "It helped to migrate TensorFlow 1 models: create variables "
    "with self.add_weight in build, layers in __init__",
    "utils.warmstart_embedding_matrix": "Copy the rows of the known words with NumPy",
    "wrappers.scikit_learn": "Install SciKeras and import it from scikeras.wrappers",
}


def told_by_hand(names: Sequence[str]) -> str:
    """Return the text of one of these names, else of what the first of them stands under."""
    text = next((BY_HAND[each] for each in names if each in BY_HAND), "")
    name = names[0]
    while not text and "." in name:
        name = name.rpartition(".")[0]
        text = BY_HAND.get(name, "")
    return text
