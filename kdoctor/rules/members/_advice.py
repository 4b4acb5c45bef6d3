"""What to write in place of members that have no counterpart, and which private ones are gone.

``tests/rules/test_member_gone_tables.py`` asks the installed Keras 3 for each of them.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from kdoctor.value_types import Kind

_UPDATE: Final = (
    "Update the variable directly: `self.moving.assign(value)` in `call` takes effect there."
)
_TRAIN_STEP: Final = (
    "Training is no longer a graph with its own tensors: override `train_step` or `compute_loss`, "
    "and read what you need there."
)
_LEARNING_PHASE: Final = (
    "Take `training` as an argument: `def call(self, x, training=False)`, `model(x, "
    "training=True)`."
)
_NODES: Final = (
    "Ask the model: `model.layers`, `model.operations`, `model.get_layer(name)`, `layer.output`."
)
_OWN_OPTIMIZER: Final = (
    "A Keras 3 optimizer creates its variables in `build` with `add_variable_from_reference`, and "
    "updates one variable in `update_step(gradient, variable, learning_rate)`."
)
_TAPE: Final = (
    "Write the training step by hand: `with tf.GradientTape() as tape: loss = …`, then "
    "`optimizer.apply(tape.gradient(loss, variables), variables)`."
)
_COMPILED: Final = "The arguments of `compile` are in `model.get_compile_config()`."


class Advice(Struct, frozen=True):
    """What a person should write, and why no fix does it."""

    help: str = ""
    no_fix_because: str = "no other member does the same"


_LAYER_OR_MODEL: Final = (Kind.LAYER, Kind.MODEL)

_ADVICE: Final[dict[tuple[Kind, str], Advice]] = {
    **{
        (kind, name): Advice(_UPDATE, "kdoctor cannot tell which variable gets which value")
        for kind in _LAYER_OR_MODEL
        for name in ("add_update", "updates", "get_updates_for", "state_updates", "_updates")
    },
    **{
        (Kind.MODEL, name): Advice(_TRAIN_STEP)
        for name in (
            *("targets", "sample_weights", "total_loss", "metrics_tensors", "metrics_updates"),
            *("_feed_inputs", "_feed_input_names", "_feed_targets", "_feed_sample_weights"),
            *("_feed_outputs", "_feed_output_names", "_feed_input_shapes", "_feed_output_shapes"),
            *("_feed_loss_fns", "_collected_trainable_weights", "_standardize_user_data"),
            *("_set_inputs", "loss_functions"),
            *("_function_kwargs", "train_tf_function", "skip_target_indices"),
        )
    },
    **{
        (Kind.MODEL, name): Advice(_COMPILED)
        for name in (
            *("loss_weights", "loss_weights_list", "sample_weight_mode", "sample_weight_modes"),
            *("weighted_metrics", "unweighted_metrics", "stateful_metric_names"),
            "stateful_metric_functions",
        )
    },
    (Kind.MODEL, "_get_distribution_strategy"): Advice("It is `model.distribute_strategy`."),
    (Kind.LAYER, "_compute_dtype_object"): Advice("It is now `layer.compute_dtype`."),
    **{
        (Kind.OPTIMIZER, name): Advice(
            "Override `apply`, which receives the gradients: in Keras 3 the optimizer does not "
            "compute them."
        )
        for name in ("_compute_gradients", "_transform_gradients", "_aggregate_gradients")
    },
    (Kind.MODEL, "_is_compiled"): Advice("It is public now: `model.compiled`."),
    **{
        (kind, name): Advice(_LEARNING_PHASE)
        for kind in (Kind.MODEL, Kind.LAYER, Kind.TENSOR)
        for name in ("uses_learning_phase", "_uses_learning_phase")
    },
    **{
        (kind, name): Advice(_NODES, "the nodes of a model are private to Keras")
        for kind in _LAYER_OR_MODEL
        for name in (
            *("container_nodes", "nodes_by_depth", "layers_by_depth", "input_layers"),
            *("output_layers", "input_layers_node_indices", "output_layers_node_indices"),
            *("input_layers_tensor_indices", "output_layers_tensor_indices", "run_internal_graph"),
            *("_container_nodes", "_layers_by_depth", "_input_layers", "_output_layers"),
            *("_is_graph_network", "submodules", "_add_inbound_node"),
        )
    },
    **{
        (kind, name): Advice(
            "Keep the result of the call: `y = layer(x)`, then `y`, `y.shape`.",
            "kdoctor cannot tell which of its calls is meant",
        )
        for kind in _LAYER_OR_MODEL
        for name in (
            *("get_output_at", "get_input_at", "get_output_shape_at", "get_input_shape_at"),
            *("get_output_mask_at", "get_input_mask_at", "input_mask", "output_mask"),
            *("batch_input_shape", "_batch_input_shape"),
        )
    },
    **{
        (kind, name): Advice(
            "Make weights with `self.add_weight(…, trainable=…)`; Keras 3 then tracks them. "
            "To freeze a layer set `layer.trainable = False`."
        )
        for kind in _LAYER_OR_MODEL
        for name in ("_trainable_weights", "_non_trainable_weights", "_initial_weights")
    },
    **{
        (Kind.OPTIMIZER, name): Advice(_OWN_OPTIMIZER)
        for name in (
            *("add_slot", "get_slot", "get_slot_names", "add_weight", "_create_slots"),
            *("_get_hyper", "_set_hyper", "_hyper", "_decayed_lr", "_decayed_lr_t"),
            *("_resource_apply_dense", "_resource_apply_sparse", "updates"),
        )
    },
    **{
        (Kind.OPTIMIZER, name): Advice(_TAPE, "the training step must be written by hand")
        for name in ("minimize", "compute_gradients", "aggregate_gradients", "get_grads")
    },
    (Kind.OPTIMIZER, "loss_scale"): Advice(
        "Read `optimizer.dynamic_scale` of a built `LossScaleOptimizer`, or the "
        "`loss_scale_factor` of any other optimizer.",
        "which of the two it is depends on the optimizer",
    ),
    (Kind.OPTIMIZER, "get_unscaled_gradients"): Advice(
        "Remove it: in the tape `scaled = optimizer.scale_loss(loss)`, then "
        "`optimizer.apply(tape.gradient(scaled, variables), variables)`, which unscales them.",
        "the gradients must then go to `apply` of the same optimizer",
    ),
    **{
        (Kind.OPTIMIZER, name): Advice(
            "Keras 3 decays by a schedule: `Adam(InverseTimeDecay(rate, 1, decay))` of "
            "`keras.optimizers.schedules`."
        )
        for name in ("decay", "initial_decay", "schedule_decay")
    },
    **{
        (Kind.MODEL, name): Advice(
            "`model.predict(x)` gives the probabilities; the classes are "
            "`model.predict(x).argmax(axis=-1)`, or `(model.predict(x) > 0.5).astype('int32')` "
            "after one sigmoid unit."
        )
        for name in ("predict_proba", "predict_classes")
    },
    **{
        (Kind.MODEL, f"_make_{which}_function"): Advice(
            f"`make_{which}_function()` is public; Keras calls it itself when needed."
        )
        for which in ("train", "test", "predict")
    },
    **{
        (Kind.MODEL, f"{name}_generator"): Advice(
            f"`model.{name}` also takes generators: `model.{name}(generator, "
            f"{'steps_per_epoch' if name == 'fit' else 'steps'}=…)`. `workers`, "
            "`use_multiprocessing` and `max_queue_size` belong to a `keras.utils.PyDataset`."
        )
        for name in ("fit", "evaluate", "predict")
    },
    **{
        (kind, "get_losses_for"): Advice("`model.losses` has all of them, without inputs.")
        for kind in _LAYER_OR_MODEL
    },
    (Kind.CALLBACK, "validation_data"): Advice(
        "Pass the data to the callback: `def __init__(self, x, y)`, then `self.x` there.",
        "kdoctor cannot tell where the data comes from",
    ),
    (Kind.TENSOR, "op"): Advice(
        "The operation that made it is `tensor._keras_history.operation`, which is private; its "
        "name is `tensor.name`."
    ),
    (Kind.TENSOR, "set_shape"): Advice("Use `keras.ops.reshape(tensor, shape)`."),
    (Kind.TENSOR, "ref"): Advice("Use `id(tensor)` as the key."),
    (Kind.VARIABLE, "ref"): Advice("Use `id(variable)` as the key."),
    (Kind.VARIABLE, "initializer"): Advice(
        "There is nothing to initialize: a weight has its value as soon as it is created."
    ),
    (Kind.VARIABLE, "initialized_value"): Advice(
        "A weight has its value as soon as it is created: `keras.ops.convert_to_numpy(variable)`."
    ),
    (Kind.VARIABLE, "op"): Advice("It is now `variable.path`."),
    (Kind.METRIC, "get_weights"): Advice("Its state is in `metric.variables`."),
}

_PRIVATE: Final = frozenset(key for key in _ADVICE if key[1].startswith("_"))
# Members of `tf.Variable`, which weights were up to Keras 2.
_OF_TF_VARIABLES: Final = frozenset(
    {
        *("get_shape", "read_value", "eval", "initializer", "op", "device", "graph", "ref"),
        *("initialized_value", "scatter_update", "scatter_add", "scatter_sub", "sparse_read"),
        *("set_shape", "is_initialized", "batch_scatter_update", "gather_nd", "to_proto"),
    }
)


NOT_PUBLIC: Final = _OF_TF_VARIABLES.union(member for _, member in _PRIVATE)
"""The members that ``is_gone_in_private`` may speak of."""


def advice_for(kind: Kind, member: str) -> Advice:
    """Return what is known of a member that is gone."""
    return _ADVICE.get((kind, member), Advice())


def is_gone_in_private(kind: Kind, member: str) -> bool:
    """Say whether objects of a kind lack a member of which no public API tells."""
    if kind is Kind.VARIABLE:
        return member in _OF_TF_VARIABLES
    return (kind, member) in _PRIVATE
