"""Run the scenarios of ``kdoctor.verify.addons`` on tensorflow_addons itself, and record them.

    python -m tools.addons_oracle PYTHON [NAME…]

``PYTHON`` is that of an environment with ``tensorflow-cpu==2.14.1 tensorflow-addons==0.23.0
'numpy<2' nvidia-cuda-runtime-cu11`` (Python 3.11): see ``make addons-oracle``. With names, the rest
of the record stays.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_VERIFY = _HERE.parents[1] / "kdoctor" / "verify" / "addons"
_NAMES = _HERE.parents[1] / "kdoctor" / "rules" / "names" / "_definitions" / "addons.json"
_RESULTS = _VERIFY / "results.json"
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0"}


def main(python: str, *wanted: str) -> None:
    """Write the record."""
    # By path: the other environment has no kdoctor, and TF2_BEHAVIOR is of this one.
    environment = {name: value for name, value in os.environ.items() if name != "TF2_BEHAVIOR"}
    # Its kernels are linked against CUDA, and run without.
    kernels = next(
        Path(python).parents[1].glob("lib/*/site-packages/nvidia/cuda_runtime/lib/*dart.so*")
    )
    environment |= {**_QUIET, "LD_PRELOAD": str(kernels)}
    done = subprocess.run(
        [python, "-W", "ignore", str(_HERE / "old_side.py"), str(_VERIFY), *wanted],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    if not done.stdout:
        sys.exit(done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    names = {"source": found["source"], "names": found["names"]}
    _NAMES.write_text(json.dumps(names, indent=1) + "\n", "utf-8")
    results = {**_known(), **found["results"]} if wanted else found["results"]
    lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in results.items()]
    source = json.dumps(found["source"])
    body = ",\n".join(lines)
    text = f'{{"source": {source},\n"results": {{\n{body}\n}}}}\n'
    _RESULTS.write_text(text, "utf-8")
    sys.exit(done.stderr if done.returncode else 0)


def _known() -> dict[str, object]:
    known: dict[str, object] = json.loads(_RESULTS.read_text("utf-8"))["results"]
    return known


if __name__ == "__main__":
    main(*sys.argv[1:])
