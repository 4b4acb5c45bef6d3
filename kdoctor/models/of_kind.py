"""What a Keras does with a kind of file, whatever is in it, and what to do instead."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import Final

from packaging.version import Version

from kdoctor.models.contents import Contents
from kdoctor.models.kinds import FileKind, index_of
from kdoctor.models.obstacle import Fault, Obstacle, Part, Remedy
from kdoctor.models.serving import chosen, keras_code, quoted, tensorflow_code
from kdoctor.target import Target

_ENDINGS: Final = {
    FileKind.HDF5: (".h5", ".hdf5"),
    FileKind.KERAS_ARCHIVE: (".keras",),
    FileKind.KERAS_WEIGHTS: (".weights.h5",),
    FileKind.HDF5_WEIGHTS: (".h5", ".hdf5"),
}
"""By which names Keras 3 knows a file: it does not look into it first."""

WEIGHTS: Final = frozenset({FileKind.KERAS_WEIGHTS, FileKind.HDF5_WEIGHTS})
"""What ``load_weights`` of Keras 3 reads into a model that is there already."""
_OF_KERAS: Final = frozenset(
    {*_ENDINGS, FileKind.KERAS_FOLDER, FileKind.CONFIG, FileKind.KERAS_SAVED_MODEL}
)
_KERAS_2_LOADS: Final = frozenset(
    {*_OF_KERAS, FileKind.SAVED_MODEL, FileKind.CHECKPOINT} - {FileKind.KERAS_FOLDER}
)
_LOADS_FOLDERS: Final = Version("3.4")  # its saving_api.py asks for folders, that of 3.3 does not
_AGAIN: Final = "Copy or download it again"


def kind_obstacles(found: Contents, target: Target) -> Iterator[Obstacle]:
    """Yield what keeps a target from loading a file of this kind, and of this name."""
    if target.is_before_keras_3:
        if found.kind not in _KERAS_2_LOADS:
            cause = f"`load_model` of {target} loads no file of this kind"
            yield _obstacle(cause, _cure(found), Remedy.NONE)
        return
    if found.pieces:
        yield _obstacle(
            f"its `{found.pieces[0]}` is cut into pieces (`{found.pieces[0]}0`, …), which "
            f"{target} does not put together",
            "Write it as one attribute with h5py.",
            Remedy.CODE,
        )
    if found.kind in _ENDINGS:
        yield from _of_name(found, target)
    elif found.kind is FileKind.KERAS_FOLDER:
        if Version(target.keras_version) < _LOADS_FOLDERS:
            yield _obstacle(f"{target} loads no folder", _of_folder(found), Remedy.CODE)
    elif found.kind is not FileKind.CONFIG or _is_of_keras_2(found):
        cause = f"`keras.models.load_model` of {target} loads no file of this kind"
        if found.kind is FileKind.CONFIG:
            cause = f"`keras.models.model_from_json` of {target} reads no text of Keras 2"
        remedy = Remedy.CODE if found.kind in _WITH_CODE else Remedy.NONE
        yield _obstacle(cause, _cure(found), remedy)


def how_to_load(found: Contents) -> str:
    """Return the call that loads a file of this kind, "" where Keras 3 has none."""
    path = quoted(str(found.path))
    if found.kind in WEIGHTS or (found.kind is FileKind.HDF5 and found.model is None):
        return f"model.load_weights({path})"
    if found.kind is FileKind.CONFIG:
        return f"keras.models.model_from_json(open({path}).read())"
    loads = (FileKind.HDF5, FileKind.KERAS_ARCHIVE, FileKind.KERAS_FOLDER)
    return f"keras.models.load_model({path})" if found.kind in loads else ""


def _obstacle(cause: str, cure: str, remedy: Remedy, became: str = "") -> Obstacle:
    subject = became and "name"
    return Obstacle(
        "",
        cause,
        cure,
        fault=Fault.FILE,
        part=Part.FILE,
        remedy=remedy,
        subject=subject,
        became=became,
    )


def _of_name(found: Contents, target: Target) -> Iterator[Obstacle]:
    """Yield what is wrong about a file's name, by which Keras 3 knows its kind."""
    name, endings = found.path.name, _ENDINGS[found.kind]
    is_taken_for_new = found.kind is FileKind.HDF5_WEIGHTS and name.endswith(".weights.h5")
    if is_taken_for_new and not any(each.weights for each in found.weights or ()):
        return  # there is nothing to load
    if name.endswith(endings) and not is_taken_for_new:
        return
    stem = name.removesuffix(".weights.h5") if is_taken_for_new else found.path.stem
    became = f"{stem}{endings[0]}"
    why = f"its name does not end in {' or '.join(endings)}, by which {target} knows the kind"
    if is_taken_for_new:
        why = f"its name ends in .weights.h5, by which {target} takes it for weights of Keras 3"
    yield _obstacle(why, f"Rename it to `{became}`.", Remedy.CONVERT, became)


