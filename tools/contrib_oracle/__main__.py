"""Run the scenarios of ``kdoctor.verify.contrib`` on keras_contrib itself, and record them.

    python -m tools.contrib_oracle PYTHON FOLDER [NAME…]

``PYTHON`` is that of the old oracle: Python 3.7 with ``tensorflow==1.15.5 keras==2.2.4 'h5py<3'
'protobuf<3.21' 'numpy<1.19'`` (on keras 2.3.1 no CRF has a mask). ``FOLDER`` holds
``keras_contrib``, a checkout of https://github.com/keras-team/keras-contrib. With names, the rest
of the record stays. Its optimizers are not asked: each step raises the number of steps in the same
run that reads it, so two runs of one program may differ.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_VERIFY = _HERE.parents[1] / "kdoctor" / "verify" / "contrib"
_NAMES = _HERE.parents[1] / "kdoctor" / "rules" / "names" / "_definitions" / "contrib.json"
_RESULTS = _VERIFY / "results.json"
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}


def main(python: str, folder: str, *wanted: str) -> None:
    """Write the record."""
    environment = {name: value for name, value in os.environ.items() if name != "TF2_BEHAVIOR"}
    environment |= {**_QUIET, "PYTHONPATH": folder}
    script = [python, "-W", "ignore", str(_HERE / "old_side.py"), str(_VERIFY), *wanted]
    done = subprocess.run(script, capture_output=True, text=True, check=False, env=environment)
    if not done.stdout:
        sys.exit(done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    names = {"source": found["source"], "names": found["names"]}
    _NAMES.write_text(json.dumps(names, indent=1) + "\n", "utf-8")
    known = json.loads(_RESULTS.read_text("utf-8"))["results"] if wanted else {}
    results = {**known, **found["results"]}
    lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in results.items()]
    body = ",\n".join(lines)
    text = f'{{"source": {json.dumps(found["source"])},\n"results": {{\n{body}\n}}}}\n'
    _RESULTS.write_text(text, "utf-8")
    sys.exit(done.stderr if done.returncode else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
