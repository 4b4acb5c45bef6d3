"""Layers of tensorflow_addons that multiply by a matrix, or look up its rows."""

import keras


def scaled_noise(shape, dtype, seed):
    """Return the signed root of normal noise."""
    drawn = keras.random.normal(shape, dtype=dtype, seed=seed)
    return keras.ops.sign(drawn) * keras.ops.sqrt(keras.ops.abs(drawn))


@keras.saving.register_keras_serializable("Addons", "NoisyDense")
class NoisyDense(keras.layers.Layer):
    """A dense layer with noise in its weights, of a learnt size."""

    def __init__(
        self,
        units,
        sigma=0.5,
        use_factorised=True,
        activation=None,
        use_bias=True,
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units, self.sigma, self.use_factorised = units, sigma, use_factorised
        self.activation, self.use_bias = keras.activations.get(activation), use_bias
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)
        self.supports_masking = True
        self.seed_generator = keras.random.SeedGenerator()

    def build(self, input_shape):
        """Make the weights, the sizes of their noise, and the noise."""
        self.last_dim = input_shape[-1]
        if self.use_factorised:
            most, size = self.last_dim**-0.5, self.sigma * self.last_dim**-0.5
        else:
            most, size = (3.0 / self.last_dim) ** 0.5, 0.017
        shapes = {"kernel": (self.last_dim, self.units), "bias": (self.units,)}
        for name, shape in shapes.items():
            for part in ("sigma", "mu", "eps"):
                own = {"initializer": "zeros", "trainable": False}
                if part != "eps":
                    own = {"regularizer": getattr(self, f"{name}_regularizer")}
                    own["constraint"] = getattr(self, f"{name}_constraint")
                    own["initializer"] = (
                        keras.initializers.Constant(size)
                        if part == "sigma"
                        else keras.initializers.RandomUniform(-most, most)
                    )
                weight = None
                if name == "kernel" or self.use_bias:
                    weight = self.add_weight(shape=shape, name=f"{part}_{name}", **own)
                setattr(self, f"{part}_{name}", weight)
        self.reset_noise()
        self.built = True

    @property
    def kernel(self):
        """The weights with the noise."""
        return self.mu_kernel + self.sigma_kernel * self.eps_kernel

    @property
    def bias(self):
        """The bias with the noise, None without."""
        if not self.use_bias:
            return None
        return self.mu_bias + self.sigma_bias * self.eps_bias

    def reset_noise(self):
        """Draw the noise anew."""
        seed, dtype = self.seed_generator, self.eps_kernel.dtype
        if self.use_factorised:
            rows = scaled_noise((self.last_dim, 1), dtype, seed)
            columns = scaled_noise((1, self.units), dtype, seed)
            kernel, bias = rows @ columns, columns[0]
        else:
            shape = (self.last_dim, self.units)
            kernel = keras.random.normal(shape, dtype=dtype, seed=seed)
            bias = keras.random.normal((self.units,), dtype=dtype, seed=seed)
        self.eps_kernel.assign(kernel)
        if self.use_bias:
            self.eps_bias.assign(bias)

    def remove_noise(self):
        """Set the noise to 0."""
        for each in (self.eps_kernel, self.eps_bias):
            if each is not None:
                each.assign(keras.ops.zeros(each.shape, each.dtype))

    def call(self, inputs):
        """Multiply by the weights with the noise."""
        found = keras.ops.matmul(inputs, self.kernel)
        found = found + self.bias if self.use_bias else found
        return found if self.activation is None else self.activation(found)

    def compute_output_shape(self, input_shape):
        """Return the shape with `units` features."""
        return (*input_shape[:-1], self.units)

    def get_config(self):
        """Return the arguments."""
        own = {"units": self.units, "sigma": self.sigma, "use_bias": self.use_bias}
        own["use_factorised"] = self.use_factorised
        own["activation"] = keras.activations.serialize(self.activation)
        for name in ("kernel", "bias", "activity"):
            punished = getattr(self, f"{name}_regularizer")
            own[f"{name}_regularizer"] = keras.regularizers.serialize(punished)
        for name in ("kernel", "bias"):
            kept = getattr(self, f"{name}_constraint")
            own[f"{name}_constraint"] = keras.constraints.serialize(kept)
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "PolynomialCrossing")
class PolynomialCrossing(keras.layers.Layer):
    """A layer of a deep and cross network: ``x0 * (x @ kernel) + x + bias``."""

    def __init__(
        self,
        projection_dim=None,
        diag_scale=0.0,
        use_bias=True,
        kernel_initializer="truncated_normal",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.projection_dim, self.diag_scale = projection_dim, diag_scale
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.supports_masking = True

    def build(self, input_shape):
        """Make the kernel, or the two whose product it is."""
        if len(input_shape) != 2 or not isinstance(input_shape[0], (list, tuple)):
            raise ValueError(f"there are two inputs, not those of {input_shape}")
        last, less = input_shape[-1][-1], self.projection_dim
        if less is not None and not 0 <= less <= last / 2:
            raise ValueError(f"projection_dim is {last // 2} or less, not {less}")
        shapes = {"kernel": (last, last)}
        if less is not None:
            shapes = {"kernel_u": (last, less), "kernel_v": (less, last)}
        for name, shape in shapes.items():
            weight = self.add_weight(
                shape=shape,
                name=name,
                initializer=keras.initializers.get(
                    keras.initializers.serialize(self.kernel_initializer)
                ),
                regularizer=self.kernel_regularizer,
            )
            setattr(self, name, weight)
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(last,),
                name="bias",
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
            )
        self.built = True

    def call(self, inputs):
        """Cross the two."""
        if not isinstance(inputs, (list, tuple)) or len(inputs) != 2:
            raise ValueError("inputs must be a list of two tensors")
        x0, x = inputs
        if self.projection_dim is None:
            product = keras.ops.matmul(x, self.kernel)
        else:
            product = keras.ops.matmul(x, self.kernel_u)
            product = keras.ops.matmul(product, self.kernel_v)
        if self.diag_scale:
            product = product + self.diag_scale * x
        found = x0 * product + x
        return found + self.bias if self.use_bias else found

    def compute_output_shape(self, input_shape):
        """Return the shape of the first input."""
        return tuple(input_shape[0])

    def get_config(self):
        """Return the arguments."""
        first = keras.initializers.serialize(self.kernel_initializer)
        own = {"projection_dim": self.projection_dim, "diag_scale": self.diag_scale}
        own |= {"use_bias": self.use_bias, "kernel_initializer": first}
        first = keras.initializers.serialize(self.bias_initializer)
        own["bias_initializer"] = first
        for name in ("kernel", "bias"):
            punished = getattr(self, f"{name}_regularizer")
            own[f"{name}_regularizer"] = keras.regularizers.serialize(punished)
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable("Addons", "EmbeddingBag")
class EmbeddingBag(keras.layers.Layer):
    """The sum or mean of the rows of a table that are asked for together."""

    def __init__(
        self,
        input_dim,
        output_dim,
        embeddings_initializer="uniform",
        embeddings_regularizer=None,
        embeddings_constraint=None,
        mask_zero=False,
        combiner="sum",
        **kwargs,
    ):
        super().__init__(**kwargs)
        if input_dim <= 0 or output_dim <= 0:
            raise ValueError(f"both sizes are above 0, not {input_dim}, {output_dim}")
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = keras.initializers.get(embeddings_initializer)
        self.embeddings_regularizer = keras.regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = keras.constraints.get(embeddings_constraint)
        self.mask_zero = self.supports_masking = mask_zero
        self.combiner = combiner

    def build(self, *input_shapes):
        """Make the table."""
        self.embeddings = self.add_weight(
            shape=(self.input_dim, self.output_dim),
            name="embeddings",
            initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self.built = True

    def call(self, indices, weights=None):
        """Return a row for each list of indices."""
        if weights is not None and self.combiner != "sum":
            raise RuntimeError("only a sum may have weights")
        indices = keras.ops.cast(indices, "int32")
        rows = keras.ops.take(self.embeddings, indices, axis=0)
        if weights is not None:
            rows = rows * keras.ops.expand_dims(keras.ops.cast(weights, rows.dtype), -1)
        reduce = keras.ops.sum if self.combiner == "sum" else keras.ops.mean
        return reduce(rows, axis=-2)

    def compute_output_shape(self, indices_shape, weights_shape=None):
        """Return the shape of a row for each list."""
        return (*indices_shape[:-1], self.output_dim)

    def get_config(self):
        """Return the arguments."""
        own = {"input_dim": self.input_dim, "output_dim": self.output_dim}
        first = keras.initializers.serialize(self.embeddings_initializer)
        own["embeddings_initializer"] = first
        punished = keras.regularizers.serialize(self.embeddings_regularizer)
        own["embeddings_regularizer"] = punished
        kept = keras.constraints.serialize(self.embeddings_constraint)
        own["embeddings_constraint"] = kept
        own |= {"mask_zero": self.mask_zero, "combiner": self.combiner}
        return {**super().get_config(), **own}
