# mypy: ignore-errors
"""Import given modules and record what happens; runs in the examined Python.

That may be any from 2.7 on, and kdoctor is not installed there: no import of kdoctor, no news of
Python 3. Each line is written before the next import begins, as that may end the process.
"""

import importlib
import json
import os
import sys
import time
import traceback

# As for a program in the working folder, which is what is asked about.
sys.path[0] = os.getcwd()


def main(log, names):
    with open(log, "a") as out:

        def tell(**what):
            out.write(json.dumps(what) + "\n")
            out.flush()

        for name in names:
            tell(event="begin", name=name)
            tell(event="end", name=name, **imported(name))
        if "tensorflow" in names and "tensorflow" in sys.modules:
            try:
                tell(event="devices", devices=devices())
            except Exception:  # noqa: BLE001 - then nothing is said of devices
                pass


def imported(name):
    start = time.time()
    answer = {"error": "", "raised_in": "", "version": "", "file": "", "traceback": ""}
    try:
        if name == "tf.keras":
            module = importlib.import_module("tensorflow").keras
            module.layers.Dense(1)
        else:
            module = importlib.import_module(name)
            if name == "keras":
                module.layers.Dense(1)
        answer["version"] = version(module, name)
        answer["file"] = str(getattr(module, "__file__", None) or "")
    except BaseException:  # noqa: BLE001 - whatever it is, it is the answer
        lines = traceback.format_exception_only(*sys.exc_info()[:2])
        answer["error"] = lines[-1].strip() if lines else "failed"
        frames = traceback.extract_tb(sys.exc_info()[2])
        answer["raised_in"] = "%s:%s" % (frames[-1][0], frames[-1][1]) if frames else ""
        answer["traceback"] = traceback.format_exc()
    answer["seconds"] = time.time() - start
    return answer


def version(module, name):
    found = getattr(module, "__version__", "")
    if name == "tf.keras" and not found:
        found = getattr(sys.modules.get("keras"), "__version__", "")
    return str(found or "")


def devices():
    tf = sys.modules["tensorflow"]
    config = getattr(tf, "config", None)
    listing = getattr(config, "list_physical_devices", None) or getattr(
        getattr(config, "experimental", None), "list_physical_devices", None
    )
    info = {}
    try:
        info = dict(tf.sysconfig.get_build_info())
    except Exception:  # noqa: BLE001 - before 2.3
        pass
    return {
        "gpus": [device.name for device in listing("GPU")] if listing else [],
        "built_with_cuda": bool(tf.test.is_built_with_cuda()),
        "cuda": str(info.get("cuda_version", "")),
        "cudnn": str(info.get("cudnn_version", "")),
    }


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
