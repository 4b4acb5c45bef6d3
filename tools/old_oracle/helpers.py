"""Run helpers of keras 2.2.4 that no release that runs today has, and record what they gave.

    python -m tools.old_oracle.helpers PYTHON

``PYTHON`` is that of ``make old-oracle``'s environment with keras 2.2.4. Writes
``kdoctor/verify/keras_2_code/recorded_helpers.json``, which the definitions that stand for these
helpers are held to.
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

from kdoctor.verify.keras_2_code.recorded import HELPERS

_CASES = 24
_SEED = 0
_OLD_SIDE = Path(__file__).with_name("old_helpers.py")
_IMAGE = {"input_shape": [6, 5, 2]}
_MODELS: list[list[list[Any]]] = [
    [
        ["Conv2D", {"filters": 2, "kernel_size": [3, 2], **_IMAGE}],
        ["Conv2DTranspose", {"filters": 3, "kernel_size": 2}],
        ["Flatten", {}],
        ["Dense", {"units": 2}],
    ],
    [["Conv1D", {"filters": 3, "kernel_size": 3, "use_bias": False, "input_shape": [6, 2]}]],
    [
        ["Conv3D", {"filters": 2, "kernel_size": [1, 2, 3], "input_shape": [4, 4, 4, 1]}],
        ["Conv3DTranspose", {"filters": 2, "kernel_size": [2, 3, 1]}],
    ],
    [
        ["SeparableConv2D", {"filters": 2, "kernel_size": 3, **_IMAGE}],
        ["DepthwiseConv2D", {"kernel_size": 2}],
    ],
    [["SeparableConv1D", {"filters": 2, "kernel_size": 3, "input_shape": [6, 2]}]],
    [
        ["Mine", {"filters": 2, "kernel_size": 3, **_IMAGE}],
        ["Conv2D", {"filters": 1, "kernel_size": 2}],
    ],
    [["Conv2D", {"filters": 2, "kernel_size": 2, **_IMAGE}], ["Inner", {}]],
    [["ConvLSTM2D", {"filters": 2, "kernel_size": 2, "input_shape": [2, 6, 5, 2]}]],
    [
        ["Conv2D", {"filters": 2, "kernel_size": 3, "trainable": False, **_IMAGE}],
        ["BatchNormalization", {}],
    ],
]


def main(arguments: list[str]) -> None:
    """Record what all helpers give."""
    jobs = list(_jobs())
    environment = {name: value for name, value in os.environ.items() if name != "TF2_BEHAVIOR"}
    answers = json.loads(
        subprocess.run(
            [arguments[0], "-W", "ignore", str(_OLD_SIDE)],
            input=json.dumps(jobs), capture_output=True, text=True, check=True, env=environment,
        ).stdout.splitlines()[-1]
    )  # fmt: skip
    record: dict[str, list[Any]] = {}
    for (helper, given), answer in zip(jobs, answers, strict=True):
        record.setdefault(helper, []).append([given, answer])
    lines = [f"{json.dumps(name)}: {json.dumps(runs)}" for name, runs in sorted(record.items())]
    HELPERS.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    for name, runs in sorted(record.items()):
        print(f"{name}: {len(runs)} runs")


def _jobs() -> list[tuple[str, Any]]:
    rng, numbers = random.Random(_SEED), np.random.default_rng(_SEED)  # noqa: S311 - test data
    jobs: list[tuple[str, Any]] = [("convert_all_kernels_in_model", each) for each in _MODELS]
    for number in range(_CASES):
        shape = [rng.randint(1, 3) for _ in range(2 + number % 5)]
        dtype = rng.choice(["float32", "float64", "int32"])
        data = numbers.integers(-9, 9, shape).astype(dtype)
        jobs.append(
            ("convert_kernel", {"data": data.ravel().tolist(), "shape": shape, "dtype": dtype})
        )
        # The numbers stand for objects: the same number is the same object.
        length = rng.randint(0, 3)
        listed = {
            "kind": rng.choice(["list", "tuple", "alone"]),
            "objects": [rng.randint(0, 2) for _ in range(length)],
        }
        jobs.append(("unpack_singleton", listed))
        if listed["kind"] != "tuple":  # that is one object in keras 2.2, and several later
            jobs.append(("object_list_uid", listed))
    return jobs


if __name__ == "__main__":
    main(sys.argv[1:])
