"""Runs the programs of ``cures.toml``: what raises each error, and then each cure as it is told.

    python tests/diagnose/cures.py

prints a JSON object: by the message's name and the number of the step, what was explained and how
the cure ended, "" for well. It runs in a process of its own, as it needs TensorFlow.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import textwrap
import tomllib
import traceback
from pathlib import Path

HERE = Path(__file__).parent
CURES = tomllib.loads((HERE / "cures.toml").read_text("utf-8"))
SHOWN = re.compile(r"\((?P<id>[a-z0-9-]+)\)")


def main() -> None:
    """Run all of them and print how they ended."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stdout, out = sys.stderr, sys.stdout
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names: dict[str, object] = {}
        exec(CURES["prelude"], names)  # noqa: S102
        ended = {}
        for case in CURES["case"]:
            ended |= ran(case, names)
    print(json.dumps(ended, indent=1), file=out)


def ran(case, names):
    """Run what raises an error, and each of its cures, and return how they ended."""
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
        try:
            run(f"{case.get('setup', '')}\n{case['fails']}", names)
        except Exception:  # noqa: BLE001
            text = traceback.format_exc()
        else:
            return "it ran", {}
    versions = {"tf_keras": "2.21.0"} if case.get("keras_2") else {"keras": "3.15.1"}
    found = explain(text, versions=versions, read=lambda _: None)
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
    try:
        run(f"{case.get('setup', '')}\n{program}", names)
    except Exception:  # noqa: BLE001
        return f"{traceback.format_exc()[-900:]}\n{program}"
    return ""


def run(program, names):
    """Run a program in a file of its own: tf.function wants to read it."""
    path = Path(tempfile.mkdtemp()) / "train.py"
    path.write_text(program, "utf-8")
    names["__name__"] = "train"
    exec(compile(program, path, "exec"), names)  # noqa: S102


if __name__ == "__main__":
    main()
