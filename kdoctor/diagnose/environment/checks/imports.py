"""Import the frameworks in a separate process, with a time limit."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from kdoctor.diagnose.environment.checks.devices import Devices, check_devices
from kdoctor.diagnose.environment.checks.keras_libraries import FRAMEWORK
from kdoctor.diagnose.environment.checks.searching import set_by_the_project
from kdoctor.diagnose.environment.environment import Environment
from kdoctor.diagnose.environment.health_report import Check, Remedy, broken, ok

_PROGRAM: Final = Path(__file__).parent.with_name("imported.py")
_LIBRARIES: Final = {
    "segmentation-models": "segmentation_models",
    "efficientnet": "efficientnet",
    "image-classifiers": "classification_models",
    "keras-contrib": "keras_contrib",
    "tensorflow-addons": "tensorflow_addons",
    "keras-applications": "keras_applications",
}


def check(environment: Environment, patience: float) -> Iterator[Check]:
    """Import each installed framework and library, and list TensorFlow's GPUs."""
    names = list(_wanted(environment))
    lines, ended = _run(environment, names, patience)
    began = [line["name"] for line in lines if line["event"] == "begin"]
    done = {line["name"]: line for line in lines if line["event"] == "end"}
    for name in names:
        if name in done:
            yield _told(environment, done[name])
        elif name in began:
            yield broken(f"import {name}", f"{ended} while it was imported", Remedy(note=_CRASH))
    for line in lines:
        if line["event"] == "devices":
            yield from check_devices(environment, Devices(**line["devices"]))


_CRASH: Final = (
    "see its own output: python -X faulthandler -c 'import …'; possible causes are a processor "
    "without AVX, too little memory or a mixed installation"
)


def _wanted(environment: Environment) -> Iterator[str]:
    for name in ("numpy", "tensorflow", "tf.keras", "keras", "tf_keras"):
        package = {"tf.keras": "tensorflow", "tf_keras": "tf-keras"}.get(name, name)
        if (
            package == "tensorflow" and environment.tensorflow is not None
        ) or environment.packages.get(package) is not None:
            yield name
    for distribution, module in _LIBRARIES.items():
        if environment.packages.get(distribution) is not None:
            yield module


def _run(
    environment: Environment, names: list[str], patience: float
) -> tuple[list[Mapping[str, Any]], str]:
    """Return the lines that the process logged, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "told.jsonl"
        log.touch()
        try:
            done = subprocess.run(
                [environment.python.interpreter.path, str(_PROGRAM), str(log), *names],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                cwd=environment.folder,
                env=_variables(environment),
                timeout=patience,
            )
            code = done.returncode
            ended = f"the process died (exit code {code})"
        except subprocess.TimeoutExpired:
            ended = f"{patience:.0f} seconds passed"
        lines = log.read_text("utf-8", errors="replace").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")], ended


def _variables(environment: Environment) -> dict[str, str]:
    """Return the shell's variables, with the framework that the project's code sets."""
    variables = dict(environment.variables)
    if FRAMEWORK not in variables and set_by_the_project(environment.folder, FRAMEWORK):
        variables[FRAMEWORK] = "tf.keras"
    return variables


def _told(environment: Environment, line: Mapping[str, Any]) -> Check:
    subject = f"import {line['name']}"
    if not line["error"]:
        says = ", ".join(filter(None, [line["version"], line["file"]]))
        return ok(subject, f"{says} ({line['seconds']:.1f} s)")
    cure = _explained(line["traceback"]) or _cure(environment, line["name"])
    return broken(subject, line["error"], cure, line["raised_in"])


_LOOKS: Final = ("kdoctor env", "pip show")


def _explained(traceback: str) -> Remedy | None:
    """Return what ``kdoctor explain`` says about an import error, None if nothing."""
    from kdoctor.diagnose import StepKind, explain  # noqa: PLC0415 - imports the rules
    from kdoctor.diagnose.remedies import takes_away  # noqa: PLC0415

    diagnosis = explain(traceback)
    if not diagnosis.concerns_keras:
        return None
    commands = [
        step.text
        for step in diagnosis.steps
        if step.kind is StepKind.COMMAND and not step.text.startswith(_LOOKS)
    ]
    # What is to be removed, the checks of the files say: they have seen it.
    if any(takes_away(step) for step in diagnosis.steps):
        commands = []
    return Remedy(commands[0] if commands else "", diagnosis.meaning)


def _cure(environment: Environment, name: str) -> Remedy:
    """Return a last resort if no check found the cause of an import error."""
    owner = environment.tensorflow if name in {"tensorflow", "tf.keras"} else None
    owner = owner or environment.packages.get(
        next((key for key, module in _LIBRARIES.items() if module == name), name)
    )
    whose = f" of {owner.name} {owner.version}" if owner is not None else ""
    return Remedy(note=f"if nothing above names the cause, search for this error{whose}")
