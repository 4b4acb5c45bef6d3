"""Programs over other libraries, one a line, that fail: none of their errors is Keras'.

    python -m tools.raise_errors.others PYTHON ...

Each PYTHON (an interpreter with the libraries of ``NEEDS`` in its environment) runs every line
whose libraries it has, in a process forked for it; what the lines print is kept in
``tests/diagnose/recorded_others.json``. Lines of TensorFlow use no Keras.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "diagnose" / "recorded_others.json"
LINES = Path(__file__).with_name("others.txt")
RUNNER = Path(__file__).with_name("one_by_one.py")


def main() -> None:
    """Run the lines with each interpreter and keep what is printed."""
    kept: dict[str, str] = {}
    for python in sys.argv[1:]:
        done = subprocess.run(
            [python, RUNNER, LINES],
            capture_output=True,
            text=True,
            check=True,
            env={"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "HOME": "/tmp"},  # noqa: S108
        )
        for line, printed in json.loads(done.stdout.splitlines()[-1]).items():
            kept.setdefault(line, printed.replace(str(Path(python).parents[1]), "/venv"))
    RECORDED.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    print(len(kept), "errors recorded")


if __name__ == "__main__":
    main()
