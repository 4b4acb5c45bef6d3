"""What an installed Keras really has, as JSON: run by the interpreter of the environment it is in.

Reads from stdin what to ask: ``import`` (a module), ``how`` (``listing`` or ``files``) and
``expressions`` (``{name: {parameter: source}}``, defaults to evaluate). Writes the answer to the
file that its argument names. Runs on Python 3.7 and needs nothing but the frameworks: everything
is asked by ``dir``, ``getattr`` and ``inspect.signature``.
"""

import ast
import importlib
import inspect
import json
import os
import pkgutil
import sys
import types
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
warnings.simplefilter("ignore")

# Required arguments that most layers, losses and callbacks can be made with.
ARGUMENTS = {
    "alpha": 0.5,
    "axes": 1,
    "cropping": 1,
    "dims": (1,),
    "factor": 0.5,
    "filepath": "model.keras",
    "filters": 2,
    "function": abs,
    "height": 4,
    "input_dim": 3,
    "kernel_size": 1,
    "max_value": 1.0,
    "mean": 0.0,
    "mask_value": 0.0,
    "min_value": 0.0,
    "n": 2,
    "name": "made",
    "num_bins": 2,
    "num_classes": 2,
    "num_heads": 1,
    "num_tokens": 2,
    "key_dim": 2,
    "output_dim": 2,
    "rate": 0.5,
    "recall": 0.5,
    "precision": 0.5,
    "sensitivity": 0.5,
    "specificity": 0.5,
    "scale": 2.0,
    "schedule": abs,
    "separator": ",",
    "size": 2,
    "stddev": 0.1,
    "target_shape": (-1,),
    "thresholds": [0.5],
    "units": 2,
    "variance": 1.0,
    "width": 4,
}
_PROPERTIES = ("cached_property", "_tuplegetter")
FOLDERS = (
    "layers",
    "losses",
    "metrics",
    "optimizers",
    "callbacks",
    "regularizers",
    "initializers",
    "constraints",
)
# Batches that some layer may be called on, by rank.
SHAPES = [(4,), (4, 4), (8, 8, 3), (4, 8, 8, 3)]


def is_public(name):
    return not name.startswith("_")


def is_dunder(name):
    return name.startswith("__") and name.endswith("__")


# ------------------------------------------------------------------------------------- names


def listed(top, packages):
    """Yield the names below ``top`` that a listing in ``__init__`` files makes public."""
    seen = set()
    waiting = [("", top)]
    while waiting:
        prefix, module = waiting.pop()
        yield prefix, module
        for leaf in sorted({*dir(module), *vars(module)}):
            hidden = not is_public(leaf) and leaf != "__version__"
            if hidden or (not prefix and leaf in ("src", "api")):
                continue
            dotted = prefix + "." + leaf if prefix else leaf
            try:
                value = getattr(module, leaf)
            except Exception:  # noqa: BLE001, S112 - a deprecated name may raise
                continue
            inside = isinstance(value, types.ModuleType) and is_listing(value, packages)
            if inside and dotted not in seen:
                seen.add(dotted)
                waiting.append((dotted, value))
            elif not inside:
                yield dotted, value


def is_listing(module, packages):
    parts = module.__name__.split(".")
    # TensorFlow up to 2.5 lists in ``tensorflow.python.keras.api._v2.keras``.
    hidden = "src" in parts[1:3] or ("python" in parts[1:3] and "api" not in parts)
    return parts[0] in packages and not hidden


def in_files(top, failed):
    """Yield every module file below ``top`` that can be imported, and what it binds."""
    names = [top.__name__]
    for info in pkgutil.walk_packages(top.__path__, top.__name__ + ".", lambda _: None):
        names.append(info.name)
    modules = {}
    for name in names:
        parts = name.split(".")
        if (
            any(not is_public(part) for part in parts)
            or parts[:2] == ["keras", "api"]
            or parts[-1].endswith("_test")
            or {"tests", "integration_test"}.intersection(parts)
        ):
            continue
        try:
            modules[name] = importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - some need packages that are not here
            failed[name[len(top.__name__) + 1 :]] = "%s: %s" % (type(error).__name__, error)
    for name, module in sorted(modules.items()):
        prefix = name[len(top.__name__) + 1 :]
        yield prefix, module
        for leaf, value in sorted(vars(module).items()):
            if is_public(leaf) or leaf == "__version__":
                yield prefix + "." + leaf if prefix else leaf, value


