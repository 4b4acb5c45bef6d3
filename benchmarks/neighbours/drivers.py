"""Run one program on drawn data, and write the numbers that it gives.

    python drivers.py NAME FOLDER OUT

``FOLDER`` holds the repository, as it is or fixed. Runs on Python 3.7 beside keras 2.2.4, too.
"""

import ast
import json
import os
import sys
import types
import zipfile

import numpy as np

os.environ.update(
    TF_CPP_MIN_LOG_LEVEL="3",
    CUDA_VISIBLE_DEVICES="-1",
    TF_ENABLE_ONEDNN_OPTS="0",
    MPLBACKEND="Agg",
)

import keras
import tensorflow as tf
from settled import image, module, settle


def _run(text, name="__main__"):
    """Run source and return its names; it lies in a file, where its functions are looked for."""
    file = os.path.abspath("run_{}.py".format(name.strip("_")))
    with open(file, "w", encoding="utf-8") as written:
        written.write(text)
    made = types.ModuleType(name)
    made.__dict__["__file__"] = file
    exec(compile(text, file, "exec"), made.__dict__)  # noqa: S102 - the program
    return made.__dict__


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def _history(history):
    """Return losses by epoch, and metrics by the names that all releases have."""
    return {name.replace("acc", "accuracy") if name.endswith("acc") else name: values
            for name, values in history.items() if name != "lr"}  # fmt: skip


# handson-ml2: translators of dates, with tfa.seq2seq


