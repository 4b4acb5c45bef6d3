"""What is told to write in the place of a missing name is there, on the release that lacks it.

Each run draws some names of the API data; ``KDOCTOR_CURES=all``, which ``make cures`` sets, takes
every name that the newest Keras lacks, and imports what is told.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys

import pytest

from kdoctor import explain
from kdoctor.diagnose import StepKind
from kdoctor.keras_api import (
    Presence,
    error_text,
    error_type,
    lookup,
    signature,
    split_root,
    tables,
)
from kdoctor.keras_api.targets import resolve_target

# Without a sample it is minutes of processor time.
pytestmark = pytest.mark.timeout(3600)
ALL = os.environ.get("KDOCTOR_CURES") == "all"
DRAWN = 30  # names of a root on a release
ROOTS = {"keras": "keras", "tf.keras": "tensorflow.keras", "tf_keras": "tf_keras"}
NEWEST = {"keras": "keras==3.15.1", "tf.keras": "keras==3.15.1", "tf_keras": "tf_keras==2.21"}
OLDER = ["keras==2.3.1", "keras==2.10.0", "keras==2.15.0", "keras==3.0.5", "tensorflow==2.12"]
INSTEAD = re.compile(r"Write `(?P<new>[\w.]+)` instead of `(?P<old>[\w.]+)`")
BELOW = re.compile(r"`(?:from (?P<module>[\w.]+) )?import (?P<name>[\w.]+)(?: as (?P<as>\w+))?`")
DOTTED = re.compile(r"(?<![\w.'\"])(?:keras|tensorflow|tf_keras)(?:\.\w+)+")


def missing(root, target):
    names = sorted(name for name in tables.names_table(root).names if name)
    names = [f"{ROOTS[root]}.{name}" for name in names]
    names = [name for name in names if lookup(name, target).presence is Presence.MISSING]
    draw = random.Random(f"{root} {target}")  # noqa: S311 - the same names each time
    return names if ALL else draw.sample(names, min(DRAWN, len(names)))


def answered(name, target):
    """Return the steps that are told where a release has no such name."""
    owner = name.rpartition(".")[0]
    is_there = lookup(owner, target).presence is not Presence.MISSING
    form = "attribute" if is_there else "import"
    text = f"{error_type(name, target, form)}: {error_text(name, target, form)}"
    return explain(text, target=target, read=lambda _: None).steps


def told(step):
    """Return the names that a step says to write, whole."""
    if step.kind is StepKind.CODE:
        return DOTTED.findall(step.text.partition("  ->  ")[2])
    instead = INSTEAD.match(step.text)
    if step.kind is not StepKind.ADVICE or instead is None:
        return []
    new, bound = instead["new"], {}
    for each in BELOW.finditer(step.note):
        whole = f"{each['module']}.{each['name']}" if each["module"] else each["name"]
        bound[each["as"] or each["name"].partition(".")[0]] = whole
    first, dot, rest = new.partition(".")
    return [f"{bound.get(first, first)}{dot}{rest}"]


def cases():
    for root in ROOTS:
        for release in [NEWEST[root], *([] if ALL else OLDER)]:
            yield root, resolve_target(release, "here")


@pytest.mark.parametrize(("root", "target"), [*cases()], ids=str)
def test_what_is_told_in_the_place_of_a_name_is_there(root, target):
    wrong = {}
    for name in missing(root, target):
        for step in answered(name, target):
            for new in told(step):
                is_known = split_root(new) is not None
                is_there = is_known and lookup(new, target).presence is not Presence.MISSING
                if new == name or not (is_there or new.startswith(("numpy", "tensorflow."))):
                    wrong[name] = [new, step.text, step.note]
    assert not wrong, json.dumps(wrong, indent=1)


def answer_of(program, question, folder):
    """Return what a program that asks the installed frameworks answers, both as JSON."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "PATH": ""},
    )
    return json.loads(ran.stdout.splitlines()[-1])


IMPORTED = """
import importlib, json, sys
wrong = {}
for name in json.load(sys.stdin):
    parts = name.split('.')
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module('.'.join(parts[:end]))
            break
        except ImportError as error:
            wrong[name] = str(error)
    else:
        continue
    wrong.pop(name, None)
    try:
        for part in parts[end:]:
            found = getattr(found, part)
    except AttributeError as error:
        wrong[name] = str(error)
print(json.dumps(wrong))
"""


def test_what_is_told_can_be_imported(tmp_path):
    names = set()
    for root in ROOTS:
        target = resolve_target(NEWEST[root], "here")
        drawn = missing(root, target)
        names |= {new for name in drawn for step in answered(name, target) for new in told(step)}
    assert len(names) > 20
    assert answer_of(IMPORTED, sorted(names), tmp_path) == {}


