"""The process that runs the reference: ``python -m kdoctor.verify.reference.worker cpu``.

The backend is that of ``KERAS_BACKEND``. It prints the device, then results, as lines of JSON.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
import warnings
from dataclasses import asdict, replace
from typing import Any, TextIO

from kdoctor.verify.processes import reserve_stdout
from kdoctor.verify.reference.results import Result


def main() -> None:
    """Run all checks on the device that the first argument names."""
    answers = reserve_stdout()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    wanted = sys.argv[1]
    if wanted == "count":
        print(len(gpus(os.environ["KERAS_BACKEND"])), file=answers)
        return
    from kdoctor.verify.reference import (  # noqa: PLC0415 - they import Keras, which may print
        classes,
        functions,
        gradients,
        layers,
        training,
    )
    from kdoctor.verify.reference.checks import Check, NotHere  # noqa: PLC0415
    from kdoctor.verify.reference.running import BACKEND  # noqa: PLC0415

    device = device_in_use(BACKEND, wanted)
    parts = (functions, classes, gradients, layers, training)
    everything = [check for part in parts for check in part.checks()]
    _say(answers, {"device": device, "checks": len(everything)})

    def result_of(check: Check) -> Result:
        row = Result(check.module, check.subject, check.check, BACKEND, device)
        try:
            measured = check.measure()
        except NotHere as nothing:
            return replace(row, why=str(nothing), applies=False)
        except Exception as error:  # noqa: BLE001 - this check failed, the others still run
            if os.environ.get("KDOCTOR_DEBUG"):
                traceback.print_exc()
            return replace(row, why=f"{type(error).__name__}: {error}"[:400])
        return replace(row, error=float(measured.error), tolerance=measured.tolerance)

    for check in everything:
        _say(answers, asdict(result_of(check)))


def device_in_use(backend: str, wanted: str) -> str:
    """Return the name of the device that the backend uses.

    Raises:
        SystemExit: it is not of the wanted kind, ``cpu`` or ``gpu``.
    """
    found = next((f"gpu {name}" for name in gpus(backend)), "cpu")
    if not found.startswith(wanted):
        sys.exit(f"{backend} computes on {found}")
    return found


def gpus(backend: str) -> list[str]:
    """Return the names of the GPUs that the backend finds."""
    if backend == "tensorflow":
        import tensorflow as tf  # noqa: PLC0415 - the backend of this process

        details = tf.config.experimental.get_device_details
        return [
            str(details(gpu).get("device_name", gpu.name))
            for gpu in tf.config.list_physical_devices("GPU")
        ]
    if backend == "jax":
        import jax  # noqa: PLC0415

        return [each.device_kind for each in jax.devices() if each.platform != "cpu"]
    import torch  # noqa: PLC0415

    return [torch.cuda.get_device_name(each) for each in range(torch.cuda.device_count())]


def _say(answers: TextIO, what: dict[str, Any]) -> None:
    print(json.dumps(what), file=answers, flush=True)


if __name__ == "__main__":
    main()
