"""The conditional random field of tensorflow_addons as a layer, and as a model."""

import keras

from kdoctor.reference.addons.crf import crf_decode, crf_log_likelihood


def crf_edge(mask, shifted):
    """Return the steps that are there while their neighbours are not."""
    mask, shifted = keras.ops.cast(mask, "int32"), keras.ops.cast(shifted, "int32")
    return keras.ops.greater(mask, shifted)


@keras.saving.register_keras_serializable("Addons", "CRF")
class CRF(keras.layers.Layer):
    """A linear-chain CRF: best labels, scores, lengths and transitions."""

    def __init__(
        self,
        units,
        chain_initializer="orthogonal",
        use_boundary=True,
        boundary_initializer="zeros",
        use_kernel=True,
        **kwargs,
    ):
        super().__init__(**{"autocast": False, **kwargs})
        self.supports_masking = True
        self.units, self.use_boundary, self.use_kernel = units, use_boundary, use_kernel
        self.chain_initializer = keras.initializers.get(chain_initializer)
        self.boundary_initializer = keras.initializers.get(boundary_initializer)
        self.chain_kernel = self.add_weight(
            shape=(units, units),
            name="chain_kernel",
            initializer=self.chain_initializer,
            autocast=False,
        )
        for name in ("left_boundary", "right_boundary") if use_boundary else ():
            weight = self.add_weight(
                shape=(units,),
                name=name,
                initializer=self.boundary_initializer,
                autocast=False,
            )
            setattr(self, name, weight)
        if use_kernel:
            self._dense_layer = keras.layers.Dense(units, dtype=self.dtype)

    def build(self, input_shape):
        """Make the kernel."""
        if self.use_kernel:
            self._dense_layer.build(input_shape)
        self.built = True

    def call(self, inputs, mask=None):
        """Return the best labels, the scores, the lengths and the transitions."""
        if mask is not None and len(mask.shape) != 2:
            raise ValueError("Input mask to CRF must have dim 2 if not None")
        if mask is not None:
            self.refuse_left_padding(mask)
        if self.use_kernel:
            potentials = self._dense_layer(inputs)
        else:
            potentials = keras.ops.cast(inputs, self.dtype)
        if self.use_boundary:
            potentials = self.add_boundary_energy(
                potentials, mask, self.left_boundary, self.right_boundary
            )
        there = keras.ops.ones_like(inputs[:, :, 0]) if mask is None else mask
        lengths = self.mask_to_sequence_length(there)
        labels, _ = self.get_viterbi_decoding(potentials, lengths)
        chain = keras.ops.convert_to_tensor(self.chain_kernel)
        return [labels, potentials, lengths, chain]

    def refuse_left_padding(self, mask):
        """Raise if a sequence does not begin at its first step, where that is known."""
        first = self._compute_mask_left_boundary(mask)[:, 0]
        try:
            is_padded = bool(keras.ops.any(keras.ops.logical_not(first)))
        except TypeError:
            return
        if is_padded:
            raise NotImplementedError(
                "Currently, CRF layer do not support left padding"
            )

    def mask_to_sequence_length(self, mask):
        """Return the number of steps that are there."""
        return keras.ops.sum(keras.ops.cast(mask, "int64"), 1)

    @staticmethod
    def _compute_mask_right_boundary(mask):
        none = keras.ops.zeros_like(mask[:, :1])
        return crf_edge(mask, keras.ops.concatenate([mask[:, 1:], none], axis=1))

    @staticmethod
    def _compute_mask_left_boundary(mask):
        none = keras.ops.zeros_like(mask[:, :1])
        return crf_edge(mask, keras.ops.concatenate([none, mask[:, :-1]], axis=1))

    def add_boundary_energy(self, potentials, mask, start, end):
        """Return the scores with those of the first and of the last step."""
        start, end = (
            keras.ops.cast(keras.ops.reshape(each, (1, 1, -1)), potentials.dtype)
            for each in (start, end)
        )
        there = keras.ops.ones_like(potentials[:, :, 0]) if mask is None else mask
        first = self._compute_mask_left_boundary(there)
        last = self._compute_mask_right_boundary(there)
        first, last = (
            keras.ops.expand_dims(keras.ops.cast(each, potentials.dtype), 2)
            for each in (first, last)
        )
        return potentials + first * start + last * end

    def get_viterbi_decoding(self, potentials, sequence_length):
        """Return the best labels, and their score."""
        return crf_decode(potentials, self.chain_kernel, sequence_length)

    def compute_mask(self, inputs, mask=None):
        """Return the mask of the labels."""
        return mask

    def get_config(self):
        """Return the arguments."""
        own = {name: getattr(self, name) for name in ("units", "use_boundary")}
        own["use_kernel"] = self.use_kernel
        for name in ("chain_initializer", "boundary_initializer"):
            own[name] = keras.initializers.serialize(getattr(self, name))
        return {**super().get_config(), **own}


