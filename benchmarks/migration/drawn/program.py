"""Run in a process of its own: try the files of one repository on one Keras.

    python -m benchmarks.migration.drawn.program keras2|keras3 ROOT OUT FILES [RECIPES]

OUT has for each file what happened to each thing that was tried, and the arguments that worked on
Keras 2 (``recipes``), which RECIPES hands to the runs on Keras 3.
"""

import hashlib
import json
import os
import select
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

HOME = Path(__file__).parents[3]
FILE_SECONDS = 500


def main(world, root, out, most, recipes=None):
    """Write what happens in the files of ``root``; ``most`` of them, drawn by their names."""
    known = json.loads(Path(recipes).read_text())["recipes"] if recipes else None
    frameworks = _frameworks(world)
    root = os.path.realpath(root)
    paths = _files(root)
    own = {part.removesuffix(".py") for path in paths for part in path.split(os.sep)}
    items, found = {}, {}
    # A fix may add files: what was tried on Keras 2 is tried again.
    for path in _chosen(paths, int(most)) if known is None else known:
        given = None if known is None else known.get(path, {})
        items[path], found[path] = _in_a_fork(path, root, given, (*frameworks, own))
    Path(out).write_text(json.dumps({"items": items, "recipes": found}))


def _frameworks(world):
    os.environ.update(
        TF_CPP_MIN_LOG_LEVEL="3",
        CUDA_VISIBLE_DEVICES="-1",
        TF_ENABLE_ONEDNN_OPTS="0",
        MPLBACKEND="Agg",
        http_proxy="http://127.0.0.1:9",
        https_proxy="http://127.0.0.1:9",
    )
    if world == "keras2":
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        sys.path.insert(0, str(HOME / "kdoctor/verify/keras_2_names"))
    sys.path.insert(0, str(HOME / "benchmarks/migration/shims/everywhere"))
    warnings.filterwarnings("ignore")
    import keras
    import keras.datasets
    import keras.layers
    import keras.models
    import old_aliases
    import tensorflow as tf

    from benchmarks.migration.drawn import surroundings

    old_aliases.put_back()
    surroundings.prepare(keras, tf)
    return keras, tf


def _files(root):
    for notebook in Path(root).rglob("*.ipynb"):
        if "checkpoint" not in notebook.name:
            notebook.with_name(f"{notebook.stem}_notebook.py").write_text(_script_of(notebook))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in {"docs", "build"}
        )
        found += [
            os.path.relpath(os.path.join(folder, name), root)
            for name in sorted(names)
            if name.endswith(".py") and name != "setup.py"
        ]
    return found


def _script_of(notebook):
    """Return the code cells as one script; magics and commands of the shell are left out."""
    try:
        cells = json.loads(notebook.read_text())["cells"]
    except (ValueError, KeyError, TypeError):
        return ""
    lines = []
    for cell in cells:
        if cell.get("cell_type") == "code":
            source = "".join(cell["source"])
            lines += [] if source.startswith("%%") else source.splitlines()
    return "\n".join(
        line if line.lstrip()[:1] not in {"%", "!", "?"} else "pass".rjust(4 + _indent(line))
        for line in lines
    )


def _indent(line):
    return len(line) - len(line.lstrip())


def _chosen(paths, most):
    drawn = sorted(paths, key=lambda path: hashlib.sha256(path.encode()).hexdigest())
    return sorted(drawn[:most])


def _in_a_fork(path, root, recipes, frameworks):
    from benchmarks.migration.drawn import attempts

    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(0 if not os.environ.get("LOUD") else 3, 3):
            os.dup2(nothing, stream)
        try:
            attempts.write_attempts(path, root, recipes, frameworks, writing)
        except BaseException:  # noqa: BLE001 - the parent reads nothing, and says so
            traceback.print_exc()
        os._exit(0)
    os.close(writing)
    text = _read(reading)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        return json.loads(text)
    except ValueError:
        return {"import": {"ok": False, "type": "Died", "message": "", "frames": []}}, {}


def _read(reading):
    parts = []
    begun = time.monotonic()
    while time.monotonic() - begun < FILE_SECONDS:
        if not select.select([reading], [], [], 5)[0]:
            continue
        part = os.read(reading, 1 << 20)
        if not part:
            break
        parts.append(part)
    os.close(reading)
    return b"".join(parts)


if __name__ == "__main__":
    main(*sys.argv[1:])
