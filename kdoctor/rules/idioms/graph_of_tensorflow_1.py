"""TensorFlow 1 names that are gone: `tf.Session`, `tf.placeholder`, `tf.log`, `tf.contrib`.

## What it does
Reports each name of TensorFlow 1 that TensorFlow 2 no longer has, in a file that uses Keras 3,
`tensorflow.python.estimator`, and names that are gone from `tf.compat.v1` too: `contrib`,
`estimator`, and with Keras 3 all of `layers` and `nn.rnn_cell`. A function whose argument is a
symbolic tensor is reported by KD503 instead; a session that only enables GPU memory growth by
KD101.

## Why it breaks
Keras 3 needs TensorFlow 2: `AttributeError: module 'tensorflow' has no attribute 'Session'`.
Writing `tf.compat.v1.Session` only hides that error. Keras 3 builds no graph that a session could
run: `RuntimeError: The Session graph is empty. Add operations to the graph before calling run().`;
`tf.compat.v1.placeholder` raises `RuntimeError: tf.placeholder() is not compatible with eager
execution.`, and `tf.compat.v1.layers.dense` `AttributeError: `dense` is not available with Keras
3.` In a `with tf.Graph().as_default():` a model can be built and called, but `fit`, `predict` and
`save` raise (KD505).

## What to write instead
Renamed functions are the same object under a new name (`tf.log` is `tf.math.log`), and functions
that keep their old arguments are in `tf.compat.v1` (`tf.image.resize_bilinear`): both are
rewritten. Graph code has to be rewritten by hand. This

    x = tf.placeholder(tf.float32, (None, 4))
    y = model(x)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    result = session.run(y, feed_dict={x: data})

becomes, eagerly and without a session,

    result = keras.ops.convert_to_numpy(model(data))

and a training loop around `tf.train.AdamOptimizer(0.01).minimize(loss)` is

    optimizer = keras.optimizers.Adam(0.01)
    for x, y in batches:
        with tf.GradientTape() as tape:
            loss = keras.ops.mean((model(x, training=True) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

`tf.get_variable` is `self.add_weight` in a layer, `keras.Variable` elsewhere; `tf.Summary` is
`tf.summary.scalar(name, value, step=step)` in a `with writer.as_default():`; `tf.train.Saver` is
`model.save_weights("x.weights.h5")`. `tf.contrib` has no successor: its contents moved to other
packages (`tensorflow-addons`, `tf-slim`) or were removed.

## How we know
`tools/tensorflow_names.py` compares the names of `tf.compat.v1` with those of `tensorflow` 2.21 and
finds which are the very same object. `tf.estimator` was removed in TensorFlow 2.16 (release notes);
the wheel of 2.15.1 contains `tensorflow/python/estimator` and requires tensorflow-estimator, that
of 2.16.1 does neither. The errors, the session and the programs above were run on Keras 3.15.1 with
TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce

import libcst as cst

from kdoctor.analysis.calls import add_keyword
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.roots import USES_KERAS_3, uses_keras_3
from kdoctor.analysis.triggers import names
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import FIRST, by_the_short_way
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.fixes.seeds import seeds_all
from kdoctor.rules.idioms._tensorflow import Gone, only_1, renames
from kdoctor.rules.idioms._tensorflow.eagerness import is_for_graphs_alone
from kdoctor.rules.idioms._tensorflow.tensorflow_1 import AT_ONCE, CASTS, FILES, SEEDS, advice
from kdoctor.rules.idioms.tf_op_on_symbolic_tensor import error_of_symbolic
from kdoctor.rules.names._backend.sessions import without_session
from kdoctor.rules.rule import Example, Rule
from kdoctor.syntax import Module, Reference, ReferenceKind

_ROOT = "tensorflow."
_SEEDS_MORE = "it also seeds Python and NumPy; the numbers differ from those of TensorFlow 1 anyway"
_PRIVATE = "python."
_SINCE_2_16 = frozenset({"estimator", f"{_PRIVATE}estimator"})
_OF_KERAS_2 = tuple(f"{way}{each}" for way in FIRST for each in ("layers", "nn.rnn_cell"))
_WRITE_ANEW = "code that uses graphs and sessions has to be rewritten"


def check(module: Module, facts: TargetFacts) -> Iterator[Finding]:
    """Report each name that is gone, where it is imported or read."""
    found = [each for each in module.references if _is_gone(each)]
    if not found or not uses_keras_3(module, facts):
        return
    taken = list(_sessions_of_the_gpu(module))
    for reference in found:
        if module.is_guarded(reference.node) or error_of_symbolic(module, reference):
            continue
        if module.is_attribute_fallback(reference.node, _may_be_there):
            continue
        if any(first <= module.span(reference.node).start < end for first, end in taken):
            continue
        finding = _finding(module, reference)
        if finding.fix or not is_for_graphs_alone(module, reference.node):
            yield finding


def _is_gone(reference: Reference) -> bool:
    names = reference.names or (reference.name,)
    if reference.kind not in (ReferenceKind.LOAD, ReferenceKind.IMPORT):
        return False
    gone = [only_1(name) if name.startswith(_ROOT) else None for name in names]
    if not all(gone):
        return False
    # `from tensorflow import Session` fails before any use of it does.
    is_import = reference.kind is ReferenceKind.IMPORT
    if any(each is not None and not each.parent for each in gone):
        return not is_import and not _imports_the_module(reference)
    return is_import or only_1(reference.binding.name) is None


def _imports_the_module(reference: Reference) -> bool:
    """Say whether an import takes a module of ``tf.compat.v1`` from where it has something.

    `from tensorflow.compat.v1.nn.rnn_cell import LSTMCell` works; `from tensorflow.compat.v1.nn
    import rnn_cell` gives what `tf.compat.v1.nn.rnn_cell` is.
    """
    binding = reference.binding
    if not isinstance(binding.statement, cst.ImportFrom):
        return binding.imported.startswith(_OF_KERAS_2)
    return binding.imported.rpartition(".")[0].startswith(_OF_KERAS_2)


def _may_be_there(name: str) -> bool:
    return name.startswith(_ROOT) and split_root(name) is None and only_1(name) is None


def _sessions_of_the_gpu(module: Module) -> Iterator[tuple[int, int]]:
    """Yield the places that the fix of KD101 for ``K.set_session`` rewrites."""
    for reference in module.references:
        if reference.name.endswith(".set_session") and reference.call is not None:
            fix = without_session(module, reference.call)
            for edit in fix.edits if fix else ():
                yield edit.span.start, edit.span.end


def _finding(module: Module, reference: Reference) -> Finding:
    gone = only_1(reference.name)
    assert gone is not None
    fix = None if reference.kind is ReferenceKind.IMPORT else _fix(module, reference)
    return rule.finding(
        module.place(reference.node),
        f"`{_shown(gone)}` is {_gone_since(gone)}: {_error(reference, gone)}",
        symbol=reference.name,
        confidence=reference.confidence,
        help=f"{fix.title}." if fix else advice(gone.name, gone.renamed),
        fix=fix or NoFix(_WRITE_ANEW),
    )


def _shown(gone: Gone) -> str:
    """Return a name as users write it: ``tf`` has its public modules alone."""
    return f"{_ROOT if gone.name.startswith(_PRIVATE) else 'tf.'}{gone.name}"


def _gone_since(gone: Gone) -> str:
    return "gone since TensorFlow 2.16" if gone.name in _SINCE_2_16 else "of TensorFlow 1"


def _error(reference: Reference, gone: Gone) -> str:
    parent, leaf = gone.parent, gone.leaf
    if not parent:
        return f"AttributeError: `{leaf}` is not available with Keras 3."
    # A module that is imported by its public name is called so.
    public = parent.replace("._api.v2", "")
    if reference.kind is ReferenceKind.IMPORT or public == reference.binding.name:
        parent = public
    if reference.kind is not ReferenceKind.IMPORT:
        if gone.name.startswith(_PRIVATE) and f"{reference.binding.name}." == _ROOT:
            parent, leaf = reference.binding.name, _PRIVATE.rstrip(".")
        return f"AttributeError: module '{parent}' has no attribute '{leaf}'"
    # Of `from tensorflow.python.estimator import estimator` the module is not found.
    home, _, name = reference.binding.imported.rpartition(".")
    is_from = isinstance(reference.binding.statement, cst.ImportFrom)
    if is_from and name == leaf and only_1(home) is None:
        return f"ImportError: cannot import name '{leaf}' from '{parent}'"
    return f"ModuleNotFoundError: No module named '{parent}.{leaf}'"


def _fix(module: Module, reference: Reference) -> Fix | None:
    gone = only_1(reference.name)
    node = reference.node
    if gone is None or not isinstance(node, cst.Attribute):
        return None
    written, rest = module.source(node), by_the_short_way(reference.name).removeprefix(_ROOT)
    if not written.endswith(f".{rest}"):
        return None  # `from tensorflow import train`, and then `train.Saver`
    root = written.removesuffix(f".{rest}")
    call = _plain_call(reference)
    if gone.renamed:
        new = f"{root}.{gone.renamed}"
        return _renamed(module, node, new, _RENAMES)
    if rest in SEEDS and call is not None:
        title = "Write `{}`, which also seeds the layers of Keras 3"
        return seeds_all(module, node, title=title, because=_SEEDS_MORE)
    if rest in CASTS and call is not None and len(call.args) == 1:
        return rule.fix(
            f"Write `{root}.cast(…, {root}.{CASTS[rest]})`",
            Edit(module.span(node), (f"{root}.cast",)),
            add_keyword(module, call, f"{root}.{CASTS[rest]}"),
            proven_by=(_CAST,),
        )
    if rest in FILES and call is not None:
        return _renamed(module, node, f"{root}.io.{FILES[rest]}", _FILES)
    if gone.name in AT_ONCE:
        return _renamed(module, node, f"{root}.compat.v1.{rest}", _AT_ONCE)
    return None


def _plain_call(reference: Reference) -> cst.Call | None:
    """Return the call, if all that it passes is passed by position."""
    call = reference.call
    if call is None or not call.args or any(each.star or each.keyword for each in call.args):
        return None
    return call


def _renamed(module: Module, node: cst.Attribute, new: str, proof: Example) -> Fix:
    return rule.fix(f"Write `{new}`", Edit(module.span(node), (new,)), proven_by=(proof,))


rule = Rule(
    code="KD506",
    name="graph-of-tensorflow-1",
    family="idioms",
    severity=Severity.ERROR,
    check=check,
    triggers=names(lambda _, dotted: only_1(dotted) is not None) & USES_KERAS_3,
    since="3.0",
    asks_for_roots=True,
)

_HEAD = "import keras\nimport tensorflow as tf\n\n"
_WIDTH = 80
_MODEL = "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\n"


def _in_lines(names: Iterable[str]) -> list[list[str]]:
    lines: list[list[str]] = []
    width = _WIDTH
    for name in names:
        added = len(f" tf.{name},")
        if width + added > _WIDTH:
            lines.append([])
            width = -1
        lines[-1].append(name)
        width += added
    return lines


_LINES = _in_lines(renames())


def _list(spelled: Callable[[str], str]) -> str:
    lines = (", ".join(f"tf.{spelled(name)}" for name in line) for line in _LINES)
    listed = ",\n".join(f"    {line}" for line in lines)
    return f"{_HEAD}things = [\n{listed},\n]\nprint(keras.__version__)\n"


# Every name of which TensorFlow 2 has the same object; ``is`` is the strongest proof there is.
_RENAMES = Example(
    before=_list(str),
    after=_list(lambda name: renames()[name]),
    raises=f"AttributeError: module 'tensorflow' has no attribute '{next(iter(renames()))}'",
    findings=len(renames()),
    check=_list(lambda name: f"compat.v1.{name}").replace("things", "same")
    + "assert len(things) == len(same)\n"
    "assert all(one is other for one, other in zip(things, same, strict=True))",
)
_CAST = Example(
    before=_HEAD + "x = keras.ops.array([1, 2])\ny = [tf.to_float(x), tf.to_int64(x)]\n",
    after=_HEAD
    + "x = keras.ops.array([1, 2])\ny = [tf.cast(x, tf.float32), tf.cast(x, tf.int64)]\n",
    raises="AttributeError: module 'tensorflow' has no attribute 'to_float'",
    findings=2,
    check="old = [tf.compat.v1.to_float(x), tf.compat.v1.to_int64(x)]\n"
    "assert [each.dtype for each in y] == [each.dtype for each in old]\n"
    "assert [each.numpy().tolist() for each in y] == [[1, 2], [1, 2]]",
)
_IN_A_FOLDER = (
    _HEAD + 'tf.gfile.MakeDirs(f"{folder}/a/b")\ntf.gfile.MkDir(f"{folder}/c")\n'
    'with tf.gfile.GFile(f"{folder}/c/one", "w") as file:\n    file.write(keras.__name__)\n'
    'tf.gfile.Copy(f"{folder}/c/one", f"{folder}/c/two", True)\n'
    'tf.gfile.Rename(f"{folder}/c/two", f"{folder}/c/three")\n'
    'tf.gfile.Remove(f"{folder}/c/one")\ntf.gfile.DeleteRecursively(f"{folder}/a")\n'
    'found = [tf.gfile.ListDirectory(folder), tf.gfile.Glob(f"{folder}/c/*")]\n'
    'asked = [tf.gfile.Exists(f"{folder}/a"), tf.gfile.IsDirectory(f"{folder}/c")]\n'
)
_FILES = Example(
    prelude="import tempfile\n\nfolder = tempfile.mkdtemp()\n",
    before=_IN_A_FOLDER,
    after=reduce(
        lambda text, names: text.replace(*names),
        [
            (f"tf.{old}(", f"tf.io.{new}(")
            for old, new in {**FILES, "gfile.GFile": "gfile.GFile"}.items()
        ],
        _IN_A_FOLDER,
    ),
    raises="AttributeError: module 'tensorflow' has no attribute 'gfile'",
    findings=11,
    check='assert (found, asked) == ([["c"], [f"{folder}/c/three"]], [False, True])',
)
_RUNS = _HEAD + (
    "x = keras.ops.ones((1, 4, 4, 4))\n"
    "cast = [each([1]) for each in (tf.to_double, tf.to_float, tf.to_int32, tf.to_int64)]\n"
    "for maker in (\n    tf.glorot_normal_initializer,\n    tf.glorot_uniform_initializer,\n"
    "    tf.orthogonal_initializer,\n    tf.truncated_normal_initializer,\n"
    "    tf.variance_scaling_initializer,\n):\n    maker()((2, 2))\n"
    "results = [\n"
    "    tf.arg_max([[1, 2]], 1),\n    tf.arg_min([[1, 2]], 1),\n"
    "    tf.confusion_matrix([0, 1], [1, 1]),\n    tf.count_nonzero([0, 1]),\n"
    "    tf.depth_to_space(x, 2),\n    tf.space_to_depth(x, 2),\n    tf.div(5, 2),\n"
    "    tf.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID'),\n"
    "    tf.py_func(lambda a: a + 1, [1.0], tf.float64),\n    tf.setdiff1d([1, 2], [1]),\n"
    "    tf.sparse_to_dense([1], [3], 1),\n    tf.string_to_number('1'),\n"
    "    tf.substr('abc', 0, 2),\n    tf.multinomial([[1.0, 1.0]], 2),\n"
    "    tf.decode_raw('ab', tf.uint8),\n    tf.Dimension(3),\n"
    "    tf.image.resize_area(x, (2, 2)),\n    tf.image.resize_bicubic(x, (2, 2)),\n"
    "    tf.image.resize_bilinear(x, (2, 2)),\n    tf.image.resize_images(x, (2, 2)),\n"
    "    tf.image.resize_nearest_neighbor(x, (2, 2)),\n"
    "    tf.nn.softmax_cross_entropy_with_logits_v2(labels=[1.0, 0.0], logits=[1.0, 0.0]),\n"
    "    tf.parse_single_example(\n        tf.train.Example().SerializeToString(),\n"
    "        {'a': tf.io.FixedLenFeature((), tf.float32, 0.0)},\n    ),\n]\n"
    "tf.assert_greater_equal(2, 1)\ntf.assert_less_equal(1, 2)\ntf.assert_non_negative(1)\n"
    "tf.assert_positive(1)\nopen_ = tf.gfile.FastGFile\ntf.logging.info('done')\n"
    "tf.flags.DEFINE_integer('steps', 3, 'how many')\nmain = tf.app.run\n"
)
_AT_ONCE = Example(
    before=_RUNS,
    after=reduce(
        lambda text, name: text.replace(f"tf.{name}", f"tf.compat.v1.{name}"), AT_ONCE, _RUNS
    ),
    raises="AttributeError: module 'tensorflow' has no attribute 'to_double'",
    findings=len(AT_ONCE),
    check="assert int(results[6]) == 2 and main is tf.compat.v1.app.run",
)

VALID = [
    # No Keras in it, or that of Keras 2.
    "import tensorflow as tf\n\nsession = tf.Session()",
    "import tensorflow as tf\nimport tf_keras\n\nsession = tf.Session()",
    # What TensorFlow 2 has, and the old names where it keeps them.
    _HEAD + "tf.math.log(1.0)\ntf.Graph()\ntf.compat.v1.logging.info('a')",
    "import keras\nimport tensorflow.compat.v1 as tf\n\nsession = tf.Session()",
    # Asked for first.
    _HEAD + "if hasattr(tf, 'Session'):\n    tf.Session()",
    _HEAD + "if tf.__version__.startswith('1.'):\n    tf.set_random_seed(1)",
    _HEAD + "if int(tf.__version__.split('.')[0]) < 2:\n    tf.reset_default_graph()",
    _HEAD + "try:\n    log = tf.log\nexcept AttributeError:\n    log = tf.math.log",
    _HEAD + "try:\n    y = tf.math.log(1.0)\nexcept AttributeError:\n    y = tf.log(1.0)",
    (
        "import keras\n\ntry:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n"
        "    import tensorflow as tf\n\ntf.Session()"
    ),
    # What `compat.v2` has kept; what the module itself has.
    "import keras\nimport tensorflow.compat.v2 as tf\n\ntf.enable_v2_behavior()",
    (
        "import keras\nfrom tensorflow.compat.v1 import layers\n"
        "from tensorflow.compat.v1.nn.rnn_cell import LSTMCell\n\nprint(layers, LSTMCell(3))"
    ),
    # Something else of that name.
    "import keras\nimport mine as tf\n\ntf.Session()",
    # KD503's, and KD101's.
    _HEAD + "y = tf.log(keras.Input((4,)))",
    (
        "import tensorflow as tf\nfrom keras import backend as K\n\nconfig = tf.ConfigProto()\n"
        "config.gpu_options.allow_growth = True\nK.set_session(tf.Session(config=config))"
    ),
]
INVALID = [
    Example(
        before=_HEAD + _MODEL + "session = tf.Session()\n"
        "session.run(tf.global_variables_initializer())\n",
        raises="AttributeError: module 'tensorflow' has no attribute 'Session'",
        findings=2,
    ),
    Example(
        before=_HEAD + _MODEL + "x = tf.placeholder(tf.float32, (None, 4))\ny = model(x)\n",
        raises="AttributeError: module 'tensorflow' has no attribute 'placeholder'",
    ),
    Example(
        before=_HEAD + "optimizer = tf.train.AdamOptimizer(0.01)\nprint(keras.__version__)\n",
        raises="AttributeError: module 'tensorflow._api.v2.train' has no attribute 'AdamOptimizer'",
    ),
    # Whatever other Keras stands beside it.
    Example(
        before="import tensorflow as tf\nfrom tensorflow.python.keras import layers\n\n"
        "models = [tf.keras.Sequential(), layers.Dense(1)]\nsession = tf.Session()\n",
        raises="AttributeError: module 'tensorflow' has no attribute 'Session'",
    ),
    Example(
        before="import keras\nfrom tensorflow import Session\n\nsession = Session()\n",
        raises="ImportError: cannot import name 'Session' from 'tensorflow'",
    ),
    Example(
        before="import keras\nimport tensorflow.contrib.slim as slim\n\nslim.conv2d\n",
        raises="ModuleNotFoundError: No module named 'tensorflow.contrib'",
    ),
    Example(
        before=_HEAD + "tf.set_random_seed(7)\nweights = keras.layers.Dense(2)\n",
        after=_HEAD.replace("import tensorflow as tf\n", "")
        + "keras.utils.set_random_seed(7)\nweights = keras.layers.Dense(2)\n",
        unsafe=True,
        raises="AttributeError: module 'tensorflow' has no attribute 'set_random_seed'",
    ),
    Example(
        before=_HEAD + "config = tf.estimator.RunConfig(keras.__version__)\n",
        raises="AttributeError: module 'tensorflow' has no attribute 'estimator'",
    ),
    Example(
        before="import keras\nfrom tensorflow.python.estimator import estimator\n",
        raises="ModuleNotFoundError: No module named 'tensorflow.python.estimator'",
    ),
    Example(
        before="import keras\nimport tensorflow.compat.v1 as tf\n\n"
        "y = tf.layers.dense(keras.ops.ones((2, 2)), 3)\n",
        raises="AttributeError: `dense` is not available with Keras 3.",
    ),
    Example(
        before="import keras\nimport tensorflow.compat.v1 as tf\n\n"
        "cells = [tf.nn.rnn_cell.LSTMCell(3), tf.contrib.rnn.LSTMCell(3), keras.layers.LSTM(3)]\n",
        raises="AttributeError: `LSTMCell` is not available with Keras 3.",
        findings=2,
    ),
    Example(
        before=_HEAD.replace("tensorflow", "tensorflow.compat.v2")
        + "y = tf.log(keras.ops.ones((2, 2)))\n",
        after=_HEAD.replace("tensorflow", "tensorflow.compat.v2")
        + "y = tf.math.log(keras.ops.ones((2, 2)))\n",
        raises="AttributeError: module 'tensorflow.compat.v2' has no attribute 'log'",
        check="assert y.numpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]",
    ),
    _RENAMES,
    _CAST,
    _FILES,
    _AT_ONCE,
]
