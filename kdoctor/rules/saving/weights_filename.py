"""Weights can only be saved to a path that ends in `.weights.h5`.

## What it does
Reports `save_weights` to a path that plainly does not end in `.weights.h5`, and `load_weights` from
one whose ending Keras 3 cannot read: a TensorFlow checkpoint. If a function or method of the file
receives the path and saves to it, the call that passes the path is reported:
`agent.save("dqn.h5")`.

## Why it breaks
Keras 2 accepted any path: HDF5 for `.h5`, `.hdf5` and `.keras`, a TensorFlow checkpoint for the
rest. Keras 3 has one format: `ValueError: The filename must end in `.weights.h5`. Received:
filepath=model.h5`. Loading is less strict: `.h5` and `.hdf5` files written by Keras 2 are read as
before; checkpoints are not: `ValueError: File format not supported: filepath=ckpt`.

## What to write instead
Use the new ending wherever the file is named:

    model.save_weights("model.weights.h5")
    model.load_weights("model.weights.h5")

The fix changes every place in this file that uses this string as a path, and every `load_weights`
of a path written in the same way. It is unsafe because other files and people may use the old name
too. There is no fix if the file is loaded with `by_name=True`, which does not work with
`.weights.h5`: a whole model saved with `model.save("model.h5")` can be loaded by name. To convert a
checkpoint, load it with Keras 2 (`pip install tf_keras`) and save it again as `.weights.h5`.

Saving a checkpoint created its folder; for `.weights.h5` the folder must exist (`os.makedirs`). A
checkpoint could also be loaded into a model that had no weights yet, which got their values when
they were created: now the model must have its weights, from an `Input`, from `model.build(shape)`
or from a call.

## How we know
Run on Keras 3.15.1 and on tf_keras 2.21 with each of these endings.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kdoctor.analysis.calls import argument, value_of
from kdoctor.analysis.queries.conditions import word
from kdoctor.keras_api.tensorflow_aliases import ways_also_by_1
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.rule import Example, rule
from kdoctor.rules.saving._path_collisions import taken
from kdoctor.rules.saving._path_endings import NOT_WRITTEN_OUT, Ending, renamed
from kdoctor.rules.saving._possible_endings import but_for, hands_path, in_one_piece, passes_path
from kdoctor.rules.saving._save_and_load_calls import (
    FileUse,
    PathUse,
    file_uses,
    handed,
    is_saved_here,
    loads,
    loads_of_weights,
    reads_orbax,
    saves,
)
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

_NEW = ".weights.h5"
_OLD_WEIGHTS = (".h5", ".hdf5", ".keras", ".ckpt", ".tf", ".hdf", ".weights")
_NO_CHECKPOINTS = (".h5", ".hdf5", ".keras", ".hdf")
_UNSAFE = "existing files, other programs and people may use the old name"
_NOT_AS_BEFORE = (
    "; unlike a checkpoint, it needs an existing folder, and a model that has its weights when "
    "it is loaded"
)
_CONVERT = NoFix("the weights must be converted with Keras 2, which can still read them")
BY_NAME = NoFix("it is loaded with `by_name=`, which does not work with `.weights.h5`")
_LATEST = ways_also_by_1("tensorflow.train.latest_checkpoint")


@rule(
    "KD601",
    severity=Severity.ERROR,
    since="3.0",
    look_for=file_uses("save_weights", "load_weights").beside(
        passes_path("save_weights", 0, in_one_piece(_NEW))
        | hands_path("save_weights", 0, in_one_piece(_NEW))
        | passes_path("load_weights", 0, but_for(".h5", ".hdf5", ".keras"))
        | word("load_weights") & word("latest_checkpoint")
    ),
)
def check(found: FileUse) -> Iterator[Finding]:
    """Report each call whose path surely has a wrong ending."""
    if _in_shards(found.call):
        return
    if found.use.what == "load_weights":
        yield from _loaded(found)
        return
    yield from _saved(found, found.use, found.call)
    for each in handed(found.module, found.use) if found.ending is None else ():
        yield from _saved(found, each, each.path or each.call)


def _in_shards(call: cst.Call) -> bool:
    """Say whether what Keras 2 does not know is asked for: several files and a `.weights.json`."""
    given = argument(call, "max_shard_size")
    return given is not None and literal(given.value) is not None


def _saved(found: FileUse, use: PathUse, place: cst.BaseExpression) -> Iterator[Finding]:
    extension = None if use.ending is None else use.ending.extension
    if use.ending is None or extension is None or use.ending.text.endswith(_NEW):
        return
    if use.path is None:
        return
    fix = rename_to_weights(found.module, use.ending, use.path)
    yield found.finding(
        "weights can only be saved to a path that ends in `.weights.h5`: ValueError: The "
        f"filename must end in `.weights.h5`. Received: filepath={use.ending.shown}",
        at=place,
        confidence=use.confidence,
        help=f"{help_for(fix, use.ending)}.",
        fix=fix,
    )


def help_for(fix: Fix | NoFix, found: Ending) -> str:
    """Return what to do with a path of weights that has a wrong ending."""
    text = "Use a path that ends in `.weights.h5`, here and where it is loaded"
    if fix != BY_NAME:
        return text
    path = f'"{found.text}"' if found.whole else "path"
    return (
        f"{text}, without `by_name=`; or save the whole model with `save({path})` to a path that "
        "ends in `.h5`: its weights can be loaded by name"
    )


def rename_to_weights(module: Module, found: Ending, path: cst.BaseExpression) -> Fix | NoFix:
    """Return the fix that lets a path end in ``.weights.h5``, or why there is none."""
    loaded = list(loads_of_weights(module, path))
    if any(_is_by_name(each.call) for each in loaded):
        return BY_NAME
    old = found.extension or ""
    is_checkpoint = old not in _NO_CHECKPOINTS
    if old not in _OLD_WEIGHTS:
        old = ""
    # `model_weights.h5`, `model.weights.hdf5`
    if old and found.text.endswith(f".weights{old}"):
        old = f".weights{old}"
    if why := taken(module, found, old, _NEW):
        return why
    # A whole model that goes by the same path keeps its name.
    models = [use.path for use in (*saves(module), *loads(module)) if use.path is not None]
    ends = [each.ending for each in loaded if each.ending is not None]
    by_end = [renamed(module, end, old, _NEW, but=models) for end in (found, *ends)]
    if not all(by_end):
        return NOT_WRITTEN_OUT
    edits: list[Edit] = [*dict.fromkeys(edit for each in by_end for edit in each)]
    return check.fix(
        "Change the path's ending to `.weights.h5` throughout this file",
        *edits,
        unsafe_because=_UNSAFE + (_NOT_AS_BEFORE if is_checkpoint else ""),
    )


def _is_by_name(call: cst.Call) -> bool:
    """Say whether weights may be loaded by the names of layers, as old files only can be."""
    given = argument(call, "by_name", 1)
    return given is not None and literal(given.value) not in (False, None)


def _loaded(found: FileUse) -> Iterator[Finding]:
    module, use = found.module, found.use
    extension = None if use.ending is None else use.ending.extension
    is_checkpoint = extension in ("", ".ckpt", ".tf") or _is_latest_checkpoint(module, use)
    if not is_checkpoint or reads_orbax(module):
        return
    fix: Fix | NoFix = _CONVERT
    if use.ending is not None and use.path is not None and is_saved_here(module, use.ending):
        fix = rename_to_weights(module, use.ending, use.path)
    shown = use.ending.text if use.ending is not None and use.ending.whole else "…"
    yield found.finding(
        "Keras 3 no longer reads TensorFlow checkpoints: ValueError: File format not supported: "
        f"filepath={shown}",
        help="Load it once with Keras 2 (`pip install tf_keras`), call "
        '`save_weights("name.weights.h5")` there, and load that file.',
        fix=fix,
    )


def _is_latest_checkpoint(module: Module, use: PathUse) -> bool:
    path = None if use.path is None else value_of(module, use.path)
    return isinstance(path, cst.Call) and module.qualified(path.func) in _LATEST


_MODEL = "import keras\n\nmodel = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"

_NAMED = (
    "name = 'unet'\nfiles = {{'plan': f'{{name}}.json', 'weights': '%s{}' % name}}\n"
    "model.save_weights(files['weights'])\n"
)
_AGENT = (
    "import keras\n\n\nclass Agent:\n    def __init__(self):\n"
    "        self.model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n\n"
    "    def load(self, name):\n        self.model.load_weights(name)\n\n"
    "    def save(self, name):\n        self.model.save_weights(name)\n\n\n"
    "agent = Agent()\n"
)
_BY_DEFAULT = _MODEL + (
    "\n\ndef keep(model, path='{}'):\n    model.save_weights(path)\n\n\nkeep(model)\n"
)
VALID = [
    # In several files, which Keras 2 does not know.
    (
        "import keras\n\nmodel = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
        "model.save_weights('a.weights.json', max_shard_size=0.25)\n"
        "model.load_weights('a.weights.json')"
    ),
    # Handed on: with the right ending, from elsewhere, made anew on the way, to another method.
    _AGENT + "agent.save('a.weights.h5')",
    _AGENT + "agent.save(path)",
    _AGENT + "agent.load('a.h5')",
    _AGENT.replace("        self.model.save", "        name = made(name)\n        self.model.save")
    + "agent.save('a.h5')",
    _AGENT + "other.save('a.h5')",
    _BY_DEFAULT.format("a.weights.h5"),
    _BY_DEFAULT.format("a.h5").replace("keep(model)", "keep(model, 'a.weights.h5')"),
    # Not what stood there at first.
    _MODEL + "files = {'weights': 'a.h5'}\nfiles['weights'] = path\n"
    "model.save_weights(files['weights'])",
    _MODEL + "files = {'weights': 'a.h5'}\nfiles.update(given)\n"
    "model.save_weights(files['weights'])",
    _MODEL + "files = {'weights': 'a.h5', **given}\nmodel.save_weights(files['weights'])",
    _MODEL + "model.save_weights('a.weights.h5')\nmodel.load_weights('a.weights.h5')",
    # Files that Keras 2 wrote are read, by name too.
    _MODEL + "model.load_weights('a.h5')\nmodel.load_weights('a.hdf5', by_name=True)",
    _MODEL + "model.load_weights('a.keras')",
    # Not known.
    _MODEL + "model.save_weights(path)\nmodel.save_weights(f'{a}/{b}')\nmodel.load_weights(path)",
    _MODEL + "model.save_weights('%s' % path)\nmodel.save_weights(os.path.join(a, b))",
    (
        _MODEL + "model.fit(x, y, callbacks=[keras.callbacks.OrbaxCheckpoint('folder')])\n"
        "model.load_weights('folder')"
    ),
    # Somebody else's method.
    "import keras\nfrom rl.agents import DQNAgent\nagent = DQNAgent()\nagent.save_weights('a.h5')",
    (
        "import keras\n\nclass Mine(keras.Model):\n    def save_weights(self, path):\n"
        "        pass\n\nMine().save_weights('a.h5')"
    ),
    "import tf_keras\nmodel = tf_keras.Sequential()\nmodel.save_weights('a.h5')",
]
INVALID = [
    Example(
        before=_MODEL + "model.save_weights('model.h5')\nmodel.load_weights('model.h5')",
        after=_MODEL
        + "model.save_weights('model.weights.h5')\nmodel.load_weights('model.weights.h5')",
        raises="ValueError: The filename must end in `.weights.h5`. Received: filepath=model.h5",
        unsafe=True,
    ),
    Example(
        before=_MODEL + "PATH = './checkpoint'\nmodel.save_weights(PATH)\nmodel.load_weights(PATH)",
        after=_MODEL
        + "PATH = './checkpoint.weights.h5'\nmodel.save_weights(PATH)\nmodel.load_weights(PATH)",
        raises="ValueError: The filename must end in `.weights.h5`. Received: "
        "filepath=./checkpoint",
        unsafe=True,
        findings=2,
    ),
    Example(
        before="import os\n" + _MODEL + "epoch = 3\n"
        "model.save_weights(os.path.join('.', 'weights.%03d.hdf5' % epoch))",
        after="import os\n" + _MODEL + "epoch = 3\n"
        "model.save_weights(os.path.join('.', 'weights.%03d.weights.h5' % epoch))",
        raises="ValueError: The filename must end in `.weights.h5`. Received: filepath=",
        unsafe=True,
    ),
    Example(
        before=_MODEL + _NAMED.format(".hdf5"),
        after=_MODEL + _NAMED.format(".weights.h5"),
        raises="ValueError: The filename must end in `.weights.h5`. Received: filepath=",
        unsafe=True,
    ),
    Example(
        before=_MODEL + "name = 'unet'\nmodel.save_weights(f'{name}_weights.h5')",
        after=_MODEL + "name = 'unet'\nmodel.save_weights(f'{name}_weights.weights.h5')",
        raises="ValueError: The filename must end in `.weights.h5`. Received: filepath=",
        unsafe=True,
    ),
    # Written in another way, in another function.
    Example(
        before=_MODEL + "\n\ndef save(p):\n    model.save_weights('./%s_w.h5' % p)\n\n\n"
        "def load(net, p):\n    net.load_weights('./%s_w.h5' % p)\n\n\n"
        "save('a')\nload(model, 'a')",
        after=_MODEL + "\n\ndef save(p):\n    model.save_weights('./%s_w.weights.h5' % p)\n\n\n"
        "def load(net, p):\n    net.load_weights('./%s_w.weights.h5' % p)\n\n\n"
        "save('a')\nload(model, 'a')",
        raises="ValueError: The filename must end in `.weights.h5`. Received: filepath=",
        unsafe=True,
    ),
    # Given to a method that saves to it, and to one that loads it.
    Example(
        before=_AGENT + "agent.save('dqn.h5')\nagent.load('./dqn.h5')\nprint('dqn.h5')",
        after=_AGENT
        + "agent.save('dqn.weights.h5')\nagent.load('./dqn.weights.h5')\nprint('dqn.h5')",
        raises="ValueError: The filename must end in `.weights.h5`. Received: filepath=dqn.h5",
        unsafe=True,
    ),
    Example(
        before=_BY_DEFAULT.format("net.hdf5"),
        after=_BY_DEFAULT.format("net.weights.h5"),
        raises="ValueError: The filename must end in `.weights.h5`. Received: filepath=net.hdf5",
        unsafe=True,
    ),
    # By name only the old files can be loaded.
    Example(
        before=_MODEL + "model.save_weights('a.h5')\nmodel.load_weights('a.h5', by_name=True)",
        raises="ValueError: The filename must end in `.weights.h5`. Received: filepath=a.h5",
    ),
    Example(
        before=_MODEL + "model.load_weights('training_1/cp.ckpt')",
        raises="ValueError: File format not supported: filepath=training_1/cp.ckpt",
    ),
    Example(
        before="import tensorflow as tf\n" + _MODEL + "latest = tf.train.latest_checkpoint('.')\n"
        "model.load_weights(latest)",
        raises="ValueError: File format not supported: filepath=",
        prelude="import tensorflow\n"
        "tensorflow.train.Checkpoint(v=tensorflow.Variable(1.0)).save('cp')",
    ),
]
