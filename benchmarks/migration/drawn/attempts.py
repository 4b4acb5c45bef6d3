"""Import one file of a repository, make its classes, call its functions, train its models."""

import importlib
import importlib.util
import inspect
import json
import os
import random
import runpy
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np

from benchmarks.migration.drawn import arguments, outcomes, surroundings

LOSS_WORDS = (
    *("loss", "dice", "iou", "accuracy", "recall", "precision", "metric", "psnr", "ssim"),
    *("entropy", "error", "f1"),
)
TARGETS = [{"y": "zeros"}, {"y": "onehot"}, {"y": "ids"}]
SECONDS = 12  # of processor time, for one attempt
IMPORT_SECONDS = 40
SCRIPT_SECONDS = 60
MAX_SEARCH = 20


class _TooSlowError(BaseException):
    """An attempt has used its time; nothing in the code that runs may catch this."""


class Attempts:
    """What was tried in one file. Without recipes, arguments that work are looked for."""

    def __init__(self, path, root, recipes, keras, tf):
        self.items = {}
        self.recipes = {}
        self._path = path
        self._root = root
        self._given = recipes
        self._keras = keras
        self._tf = tf

    # --- one attempt

    def attempt(self, key, options, go, seconds=SECONDS):
        """Run ``go`` with the recipe that is known, or the first of the options that works."""
        if self._given is not None:
            if key not in self._given:
                return None
            options = [self._given[key]]
        first = None
        begun = time.process_time()
        for recipe in options:
            try:
                _limit(seconds)
                value = go(recipe)
            except _TooSlowError:
                first = first or {"type": "Slow", "message": "", "frames": []}
                break
            except BaseException as problem:  # noqa: BLE001 - SystemExit of scripts among them
                _limit(0)
                first = first or error(problem, self._root)
                if time.process_time() - begun > MAX_SEARCH:
                    break
            else:
                told = outcomes.described(value, self._tf) + self._mean(value, recipe)
                self.recipes[key] = recipe
                self.items[key] = {"ok": True, "told": told}
                return value
            finally:
                _limit(0)
        if first is not None:
            self.items[key] = {"ok": False, **first}
        return None

    def _mean(self, value, recipe):
        """Return the mean of what a loss gives for drawn values."""
        if not any(str(code).startswith(("onehot:", "y:")) for code in recipe.values()):
            return []
        try:
            return [outcomes.number(np.mean(np.abs(np.asarray(value, "float32"))))]
        except (TypeError, ValueError):
            return []

    def _filled(self, recipe):
        return {k: arguments.value(code, self._keras, self._tf) for k, code in recipe.items()}

    def _value(self, code):
        return arguments.value(code, self._keras, self._tf)

    def _recipe(self, key):
        return self.recipes[key] if key in self.recipes else (self._given or {}).get(key)

    # --- a file

    def file(self):
        """Try all of the file."""
        module = self._imported()
        if module is None:
            return
        for key, made in list(vars(module).items()):
            if getattr(made, "__module__", None) != module.__name__ or key.startswith("__"):
                continue
            if inspect.isclass(made):
                self._class(key, made)
            elif inspect.isfunction(made) and key != "main":
                self._function(key, made)
        if "__main__" in Path(self._root, self._path).read_text(errors="replace"):
            self.attempt("__main__", [{}], lambda _: self._script(), SCRIPT_SECONDS)

    def _script(self):
        """Run the file as a script, which ends, or stops at data that is not there."""
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as end:
            if end.code not in {None, 0}:
                raise
        return 0

    def _imported(self):
        full = os.path.join(self._root, self._path)
        folder = os.path.dirname(full)
        top = folder
        while os.path.exists(os.path.join(top, "__init__.py")) and top != self._root:
            top = os.path.dirname(top)
        name = os.path.relpath(full, top).removesuffix(".py").replace(os.sep, ".")
        name = name.removesuffix(".__init__")
        above = [folder]
        while above[-1] != self._root:
            above.append(os.path.dirname(above[-1]))
        sys.path[:0] = list(dict.fromkeys([top, *reversed(above)]))
        sys.argv = [full]
        os.chdir(folder)
        alone = top == folder and os.path.basename(full) != "__init__.py"
        held = {}

        def go(_recipe):
            if not alone:
                held["module"] = importlib.import_module(name)
                return 0
            own = name if name.isidentifier() else "the_script"
            spec = importlib.util.spec_from_file_location(own, full)
            held["module"] = sys.modules[own] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(held["module"])
            return 0

        random.seed(0)
        np.random.seed(0)
        self._tf.random.set_seed(0)
        self.attempt("import", [{}], go, IMPORT_SECONDS)
        return held.get("module") if self.items["import"]["ok"] else None

    def _function(self, key, function):
        mode = "loss" if any(word in key.lower() for word in LOSS_WORDS) else "function"

        def go(recipe):
            return function(**self._filled(recipe))

        value = self.attempt(key, arguments.recipes(function, mode), go)
        recipe = self._recipe(key)
        if isinstance(value, self._tf.keras.Model):
            self.attempt(f"{key}.train", TARGETS, lambda to: outcomes.trained(go(recipe), to["y"]))
        elif callable(value) and not isinstance(value, type):
            kinds = ("vec", "img", "seq", "img8")
            ways = [{"how": how, "x": kind} for how in ("loss", "layer") for kind in kinds]

            def inner(way):
                made = go(recipe)
                if way["how"] == "loss":
                    return made(*(self._value(f"{code}:{way['x']}") for code in ("onehot", "y")))
                return made(self._value(f"sym:{way['x']}"))

            self.attempt(f"{key}()", ways, inner)

    def _class(self, key, cls):
        own = cls.__init__ is not object.__init__
        drawn = arguments.recipes(cls.__init__ if own else (lambda: 0), "class", int(own))
        made = self.attempt(key, drawn, lambda recipe: cls(**self._filled(recipe)))
        if made is None:
            return

        def again():
            return cls(**self._filled(self._recipe(key)))

        keras = self._tf.keras
        if isinstance(made, keras.layers.Layer):
            self._layer(key, cls, again)
        elif isinstance(made, keras.losses.Loss | keras.metrics.Metric):
            kinds = [{"x": kind} for kind in arguments.KINDS["loss"]]
            self.attempt(
                f"{key}()",
                kinds,
                lambda of: again()(*(self._value(f"{c}:{of['x']}") for c in ("onehot", "y"))),
            )
        elif isinstance(made, keras.optimizers.Optimizer):
            self.attempt(f"{key}.train", [{}], lambda _: self._fitted(again()))
        elif isinstance(made, keras.callbacks.Callback):
            self.attempt(f"{key}.fit", [{}], lambda _: self._fitted("sgd", [again()]))
        else:
            self._methods(key, cls, again)

    def _layer(self, key, cls, again):
        kinds = [{"x": kind} for kind in arguments.KINDS["layer"]]
        self.attempt(f"{key}()", kinds, lambda of: again()(self._value(f"ten:{of['x']}")))
        found = self._recipe(f"{key}()")
        is_model = issubclass(cls, self._tf.keras.Model)
        if found and is_model:

            def fitted(_):
                array = self._value(f"arr:{found['x']}")
                inputs = array if isinstance(array, list) else [array]
                return outcomes.one_step(again(), inputs, "zeros")

            self.attempt(f"{key}.fit", [{}], fitted, SECONDS + 3)
        elif found:

            def in_model(_):
                inputs = self._value(f"sym:{found['x']}")
                return outcomes.trained(self._tf.keras.Model(inputs, again()(inputs)), "zeros")

            self.attempt(f"{key}.model", [{}], in_model, SECONDS + 3)
        if not is_model:
            self.attempt(f"{key}.config", [{}], lambda _: cls.from_config(again().get_config()))

    def _methods(self, key, cls, again):
        for name, function in list(vars(cls).items()):
            if name.startswith("__") or not inspect.isfunction(function):
                continue
            mode = "loss" if any(word in name.lower() for word in LOSS_WORDS) else "function"
            whole = f"{key}.{name}"

            def go(recipe, name=name):
                return getattr(again(), name)(**self._filled(recipe))

            value = self.attempt(whole, arguments.recipes(function, mode, 1), go)
            if isinstance(value, self._tf.keras.Model):
                recipe = self._recipe(whole)
                self.attempt(
                    f"{whole}.train",
                    TARGETS,
                    lambda to, go=go, recipe=recipe: outcomes.trained(go(recipe), to["y"]),
                )

    def _fitted(self, optimizer, callbacks=()):
        model = self._value("model:")
        model.compile(optimizer, "mse", metrics=["accuracy"])
        data = np.ones((4, 6), "float32"), np.zeros((4, 3), "float32")
        model.fit(*data, validation_data=data, callbacks=list(callbacks), verbose=0)
        return 0


def error(problem, root):
    """Return type and message of an error, and the frames of the repository's own files."""
    frames = [
        [os.path.relpath(frame.filename, root), frame.lineno]
        for frame in traceback.extract_tb(problem.__traceback__)
        if frame.filename.startswith(root + os.sep)
    ]
    return {"type": type(problem).__name__, "message": str(problem)[:600], "frames": frames[-8:]}


def _limit(seconds):
    def stop(*_args):
        raise _TooSlowError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(int(seconds * 12))


def write_attempts(path, root, recipes, frameworks, into):
    """Try a file and write what happened to a file descriptor, whatever it was."""
    keras, tf, own = frameworks
    tried = Attempts(path, root, recipes, keras, tf)
    sys.meta_path.append(surroundings.MissingPackages(root, own))
    try:
        tried.file()
    except BaseException as problem:  # noqa: BLE001 - the driver's own: told as the file's import
        tried.items.setdefault("import", {"ok": False, **error(problem, root)})
    with os.fdopen(into, "w") as out:
        json.dump((tried.items, tried.recipes), out, default=str)
