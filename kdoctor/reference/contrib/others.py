"""What else keras_contrib had: an activation, a constraint, a callback, a data set."""

import collections
import pathlib
import zipfile

import keras
import numpy as np


def squash(x, axis=-1):
    """Shorten vectors to a length below one."""
    square = (
        keras.ops.sum(keras.ops.square(x), axis, keepdims=True) + keras.config.epsilon()
    )
    return keras.ops.sqrt(square) / (0.5 + square) * x


class Clip(keras.constraints.Constraint):
    """Keep weights between minus and plus a number."""

    def __init__(self, c=0.01):
        self.c = c

    def __call__(self, weights):
        """Return the weights, clipped."""
        return keras.ops.clip(weights, -self.c, self.c)

    def get_config(self):
        """Return the arguments."""
        return {"c": self.c}


class clip(Clip):
    """The constraint, by its other name."""

    def __init__(self, c=0.01):
        super().__init__(c)


class CyclicLR(keras.callbacks.Callback):
    """A learning rate that rises and falls, batch by batch."""

    def __init__(
        self,
        base_lr=0.001,
        max_lr=0.006,
        step_size=2000.0,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
    ):
        super().__init__()
        known = {
            "triangular": (lambda x: 1.0, "cycle"),
            "triangular2": (lambda x: 1 / (2.0 ** (x - 1)), "cycle"),
            "exp_range": (lambda x: gamma**x, "iterations"),
        }
        if mode not in known:
            raise KeyError(f"mode must be one of {', '.join(known)}")
        self.base_lr, self.max_lr, self.step_size = base_lr, max_lr, step_size
        self.mode, self.gamma = mode, gamma
        given = scale_fn, scale_mode
        self.scale_fn, self.scale_mode = known[mode] if scale_fn is None else given
        self.clr_iterations = self.trn_iterations = 0.0
        self.history = {}

    def _reset(self, new_base_lr=None, new_max_lr=None, new_step_size=None):
        self.base_lr = self.base_lr if new_base_lr is None else new_base_lr
        self.max_lr = self.max_lr if new_max_lr is None else new_max_lr
        self.step_size = self.step_size if new_step_size is None else new_step_size
        self.clr_iterations = 0.0

    def clr(self):
        """Return the rate of now."""
        cycle = np.floor(1 + self.clr_iterations / (2 * self.step_size))
        x = np.abs(self.clr_iterations / self.step_size - 2 * cycle + 1)
        by = cycle if self.scale_mode == "cycle" else self.clr_iterations
        height = np.maximum(0, 1 - x) * self.scale_fn(by)
        return self.base_lr + (self.max_lr - self.base_lr) * height

    def on_train_begin(self, logs=None):
        """Set the first rate."""
        first = self.base_lr if self.clr_iterations == 0 else self.clr()
        self.model.optimizer.learning_rate = first

    def on_batch_end(self, epoch, logs=None):
        """Set the next rate, and keep what was logged."""
        self.trn_iterations += 1
        self.clr_iterations += 1
        self.model.optimizer.learning_rate = self.clr()
        rate = keras.ops.convert_to_numpy(self.model.optimizer.learning_rate)
        own = {"lr": rate, "iterations": self.trn_iterations}
        for name, each in {**own, **(logs or {})}.items():
            self.history.setdefault(name, []).append(each)

    def on_epoch_end(self, epoch, logs=None):
        """Log the rate."""
        if logs is not None:
            logs["lr"] = keras.ops.convert_to_numpy(self.model.optimizer.learning_rate)


def load_data(path="conll2000.zip", min_freq=2):
    """Return words, parts of speech and chunks of CoNLL-2000."""
    raw = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/"
    if not pathlib.Path(path).is_absolute():
        path = keras.utils.get_file(path, origin=f"{raw}conll2000.zip")
    with zipfile.ZipFile(path) as archive:
        texts = [
            archive.read(f"conll2000/{each}.txt").decode() for each in ("train", "test")
        ]
    train, test = (
        [
            [line.split() for line in each.split("\n")]
            for each in text.strip().split("\n\n")
        ]
        for text in texts
    )
    counts = collections.Counter(row[0].lower() for each in train for row in each)
    words = ["<pad>", "<unk>", *(word for word, n in counts.items() if n >= min_freq)]
    tags, chunks = (
        sorted({row[place] for each in train + test for row in each})
        for place in (1, 2)
    )
    numbers = {word: number for number, word in enumerate(words)}
    found = []
    for samples in (train, test):
        longest = max(map(len, samples))
        rows = [[numbers.get(row[0].lower(), 1) for row in each] for each in samples]
        columns = [keras.utils.pad_sequences(rows, longest)]
        for place, names in ((1, tags), (2, chunks)):
            rows = [[names.index(row[place]) for row in each] for each in samples]
            padded = keras.utils.pad_sequences(rows, longest, value=-1)
            columns.append(np.expand_dims(padded, 2))
        found.append(tuple(columns))
    return (*found, (words, tags, chunks))