def _cells(*wanted):
    """Return the cells of a chapter that hold some text each, in order."""
    with open("16_nlp_with_rnns_and_attention.ipynb", encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    code = ["".join(each["source"]) for each in cells if each["cell_type"] == "code"]
    start = next(n for n, each in enumerate(code) if "def random_dates" in each)
    stop = next(n for n, each in enumerate(code) if "def create_dataset" in each)
    # Of the first program with decoders what it imports and defines: a fix writes it there.
    first = next(each for each in code if "embed_size)\nencoder_embeddings" in each)
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
    defined = [each for each in ast.parse(first).body if isinstance(each, kinds)]
    roots = ("import abc", "import collections", "import math", "import keras", "from keras")
    imports = [line for each in code for line in each.split("\n") if line.startswith(roots)]
    kept = [*imports, *map(ast.unparse, defined), *code[start : stop + 2]]
    kept.append("max_output_length = Y_train.shape[1]")
    texts = ("def ids_to_date_strs", "def prepare_date_strs_padded", "def shifted_output", *wanted)
    return "\n\n".join([
        "import sys, os\nimport numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras",
        *kept, *(next(each for each in code if text in each) for text in texts),
    ])  # fmt: skip


def dates():
    """Train a decoder that reads its targets."""
    text = _cells(
        "inputs=[encoder_inputs, decoder_inputs],\n                           outputs=[Y_proba])"
    )
    found = _run(text)
    predicted = found["model"].predict([found["X_test"], found["X_test_decoder"]], verbose=0)
    return {**found["history"].history, "predicted": predicted}


def dates_sampled():
    """Train a decoder that reads its own samples after the first epoch: those are random."""
    text = _cells("ScheduledEmbeddingTrainingSampler")
    found = _run(text)
    return {"first loss": found["history"].history["loss"][:1]}


def dates_attended():
    """Train a model of the program's own with attention, and let it speak."""
    text = _cells(
        "class DateTranslation", "model = DateTranslation()", "def fast_predict_date_strs_v2"
    )
    found = _run(text)
    inputs = [found["X_test"], found["X_test_decoder"]]
    said = found["fast_predict_date_strs_v2"](["July 14, 1789", "May 01, 2020"])
    return {
        **found["history"].history,
        "predicted": found["model"].predict(inputs, verbose=0),
        "said": [[ord(each) for each in text] for text in said],
    }


# Optimizers, losses, images


def averaged_optimizers():
    """Train with each optimizer that a model set wraps."""
    for name in ("tensorflow_model_optimization", "tensorflow_model_optimization.sparsity"):
        sys.modules[name] = module(name, keras=None, sparsity=None)
    utils = _run(_read("common/model_utils.py"), name="model_utils")
    found = {}
    for kind in ("ema", "swa", "lookahead"):
        optimizers = tf.keras.optimizers
        sgd = getattr(optimizers, "legacy", None) if not hasattr(keras, "ops") else optimizers
        model = tf.keras.Sequential([
            tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(3),
        ])  # fmt: skip
        optimizer = utils["get_averaged_optimizer"](kind, sgd.SGD(0.05))
        model.compile(optimizer, "mse")
        random = np.random.RandomState(1)
        x, y = random.rand(96, 4).astype("float32"), random.rand(96, 3).astype("float32")
        history = model.fit(x, y, epochs=3, batch_size=8)
        found[kind] = history.history["loss"]
        found[kind + " predicted"] = model.predict(x[:5], verbose=0)
    return found


def boxes():
    """Ask a loss of boxes: alone, and as the whole loss that has it."""
    found = _run(_read("model/loss_bak.py"), name="loss_bak")
    loss = found["DetectionLoss"](num_classes=4, global_batch_size=2)
    random = np.random.RandomState(1)
    low = random.rand(2, 6, 2)
    drawn = np.concatenate([low, low + random.rand(2, 6, 2) + 0.1], -1).astype("float32")
    other = drawn + random.rand(2, 6, 4).astype("float32") / 5
    classes = np.eye(4, dtype="float32")[random.randint(0, 4, (2, 6))]
    objects = random.rand(2, 2, 6, 1).astype("float32")
    y_true = np.concatenate([classes, drawn, np.round(objects[0])], -1)
    y_pred = np.concatenate([classes * 0.8, other, objects[1]], -1)
    return {
        "giou": loss.giou_loss(tf.constant(drawn[0]), tf.constant(other[0])),
        "whole": loss(tf.constant(y_true), tf.constant(y_pred)),
    }


def augmented():
    """Turn images of a data set, and its labels, by an angle."""
    sys.modules["tensorflow_datasets"] = module("tensorflow_datasets")
    sys.modules["utils"] = module("utils")
    sys.modules["utils.predict_utils"] = module("utils.predict_utils", PrepareCityScapesLabel=None)
    found = _run(_read("utils/load_semantic_datasets.py"), name="load_semantic_datasets")
    generator = found["SemanticGenerator"]("./", (24, 24), 2, "human_segmentation", "torch")
    with_chance = tf.random.uniform
    turned = {}
    for number in range(3):
        # Each chance is taken alike: 0.15 leaves out all but the turn, by 5 degrees or more.
        chances = iter([0.1, 0.9, 0.1, 0.1, 0.1, 0.1, 0.05])

        def chance(shape, minval=0.0, maxval=None, **_):
            if maxval is not None:
                return tf.constant(0.1 + number / 5)
            return tf.constant(next(chances))

        tf.random.uniform = chance
        pixels = tf.constant(image(number, 24, 24, 3).astype("float32"))
        labels = tf.constant(image(number, 24, 24, 1).astype("float32") // 128)
        found = generator.augmentation.python_function(pixels, labels)
        turned["image {}".format(number)], turned["labels {}".format(number)] = found
    tf.random.uniform = with_chance
    return turned


# keras_contrib


def _cifar():
    def load_data():
        labels = np.arange(80).reshape(80, 1) % 10
        return (image(1, 80, 32, 32, 3), labels), (image(2, 20, 32, 32, 3), labels[:20])

    names = ("keras.datasets.cifar10", "keras.src.datasets.cifar10",
             "keras._tf_keras.keras.datasets.cifar10")  # fmt: skip
    for each in [keras.datasets.cifar10, *(sys.modules.get(name) for name in names)]:
        if each is not None:
            each.load_data = load_data


def cyclic_rate():
    """Train with a learning rate that goes up and down."""
    _cifar()
    found = _run(_read("examples/cifar10_clr.py"))
    return {
        "rates": found["clr"].history["lr"],
        "losses": found["model"].history.history["loss"],
        "scores": found["scores"],
    }


def residuals():
    """Train a residual network."""
    _cifar()
    found = _run(_read("examples/cifar10_resnet.py"))
    model = found["model"]
    inputs = found["X_test"][:2]
    return {"losses": model.history.history["loss"], "predicted": model.predict(inputs)}


def tagged():
    """Train a conditional random field, alone and behind an LSTM."""
    random = np.random.RandomState(3)
    words = ["w{}".format(each) for each in range(12)]
    tags = ["B-NP", "I-NP", "O"]

    def text(count):
        lines = []
        for _ in range(count):
            drawn = random.randint(0, 12, random.randint(3, 9))
            lines += ["{} NN {}".format(words[each], tags[each % 3]) for each in drawn] + [""]
        return "\n".join(lines)

    with zipfile.ZipFile("conll2000.zip", "w") as archive:
        archive.writestr("conll2000/train.txt", text(40))
        archive.writestr("conll2000/test.txt", text(10))
    for each in list(sys.modules.values()):
        known = getattr(each, "__dict__", {})
        if callable(known.get("get_file")) and known.get("__name__", "").startswith("keras"):
            known["get_file"] = lambda *_, **__: "conll2000.zip"
    found = _run(_read("examples/conll2000_chunking_crf.py"))
    model = found["model"]
    history = {n: v for n, v in model.history.history.items() if n in ("loss", "val_loss")}
    return {**history, "predicted": model.predict(found["test_x"])}


# Gradients of a graph


def _convolutions(keras, shape):
    """Return a functional model, as those are that the programs load from files."""
    layers = keras.layers
    start = layers.Input(shape)
    found = layers.Conv2D(4, 3, activation="relu", name="conv2d_6")(start)
    found = layers.Conv2D(6, 3, activation="relu", name="conv2d_7")(found)
    found = layers.Dense(5, activation="softmax")(layers.GlobalAveragePooling2D()(found))
    return keras.Model(start, found)


def saliency():
    """Show which pixels a layer answers to."""
    for name in ("cv2", "scipy.misc"):
        sys.modules[name] = module(name, imread=None, imresize=None)
    sys.path.insert(0, "src")
    from utils import grad_cam as program

    model = _convolutions(keras, (64, 64, 1))
    x = (image(1, 1, 64, 64, 1) / 255).astype("float32")
    found = program.compile_saliency_function(model)([x, 0])[0]
    picture = program.deprocess_image(found.copy())
    return {"saliency": found, "picture": picture.astype("float32") / 255}


def maximized():
    """Climb to the pattern that a kernel answers to."""
    for name in ("matplotlib", "matplotlib.pyplot"):
        sys.modules[name] = module(name, pyplot=None)
    sys.modules["common"] = module("common")
    utils = {"get_custom_objects": dict, "optimize_tf_gpu": lambda *_: None}
    sys.modules["common.utils"] = module("common.utils", **utils)
    program = _run(_read("tools/evaluation/convkernel_check.py"), name="convkernel_check")
    model = _convolutions(tf.keras, (16, 16, 3))
    kernels = ("conv2d_6", "conv2d_7")
    return {each: program["generate_pattern"](model, each, 1, (16, 16)) for each in kernels}


def main(name, folder, out):
    """Write the numbers of a program."""
    settle(*dict.fromkeys([keras, tf.keras]))
    os.chdir(folder)
    found = globals()[name]()
    numbers = {each: np.asarray(value, "float64").tolist() for each, value in found.items()}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(numbers, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
