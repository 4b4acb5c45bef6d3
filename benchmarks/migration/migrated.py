"""The third arm, migrate: packages as ``kdoctor migrate --apply`` leaves them, by their own tests.

``python -m benchmarks.migration.migrated --only NAME`` prints a row for each package: tests that
pass on Keras 2, on Keras 3 before and after, fixes by what speaks for them, runs and minutes. The
other arms take the tests that they share with each other from records; this one runs all of them
anew, by pytest alone, so its figures may differ from theirs by a test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.migration import catalogue, environment, selection, suites
from benchmarks.migration.arms import Runner
from benchmarks.migration.model import CACHE, Package, Places
from benchmarks.migration.repairs import HOME, TARGET, KdoctorProblem

COLUMNS = (
    *("package", "Keras 2", "before", "migrate", "recovery", "lost"),
    *("proven", "by tests", "not run", "taken out", "runs", "minutes"),
)


def migrate(package: Package, runner: Runner, places: Places) -> dict[str, Any]:
    """Carry a migration of a copy out; return what it came to.

    Raises:
        KdoctorProblem: it did not come to an end.
        FetchProblem: the sources could not be had.
    """
    originals = runner.originals(package)
    root = places.home(package) / "migrated" / package.name
    shutil.rmtree(root, ignore_errors=True)
    for name, original in originals.items():
        shutil.copytree(original, root / name, symlinks=True)
    git = ["git", "-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost"]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "released"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    tests = suites.test_files(root / package.name, package.tests)
    command = ["pytest", "--rootdir=.", "-q", "-o", "addopts=", "-p", "old_names", *tests]
    paths = [each for each in (package.name, *originals) if (root / each).is_dir()]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kdoctor", "migrate", "--apply", "--json", "--target", TARGET),
            *("--python", str(places.python), "--test-seconds", f"{places.seconds_a_test:g}"),
            *("--test", " ".join(command)),
            *(os.path.relpath(root / each, root / package.name) for each in dict.fromkeys(paths)),
        ],
        cwd=root / package.name,
        env={**os.environ, **_surroundings(package, runner, root, places)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise KdoctorProblem(f"{package.name}: kdoctor migrate ended with {done.returncode}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _surroundings(package: Package, runner: Runner, root: Path, places: Places) -> dict[str, str]:
    also = [
        root / each.name / inside for each in runner.on_the_path(package) for inside in each.path
    ]
    also += [each for each in sorted(root.iterdir()) if each.is_dir()]
    if requires := runner.requires(package):
        also.append(environment.besides(places.cache, places.python, requires))
    shims = [suites.SHIMS / "everywhere", Path(__file__).with_name("plugins")]
    return {
        "PYTHONPATH": os.pathsep.join(map(str, (HOME, *shims, *also))),
        "CUDA_VISIBLE_DEVICES": "-1",
        "KERAS_HOME": str(places.cache / "keras-home"),
        **dict.fromkeys(("http_proxy", "https_proxy"), suites.NO_NETWORK),
        "HF_HUB_OFFLINE": "1",
    }


def row(name: str, told: dict[str, Any]) -> list[str]:
    """Return the cells of a package."""
    counted, fixes = told["counted"], Counter(each["verdict"] for each in told["fixes"])
    gap = counted["keras_2"] - counted["before"]
    recovered = counted["of_keras_2"] - counted["before"]
    return [
        name,
        *(str(counted[each]) for each in ("keras_2", "before", "of_keras_2")),
        f"{100 * recovered / gap:.0f} %" if gap else "-",
        str(len(told["lost"])),
        *(str(fixes[each]) for each in ("proven", "your tests", "not run", "loses a test")),
        str(told["runs"]),
        f"{told['seconds'] / 60:.1f}",
    ]


def main(
    *,
    only: Annotated[list[str], typer.Option(help="This package (again for more).")],
    cache: Annotated[Path, typer.Option(help="Where sources and copies are kept.")] = CACHE,
    repositories: Annotated[
        Path | None, typer.Option(help="Take sources from here, not from GitHub.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="What one test may take.")] = 300,
) -> None:
    """Migrate packages, and print what their tests say."""
    places = Places(cache.resolve(), environment.make(cache), repositories, seconds)
    listed = catalogue.read(catalogue.LIST)
    runner = Runner(listed, places)
    print(f"| {' | '.join(COLUMNS)} |\n| --- |{' ---: |' * (len(COLUMNS) - 1)}")
    for package in selection.chosen(listed, only, unseen=False):
        told = migrate(package, runner, places)
        print(f"| {' | '.join(row(package.name, told))} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
