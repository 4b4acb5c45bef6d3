"""Hold the verdict of ``kdoctor.models`` against Keras: ``python -m tools.model_files FOLDER``.

Releases from keras 2.2.4 to 3.15 each write a model of every built-in layer, alone, in a wrapper
and in an inner model, of every optimizer, loss, metric, initializer and the like, in every format
that they have. Keras 3 then loads each file, and kdoctor says of each whether it will. Where the
two differ, the file is named; so is each file that does not load with the arguments that kdoctor
gives for it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tools.model_files.judging import judge
from tools.model_files.writers import QUIET, WRITERS

HERE = Path(__file__).parent
STEPS = ("write", "load", "judge")
_LOADERS = os.cpu_count() or 1


def main() -> None:
    """Write, load and judge, or one of these."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--step", choices=STEPS, action="append", help="only these")
    parser.add_argument("--by", action="append", help="only these writers")
    parser.add_argument("--models", default="", help="only these, with commas")
    parser.add_argument("--one-in", type=int, default=1, help="write one in so many models")
    parser.add_argument("--most", type=int, default=10**6, help="load so many files of each writer")
    given = parser.parse_args()
    wanted = [each for each in WRITERS if not given.by or each.name in given.by]
    steps = given.step or STEPS
    if "write" in steps:
        for writer in wanted:
            if not writer.install():
                print(f"{writer.name}: this machine has no Python {writer.python}")
                continue
            folder = given.folder / writer.name
            script = HERE / "writing.py"
            writer.run(script, writer.module, folder, given.one_in, given.models)
    if "load" in steps:
        _load(given.folder, given.most)
    if "judge" in steps:
        sys.exit(judge(given.folder))


def _load(folder: Path, most: int) -> None:
    """Load all files, in as many processes as there are cores."""
    for old in folder.glob("loaded-*.jsonl"):
        old.unlink()
    processes = [
        subprocess.Popen(
            [sys.executable, HERE / "loading.py", folder, str(part), str(_LOADERS), str(most)],
            env={**os.environ, **QUIET},
            stderr=subprocess.DEVNULL,
        )
        for part in range(_LOADERS)
    ]
    for process in processes:
        process.wait()


if __name__ == "__main__":
    main()
