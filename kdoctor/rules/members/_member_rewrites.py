"""What members that are gone are written as now: one row a form.

The left sides are old signatures; ``tests/rules/test_member_gone_tables.py`` holds them
against the release data. What only some releases took by position stands behind the ``*``.
"""

from __future__ import annotations

from kdoctor.rewrite import attribute, equals, given, method, not_given, statement_position
from kdoctor.rules.members._sequential_output import gives_classes, gives_one_number
from kdoctor.rules.members._variable_reads import never_dereferenced, used_at_once
from kdoctor.value_types import Kind

KINDS = {
    "keras.Model": (Kind.MODEL,),
    "keras.Sequential": (Kind.MODEL,),
    "keras.layers.Layer": (Kind.LAYER,),
    "keras.layers.Bidirectional": (Kind.LAYER,),
    "keras.layers.DepthwiseConv2D": (Kind.LAYER,),
    "keras.layers.StringLookup": (Kind.LAYER,),
    "keras.optimizers.Optimizer": (Kind.OPTIMIZER,),
    "keras.metrics.Metric": (Kind.METRIC,),
    "keras.KerasTensor": (Kind.TENSOR,),
    "keras.Variable": (Kind.VARIABLE,),
}

_WORKERS = {
    "max_queue_size": "Keras 3 decides when and in which order batches are prepared; a "
    "`keras.utils.PyDataset` takes `workers`, `use_multiprocessing` and `max_queue_size`",
}
_WORKERS |= dict.fromkeys(("workers", "use_multiprocessing"), _WORKERS["max_queue_size"])

_FIT = (
    "keras.Model.fit_generator(self, generator, steps_per_epoch=None, epochs=1, verbose=1, "
    "callbacks=None, validation_data=None, validation_steps=None, *, validation_freq=1, "
    "class_weight=None, max_queue_size=10, workers=1, use_multiprocessing=False, shuffle=True, "
    "initial_epoch=0)"
)
_FIT_ARGUMENTS = (
    "callbacks=callbacks, validation_data=validation_data, validation_steps=validation_steps, "
    "validation_freq=validation_freq, class_weight=class_weight, shuffle=shuffle, "
    "initial_epoch=initial_epoch"
)
_CLASS_WEIGHT = (
    "`class_weight` is accepted with a `keras.utils.PyDataset`, but rejected with a Python "
    "generator, which must yield sample weights as a third item instead"
)
_STEPS = (
    "keras.Model.{}_generator(self, generator, steps=None, *, callbacks=None, max_queue_size=10, "
    "workers=1, use_multiprocessing=False, verbose=0)"
)

_CLASSES = "keras.Sequential.predict_classes(self, x, batch_size=32, verbose=0)"

_ONE_NODE = (
    "for a layer that was called several times it belongs to the first call; for several outputs "
    "it is a list"
)
_OTHER_NUMBERS = (
    "on Keras 3 they include the learning rate, and weights saved by Keras 2 do not fit"
)

# Private names of Keras 2, and the public ones of the same value.
_PUBLIC = {
    "_name": "name",
    "_dtype": "dtype",
    "_compute_dtype": "compute_dtype",
    "_activity_regularizer": "activity_regularizer",
}

_NO_PHASE = (
    "Keras 3 has no learning phase to feed to a function, and this does not tell whether the model "
    "uses dropout"
)