def kind_of(value):
    if isinstance(value, types.ModuleType):
        return "module"
    if inspect.isclass(value):
        return "class"
    return "function" if inspect.isroutine(value) else "value"


def home_of(value):
    """Say where the object says that it is defined; "" where it does not say."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return ""
    return module + "." + name


# -------------------------------------------------------------------------------- parameters


def maker(cls):
    """Return what makes instances of ``cls``: its ``__init__``, else its ``__new__``."""
    if cls.__init__ is not object.__init__:
        return cls.__init__
    return None if cls.__new__ is object.__new__ else cls.__new__


def parameters(function, bound, expressions):
    """Return ``[name, kind, default]`` of each parameter; None where there is none to read.

    ``default`` is None for a required one, else ``[source, same]``: the literal's source or
    None, and whether ``expressions`` gives the same value.
    """
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if bound and found and found[0].kind is not found[0].VAR_POSITIONAL:
        found = found[1:]
    scope = getattr(inspect.unwrap(function), "__globals__", {})
    return [
        [
            item.name,
            item.kind.name,
            None
            if item.default is item.empty
            else [literal(item.default), same(item.default, expressions.get(item.name), scope)],
        ]
        for item in found
    ]


def is_wrapper(function):
    """Say whether it is the inner function of a decorator that does not tell what it wraps."""
    try:
        return "<locals>" in inspect.unwrap(function).__qualname__
    except AttributeError:
        return False


def literal(value):
    text = repr(value)
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return text


def same(default, expression, scope):
    """Say whether ``expression`` means ``default`` where the function is defined."""
    if expression is None:
        return None
    try:
        meant = eval(expression, scope)  # noqa: S307 - a default of the framework's own
    except Exception:  # noqa: BLE001 - a name that was deleted after the definition
        return None
    if meant is default or (type(meant) is type(default) and repr(meant) == repr(default)):
        return True
    # An object made anew by the expression: ``lambda x: x``, ``Zeros()``.
    return (type(meant) is type(default) and "object at 0x" in repr(meant)) or (
        inspect.isfunction(meant) and inspect.isfunction(default)
    )


def signature_of(value, expressions):
    if not inspect.isclass(value):
        return parameters(value, False, expressions)
    made = maker(value)
    return [] if made is None else parameters(made, True, expressions)


# ----------------------------------------------------------------------------------- members


def members_of(cls, expressions):
    """Return ``{name: [kind, module of the class that defines it, parameters, is wrapper]}``."""
    found = {}
    # ``dir`` of an Enum shows its members only.
    for name in sorted({*dir(cls), *(name for base in cls.__mro__ for name in vars(base))}):
        if is_dunder(name):
            continue
        try:
            value = inspect.getattr_static(cls, name)
        except AttributeError:
            continue
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        kind, function, bound = member_kind(value)
        texts = expressions.get(name, {})
        found[name] = [
            kind,
            owner.__module__ if owner else "",
            parameters(function, bound, texts) if function is not None else None,
            is_wrapper(function),
        ]
    return found


def member_kind(value):
    """Return the kind, the function to ask for parameters, and whether its first one is bound."""
    if isinstance(value, staticmethod):
        return "static", value.__func__, False
    if isinstance(value, classmethod):
        return "class", value.__func__, True
    if isinstance(value, property) or type(value).__name__ in _PROPERTIES:
        return "property", None, False
    if isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        return "slot", None, False
    if inspect.isroutine(value):
        return "method", value, True
    return "value", None, False


# --------------------------------------------------------------------------------- instances


def instances(top, problems):
    """Yield objects of as many public classes as can be made cheaply, models after ``fit``."""
    try:
        for model, fitted in models(top):
            for each in parts_of(model):
                yield each
            yield fitted
    except Exception as error:  # noqa: BLE001 - said in the table
        problems.append("%s: %s" % (type(error).__name__, error))
    for folder in FOLDERS:
        module = getattr(top, folder, None)
        for name in sorted(dir(module)) if module is not None else []:
            cls = getattr(module, name, None)
            if is_public(name) and inspect.isclass(cls):
                made = make(cls, top)
                yield made
                if folder == "layers" and made is not None:
                    call(made, top)
                    yield made


def parts_of(model):
    tensors = list(model.inputs) + list(model.outputs)
    return (
        [model, model.optimizer, model.weights[0]]
        + list(model.layers)
        + tensors
        + [getattr(tensor, "_keras_history", None) for tensor in tensors]
    )


def models(top):
    """Yield a functional, a sequential and a subclassed model after compile and fit."""
    import numpy as np  # noqa: PLC0415 - where there is no Keras, none is needed

    def built():
        inputs = top.layers.Input(shape=(4,))
        yield top.models.Model(inputs, top.layers.Dense(2)(inputs))
        sequential = top.models.Sequential()
        sequential.add(top.layers.Dense(2, input_shape=(4,)))
        yield sequential

    for model in built():
        model.compile("sgd", "mse", metrics=["mae"])
        yield model, model.fit(np.zeros((2, 4)), np.zeros((2, 2)), verbose=0)


def make(cls, top):
    wanted = parameters(maker(cls), True, {}) if maker(cls) is not None else []
    given = dict(ARGUMENTS)
    try:
        given["layer"] = top.layers.Dense(2)
        given["cell"] = top.layers.LSTMCell(2)
        given["cells"] = [top.layers.LSTMCell(2)]
        given["model"] = top.models.Sequential()
        given["inner_optimizer"] = given["optimizer"] = top.optimizers.SGD()
        given["forward_layer"] = top.layers.LSTM(2)
        arguments = {
            name: given[name]
            for name, kind, default in wanted or []
            if default is None and kind in ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")
        }
        return cls(**arguments)
    except BaseException:  # noqa: BLE001 - abstract, or needs more than is cheap
        return None


def call(layer, top):
    for shape in SHAPES:
        try:
            layer(top.layers.Input(shape=shape))
        except BaseException:  # noqa: BLE001, S112 - another rank, or more inputs
            continue
        return


# -------------------------------------------------------------------------------------- main


def probe(root, how, expressions):
    top = importlib.import_module(root)
    failed = {}
    packages = {top.__name__.split(".")[0], root.split(".")[0]} - {"tensorflow"} | {
        "tensorflow" if root.startswith("tensorflow") else "keras"
    }
    if root.startswith("tensorflow"):
        packages |= {"keras", "tf_keras", "tensorflow_core"}
    found = in_files(top, failed) if how == "files" else listed(top, packages)
    names, classes = {}, {}
    for dotted, value in found:
        kind = kind_of(value)
        texts = expressions.get(dotted, {})
        names[dotted] = [kind, home_of(value), None, False]
        if kind in ("class", "function"):
            names[dotted][2] = signature_of(value, texts)
            names[dotted][3] = is_wrapper(maker(value) if kind == "class" else value)
        if kind == "class":
            classes[home_of(value)] = value
    members = {
        home: members_of(cls, expressions.get("class " + home, {}))
        for home, cls in sorted(classes.items())
    }
    attributes, problems = {}, []
    for instance in instances(top, problems):
        if instance is not None:
            cls = type(instance)
            shown = attributes.setdefault(home_of(cls), set())
            shown.update(name for name in dir(instance) if not is_dunder(name))
            shown.difference_update(dir(cls))
    return {
        "module": top.__name__,
        "names": names,
        "failed": failed,
        "members": members,
        "attributes": {home: sorted(shown) for home, shown in sorted(attributes.items())},
        "instances": len(attributes),
        "problem": "; ".join(problems).partition("\n")[0],
        "packages": {
            module.__name__: module.__version__
            for module in map(importlib.import_module, ("tensorflow", root.split(".")[0]))
        },
    }


def main():
    asked = json.load(sys.stdin)
    answer = probe(asked["import"], asked["how"], asked["expressions"])
    answer["python"] = "%d.%d.%d" % sys.version_info[:3]
    with open(sys.argv[1], "w") as file:
        json.dump(answer, file, sort_keys=True)


if __name__ == "__main__":
    main()
