"""Small arguments drawn by the names of parameters. A recipe is their text, made anew each time."""

import inspect
import random

import numpy as np

EMPTY = inspect.Parameter.empty
SHAPES = ["(64, 64, 3)", "64", "(6,)", "(64, 64)", "(8, 6)"]
# The first row with a word that is in the name of a parameter counts.
BY_NAME = (
    (("img_shape", "image_shape", "shape", "input_dim", "insize", "input_size"), SHAPES),
    (("img_size", "image_size"), SHAPES),
    (("num_class", "n_class", "classes", "nb_class", "n_label", "num_label", "class_num"), ["3"]),
    (("activation", "act"), ["'relu'"]),
    (("kernel", "ksize"), ["3", "(3, 3)"]),
    (("height", "width", "rows", "cols"), ["64", "(64, 64)", "4"]),
    (
        ("filter", "nf", "channels", "units", "dim", "hidden", "depth", "n_", "num", "nb_"),
        ["4", "8", "[4, 4, 4]", "(4, 4)", "'a'"],
    ),
    (
        ("output", "len", "steps", "vocab", "max", "size", "count"),
        ["4", "8", "[4, 4, 4]", "(4, 4)", "64"],
    ),
    (("stride", "dilation"), ["1", "(1, 1)", "2"]),
    (("rate", "lr", "alpha", "beta", "gamma", "lambda", "momentum", "decay"), ["0.5", "1"]),
    (("eps", "dropout", "ratio", "scale", "weight", "thresh", "temperature"), ["0.5", "1"]),
    (("name", "prefix", "suffix", "mode", "stage", "block", "base"), ["'ab'", "2", "TENSOR"]),
    (("model", "net"), ["model:"]),
    (("optimizer",), ["'sgd'"]),
    (("loss",), ["'mse'"]),
    (("layer",), ["TENSOR", "layer:", "4"]),
    (("tensor", "input", "feature", "x", "logit", "img", "image", "batch"), ["TENSOR"]),
    (("is_", "use", "train", "with", "bn", "flag", "include", "verbose"), ["True", "False"]),
)
TENSORS = {"x", "z", "a", "xs", "inp"}
MAX_DRAWS = 24
ANYTHING = ["4", "TENSOR", "'a'", "0.5", "(64, 64, 3)", "[4, 4]", "True"]
# The order in which kinds of input are tried.
KINDS = {
    "loss": ("img", "vec", "seq"),
    "function": ("img", "img8", "vec", "seq", "ids", "img64", "two", "twoimg", "vol"),
    "class": ("img",),
    "layer": ("img8", "seq", "vec", "img", "two", "ids", "twoseq", "twoimg", "vol"),
}
_SIZES = {
    "img": (2, 32, 32, 3),
    "img8": (2, 32, 32, 8),
    "img64": (2, 64, 64, 3),
    "seq": (2, 8, 6),
    "vec": (2, 6),
    "vol": (2, 8, 8, 8, 2),
}
_PAIRS = {"two": (2, 6), "twoseq": (2, 8, 6), "twoimg": (2, 16, 16, 4)}


def drawn(kind):
    """Return the array of this kind, or the two of a pair."""
    if kind == "ids":
        return np.random.RandomState(1).randint(0, 4, (2, 8)).astype("int32")
    if kind in _PAIRS:
        return [np.random.RandomState(s).rand(*_PAIRS[kind]).astype("float32") for s in (1, 2)]
    return np.random.RandomState(1).rand(*_SIZES[kind]).astype("float32")


def symbolic(keras, kind):
    """Return Keras inputs for arrays of this kind."""

    def one(array):
        return keras.layers.Input(array.shape[1:], dtype=array.dtype.name)

    array = drawn(kind)
    return [one(each) for each in array] if isinstance(array, list) else one(array)


def value(code, keras, tf):
    """Make what a recipe says of one argument."""
    how, _, kind = code.partition(":")
    if how == "sym":
        return symbolic(keras, kind)
    if how == "arr":
        return drawn(kind)
    if how in {"ten", "y", "onehot"}:
        array = drawn(kind)
        if isinstance(array, list):
            return [tf.constant(each) for each in array]
        if how == "y":
            array /= array.sum(-1, keepdims=True)
        elif how == "onehot":
            array = np.eye(array.shape[-1], dtype="float32")[array.argmax(-1)]
        return tf.constant(array)
    if how == "model":
        first = keras.layers.Dense(4, input_shape=(6,), activation="relu")
        return keras.models.Sequential([first, keras.layers.Dense(3, activation="softmax")])
    if how == "layer":
        return keras.layers.Dense(4)
    return eval(code, {"np": np})  # noqa: S307 - texts of this file


def _candidates(name, mode):
    lower = name.lower()
    if mode == "loss":
        if any(word in lower for word in ("y_true", "ytrue", "target", "gt", "label")):
            return ["onehot"]
        if "pred" in lower:
            return ["y"]
    if lower in TENSORS:
        return ["TENSOR"]
    for words, texts in BY_NAME:
        if any(word in lower for word in words):
            return texts
    return ANYTHING


def recipes(function, mode, skip=0):
    """Yield arguments to try, each a dict of parameters and codes; none for many parameters."""
    try:
        parameters = [*inspect.signature(function).parameters.values()][skip:]
    except (TypeError, ValueError):
        return
    asked = [
        each
        for each in parameters
        if each.default is EMPTY and each.kind not in {each.VAR_POSITIONAL, each.VAR_KEYWORD}
    ]
    if len(asked) > 7:
        return
    options = [(each.name, _candidates(each.name, mode)) for each in asked]
    kinds = KINDS[mode]
    ways = ("sym", "ten", "arr") if mode == "function" else ("ten",)
    seen = set()

    def filled(chosen, kind, way):
        codes = {}
        for (name, texts), index in zip(options, chosen, strict=True):
            code = texts[min(index, len(texts) - 1)]
            if code == "TENSOR":
                code = f"{way}:{kind}"
            codes[name] = f"{code}:{kind}" if code in {"onehot", "y"} else code
        return codes

    def new(codes):
        known = repr(codes) in seen
        seen.add(repr(codes))
        return not known

    tensors = any(text in {"TENSOR", "onehot", "y"} for _, texts in options for text in texts)
    for way in ways if tensors else ways[:1]:
        for kind in kinds if tensors else kinds[:1]:
            if new(codes := filled([0] * len(options), kind, way)):
                yield codes
    random_choice = random.Random(repr(options))  # noqa: S311 - drawn alike each time
    for _ in range(MAX_DRAWS):
        chosen = [random_choice.randrange(len(texts)) for _, texts in options]
        if new(codes := filled(chosen, random_choice.choice(kinds), random_choice.choice(ways))):
            yield codes
