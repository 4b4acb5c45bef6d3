"""Run functions of keras 2.3.1 and 2.2.4 on TensorFlow 1.15, and record what they gave.

    python -m tools.old_oracle 2.3.1=PYTHON 2.2.4=PYTHON

``PYTHON`` is that of an environment with this Keras: Python 3.7, with ``tensorflow==1.15.5
keras==2.3.1 'h5py<3' 'protobuf<3.21' 'numpy<1.19'``. Writes ``kdoctor/verify/old_results.json``,
which what stands for these functions in the proofs is held to.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from kdoctor.verify.conditions import Conditions
from kdoctor.verify.generators import OMITTED, Scene, draw
from kdoctor.verify.old_results import RESULTS
from kdoctor.verify.values import Array

# Which functions are asked for, and what they take.
FUNCTIONS = {
    "2.3.1": {
        "identity": ("x",),
        "is_tensor": ("x",),
        "is_variable": ("x",),
        "logsumexp": ("x", "axis", "keepdims"),
        "size": ("x",),
        "slice": ("x", "start", "size"),
    },
    "2.2.4": {"get_variable_shape": ("x",), "set_image_dim_ordering": ("dim_ordering",)},
}
# TensorFlow 1 computes little in bfloat16.
_DTYPES = ("float32", "float64", "float16", "int32", "int64", "bool")
_CASES = 24
_SEED = 0
_OLD_SIDE = Path(__file__).with_name("old_side.py")


def main(arguments: list[str]) -> None:
    """Record all functions of the releases that are named."""
    pythons = dict(each.split("=", 1) for each in arguments)
    # Today's TensorFlow, which draws import, asks the old one by this to behave like it.
    environment = {name: value for name, value in os.environ.items() if name != "TF2_BEHAVIOR"}
    record: dict[str, Any] = {}
    for release, functions in FUNCTIONS.items():
        jobs = [
            {"function": function, "arguments": case}
            for function, parameters in functions.items()
            for case in _cases(function, parameters)
        ]
        answers = json.loads(
            subprocess.run(
                [pythons[release], "-W", "ignore", str(_OLD_SIDE)],
                input=json.dumps(jobs), capture_output=True, text=True, check=True, env=environment,
            ).stdout.splitlines()[-1]
        )  # fmt: skip
        for job, answer in zip(jobs, answers, strict=True):
            if answer is not None:
                entry = record.setdefault(
                    job["function"], {"source": f"keras {release} on TensorFlow 1.15.5", "runs": []}
                )
                entry["runs"].append([job["arguments"], answer])
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(record.items())]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    for name, entry in sorted(record.items()):
        print(f"{name}: {len(entry['runs'])} runs of {entry['source']}")


def _cases(function: str, parameters: tuple[str, ...]) -> list[dict[str, Any]]:
    if parameters == ("dim_ordering",):
        return [{"dim_ordering": "tf"}, {"dim_ordering": "th"}]
    rng, numbers = random.Random(_SEED), np.random.default_rng(_SEED)  # noqa: S311 - test data
    found = []
    for number in range(_CASES):
        flavour = ("ordinary", "special", "empty", "ones")[number % 4]
        dtype = _DTYPES[number % len(_DTYPES)]
        scene = Scene(function, rng, numbers, Conditions(), dtype, number % 4, flavour)
        for name in parameters:
            default = None if name == "axis" else False if name == "keepdims" else OMITTED
            scene.values[name] = draw(scene, name, default)
        given = {name: value for name, value in scene.values.items() if value is not OMITTED}
        found.append({name: _as_json(value) for name, value in given.items()})
    return found


def _as_json(value: Any) -> Any:
    if isinstance(value, Array):
        data = {"data": value.data.ravel().tolist(), "shape": list(value.data.shape)}
        return {**data, "dtype": value.dtype, "role": str(value.role)}
    return list(value) if isinstance(value, tuple) else value


if __name__ == "__main__":
    main(sys.argv[1:])