def _is_of_keras_2(found: Contents) -> bool:
    return found.model is not None and "module" not in found.model


def _cure(found: Contents) -> str:
    """Return what to do with a file that Keras 3 does not load; lines of code are indented."""
    make = _CURES.get(found.kind)
    return "" if make is None else make(found)


def _with_code(text: str, code: str) -> str:
    return f"{text}\n{textwrap.indent(code, '    ')}"


def _of_saved_model(found: Contents) -> str:
    signature = chosen(found.signatures)
    if signature is None:
        code = tensorflow_code(found.path)
        return _with_code("It has no signature to make a layer of. With TensorFlow alone:", code)
    taken = " and ".join(f'["{each.name}"]' for each in signature.outputs)
    told = f"To predict, make a layer of it. `model.predict` gives a dict: take {taken} of it."
    return _with_code(told, keras_code(found.path, signature))


def _of_keras_saved_model(found: Contents) -> str:
    code = (
        "import tf_keras\n"
        f"old = tf_keras.models.load_model({quoted(str(found.path))})\n"
        f"old.save({quoted(found.path.name + '.h5')})"
    )
    told = "To train it, or to change it: save it anew with tf_keras, and look at that file."
    return f"{_of_saved_model(found)}\n{_with_code(told, code)}"


def _of_checkpoint(found: Contents) -> str:
    index = index_of(found.path)
    prefix = found.path if index is None else index.with_name(index.name.removesuffix(".index"))
    where, name = quoted(str(prefix)), quoted(f"{prefix.name}.h5")
    old = _with_code(
        "It holds weights, and no model. If `save_weights` of Keras 2 wrote it: make the model by "
        "its code with tf_keras, and save the weights anew. `load_weights` of Keras 3 reads them "
        "into the same model.",
        f"model.load_weights({where})\nmodel.save_weights({name})",
    )
    new = _with_code(
        "If `tf.train.Checkpoint(model=model)` wrote it: restore it the same way.",
        f"tf.train.Checkpoint(model=model).restore({where})",
    )
    return f"{old}\n{new}"


def _of_graph(found: Contents) -> str:
    signature = chosen(found.signatures)
    inputs = signature.inputs if signature else ()
    outputs = signature.outputs if signature else ()
    feeds = ", ".join(quoted(f"{each.name}:0") for each in inputs) or '"INPUT:0"'
    fetches = ", ".join(quoted(f"{each.name}:0") for each in outputs) or '"OUTPUT:0"'
    return _with_code(
        "Call it with TensorFlow; Keras makes no model of it.",
        "import tensorflow as tf\n"
        f'data = open({quoted(str(found.path))}, "rb").read()\n'
        "graph = tf.compat.v1.GraphDef.FromString(data)\n"
        'made = lambda: tf.graph_util.import_graph_def(graph, name="")\n'
        f"predict = tf.compat.v1.wrap_function(made, []).prune([{feeds}], [{fetches}])",
    )


def _of_tflite(found: Contents) -> str:
    return _with_code(
        "Run it with TensorFlow (or ai-edge-litert); Keras makes no model of it.",
        "import tensorflow as tf\n"
        f"predict = tf.lite.Interpreter({quoted(str(found.path))}).get_signature_runner()",
    )


