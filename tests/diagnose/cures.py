"""Runs the programs of ``cures.toml`` and ``cured/``: what raises each error, then each cure.

    python tests/diagnose/cures.py [--record] [--draw NUMBER | word ...]

prints a JSON object: by the message's name and the number of the step, what was explained and how
the cure ended, "" for well. Without words all are run. It runs in a process of its own, as it needs
TensorFlow; cases of an old Keras run in that of ``make old-oracle``, and are passed over without.
``--record`` notes in ``ran.json`` with which texts and programs all of them ran.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import random
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).parent
FILES = [HERE / "cures.toml", *sorted((HERE / "cured").glob("*.toml"))]
PRELUDE = tomllib.loads(FILES[0].read_text("utf-8"))["prelude"]
CASES = [case for file in FILES for case in tomllib.loads(file.read_text("utf-8"))["case"]]
RAN = HERE / "ran.json"
SHOWN = re.compile(r"\((?P<id>[a-z0-9-]+)\)")
OLD_PRELUDE = """
import numpy as np, tensorflow as tf, keras
from keras import backend as K
x = np.random.RandomState(0).rand(8, 4).astype('float32')
y = np.array([[0.], [1.]] * 4, 'float32')
"""


def named(case):
    """Return the names of a case's steps."""
    return [f"{case['message']}#{number}" for number in case["cures"]]


