"""Tries the commands and environment lines that ``explain`` tells, as ``commands.toml`` says.

    python tests/diagnose/commands.py [--record] [word ...]

prints a JSON object: by the trial's name what went wrong, "" for nothing. ``--record`` notes in
``commands_ran.json`` with which steps all of them were tried. It asks a package index, and takes
the Pythons of pyenv; a trial whose Python is not there is passed over.

A ``pip install`` is resolved by pip itself (a dry run) in an environment that has the metadata of
what the person has who gets the answer. What pip would install is then written there, ``pip check``
must have nothing to say, and the versions must be those that the text promises.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
TRIALS = tomllib.loads((HERE / "commands.toml").read_text("utf-8"))["trial"]
RAN = HERE / "commands_ran.json"
PIP = "24.0"  # the newest that runs on Python 3.7 to 3.13
PYTHONS = Path.home() / ".pyenv" / "versions"
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}


def named(trial):
    """Return what a trial is called: its command, and what it is tried beside."""
    have = trial.get("have", [])
    beside = f" beside {', '.join(have)}" if have else ""
    python = f" on Python {trial['python']}" if "python" in trial else ""
    return f"{trial['step']}{beside}{python}{trial.get('where', '')}"


def tried(trial):
    """Return the texts and notes of the steps that a trial tries."""
    from kdoctor.diagnose.messages import messages  # noqa: PLC0415

    steps = {
        f"{entry.id}#{number}": cure
        for entry in messages()
        for number, cure in enumerate(entry.fix)
    }
    found = [steps[each] for each in trial.get("of", ()) if each in steps]
    return [[cure.command or cure.environment, cure.note] for cure in found]


def digest(trial):
    """Return what a trial and all that it tries come to."""
    told = json.dumps([trial, tried(trial)], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def main() -> None:
    """Try them and print what went wrong."""
    words = [each for each in sys.argv[1:] if not each.startswith("--")]
    trials = [each for each in TRIALS if not words or any(word in named(each) for word in words)]
    wheel()
    ended = {}
    with ThreadPoolExecutor(3) as pool:  # most of the time is spent waiting for the index
        for trial, wrong in zip(trials, pool.map(attempt, trials), strict=True):
            if wrong is None:
                continue
            ended[named(trial)] = wrong
            print(f"{named(trial)}: {wrong or 'well'}", file=sys.stderr, flush=True)
            if "--record" in sys.argv:
                record(trial, wrong)
    print(json.dumps(ended, indent=1))


def record(trial, wrong) -> None:
    """Note how a trial ended."""
    noted = json.loads(RAN.read_text("utf-8")) if RAN.exists() else {}
    noted.pop(named(trial), None)
    noted |= {} if wrong else {named(trial): digest(trial)}
    shown = {named(each): noted[named(each)] for each in TRIALS if named(each) in noted}
    RAN.write_text(json.dumps(shown, indent=1) + "\n", "utf-8")


def attempt(trial):
    """Return what is wrong with a step, "" for nothing; None where it cannot be tried here."""
    with tempfile.TemporaryDirectory() as folder:
        if "gives" in trial:
            try:
                return resolved(trial, Path(folder))
            except ValueError as error:
                return str(error)
        return run(trial, Path(folder))


def resolved(trial, folder):
    """Return what is wrong with what pip would install."""
    python = python_of(trial["python"])
    if python is None:
        return None
    room = environment(python, folder)
    if trial.get("have"):
        # The first as it is installed alone; what was put over it later may not fit it.
        first, *others = trial["have"]
        write(room, pip(room, [first]))
        if others:
            write(room, pip(room, ["--no-deps", *others]))
    before = problems(room)
    wanted = shlex.split(trial["step"])
    wanted = wanted[wanted.index("install") + 1 :]
    try:
        write(room, pip(room, wanted))
    except ValueError as error:
        return "" if re.search(trial.get("refused", "^$"), str(error)) else str(error)
    here = installed(room)
    wrong = [f"{name} is not there" for name in trial["gives"] if not fits(name, here)]
    wrong += [each for each in problems(room) if each not in before]
    return f"{'; '.join(wrong)} ({here})" if wrong else ""


def fits(text, here):
    wanted = Requirement(text)
    version = here.get(canonicalize_name(wanted.name))
    return version is not None and wanted.specifier.contains(version, prereleases=True)


def python_of(minor):
    """Return the Python of a minor version, None where there is none."""
    found = sorted(PYTHONS.glob(f"{minor}.*/bin/python"))
    return found[-1] if found else None


def environment(python, folder):
    """Make an environment without anything in it, and return its Python."""
    subprocess.run([python, "-m", "venv", "--without-pip", folder / "room"], check=True)
    return folder / "room" / "bin" / "python"


@cache
def wheel():
    """Return the pip that is used by every Python."""
    folder = tempfile.mkdtemp()
    wanted = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
    subprocess.run([*wanted, f"pip=={PIP}"], check=True, capture_output=True)
    return next(Path(folder).glob("pip-*.whl")) / "pip"


def pip(room, wanted):
    """Return the metadata of what pip would install."""
    asked = [room, wheel(), "install", "--dry-run", "--quiet", "--report", "-", *wanted]
    building = room.parents[2] / "building"  # what pip builds there would find modules in /tmp
    building.mkdir(exist_ok=True)
    environ = os.environ | {"TMPDIR": str(building)}
    done = subprocess.run(
        asked, capture_output=True, text=True, check=False, timeout=300, env=environ
    )
    if done.returncode:
        raise ValueError(done.stderr[-600:])
    return [each["metadata"] for each in json.loads(done.stdout)["install"]]


def site(room):
    return next(room.parents[1].glob("lib/python*/site-packages"))


def write(room, distributions):
    """Write the metadata of distributions in the place of what is there."""
    for told in distributions:
        name = canonicalize_name(told["name"]).replace("-", "_")
        for old in site(room).glob(f"{name}-*.dist-info"):
            for file in old.iterdir():
                file.unlink()
            old.rmdir()
        new = site(room) / f"{name}-{told['version']}.dist-info"
        new.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {told['name']}", f"Version: {told['version']}"]
        lines += [f"Requires-Dist: {each}" for each in told.get("requires_dist", [])]
        lines += [f"Provides-Extra: {each}" for each in told.get("provides_extra", [])]
        (new / "METADATA").write_text("\n".join(lines) + "\n", "utf-8")
        (new / "INSTALLER").write_text("pip\n", "utf-8")
        (new / "RECORD").write_text(f"{new.name}/METADATA,,\n", "utf-8")


def installed(room):
    """Return the versions of what is there."""
    found = (each.name.removesuffix(".dist-info") for each in site(room).glob("*.dist-info"))
    return {
        canonicalize_name(name): version
        for name, version in (each.rsplit("-", 1) for each in found)
    }


def problems(room):
    """Return what ``pip check`` says of versions; not all that is needed is there."""
    asked = [room, wheel(), "check"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=300)
    return [each for each in done.stdout.splitlines() if "has requirement" in each]


def run(trial, folder):
    """Return what is wrong with a step that is run here, beside Keras 3 and tf_keras.

    ``fails`` is what its program says without the step, ``says`` what it says with it. ``beside``
    is installed for it first. With ``python`` it is run in an environment of its own, with what
    ``puts`` install there, one after the other, and nothing else.
    """
    from kdoctor import explain  # noqa: PLC0415

    environ = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}
    environ |= QUIET | trial.get("environ", {})
    if "python" in trial:
        python = python_of(trial["python"])
        if python is None:
            return None
        subprocess.run([python, "-m", "venv", folder / "room"], check=True)
        environ["PATH"] = f"{folder / 'room' / 'bin'}:{os.environ['PATH']}"
        for each in trial["puts"]:
            shell(f"pip install -q {each}", environ, folder)
    if trial.get("beside"):
        wanted = ["install", "-q", "--target", folder / "beside", *trial["beside"]]
        subprocess.run([sys.executable, "-m", "pip", *wanted], check=True, capture_output=True)
        environ["PYTHONPATH"] = str(folder / "beside")
    program = trial.get("program", "")
    if program:
        (folder / "train.py").write_text(program, "utf-8")
    if trial.get("fails"):
        failed = shell("python train.py", environ, folder)
        if not re.search(trial["fails"], failed):
            return f"without the step: {failed[-600:]}"
        told = [step.text for step in explain(failed, read=lambda _: None).steps]
        if trial["step"] not in told:
            return f"not told: {told}"
    command = f"export {trial['step']}; python train.py" if program else trial["step"]
    command += trial.get("then", "")
    said = shell(command, environ, folder)
    return "" if re.search(trial["says"], said, re.MULTILINE) else f"it said: {said[-900:]}"


def shell(command, environ, folder):
    """Return all that a command says, and how it ended."""
    asked = ["bash", "-c", command]
    done = subprocess.run(
        asked, env=environ, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    return f"{done.stdout}{done.stderr}\nended: {done.returncode}\n"


if __name__ == "__main__":
    main()
