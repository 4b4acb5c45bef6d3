"""The conditional random field of keras_contrib, with its losses and metrics."""

import keras


def crf_call(y_pred):
    """Return the layer that gave a result, what it was given, and the mask of that."""
    found = getattr(y_pred, "_crf_call", None)
    if found is None:
        raise TypeError("The output of a CRF has to be the output of the model.")
    return found


def crf_nll(y_true, y_pred):
    """Return the negative log-likelihood of each sequence, for a CRF in join mode."""
    crf, inputs, mask = crf_call(y_pred)
    if crf.sparse_target:
        y_true = keras.ops.one_hot(keras.ops.cast(y_true[:, :, 0], "int32"), crf.units)
    y_true = keras.ops.cast(y_true, inputs.dtype)
    return crf.get_negative_log_likelihood(y_true, inputs, mask)


def crf_loss(y_true, y_pred):
    """Return the loss that goes with the mode of a CRF."""
    crf = crf_call(y_pred)[0]
    if crf.learn_mode == "join":
        return crf_nll(y_true, y_pred)
    if crf.sparse_target:
        return keras.losses.sparse_categorical_crossentropy(y_true, y_pred)
    return keras.losses.categorical_crossentropy(y_true, y_pred)


def crf_share(y_true, y_pred, mask, crf):
    """Return the share of right labels, where the mask says that there is one.

    With a mask it is that of the batch, as often as the metric is going to be weighted.
    """
    y_pred = keras.ops.argmax(y_pred, -1)
    y_true = y_true[:, :, 0] if crf.sparse_target else keras.ops.argmax(y_true, -1)
    y_true = keras.ops.cast(y_true, y_pred.dtype)
    right = keras.ops.cast(keras.ops.equal(y_pred, y_true), keras.config.floatx())
    if mask is None:
        return keras.ops.mean(right)
    mask = keras.ops.cast(mask, keras.config.floatx())
    share = keras.ops.sum(right * mask) / keras.ops.sum(mask)
    return share * keras.ops.ones_like(mask[:, 0] if crf.learn_mode == "join" else mask)


def crf_viterbi_accuracy(y_true, y_pred):
    """Return the accuracy of the best path."""
    crf, inputs, mask = crf_call(y_pred)
    found = crf.viterbi_decoding(inputs, mask)
    return crf_share(y_true, found, mask, crf)


def crf_marginal_accuracy(y_true, y_pred):
    """Return the accuracy of the most probable label of each step."""
    crf, inputs, mask = crf_call(y_pred)
    found = crf.get_marginal_prob(inputs, mask)
    return crf_share(y_true, found, mask, crf)


def crf_accuracy(y_true, y_pred):
    """Return the accuracy that goes with the test mode of a CRF."""
    if crf_call(y_pred)[0].test_mode == "viterbi":
        return crf_viterbi_accuracy(y_true, y_pred)
    return crf_marginal_accuracy(y_true, y_pred)