def digest(case, number):
    """Return what a step and all that is run with it come to."""
    from kdoctor.diagnose.messages import messages  # noqa: PLC0415

    fix = next((each.fix for each in messages() if each.id == case["message"]), ())
    step = fix[int(number)].step({}).text if int(number) < len(fix) else ""
    shown = [case.get(each, "") for each in ("setup", "fails", "text", "put")]
    told = json.dumps([step, *shown, case["cures"][number]], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def drawn(number):
    """Return some cases, others whenever a message or a program was changed."""
    texts = "".join(digest(case, step) for case in CASES for step in case["cures"])
    here = [case for case in CASES if not case.get("old")]
    return random.Random(texts).sample(here, min(number, len(here)))  # noqa: S311


def main() -> None:
    """Run them and print how they ended."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    words = [each for each in sys.argv[1:] if not each.startswith("--")]
    cases = CASES
    if "--draw" in sys.argv:
        cases = drawn(int(words[0]))
    elif words:
        cases = [case for case in CASES if any(word in case["message"] for word in words)]
    sys.stdout, out = sys.stderr, sys.stdout
    ended = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names: dict[str, object] = {}
        exec(PRELUDE, names)  # noqa: S102
        for case in cases:
            ended |= ran(case, names)
    print(json.dumps(ended, indent=1), file=out)
    if "--record" in sys.argv:
        record(cases, ended)


def record(cases, ended) -> None:
    """Note what ran well."""
    noted = json.loads(RAN.read_text("utf-8")) if RAN.exists() else {}
    for case in cases:
        for number, name in zip(case["cures"], named(case), strict=True):
            if ended.get(name) == [case["message"], ""]:
                noted[name] = digest(case, number)
    known = [name for case in CASES for name in named(case)]
    shown = {name: noted[name] for name in known if name in noted}
    RAN.write_text(json.dumps(shown, indent=1) + "\n", "utf-8")


def ran(case, names):
    """Run what raises an error, and each of its cures, and return how they ended."""
    if case.get("old") and old_python() is None:
        return {}
    raised, told = failed(case, {**names})
    ended = {}
    for number, then in case["cures"].items():
        text = told.get(int(number), "")
        ended[f"{case['message']}#{number}"] = [raised, cured(case, text, then, {**names})]
    return ended


def failed(case, names):
    """Return the name of the message that explains a program's error, and the steps told."""
    from kdoctor import explain  # noqa: PLC0415
    from kdoctor.diagnose.messages import messages  # noqa: PLC0415

    entry = next(each for each in messages() if each.id == case["message"])
    text = case.get("text", "")
    if not text:
        raised, warned = run(case, f"{case.get('setup', '')}\n{case['fails']}", names)
        fits = [each for each in warned if re.search(entry.pattern, each, re.DOTALL)]
        text = fits[0] if case.get("warns") and fits else raised
    if not text:
        return f"it ran; warnings: {warned}", {}
    versions = {"tf_keras": "2.21.0"} if case.get("keras_2") else {"keras": "3.15.1"}
    versions = {"keras": case["old"]} if case.get("old") else versions
    shown = {} if case.get("reads") else {"read": lambda _: None}
    found = explain(text, versions=versions, **shown)
    known = [match["id"] for each in found.evidence for match in SHOWN.finditer(each)]
    steps = {}
    groups = re.search(entry.pattern, found.error.message if found.error else "", re.DOTALL)
    filled = {key: value or "…" for key, value in groups.groupdict().items()} if groups else {}
    for number, cure in enumerate(entry.fix):
        steps[number] = cure.step(filled).text
    raised = entry.id if entry.id in known else f"{known} {found.meaning[:80]}: {text[-300:]}"
    return raised, steps


def cured(case, text, then, names):
    """Return the error of a program with the step in the place of CURE, "" for none."""
    for old, new in case.get("put", {}).items():
        text = text.replace(old, new)
    lines = then.splitlines()
    program = "\n".join(
        textwrap.indent(text, line[: len(line) - len(line.lstrip())])
        if line.strip() == "CURE"
        else line.replace("CURE", text)
        for line in (lines if "CURE" in then else ["CURE", *lines])
    )
    raised, warned = run(case, f"{case.get('setup', '')}\n{program}", names)
    if raised:
        return f"{raised[-900:]}\n{program}"
    if not case.get("warns"):
        return ""
    from kdoctor.diagnose.messages import messages  # noqa: PLC0415

    pattern = next(each.pattern for each in messages() if each.id == case["message"])
    again = [each for each in warned if re.search(pattern, each, re.DOTALL)]
    return f"it still warns: {again[0]}\n{program}" if again else ""


def run(case, program, names):
    """Run a program in a file of its own, as tf.function wants to read it.

    Returns its traceback, "" for none, and what it warned of.
    """
    path = Path(tempfile.mkdtemp()) / "train.py"
    if case.get("old"):
        path.write_text(OLD_PRELUDE + program, "utf-8")
        return run_old(path), []
    path.write_text(program, "utf-8")
    names["__name__"] = "train"
    with listening() as warned:
        try:
            exec(compile(program, path, "exec"), names)  # noqa: S102
        except Exception:  # noqa: BLE001
            return traceback.format_exc(), warned
    return "", warned


@contextlib.contextmanager
def listening():
    """Gather the warnings of Python and of the loggers meanwhile."""
    told: list[str] = []

    class Note(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage())

    note = Note()
    loggers = [logging.getLogger(each) for each in ("absl", "tensorflow")]
    for each in loggers:
        each.addHandler(note)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield told
        finally:
            told += [f"{each.category.__name__}: {each.message}" for each in caught]
            for each in loggers:
                each.removeHandler(note)


def old_python():
    """Return the Python of an old Keras (``make old-oracle``), None where there is none."""
    path = Path.home() / ".cache" / "kdoctor" / "old-oracle" / "2.3.1" / "bin" / "python"
    path = Path(os.environ.get("KDOCTOR_OLD_KERAS", path))
    return path if path.exists() else None


def run_old(path):
    """Run a program by the Python of an old Keras, and return its traceback, "" for none."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "HOME": str(path.parent)}
    ran = subprocess.run(
        [str(old_python()), "-W", "ignore", str(path)],
        capture_output=True,
        check=False,
        cwd=path.parent,
        text=True,
        timeout=300,
        env=quiet,
    )
    if not ran.returncode:
        return ""
    _, found, text = ran.stderr.rpartition("Traceback (most recent call last)")
    return found + text if found else ran.stderr


if __name__ == "__main__":
    main()