def refused():
    """Yield a class that is in models' files, and an argument that keras 2.15 had there."""
    old, new = (resolve_target(each, "here") for each in ("keras==2.15.0", "keras==3.15.1"))
    for name in sorted(tables.names_table("keras").names):
        module, _, cls = name.rpartition(".")
        if module not in {"layers", "initializers", "regularizers", "optimizers"}:
            continue
        before, after = signature(f"keras.{name}", old), signature(f"keras.{name}", new)
        if not cls[:1].isupper() or before is None or after is None:
            continue
        gone = [each.name for each in before.parameters if after.parameter(each.name) is None]
        yield from ((module, cls, each) for each in gone if "args" not in each)


REFUSED = [*refused()]


def loading(cls, argument):
    text = (
        f"TypeError: Error when deserializing class '{cls}' using config={{{argument!r}: 1}}.\n\n"
        f"Exception encountered: Unrecognized keyword arguments passed to {cls}: {{{argument!r}: 1}}"
    )
    found = explain(text, target="keras==3.15.1", read=lambda _: None)
    return [step.text for step in found.steps if "load_model(path" in step.text]


LOADED = """
import json, os, sys, tempfile
import keras
wrong = {}
MADE = [{}, {'units': 2}, {'input_dim': 2, 'output_dim': 2}, {'shape': [3]}]
MADE.append({'filters': 2, 'kernel_size': 3})
asked, in_hdf5 = json.load(sys.stdin)
for name, module, cls, argument, steps in asked:
    try:
        owner = getattr(keras, module)
        kind = getattr(owner, cls)
        if not isinstance(kind, type):
            continue
        for inputs in MADE:
            try:
                config = kind(**inputs).get_config()
                break
            except (TypeError, ValueError):
                pass
        else:
            continue
        config[argument] = 1
        told = {'module': f'keras.{module}', 'class_name': cls, 'registered_name': None}
        told['config'] = config
        for step in steps:
            if '__init__' not in step:
                path = os.path.join(tempfile.mkdtemp(), 'model.keras')
                first = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
                first.compile(kind(), 'mse')
                first.save(path)
                exec(step, {'keras': keras, 'path': path})
                continue
            before = kind.__init__
            exec(step.partition('model = ')[0], {'keras': keras})
            owner.deserialize(told)
            kind.__init__ = before
    except Exception as error:
        wrong[name] = f'{type(error).__name__}: {error}'[:300]
import tf_keras
path = os.path.join(tempfile.mkdtemp(), 'model.h5')
old = tf_keras.Sequential([tf_keras.layers.LSTM(2, input_shape=(3, 4)), tf_keras.layers.Dense(1)])
old.save(path)
new = os.path.join(tempfile.mkdtemp(), 'model.keras')
for step in in_hdf5:
    before = keras.layers.LSTM.__init__
    names = {'keras': keras, 'path': path}
    exec(step, names)
    names['model'].save(new)
    keras.layers.LSTM.__init__ = before
    keras.models.load_model(new)  # saved anew it needs the cure no more
print(json.dumps(wrong))
"""


def test_a_saved_argument_that_is_gone_is_left_out_as_it_is_told(tmp_path):
    drawn = REFUSED if ALL else random.Random(len(REFUSED)).sample(REFUSED, 12)  # noqa: S311
    asked = [[f"{each}", *each, loading(*each[1:])] for each in drawn]
    assert all(steps for *_, steps in asked)
    assert answer_of(LOADED, [asked, loading("LSTM", "time_major")], tmp_path) == {}


@pytest.mark.parametrize("cls", ["ModelCheckpoint", "TensorBoard", "LambdaCallback"])
def test_no_model_s_file_is_said_to_hold_a_callback(cls):
    gone = {"ModelCheckpoint": "period", "TensorBoard": "batch_size"}.get(cls, "on_batch_end")
    text = f"ValueError: Unrecognized keyword arguments passed to {cls}: {{{gone!r}: 1}}"
    found = explain(text, target="keras==3.15.1")
    assert "saved model" not in found.meaning
    assert not any("load_model" in step.text for step in found.steps)


def test_no_class_is_named_that_the_fix_alone_would_write():
    text = "TypeError: ModelCheckpoint.__init__() got an unexpected keyword argument 'period'"
    assert not any("Periodic" in step.text for step in explain(text, target="keras==3.15.1").steps)


@pytest.mark.parametrize(
    "name",
    ["layers.RandomHeight", "losses.Reduction", "preprocessing.image.ImageDataGenerator"],
)
def test_a_name_that_stays_as_it_is_says_where_it_comes_from_now(name):
    target = resolve_target("keras==3.15.1", "here")
    (new,) = [each for step in answered(f"keras.{name}", target) for each in told(step)]
    assert new == f"tensorflow.keras.{name}"
