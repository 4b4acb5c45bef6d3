"""Build broken environments, let ``kdoctor env`` name the cause, carry out its cure, look again.

    python -m tools.broken_environments [WORD …]

Each is a virtual environment of its own with real releases. The program of the case must fail
before the cure and run after it; the cure is the command that ``kdoctor env`` prints, word for
word, given to a shell. What came out is written into ``record.json``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.broken_environments.cases import CASES, Case

HERE = Path(__file__).parent
RECORD = HERE / "record.json"
ROOT = HERE.parents[1]
UV = Path(sys.executable).with_name("uv")
# What the caller's shell says must not decide what an environment is.
UNHEARD = {"VIRTUAL_ENV", "CONDA_PREFIX", "TF_USE_LEGACY_KERAS", "KERAS_BACKEND", "KERAS_HOME"}


def main(words: list[str]) -> None:
    """Go through the cases that have one of the words in their name, all without any."""
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    failed = 0
    for case in CASES:
        if words and not any(word in case.name for word in words):
            continue
        outcome = _gone_through(case)
        record[case.name] = outcome
        failed += not outcome["holds"]
        print(f"{'ok    ' if outcome['holds'] else 'FAILED'} {case.name}", flush=True)
        for line in () if outcome["holds"] else json.dumps(outcome, indent=1).splitlines():
            print(f"       {line}")
        record = {each.name: record[each.name] for each in CASES if each.name in record}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.exit(bool(failed))


def _gone_through(case: Case) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=os.environ.get("BROKEN_ROOM")) as name:
        room = Path(name)
        work = room / "work"
        work.mkdir()
        shell = {key: value for key, value in os.environ.items() if key not in UNHEARD}
        shell |= {"KERAS_HOME": str(room / "home"), "TF_CPP_MIN_LOG_LEVEL": "3"}
        shell |= {"CUDA_VISIBLE_DEVICES": "-1", "UV_LINK_MODE": "copy", "PYTHONPATH": ""}
        python = _built(case, room, work)
        program = room / "work" / "program_of_the_case.py"
        program.write_text(case.program)
        for variable, value in case.variables.items():
            shell[variable] = str(work) if value == "." else value
        before = _run([python, program], work, shell)
        sick = _examined(python, work, shell, room)
        causes = [
            check
            for check in sick["checks"]
            if check["subject"] == case.subject and case.says in check["message"]
        ]
        cure = (causes[0]["remedy"] or {}).get("command", "") if causes else ""
        # In one shell: an `export` is for what is started from it.
        again = f"{_examination(python, room)} > {room}/healthy.json"
        script = f"{cure} && {{ {again}; {python} {program.name}; }}"
        cured = _run(["sh", "-c", script], work, {**shell, "PATH": f"{UV.parent}:{shell['PATH']}"})
        healthy = _read(room / "healthy.json")
        outcome = {
            "raised": before.stderr.strip().splitlines()[-1][:300] if before.returncode else "",
            "says": causes[0]["message"] if causes else [c["message"] for c in sick["checks"]],
            "cure": cure.replace(str(room), "…"),
            "healthy": bool(healthy.get("healthy")),
            "runs": cured.returncode == 0,
        }
        outcome["says"] = json.loads(json.dumps(outcome["says"]).replace(str(room), "…"))
        outcome["holds"] = bool(
            before.returncode
            and case.raises in before.stderr
            and not sick["healthy"]
            and causes
            and causes[0]["state"] == "broken"
            and outcome["healthy"]
            and outcome["runs"]
        )
        if not outcome["holds"]:
            outcome["after"] = (cured.stdout + cured.stderr)[-1500:]
            outcome["broken after"] = [
                check for check in healthy.get("checks", ()) if check["state"] == "broken"
            ]
        return outcome


def _built(case: Case, room: Path, work: Path) -> Path:
    version, requirements = case.base
    environment = room / "environment"
    python = environment / "bin" / "python"
    interpreter = max((Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python"))
    _must([UV, "venv", "--quiet", "--python", interpreter, environment])
    pip = [UV, "pip", "install", "--quiet", "--python", python]
    _must([*pip, "pip", *requirements, *case.packages])
    if case.uninstall:
        _must([UV, "pip", "uninstall", "--quiet", "--python", python, *case.uninstall])
    if case.install:
        _must([*pip, "--no-deps", *case.install])
    release, folder = case.stale
    if release:
        _must([*pip, "--no-deps", "--target", room / "old", f"keras=={release}"])
        site = next(environment.glob("lib/python*/site-packages"))
        shutil.copytree(room / "old" / folder, site / folder)
    for name in case.remove:
        next(environment.glob(f"lib/python*/site-packages/{name}")).unlink()
    for name, text in case.files.items():
        (work / name).write_text(text)
    return python


def _examination(python: Path, room: Path) -> str:
    return f"{sys.executable} {room}/kdoctor_here.py env --json --python {python}"


def _examined(python: Path, work: Path, shell: dict[str, str], room: Path) -> dict[str, Any]:
    (room / "kdoctor_here.py").write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom kdoctor.cli.app import main\nmain()\n"
    )
    done = _run(["sh", "-c", _examination(python, room)], work, shell)
    answer: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if answer["healthy"] else 1), done.stderr
    return answer


def _read(path: Path) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return answer


def _run(
    command: list[object], folder: Path, shell: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=shell,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def _must(command: list[object]) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")


if __name__ == "__main__":
    main(sys.argv[1:])