def _of_tfjs(found: Contents) -> str:
    if found.model is None:
        return "It holds a graph, and no layers: run it with TensorFlow.js."
    read = f'json.load(open({quoted(str(found.path))}))["modelTopology"]["model_config"]'
    return _with_code(
        "Make the model of its configuration. The weights lie in the files that `weightsManifest` "
        "names, one array after the other: hand them to `model.set_weights`.",
        f"import json\nimport keras\nspec = {read}\n{_from_config(found)}",
    )


def _of_config(found: Contents) -> str:
    code = f"spec = json.load(open({quoted(str(found.path))}))\n{_from_config(found)}"
    told = "Make the model of its configuration; it has no weights."
    return _with_code(told, f"import json\nimport keras\n{code}")


def _of_yaml(found: Contents) -> str:
    code = f"spec = yaml.safe_load(open({quoted(str(found.path))}))\n{_from_config(found)}"
    told = "Make the model of its configuration; it has no weights."
    return _with_code(told, f"import keras\nimport yaml\n{code}")


def _from_config(found: Contents) -> str:
    is_sequential = (found.model or {}).get("class_name") == "Sequential"
    made = "Sequential" if is_sequential else "Model"
    return f'model = keras.{made}.from_config(spec["config"])'


def _of_folder(found: Contents) -> str:
    name = quoted(f"{found.path.name}.keras")
    where = quoted(str(found.path))
    return _with_code(
        "Make an archive of it.",
        f'import shutil\nshutil.move(shutil.make_archive("model", "zip", {where}), {name})',
    )


def _of_other_archive(found: Contents) -> str:
    inside = [each for each in found.members if each.lower().endswith(_MODELS)]
    return f"Unpack it: it holds `{inside[0]}`." if inside else ""


_MODELS: Final = (".h5", ".hdf5", ".keras", "saved_model.pb", ".tflite", ".onnx")
_CURES: Final[dict[FileKind, Callable[[Contents], str]]] = {
    FileKind.SAVED_MODEL: _of_saved_model,
    FileKind.KERAS_SAVED_MODEL: _of_keras_saved_model,
    FileKind.CHECKPOINT: _of_checkpoint,
    FileKind.FROZEN_GRAPH: _of_graph,
    FileKind.TFLITE: _of_tflite,
    FileKind.TFJS: _of_tfjs,
    FileKind.CONFIG: _of_config,
    FileKind.YAML_CONFIG: _of_yaml,
    FileKind.KERAS_FOLDER: _of_folder,
    FileKind.OTHER_ARCHIVE: _of_other_archive,
    FileKind.SAVED_MODEL_FILE: lambda _: "Bring the whole folder that it lay in: `variables/` too.",
    FileKind.CHECKPOINT_PART: lambda found: (
        f"Bring the file `{found.path.name.rpartition('.data-')[0]}.index` that lay beside it."
    ),
    FileKind.ONNX: lambda _: "Run it with onnxruntime; Keras does not read ONNX.",
    FileKind.PYTORCH: lambda _: "Load it with PyTorch; Keras makes no model of it.",
    FileKind.PICKLE: lambda _: (
        "Where you trust it, open it with the packages that wrote it, and save the model from "
        'there: `model.save("model.keras")`, or `model.save("model.h5")` on Keras 2.'
    ),
    FileKind.LFS_POINTER: lambda found: (
        f"Fetch the file itself: `git lfs pull --include {quoted(found.path.name)}`."
    ),
    FileKind.HTML: lambda _: "Download the file itself: the address led to a page about it.",
    FileKind.UNKNOWN: lambda _: f"{_AGAIN}: nothing in it says what it is.",
    FileKind.EMPTY: lambda _: f"{_AGAIN}: it has no content.",
}
_WITH_CODE: Final = frozenset({
    *(FileKind.SAVED_MODEL, FileKind.KERAS_SAVED_MODEL, FileKind.CHECKPOINT, FileKind.TFJS),
    *(FileKind.CONFIG, FileKind.YAML_CONFIG),
})  # fmt: skip
"""Of what one gets to a Keras model, or to a layer of one, by code that is written for it."""
