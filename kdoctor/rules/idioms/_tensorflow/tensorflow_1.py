"""Advice for TensorFlow 1 names that have no new name."""

from __future__ import annotations

from kdoctor.keras_api.tensorflow_aliases import TURN_EAGER_OFF

# What works in TensorFlow 2 without a graph, under `tf.compat.v1`, as the example of KD506 runs it.
AT_ONCE = frozenset({
    *("app", "flags", "gfile", "logging"),
    *("to_double", "to_float", "to_int32", "to_int64"),
    *("arg_max", "arg_min", "confusion_matrix", "count_nonzero", "depth_to_space", "div"),
    *("extract_image_patches", "py_func", "setdiff1d", "space_to_depth", "sparse_to_dense"),
    *("string_to_number", "substr", "multinomial", "decode_raw", "Dimension"),
    *("assert_greater_equal", "assert_less_equal", "assert_non_negative", "assert_positive"),
    *("image.resize_area", "image.resize_bicubic", "image.resize_bilinear"),
    *("image.resize_images", "image.resize_nearest_neighbor"),
    *("nn.softmax_cross_entropy_with_logits_v2", "parse_single_example"),
    *("glorot_normal_initializer", "glorot_uniform_initializer", "orthogonal_initializer"),
    *("truncated_normal_initializer", "variance_scaling_initializer"),
})  # fmt: skip
CASTS = {
    "to_double": "float64",
    "to_float": "float32",
    "to_int32": "int32",
    "to_int64": "int64",
}
# The arguments are the same in the same order, and have other names.
FILES = {
    "gfile.Copy": "gfile.copy",
    "gfile.DeleteRecursively": "gfile.rmtree",
    "gfile.Exists": "gfile.exists",
    "gfile.Glob": "gfile.glob",
    "gfile.IsDirectory": "gfile.isdir",
    "gfile.ListDirectory": "gfile.listdir",
    "gfile.MakeDirs": "gfile.makedirs",
    "gfile.MkDir": "gfile.mkdir",
    "gfile.Remove": "gfile.remove",
    "gfile.Rename": "gfile.rename",
}
SEEDS = ("set_random_seed", "random.set_random_seed")