ROWS = (
    *(
        method(
            _FIT,
            f"self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, {shown}"
            f"{_FIT_ARGUMENTS})",
            when=passed & weighted,
            drops=_WORKERS,
            unsafe_because=because,
        )
        for weighted, because in (
            (not_given("class_weight"), ""),
            (given("class_weight"), _CLASS_WEIGHT),
        )
        for shown, passed in (
            # "auto", which is the default of `fit`, is 1 as well.
            ("", not_given("verbose")),
            ("verbose=verbose, ", given("verbose")),
        )
    ),
    *(
        method(
            _STEPS.format(name),
            f"self.{name}(generator, steps=steps, callbacks=callbacks, verbose=verbose)",
            drops=_WORKERS,
        )
        for name in ("evaluate", "predict")
    ),
    method(
        "keras.Sequential.predict_proba(self, x, batch_size=32, verbose=0)",
        "self.predict(x, verbose=verbose)",
        when=not_given("batch_size"),  # None, which is the default of `predict`, is 32 as well
    ),
    method(
        "keras.Sequential.predict_proba(self, x, batch_size=32, verbose=0)",
        "self.predict(x, batch_size=batch_size, verbose=verbose)",
        when=given("batch_size"),
    ),
    *(
        method(_CLASSES, right.format(arguments), when=seen & passed)
        for right, seen in (
            ("self.predict({}).argmax(axis=-1)", gives_classes()),
            ("(self.predict({}) > 0.5).astype('int32')", gives_one_number()),
        )
        for arguments, passed in (
            ("x, verbose=verbose", not_given("batch_size")),
            ("x, batch_size=batch_size, verbose=verbose", given("batch_size")),
        )
    ),
    *(
        method(f"keras.Model._make_{which}_function(self)", f"self.make_{which}_function()")
        for which in ("train", "test", "predict")
    ),
    attribute("keras.Model._is_compiled", "self.compiled"),
    attribute("keras.Model._feed_inputs", "self.inputs"),
    *(
        attribute(f"{owner}.{private}", f"self.{public}")
        for owner in ("keras.Model", "keras.layers.Layer")
        for private, public in _PUBLIC.items()
    ),
    attribute("keras.metrics.Metric._name", "self.name"),
    # Without a tape `loss` is a function, which a tape of its own must see run.
    method(
        "keras.optimizers.Optimizer.minimize(self, loss, var_list, *, tape=None)",
        "self.apply_gradients(zip(tape.gradient(loss, var_list), var_list))",
        when=given("tape"),
    ),
    attribute(
        "keras.optimizers.Optimizer._name",
        "self.name",
        unsafe_because="the default name of an optimizer is now `sgd`, not `SGD`",
    ),
    attribute("keras.layers.Layer.output_shape", "self.output.shape", unsafe_because=_ONE_NODE),
    attribute("keras.layers.Layer.input_shape", "self.input.shape", unsafe_because=_ONE_NODE),
    *(
        method(
            f"keras.layers.Layer.get_{which}_at(self, node_index)",
            f"self.{which}",
            when=equals("node_index", 0),
            unsafe_because=_ONE_NODE,
        )
        for which in ("input", "output")
    ),
    *(
        method(
            f"keras.layers.Layer.get_{which}_shape_at(self, node_index)",
            f"self.{which}.shape",
            when=equals("node_index", 0),
            unsafe_because=_ONE_NODE,
        )
        for which in ("input", "output")
    ),
    *(
        attribute(
            f"keras.layers.Layer.{which}bound_nodes",
            f"self._{which}bound_nodes",
            unsafe_because="it is private to Keras and may change without notice",
        )
        for which in ("in", "out")
    ),
    # The other wrappers still have it.
    attribute(
        "keras.layers.Bidirectional.layer",
        "self.forward_layer",
        unsafe_because="it is the copy that reads forward: it has another name, and weights",
    ),
    # The separable convolutions still have it.
    attribute("keras.layers.DepthwiseConv2D.depthwise_kernel", "self.kernel"),
    # No other layers but `IntegerLookup` had it.
    method("keras.layers.StringLookup.vocab_size(self)", "self.vocabulary_size()"),
    method(
        "keras.layers.Layer.add_update(self, updates)",
        "updates",
        when=statement_position(),
        unsafe_because="the argument must perform the update itself, like `variable.assign(value)`",
    ),
    *(
        attribute(f"{owner}.{name}", "False", unsafe_because=_NO_PHASE)
        for owner, name in (
            ("keras.Model", "uses_learning_phase"),
            ("keras.Model", "_uses_learning_phase"),
            ("keras.layers.Layer", "_uses_learning_phase"),
            ("keras.KerasTensor", "_uses_learning_phase"),
        )
    ),
    attribute("keras.Model.input_names", "[tensor.name for tensor in self.inputs]"),
    method(
        "keras.Model.to_yaml(self, **kwargs)",
        "self.to_json(**kwargs)",
        unsafe_because="it is JSON, which `keras.models.model_from_json` reads",
    ),
    method("keras.metrics.Metric.reset_states(self)", "self.reset_state()"),
    attribute("keras.metrics.Metric.weights", "self.variables"),
    attribute(
        "keras.optimizers.Optimizer.weights", "self.variables", unsafe_because=_OTHER_NUMBERS
    ),
    method(
        "keras.optimizers.Optimizer.get_weights(self)",
        "[keras.ops.convert_to_numpy(variable)[()] for variable in self.variables]",
        unsafe_because=_OTHER_NUMBERS,
    ),
    method("keras.optimizers.Optimizer.get_scaled_loss(self, loss)", "self.scale_loss(loss)"),
    method(
        "keras.optimizers.Optimizer.get_unscaled_gradients(self, grads)",
        "grads",
        unsafe_because="they stay scaled until `apply_gradients` of the same optimizer, which "
        "unscales them: clip with `clipnorm=` of the optimizer, not before",
    ),
    *(
        method(
            f"keras.{owner}.ref(self)",
            "id(self)",
            when=never_dereferenced(),
            unsafe_because="it is the key of an object only as long as the object is kept",
        )
        for owner in ("KerasTensor", "Variable")
    ),
    method("keras.KerasTensor.get_shape(self)", "self.shape"),
    method("keras.Variable.get_shape(self)", "self.shape"),
    method("keras.Variable.read_value(self)", "self.value", when=used_at_once()),
    method("keras.Variable.read_value(self)", "keras.ops.copy(self)"),
    # A number where it has no axes: [()] takes it out of the array.
    method("keras.Variable.eval(self)", "keras.ops.convert_to_numpy(self)[()]"),
)