class CRF(keras.layers.Layer):
    """A linear-chain conditional random field."""

    def __init__(
        self,
        units,
        learn_mode="join",
        test_mode=None,
        sparse_target=False,
        use_boundary=True,
        use_bias=True,
        activation="linear",
        kernel_initializer="glorot_uniform",
        chain_initializer="orthogonal",
        bias_initializer="zeros",
        boundary_initializer="zeros",
        kernel_regularizer=None,
        chain_regularizer=None,
        boundary_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        chain_constraint=None,
        boundary_constraint=None,
        bias_constraint=None,
        input_dim=None,
        unroll=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if learn_mode not in ("join", "marginal"):
            raise AssertionError(f"learn_mode: {learn_mode!r}")
        if test_mode not in (None, "viterbi", "marginal"):
            raise AssertionError(f"test_mode: {test_mode!r}")
        default = "viterbi" if learn_mode == "join" else "marginal"
        self.units, self.learn_mode = units, learn_mode
        self.test_mode, self.sparse_target = test_mode or default, sparse_target
        self.use_boundary, self.use_bias = use_boundary, use_bias
        self.input_dim, self.unroll, self.supports_masking = input_dim, unroll, True
        self.activation = keras.activations.get(activation)
        self.how = {
            "kernel": (kernel_initializer, kernel_regularizer, kernel_constraint),
            "chain": (chain_initializer, chain_regularizer, chain_constraint),
            "bias": (bias_initializer, bias_regularizer, bias_constraint),
            "boundary": (
                boundary_initializer,
                boundary_regularizer,
                boundary_constraint,
            ),
        }
        rooms = (keras.initializers, keras.regularizers, keras.constraints)
        for name, given in self.how.items():
            made = tuple(room.get(each) for room, each in zip(rooms, given))
            self.how[name] = made

    def build(self, input_shape):
        """Make the weights."""
        self.input_dim = input_shape[-1]
        self.kernel = self.made("kernel", "kernel", (self.input_dim, self.units))
        self.chain_kernel = self.made("chain_kernel", "chain", (self.units, self.units))
        self.bias = self.made("bias", "bias", (self.units,)) if self.use_bias else 0
        if self.use_boundary:
            self.left_boundary = self.made("left_boundary", "boundary", (self.units,))
            self.right_boundary = self.made("right_boundary", "boundary", (self.units,))
        self.built = True

    def made(self, name, kind, shape):
        """Make a weight."""
        initializer, regularizer, constraint = self.how[kind]
        return self.add_weight(
            shape=shape,
            name=name,
            initializer=initializer,
            regularizer=regularizer,
            constraint=constraint,
        )

    def call(self, inputs, mask=None, training=None):
        """Return the best path or probabilities; zeros to train on in join mode."""
        if training and self.learn_mode == "join":
            found = keras.ops.zeros_like(keras.ops.matmul(inputs, self.kernel))
        elif training or self.test_mode == "marginal":
            found = self.get_marginal_prob(inputs, mask)
        else:
            found = self.viterbi_decoding(inputs, mask)
        found._crf_call = (self, inputs, mask)
        return found

    def compute_output_shape(self, input_shape):
        """Return the shape with a score for each label."""
        return (*input_shape[:2], self.units)

    def compute_mask(self, inputs, mask=None):
        """Return which sequences are there, of join mode, else which steps."""
        if mask is not None and self.learn_mode == "join":
            return keras.ops.any(mask, axis=1)
        return mask

    def get_config(self):
        """Return the arguments."""
        names = ("units", "learn_mode", "test_mode", "use_boundary", "use_bias")
        names += ("sparse_target", "input_dim", "unroll")
        rooms = {"initializer": keras.initializers, "regularizer": keras.regularizers}
        rooms["constraint"] = keras.constraints
        own = {each: getattr(self, each) for each in names}
        own["activation"] = keras.activations.serialize(self.activation)
        for kind, made in self.how.items():
            for (what, room), each in zip(rooms.items(), made):
                own[f"{kind}_{what}"] = room.serialize(each) if each else None
        return {**super().get_config(), **own}

    @property
    def loss_function(self):
        """The loss that goes with the mode."""
        return crf_loss

    @property
    def accuracy(self):
        """The accuracy that goes with the test mode."""
        is_best = self.test_mode == "viterbi"
        return crf_viterbi_accuracy if is_best else crf_marginal_accuracy

    @property
    def viterbi_acc(self):
        """The accuracy of the best path."""
        return crf_viterbi_accuracy

    @property
    def marginal_acc(self):
        """The accuracy of the most probable labels."""
        return crf_marginal_accuracy

    def energies(self, inputs, mask):
        """Return what each label costs at each step.

        With a mask, the right boundary counts in front of a sequence: so it was.
        """
        found = self.activation(keras.ops.matmul(inputs, self.kernel) + self.bias)
        if not self.use_boundary:
            return found
        if mask is None:
            is_first = keras.ops.zeros_like(found[:, :, :1])
            is_first = keras.ops.concatenate(
                [is_first[:, :1] + 1, is_first[:, 1:]], axis=1
            )
            is_last = keras.ops.flip(is_first, 1)
        else:
            there = keras.ops.expand_dims(keras.ops.cast(mask, found.dtype), -1)
            none = keras.ops.zeros_like(there[:, :1])
            before = keras.ops.concatenate([none, there[:, :-1]], axis=1)
            behind = keras.ops.concatenate([there[:, 1:], none], axis=1)
            is_first = keras.ops.cast(keras.ops.greater(there, before), found.dtype)
            is_last = keras.ops.cast(keras.ops.greater(behind, there), found.dtype)
        return found + is_first * self.left_boundary + is_last * self.right_boundary

    def recursion(self, energy, mask, best=False, backwards=False):
        """Return the last costs of all labels along the chain, and those of each step.

        With ``best``, the costs are those of the best path, and of each step it returns
        which label comes before it.
        """
        there = keras.ops.ones_like(energy[:, :, 0]) if mask is None else mask
        there = keras.ops.cast(there, energy.dtype)
        if backwards:
            energy, there = keras.ops.flip(energy, 1), keras.ops.flip(there, 1)
        after = keras.ops.zeros_like(there[:, :1]) + (1 if mask is None else 0)
        after = keras.ops.concatenate([there[:, 1:], after], axis=1)

        def step(last, given):
            cost, now, later = given[:, :-2], given[:, -2], given[:, -1]
            chain = keras.ops.expand_dims(self.chain_kernel, 0)
            chain = chain * keras.ops.reshape(now * later, (-1, 1, 1))
            cost = cost * keras.ops.expand_dims(now, -1)
            if best:
                every = chain + keras.ops.expand_dims(cost + last, 2)
                label = keras.ops.cast(keras.ops.argmin(every, 1), energy.dtype)
                return keras.ops.min(every, 1), label
            found = keras.ops.logsumexp(
                -(chain + keras.ops.expand_dims(cost - last, 2)), 1
            )
            return found, found

        ones = [keras.ops.expand_dims(each, 2) for each in (there, after)]
        rows = keras.ops.concatenate([energy, *ones], axis=2)
        rows = keras.ops.transpose(rows, (1, 0, 2))
        last, every = keras.ops.scan(step, keras.ops.zeros_like(energy[:, 0]), rows)
        every = keras.ops.transpose(every, (1, 0, 2))
        return last, keras.ops.flip(every, 1) if backwards else every

    def get_negative_log_likelihood(self, y_true, inputs, mask):
        """Return it for each sequence, over its length."""
        energy = self.energies(inputs, mask)
        cost = keras.ops.sum(energy * y_true, 2)
        chain = keras.ops.matmul(y_true[:, :-1], self.chain_kernel) * y_true[:, 1:]
        chain = keras.ops.sum(chain, 2)
        if mask is None:
            length = keras.ops.cast(keras.ops.shape(inputs)[1], energy.dtype)
        else:
            there = keras.ops.cast(mask, energy.dtype)
            cost, chain = cost * there, chain * (there[:, :-1] * there[:, 1:])
            length = keras.ops.sum(there, 1)
        last, _ = self.recursion(energy, mask)
        return (
            last[:, 0] + keras.ops.sum(cost, -1) + keras.ops.sum(chain, -1)
        ) / length

    def get_marginal_prob(self, inputs, mask=None):
        """Return the probability of each label at each step."""
        energy = self.energies(inputs, mask)
        _, forwards = self.recursion(energy, mask)
        _, backwards = self.recursion(energy, mask, backwards=True)
        if mask is not None:
            energy = energy * keras.ops.expand_dims(
                keras.ops.cast(mask, energy.dtype), -1
            )
        none = keras.ops.zeros_like(forwards[:, :1])
        before = keras.ops.concatenate([none, forwards[:, :-1]], axis=1)
        behind = keras.ops.concatenate([backwards[:, 1:], none], axis=1)
        return keras.ops.softmax(-(before + energy + behind), axis=-1)

    def viterbi_decoding(self, inputs, mask=None):
        """Return the best path, one-hot."""
        _, labels = self.recursion(self.energies(inputs, mask), mask, best=True)
        labels = keras.ops.cast(keras.ops.transpose(labels, (1, 0, 2)), "int32")
        labels = keras.ops.flip(labels, 0)

        def step(last, given):
            found = keras.ops.take_along_axis(
                given, keras.ops.expand_dims(last, 1), axis=1
            )[:, 0]
            return found, found

        _, path = keras.ops.scan(step, labels[0, :, 0], labels)
        return keras.ops.one_hot(
            keras.ops.flip(keras.ops.transpose(path), 1), self.units
        )