_SESSION = (
    "Sessions no longer exist: `session.run(y, {x: data})` is "
    "`keras.ops.convert_to_numpy(model(data))`, or `keras.Model(x, y)(data)` for your own "
    "tensors. `tf.compat.v1.Session` does not help: Keras 3 creates no graph for it"
)
_CONFIG = (
    "There is no session to configure. For the GPU's memory: `for gpu in "
    'tf.config.list_physical_devices("GPU"): tf.config.experimental.set_memory_growth(gpu, True)`; '
    "for threads `tf.config.threading.set_intra_op_parallelism_threads(n)`"
)
_PLACEHOLDER = (
    "Write `keras.Input(shape, dtype=...)`, without the batch, to build a model; to compute with "
    "values pass them to a function"
)
_GRAPH = "Remove it: Keras 3 runs eagerly, in any thread, and has no default graph"
_INITIALIZER = "Remove it: variables have their values when they are created"
_VARIABLE = (
    "Write `self.add_weight(shape=..., initializer=...)` in `build` of a layer, "
    "`keras.Variable(value, name=...)` elsewhere"
)
_ASSIGN = "Write `variable.assign(value)`, `.assign_add(…)` or `.assign_sub(…)`: it runs eagerly"
_SAVER = "Write `model.save_weights('x.weights.h5')` and `model.load_weights('x.weights.h5')`"
_SUMMARY = (
    "Write `writer = tf.summary.create_file_writer(folder)` and, in `with writer.as_default():`, "
    "`tf.summary.scalar(name, value, step=step)`"
)
_STEP = "Count steps yourself, or use `.iterations` of a Keras optimizer"
_VARIABLES = "Write `model.trainable_variables` or `model.variables`: nothing collects all of them"
BY_NAME = {
    **dict.fromkeys(("Session", "InteractiveSession", "get_default_session"), _SESSION),
    **dict.fromkeys(("ConfigProto", "GPUOptions", "GraphOptions", "OptimizerOptions"), _CONFIG),
    **dict.fromkeys(("RunOptions", "RunMetadata"), _SESSION),
    **dict.fromkeys(
        ("placeholder", "placeholder_with_default", "sparse_placeholder"), _PLACEHOLDER
    ),
    **dict.fromkeys(("get_default_graph", "enable_eager_execution"), _GRAPH),
    **dict.fromkeys(("enable_v2_behavior", "enable_resource_variables"), _GRAPH),
    **dict.fromkeys(TURN_EAGER_OFF, _GRAPH),
    **dict.fromkeys(
        (
            *("global_variables_initializer", "local_variables_initializer"),
            *("initialize_all_variables", "initialize_variables", "variables_initializer"),
            *("tables_initializer", "initialize_local_variables", "is_variable_initialized"),
            *("report_uninitialized_variables",),
        ),
        _INITIALIZER,
    ),
    **dict.fromkeys(("get_variable", "get_local_variable"), _VARIABLE),
    **dict.fromkeys(("assign", "assign_add", "assign_sub"), _ASSIGN),
    **dict.fromkeys(
        (
            *("global_variables", "trainable_variables", "local_variables", "all_variables"),
            *("model_variables", "moving_average_variables", "GraphKeys"),
            *("get_collection", "get_collection_ref", "add_to_collection"),
        ),
        _VARIABLES,
    ),
    **dict.fromkeys(
        ("variable_scope", "get_variable_scope", "VariableScope"),
        "Layers hold their own variables: remove the scope, and call one layer twice where it "
        "had `reuse=True`",
    ),
    **dict.fromkeys(("AUTO_REUSE",), "Create the layer once, and call it twice"),
    "reset_default_graph": "Write `keras.utils.clear_session()`",
    "contrib": "`tf.contrib` has no successor: look for the package that this part moved to, "
    "such as tensorflow-addons or tf-slim, or write the layer with Keras",
    **dict.fromkeys(
        ("estimator", "python.estimator"),
        "Write the model with Keras, and `compile` and `fit` it; to keep using estimators, stay "
        "on TensorFlow 2.15",
    ),
    "layers": "Use the layer of `keras.layers` (`keras.layers.Dense(units)(x)`), and store it: "
    "each holds its own weights",
    "Print": "Write `tf.print(message, x)` on a separate line, and use x",
    "distributions": "Use the package tensorflow-probability",
    **dict.fromkeys(SEEDS, "Write `keras.utils.set_random_seed(seed)`"),
    **dict.fromkeys(("Summary", "Event"), _SUMMARY),
    **dict.fromkeys(("train.Saver", "train.import_meta_graph", "train.Supervisor"), _SAVER),
    **dict.fromkeys(
        (
            *("train.get_global_step", "train.get_or_create_global_step"),
            *("train.create_global_step", "train.global_step"),
        ),
        _STEP,
    ),
    "train.exponential_decay": "Give the optimizer a `keras.optimizers.schedules."
    "ExponentialDecay(rate, steps, decay)`",
    "train.piecewise_constant": "Give the optimizer a `keras.optimizers.schedules."
    "PiecewiseConstantDecay(boundaries, values)`",
    "train.polynomial_decay": "Give the optimizer a `keras.optimizers.schedules."
    "PolynomialDecay(rate, steps, end)`",
    "train.MomentumOptimizer": "Write `keras.optimizers.SGD(rate, momentum=...)`",
    "train.GradientDescentOptimizer": "Write `keras.optimizers.SGD(rate)`",
    "train.RMSPropOptimizer": "Write `keras.optimizers.RMSprop(rate, rho=...)`, where `decay` was",
    **{
        f"train.{name}Optimizer": f"Write `keras.optimizers.{name}(rate)`, and gradients of a "
        "`tf.GradientTape` for `minimize`"
        for name in ("Adadelta", "Adagrad", "Adam", "Ftrl")
    },
}
BY_PREFIX = {
    "summary.": _SUMMARY,
    "losses.": "Write the loss of `keras.losses`, which takes `y_true` and `y_pred`",
    "metrics.": "Write a metric of `keras.metrics`: `metric.update_state(y_true, y_pred)`, then "
    "`metric.result()`",
    "nn.": "Write a layer of `keras.layers`, or `keras.ops`",
    "saved_model.": "Write `model.export(folder)`",
    "data.": "A dataset is iterated with `for`, and takes no session",
    "scatter_": "Write `variable.assign(keras.ops.scatter_update(variable, indices, updates))`",
}
_UNKNOWN = (
    "It needs a graph: rewrite it with `keras.ops`, `keras.layers` and `tf.GradientTape`, which "
    "run eagerly"
)


def advice(name: str, renamed: str = "") -> str:
    """Return what to write for ``Session``, in sentences."""
    if renamed:
        return f"Write `tf.{renamed}`."
    name = "layers" if name.startswith("layers.") else name  # what `tf.compat.v1.layers` had
    for prefix, text in BY_PREFIX.items():
        if name.startswith(prefix) and name not in BY_NAME:
            return f"{text}."
    if name in AT_ONCE:
        return f"Write `tf.compat.v1.{name}`."
    return f"{BY_NAME.get(name, _UNKNOWN)}."
