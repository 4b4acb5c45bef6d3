"""What code of a repository finds around it, the same on both Kerases: data, weights, packages.

Importing TensorFlow is left to whoever calls: which Keras ``tf.keras`` is, is decided before.
"""

import functools
import importlib.machinery
import inspect
import os
import sys
import tempfile
import types

import numpy as np

# Never stood for by a stub: whether these can be imported is what is asked.
KERAS_PACKAGES = {
    "keras",
    "keras_applications",
    "keras_contrib",
    "keras_preprocessing",
    "tensorflow",
    "tensorflow_addons",
    "tensorflow_core",
    "tf_keras",
}
DATASETS = {
    "mnist": ((28, 28), 10),
    "fashion_mnist": ((28, 28), 10),
    "cifar10": ((32, 32, 3), 10),
    "cifar100": ((32, 32, 3), 100),
}
LARGE = 60_000
MAX_ROWS = 64  # of data that a model is trained or evaluated with
TEXTS = {"imdb": 2, "reuters": 46}


def prepare(keras, tf):
    """Replace what would reach the network or the disk, and cut training short."""
    _give_data(keras, tf)
    _replace("get_file", _no_download)
    for name, function in _applications(keras):
        _replace(name, _without_weights(function), function)
    model = tf.keras.Model
    model.fit = _short(model.fit)
    model.evaluate = _short(model.evaluate)
    for name in ("fit_generator", "evaluate_generator", "predict_generator"):
        if hasattr(model, name):
            setattr(model, name, _short(getattr(model, name)))
    model.load_weights = _forgiving(model.load_weights)
    image = getattr(tf.keras.preprocessing, "image", None)
    generator = getattr(image, "ImageDataGenerator", None)
    if generator is not None:
        generator.flow_from_directory = _from_drawn(generator.flow_from_directory)


def _replace(name, new, old=None):
    """Set a function in each module of Keras that has it under this name."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").partition(".")[0] not in {"keras", "tf_keras"}:
            continue
        had = getattr(module, "__dict__", {}).get(name)
        if callable(had) and (old is None or had is old):
            setattr(module, name, new)


def _give_data(keras, tf):
    random = np.random.RandomState(0)

    def images(shape, classes):
        def load_data(*_args, **_kwargs):
            def some(n):  # scripts count on the number of images
                n = n - 10_000 if len(shape) == 3 and n == LARGE else n
                labels = (np.arange(n) % classes).astype("uint8")
                drawn = np.resize(random.randint(0, 256, (64, *shape)).astype("uint8"), (n, *shape))
                return drawn, labels.reshape((n, 1) if len(shape) == 3 else (n,))

            return some(LARGE), some(10_000)

        return load_data

    def texts(classes):
        def load_data(*_args, num_words=1000, **_kwargs):
            def some(n):
                rows = np.empty(n, object)
                for row in range(n):
                    words = random.randint(1, min(num_words or 1000, 1000), 30 + row % 20)
                    rows[row] = [int(word) for word in words]
                return rows, (np.arange(n) % classes).astype("int64")

            return some(60), some(20)

        return load_data

    def houses(*_args, **_kwargs):
        return tuple((random.rand(n, 13), random.rand(n) * 40) for n in (60, 20))

    loaders = {name: images(*of) for name, of in DATASETS.items()}
    loaders |= {name: texts(classes) for name, classes in TEXTS.items()}
    loaders["boston_housing"] = houses
    for datasets in (keras.datasets, tf.keras.datasets):
        for name, load_data in loaders.items():
            modules = [getattr(datasets, name, None), sys.modules.get(f"keras.datasets.{name}")]
            for module in filter(None, modules):
                module.load_data = load_data


def _no_download(fname=None, *_args, **_kwargs):
    return os.path.join("/nonexistent", str(fname))


def _applications(keras):
    for module in [*vars(keras.applications).values()]:
        if isinstance(module, types.ModuleType):
            for name, function in [*vars(module).items()]:
                if inspect.isfunction(function) and _takes_weights(function):
                    yield name, function


def _takes_weights(function):
    parameter = inspect.signature(function).parameters.get("weights")
    return parameter is not None and parameter.default == "imagenet"


def _without_weights(function):
    @functools.wraps(function)
    def build(*args, **kwargs):
        bound = inspect.signature(function).bind_partial(*args, **kwargs)
        bound.arguments["weights"] = None
        return function(*bound.args, **bound.kwargs)

    return build


def _short(method):
    """Return the method with one epoch of two steps, whatever is asked."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def trained(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        for data in ("x", "y", "sample_weight", "validation_data"):
            given |= {data: _first_rows(given[data])} if data in given else {}
        if given.get("epochs"):
            given["epochs"] = 1 + int(given.get("initial_epoch") or 0)
        for steps in ("steps_per_epoch", "validation_steps", "steps"):
            if isinstance(given.get(steps), (int, float)) and given[steps] > 2:
                given[steps] = 2
        return method(*bound.args, **bound.kwargs)

    return trained


