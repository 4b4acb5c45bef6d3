"""Functions of ``keras.backend`` about sessions, phases, names and settings."""

from __future__ import annotations

from kdoctor.rewrite import rewrite
from kdoctor.rewrite.common_guards import Guard, equals, given
from kdoctor.rules.names._backend.function_guards import is_function, is_no_function
from kdoctor.rules.names._backend.uses import asked_for
from kdoctor.rules.names._backend.value_guards import text


def _called(parameter: str, functions: tuple[str, ...]) -> str:
    return f"{parameter}()" if parameter in functions else parameter


def _are_functions(functions: tuple[str, ...]) -> Guard:
    x, alt = (
        is_function(each) if each in functions else is_no_function(each) for each in ("x", "alt")
    )
    return x & alt


_CHOICES = {"in_train_phase": ("x", "alt"), "in_test_phase": ("alt", "x")}

REWRITES = (
    # Without `training` they ask the learning phase, which is gone.
    *(
        rewrite(
            f"keras.backend.{name}(x, alt, training=None)",
            f"{_called(then, functions)} if training else {_called(other, functions)}",
            when=given("training") & _are_functions(functions),
        )
        for name, (then, other) in _CHOICES.items()
        for functions in (("x", "alt"), ("x",), ("alt",), ())
    ),
    # What the module itself imported, and people took from there.
    rewrite("keras.backend.tf", "tensorflow"),
    rewrite("keras.backend.tensorflow_backend.tf", "tensorflow"),
    rewrite("keras.backend.control_flow_ops.while_loop", "tensorflow.while_loop"),
    rewrite("keras.backend.np", "numpy"),
    rewrite("keras.backend.name_scope(name)", "keras.name_scope(name)"),
    rewrite(
        "keras.backend.image_dim_ordering()",
        '"tf" if keras.config.image_data_format() == "channels_last" else "th"',
    ),
    rewrite(
        "keras.backend.set_image_dim_ordering(dim_ordering)",
        'keras.config.set_image_data_format("channels_last")',
        when=equals("dim_ordering", "tf"),
    ),
    rewrite(
        "keras.backend.set_image_dim_ordering(dim_ordering)",
        'keras.config.set_image_data_format("channels_first")',
        when=equals("dim_ordering", "th"),
    ),
    rewrite(
        "keras.backend.set_image_dim_ordering(dim_ordering)",
        "keras.config.set_image_data_format("
        '{"tf": "channels_last", "th": "channels_first"}[dim_ordering])',
    ),
    # The graph of symbolic layers, which is gone: for unique names any graph will do.
    rewrite(
        "keras.backend.get_graph()",
        "tensorflow.compat.v1.get_default_graph()",
        when=asked_for("unique_name"),
    ),
    # Public by accident, from Keras 2.6 to 2.12: it makes a name for a layer, not for a tensor.
    rewrite(
        "keras.backend.unique_object_name("
        "name, name_uid_map=None, avoid_names=None, namespace='', zero_based=False, "
        "avoid_observed_names=False)",
        'f"{name}_{keras.backend.get_uid(name)}"',
        when=text("name"),
    ),
)

_PHASE = "Keras 3 has no learning phase: take `training` as an argument of `call` and branch on it"
_SESSION = "sessions are gone: code runs eagerly, and keras.Function makes functions"
_ENGINE = "this backend is gone: Keras 3 runs on TensorFlow, JAX and PyTorch"

BY_HAND = {
    "unique_object_name": "it makes a unique layer name from a prefix, not from a tensor: "
    'write f"{prefix}_{keras.backend.get_uid(prefix)}" with a string; a tensor or weight has '
    ".name, a variable also .path",
    "image_dim_ordering": "write keras.config.image_data_format(), which says 'channels_last' for "
    "'tf' and 'channels_first' for 'th'",
    "set_image_dim_ordering": "write keras.config.set_image_data_format('channels_last') for 'tf', "
    "'channels_first' for 'th'",
    "in_train_phase": f"{_PHASE}: `x if training else alt`",
    "in_test_phase": f"{_PHASE}: `alt if training else x`",
    "learning_phase": _PHASE,
    "set_learning_phase": f"{_PHASE}; pass training=True or False where the model is called",
    "learning_phase_scope": f"{_PHASE}; pass training=True or False where the model is called",
    "get_session": _SESSION,
    "set_session": f"{_SESSION}. For the GPU's memory: "
    "tf.config.experimental.set_memory_growth(gpu, True)",
    "manual_variable_initialization": "variables have their values as soon as they are created: "
    "remove it",
    "track_variable": "it registered variables to initialize, which now happens when they are "
    "created: remove it",
    "control_dependencies": "code runs in the order in which it is written: remove it",
    "get_graph": "it was the graph in which Keras put symbolic layers together: code runs eagerly, "
    "and `with K.get_graph().as_default()` can be removed; for a unique name write "
    "tf.compat.v1.get_default_graph().unique_name(name)",
    "reset_uids": "write keras.utils.clear_session(), which also resets all other global state of "
    "Keras",
    "ContextValueCache": "it kept one dropout mask for all steps of a recurrent layer: derive the "
    "cell from keras.layers.LSTMCell (or another cell) and call its get_dropout_mask(x) and "
    "get_recurrent_dropout_mask(x), which the layer draws again for each batch. In another class "
    "draw a mask at each training step, `keras.random.dropout(keras.ops.ones_like(x), rate)`: a "
    "cached one is out of scope in the next batch. Code that filled, cleared or pickled the cache "
    "(`setdefault`, `clear`, `__getstate__`, and calls of methods that did so) can be removed",
    "load_backend": "set the environment variable KERAS_BACKEND before Keras is imported",
    "common": "its functions are in keras.config",
    "tensorflow_backend": "the functions of keras.backend are in keras.ops",
    "tf": "it was TensorFlow itself: write `import tensorflow as tf`",
    "control_flow_ops": "it was a module of TensorFlow: write `tf.while_loop` or `tf.cond`",
    "np": "it was NumPy itself: write `import numpy as np`",
    "eager": "it marked functions that run eagerly, as all do now: remove it",
    "symbolic": "it marked functions that build graphs: remove it",
    "has_arg": "write `name in inspect.signature(function).parameters`",
    "experimental": "the random generators are in keras.random",
    "C": _ENGINE,
    "T": _ENGINE,
    "theano": _ENGINE,
}
