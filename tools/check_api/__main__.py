"""Hold the API tables to what installed releases really have: ``python -m tools.check_api``.

For each environment (made with pip where it is not there yet, in a cache outside the repository)
a probe in its own interpreter asks the frameworks by ``dir``, ``getattr`` and
``inspect.signature``; the answer is compared with the table of that root and release, both ways.
What differs needs a reason (``reasons.py``); the result is kept in ``record.json``.

    python -m tools.check_api                  # every environment
    python -m tools.check_api keras-2.10.0     # one, or several
    python -m tools.check_api --differences    # list each difference with its reason

Exit codes: 0 all equal or explained, 1 something differs without a reason.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from kdoctor.keras_api.surface import PRIVATE_ROOT, Surface
from tools.check_api.compare import ASPECTS, compare, content, expressions
from tools.check_api.environments import (
    ENVIRONMENTS,
    NOT_COMPARED,
    NotInstallableError,
    Root,
    made,
)
from tools.check_api.reasons import Ran, explanation

RECORD = Path(__file__).with_name("record.json")
PROBE = Path(__file__).with_name("probe.py")
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0"}


def main() -> int:
    """Compare the environments named on the command line, and keep what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [environment.name for environment in ENVIRONMENTS]
    parser.add_argument("environments", nargs="*", metavar="name", help=", ".join(names))
    parser.add_argument("--differences", action="store_true", help="list each difference")
    options = parser.parse_args()
    if unknown := set(options.environments) - set(names):
        parser.error(f"no environment {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    compared, not_made = {}, {}
    for environment in ENVIRONMENTS:
        if options.environments and environment.name not in options.environments:
            continue
        try:
            python = made(environment)
        except NotInstallableError as problem:
            not_made[environment.name] = str(problem)
            continue
        answers = [(root, probe(python, root)) for root in environment.roots]
        compared[environment.name] = kept(answers)
        if options.differences:
            list_differences(answers)
    earlier = json.loads(RECORD.read_text())["environments"] if RECORD.exists() else {}
    known = earlier | compared
    record = {
        "environments": {name: known[name] for name in names if name in known},
        "not_compared": NOT_COMPARED,
    }
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    show(record, not_made)
    return int(any(root["unexplained"] for root in roots_of(record)))


def roots_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the result of every root of every environment."""
    return [root for each in record["environments"].values() for root in each["roots"].values()]


def kept(answers: list[tuple[Root, dict[str, Any]]]) -> dict[str, Any]:
    """Return what the record says of one environment."""
    packages: dict[str, str] = {}
    for _, answer in answers:
        packages |= answer["packages"]
    return {
        "python": answers[0][1]["python"],
        "packages": packages,
        "roots": {root.title: result(root, answer) for root, answer in answers},
    }


def probe(python: Path, root: Root) -> dict[str, Any]:
    """Ask the frameworks of the environment whose interpreter is ``python``."""
    print(f"probing {python}: {root.title} …", file=sys.stderr)
    asked = {
        "import": root.module,
        "how": "listing" if root.has_listing else "files",
        "expressions": expressions(Surface(root.table, root.release)),
    }
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        done = subprocess.run(
            [str(python), str(PROBE), str(answer)],
            input=json.dumps(asked),
            text=True,
            capture_output=True,
            check=False,
            cwd=folder,
            env={**os.environ, **_QUIET, **root.variables, "PYTHONPATH": ""},
        )
        if done.returncode != 0:
            raise RuntimeError(f"the probe of {root.title} failed:\n{done.stderr[-4000:]}")
        found: dict[str, Any] = json.loads(answer.read_text())
        return found


def result(root: Root, answer: dict[str, Any]) -> dict[str, Any]:
    """Compare the probe's answer with the table; return what to keep."""
    surface = Surface(root.table, root.release)
    found = compare(surface, answer)
    ran = Ran(surface, answer)
    explained: dict[str, Counter[str]] = defaultdict(Counter)
    # TensorFlow's private copy lies behind its other parts: from 2.13 on it trains no model.
    broken = answer["problem"] and root.table != PRIVATE_ROOT
    unexplained = [f"instances: {answer['problem']}"] if broken else []
    for difference in found.differences:
        if reason := explanation(difference, ran):
            explained[reason][_owner(difference.name)] += 1
        else:
            unexplained.append(
                f"{difference.aspect}: {difference.name}: {difference.table!r} in the table, "
                f"{difference.real!r} at run time"
            )
    different = Counter(difference.aspect for difference in found.differences)
    return {
        "table": root.table,
        "release": root.release,
        "content": content(surface),
        "compared": found.compared,
        "different": {aspect: different[aspect] for aspect in ASPECTS if different[aspect]},
        "explained": {
            reason: dict(sorted(owners.items())) for reason, owners in sorted(explained.items())
        },
        "unexplained": unexplained,
        "instances": answer["instances"],
        "problem": answer["problem"],
        "not_importable": answer["failed"],
    }


def _owner(name: str) -> str:
    return name.rpartition(".")[0] or name


def list_differences(answers: list[tuple[Root, dict[str, Any]]]) -> None:
    """Print each difference with its reason."""
    for root, answer in answers:
        surface = Surface(root.table, root.release)
        ran = Ran(surface, answer)
        for each in compare(surface, answer).differences:
            reason = explanation(each, ran) or "UNEXPLAINED"
            print(f"{root.title}: {each.aspect}: {each.name}: {each.table!r} / {each.real!r}")
            print(f"    {reason}")


def show(record: dict[str, Any], not_made: dict[str, str]) -> None:
    """Print one line for each root of each environment, and what was not compared."""
    table = Table(title="The API tables against the frameworks at run time")
    table.add_column("environment")
    table.add_column("root")
    for title in ("names", "equal", "signatures", "equal", "members", "equal"):
        table.add_column(title, justify="right")
    for title in ("explained", "unexplained"):
        table.add_column(title, justify="right")
    for name, environment in record["environments"].items():
        packages = " ".join(f"{k} {v}" for k, v in environment["packages"].items())
        title = f"{name}\nPython {environment['python']}, {packages}"
        for root, kept in environment["roots"].items():
            cells = []
            for aspects in (("names",), ("signatures", "methods"), ("members", "attributes")):
                compared = sum(kept["compared"][aspect] for aspect in aspects)
                different = sum(kept["different"].get(aspect, 0) for aspect in aspects)
                cells += [f"{compared:,}", f"{1 - different / max(compared, 1):.2%}"]
            explained = sum(sum(owners.values()) for owners in kept["explained"].values())
            cells += [f"{explained:,}", str(len(kept["unexplained"]))]
            table.add_row(title, root, *cells)
            title = ""
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    for each in roots_of(record):
        for module, error in each["not_importable"].items():
            console.print(f"not compared: {each['table']} {each['release']}: {module}: {error}")
        for line in each["unexplained"]:
            console.print(f"[red]unexplained[/] {each['table']} {each['release']}: {line}")
    for name, reason in {**record["not_compared"], **not_made}.items():
        console.print(f"not compared: {name}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