def _first_rows(data):
    if isinstance(data, np.ndarray):
        return data[:MAX_ROWS]
    if isinstance(data, list | tuple) and all(isinstance(each, np.ndarray) for each in data):
        return type(data)(each[:MAX_ROWS] for each in data)
    return data


def _forgiving(method):
    """Return ``load_weights`` that passes over a file that is not there, and checks the rest."""

    @functools.wraps(method)
    def load_weights(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except (OSError, LookupError):
            return None
        except Exception as problem:
            words = str(problem).lower()
            if "no such file" in words or "not found" in words or "not a checkpoint" in words:
                return None
            raise

    return load_weights


def _from_drawn(method):
    """Return ``flow_from_directory`` that draws images for a folder that is not there."""

    @functools.wraps(method)
    def flow_from_directory(self, directory, *args, **kwargs):
        if not os.path.isdir(directory):
            classes = kwargs.get("classes") or ["a", "b", "c"]
            classes = classes[:2] if kwargs.get("class_mode") == "binary" else classes
            directory = _drawn_images([str(each) for each in classes])
        return method(self, directory, *args, **kwargs)

    return flow_from_directory


def _drawn_images(classes):
    from PIL import Image

    random = np.random.RandomState(0)
    folder = tempfile.mkdtemp()
    for name in classes:
        os.makedirs(os.path.join(folder, name))
        for number in range(8):
            pixels = random.randint(0, 256, (40, 40, 3)).astype("uint8")
            Image.fromarray(pixels).save(os.path.join(folder, name, f"{number}.png"))
    return folder


class _Stub(types.ModuleType):
    """A package that is not installed: any name of it is there, and does nothing."""

    __path__ = ()
    __version__ = "1.0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _anything(name)


class _AnyClass(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _anything(name)


def _anything(name):
    def member(_self, wanted):
        if wanted.startswith("__"):
            raise AttributeError(wanted)
        return _anything(wanted)

    def call(_self, *_args, **_kwargs):
        return _anything("result")

    def made(_self, *_args, **_kwargs):
        return None

    return _AnyClass(name, (), {"__init__": made, "__getattr__": member, "__call__": call})


class MissingPackages:
    """Finds packages that code of the repository imports and that are not installed."""

    def __init__(self, root, own):
        """``own`` are names that the repository's own files have."""
        self._root = root
        self._own = own

    def find_spec(self, name, _path=None, _target=None):
        top = name.partition(".")[0]
        frame = sys._getframe(1)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        if frame is not None and not frame.f_code.co_filename.startswith(self._root):
            return None
        if top in KERAS_PACKAGES or top in self._own or top in sys.stdlib_module_names:
            return None
        module = sys.modules.get(top)
        if module is not None and not isinstance(module, _Stub):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return _Stub(spec.name)

    def exec_module(self, module):
        pass