class LatestOfBatches(keras.metrics.Mean):
    """The number that was given last."""

    def update_state(self, values, sample_weight=None):
        """Forget what was given before."""
        self.reset_state()
        return super().update_state(values)


@keras.saving.register_keras_serializable("Addons", "CRFModelWrapper")
class CRFModelWrapper(keras.Model):
    """A model with a CRF behind it, which is trained by its likelihood."""

    def __init__(
        self,
        base_model,
        units,
        chain_initializer="orthogonal",
        use_boundary=True,
        boundary_initializer="zeros",
        use_kernel=True,
        **kwargs,
    ):
        super().__init__()
        self.crf_layer = CRF(
            units=units,
            chain_initializer=chain_initializer,
            use_boundary=use_boundary,
            boundary_initializer=boundary_initializer,
            use_kernel=use_kernel,
            **kwargs,
        )
        self.base_model = base_model
        self.latest_loss = LatestOfBatches(name="loss")
        self.latest_crf_loss = LatestOfBatches(name="crf_loss")

    def unpack_training_data(self, data):
        """Return inputs, labels and weights of a batch."""
        x, y, *sample_weight = data
        return x, y, sample_weight[0] if sample_weight else None

    def call(self, inputs, training=None, mask=None, return_crf_internal=False):
        """Return the best labels."""
        found = self.base_model(inputs, training=training, mask=mask)
        labels, *internal = self.crf_layer(found)
        if return_crf_internal:
            return tuple(internal), labels
        self.internal = tuple(internal)
        return labels

    def compute_crf_loss(
        self, potentials, sequence_length, kernel, y, sample_weight=None
    ):
        """Return the negative log-likelihood, a mean over the batch."""
        found, _ = crf_log_likelihood(potentials, y, sequence_length, kernel)
        weight = 1 if sample_weight is None else sample_weight
        return keras.ops.mean(-1 * found * weight)

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True, **kwargs
    ):
        """Return the loss of the CRF, with what regularizers add."""
        crf_loss = self.compute_crf_loss(*self.internal, y, sample_weight)
        loss = crf_loss + sum(self.losses)
        self.latest_loss.update_state(loss)
        self.latest_crf_loss.update_state(crf_loss)
        return loss

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Return the metrics of the best labels."""
        return super().compute_metrics(x, y, y_pred, None)

    def train_step(self, *given):
        """Train on a batch."""
        *state, data = given
        return super().train_step(*state, self.unpack_training_data(data))

    def test_step(self, *given):
        """Test a batch."""
        *state, data = given
        return super().test_step(*state, self.unpack_training_data(data))

    def get_config(self):
        """Return the arguments."""
        base_model = keras.saving.serialize_keras_object(self.base_model)
        return {**self.crf_layer.get_config(), "base_model": base_model}

    @classmethod
    def from_config(cls, config):
        """Return the model again."""
        config = dict(config)
        base_model = keras.saving.deserialize_keras_object(config.pop("base_model"))
        return cls(base_model=base_model, **config)
