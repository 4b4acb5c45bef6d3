"""The attention of tensorflow_addons, which has other weights than that of Keras."""

import keras


@keras.saving.register_keras_serializable("Addons", "MultiHeadAttention")
class MultiHeadAttention(keras.layers.Layer):
    """Attention of a query over keys and values, the input being a list of these."""

    def __init__(
        self,
        head_size,
        num_heads,
        output_size=None,
        dropout=0.0,
        use_projection_bias=True,
        return_attn_coef=False,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        kernel_constraint=None,
        bias_initializer="zeros",
        bias_regularizer=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if output_size is not None and output_size < 1:
            raise ValueError("output_size must be a positive number")
        self.head_size, self.num_heads = head_size, num_heads
        self.output_size, self.dropout_rate = output_size, dropout
        self.use_projection_bias = use_projection_bias
        self.return_attn_coef = return_attn_coef
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.bias_constraint = keras.constraints.get(bias_constraint)
        self.dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)

    def build(self, input_shape):
        """Make a kernel for each input, and those of the output."""
        query, key, value = (each[-1] for each in (*input_shape, input_shape[1])[:3])
        output, heads = self.output_size or value, self.num_heads
        shapes = {
            "query_kernel": (heads, query, self.head_size),
            "key_kernel": (heads, key, self.head_size),
            "value_kernel": (heads, value, self.head_size),
            "projection_kernel": (heads, self.head_size, output),
        }
        for name, shape in shapes.items():
            first = keras.initializers.serialize(self.kernel_initializer)
            weight = self.add_weight(
                shape=shape,
                name=name,
                initializer=keras.initializers.get(first),
                regularizer=self.kernel_regularizer,
                constraint=self.kernel_constraint,
            )
            setattr(self, name, weight)
        self.projection_bias = None
        if self.use_projection_bias:
            self.projection_bias = self.add_weight(
                shape=(output,),
                name="projection_bias",
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs, training=None, mask=None):
        """Return what the query finds, with what it looks at if that is asked for."""
        query, key, value = (*inputs, inputs[1])[:3]
        if isinstance(mask, (list, tuple)):
            if any(each is not None for each in mask):
                raise ValueError("masks of the inputs say not what is to be looked at")
            mask = None
        if mask is not None and tuple(mask.shape[-2:]) != (
            query.shape[-2],
            key.shape[-2],
        ):
            raise ValueError("the mask has a row for each query, a column for each key")
        query = keras.ops.einsum("...NI,HIO->...NHO", query, self.query_kernel)
        key = keras.ops.einsum("...MI,HIO->...MHO", key, self.key_kernel)
        value = keras.ops.einsum("...MI,HIO->...MHO", value, self.value_kernel)
        logits = keras.ops.einsum(
            "...NHO,...MHO->...HNM", query / self.head_size**0.5, key
        )
        if mask is not None:
            least = -1e10 if self.compute_dtype != "float16" else -6e4
            mask = keras.ops.cast(mask, logits.dtype)
            if len(mask.shape) != len(logits.shape):
                mask = keras.ops.expand_dims(mask, -3)
            logits = logits + least * (1.0 - mask)
        looks = keras.ops.softmax(logits)
        kept = self.dropout(looks, training=training)
        found = keras.ops.einsum("...HNM,...MHI->...NHI", kept, value)
        found = keras.ops.einsum("...NHI,HIO->...NO", found, self.projection_kernel)
        if self.projection_bias is not None:
            found = found + self.projection_bias
        return (found, looks) if self.return_attn_coef else found

    def compute_output_shape(self, input_shape):
        """Return the shape of what is found, with that of the looks if asked for."""
        query, key, value = (tuple(e) for e in (*input_shape, input_shape[1])[:3])
        found = (*query[:-1], self.output_size or value[-1])
        looks = (*query[:-2], self.num_heads, query[-2], key[-2])
        return (found, looks) if self.return_attn_coef else found

    def get_config(self):
        """Return the arguments."""
        own = {"head_size": self.head_size, "num_heads": self.num_heads}
        own |= {"output_size": self.output_size, "dropout": self.dropout_rate}
        own |= {"use_projection_bias": self.use_projection_bias}
        own |= {"return_attn_coef": self.return_attn_coef}
        for name in ("kernel", "bias"):
            first = getattr(self, f"{name}_initializer")
            own[f"{name}_initializer"] = keras.initializers.serialize(first)
            punished = getattr(self, f"{name}_regularizer")
            own[f"{name}_regularizer"] = keras.regularizers.serialize(punished)
            kept = getattr(self, f"{name}_constraint")
            own[f"{name}_constraint"] = keras.constraints.serialize(kept)
        return {**super().get_config(), **own}
