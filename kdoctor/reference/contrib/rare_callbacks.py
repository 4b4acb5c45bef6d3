"""Callbacks and an initializer of keras_contrib that few programs use."""

import pathlib

import keras
import numpy as np


class DeadReluDetector(keras.callbacks.Callback):
    """Print which layers with ReLU have units that are 0 for all samples."""

    def __init__(self, x_train, verbose=False):
        super().__init__()
        self.x_train, self.verbose = x_train, verbose
        self.dead_neurons_share_threshold = 0.1

    @staticmethod
    def is_relu_layer(layer):
        """Say whether the activation of a layer is ReLU."""
        return layer.get_config().get("activation", None) == "relu"

    def get_relu_activations(self):
        """Yield number, values, name and shape of the kernel of each such layer."""
        inputs = self.model.inputs
        inputs = inputs if len(inputs) > 1 else inputs[0]
        for index, layer in enumerate(self.model.layers):
            weights = layer.get_weights()
            if weights and self.is_relu_layer(layer):
                part = keras.Model(inputs, layer.output)
                values = keras.ops.convert_to_numpy(part(self.x_train, training=True))
                yield [index, values, layer.name, np.shape(weights[0])]

    def on_epoch_end(self, epoch, logs=None):
        """Tell of the layers with dead units."""
        for index, values, name, kernel_shape in self.get_relu_activations():
            is_last = keras.config.image_data_format() == "channels_last"
            axis = -1 if is_last else 1 - len(kernel_shape)
            size = values.shape[axis]
            others = tuple(i for i in range(values.ndim) if i != values.ndim + axis)
            dead = np.sum(np.sum(values, axis=others) == 0)
            share = float(dead) / float(size)
            is_told = self.verbose and dead > 0
            if is_told or share >= self.dead_neurons_share_threshold:
                print(f"Layer {name} (#{index}) has {dead} dead neurons ({share:.2%})!")


class SnapshotModelCheckpoint(keras.callbacks.Callback):
    """Save the weights at the end of each cycle."""

    def __init__(self, nb_epochs, nb_snapshots, fn_prefix="Model"):
        super().__init__()
        self.check, self.fn_prefix = nb_epochs // nb_snapshots, fn_prefix

    def on_epoch_end(self, epoch, logs=None):
        """Save, if a cycle is over."""
        if epoch != 0 and (epoch + 1) % self.check == 0:
            number = (epoch + 1) // self.check
            path = f"{self.fn_prefix}-{number}.weights.h5"
            self.model.save_weights(path, overwrite=True)


class SnapshotCallbackBuilder:
    """Make the callbacks of a snapshot ensemble."""

    def __init__(self, nb_epochs, nb_snapshots, init_lr=0.1):
        self.T, self.M, self.alpha_zero = nb_epochs, nb_snapshots, init_lr

    def get_callbacks(self, model_prefix="Model"):
        """Return what saves the best weights, sets the rate, and saves each cycle."""
        pathlib.Path("weights").mkdir(exist_ok=True)
        return [
            keras.callbacks.ModelCheckpoint(
                f"weights/{model_prefix}-Best.weights.h5",
                monitor="val_accuracy",
                save_best_only=True,
                save_weights_only=True,
            ),
            keras.callbacks.LearningRateScheduler(self._cosine_anneal_schedule),
            SnapshotModelCheckpoint(self.T, self.M, f"weights/{model_prefix}"),
        ]

    def _cosine_anneal_schedule(self, t):
        length = self.T // self.M
        return float(self.alpha_zero / 2 * (np.cos(np.pi * (t % length) / length) + 1))


class TensorBoardGrouped(keras.callbacks.TensorBoard):
    """Training and validation in one plot, as TensorBoard does today."""

    def __init__(self, log_dir="./logs", *args, **kwargs):
        super().__init__(log_dir, *args, **kwargs)


class ConvolutionAware(keras.initializers.Initializer):
    """Kernels that are orthogonal in the space of frequencies."""

    def __init__(self, eps_std=0.05, seed=None):
        self.eps_std, self.seed = eps_std, seed
        self.orthogonal = keras.initializers.Orthogonal()

    def __call__(self, shape, dtype=None):
        """Return a kernel: of few or many axes an orthogonal one."""
        dtype, rank = dtype or keras.config.floatx(), len(shape)
        if rank not in (3, 4, 5):
            return self.orthogonal(shape, dtype)
        random = np.random if self.seed is None else np.random.RandomState(self.seed)
        is_last = keras.config.image_data_format() == "channels_last"
        fan_in = np.prod(shape[:-1]) if is_last else np.prod(shape[1:])
        sizes, (channels, filters) = tuple(shape[:-2]), shape[-2:]
        frequencies = np.fft.rfftn(np.zeros(sizes)).shape
        kernels = []
        for _ in range(filters):
            basis = self._create_basis(random, channels, np.prod(frequencies))
            parts = []
            for each in basis.reshape((channels, *frequencies)):
                noise = random.normal(0, self.eps_std, sizes)
                parts.append(
                    np.fft.irfftn(each, sizes, tuple(range(len(sizes)))) + noise
                )
            kernels.append(parts)
        kernels = np.array(kernels)
        kernels = kernels * np.sqrt(2 / fan_in / np.var(kernels))
        order = {3: (2, 1, 0), 4: (2, 3, 0, 1), 5: (3, 4, 0, 1, 2)}[rank]  # as it was
        return keras.ops.convert_to_tensor(kernels.transpose(order), dtype)

    def _create_basis(self, random, filters, size):
        if size == 1:
            return random.normal(0.0, self.eps_std, (filters, size))
        rows = []
        for _ in range(filters // size + 1):
            drawn = random.normal(0.0, 1.0, (size, size))
            turned = np.linalg.svd(drawn + drawn.T - np.diag(drawn.diagonal()))[0]
            rows.extend(turned.T.tolist())
        return np.array(rows[:filters], dtype=keras.config.floatx())

    def get_config(self):
        """Return the arguments."""
        return {"eps_std": self.eps_std, "seed": self.seed}
