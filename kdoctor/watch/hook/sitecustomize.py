# mypy: ignore-errors
"""Hook of ``kdoctor run``: observes how a program ends; runs in the program's own Python.

That may be any from 2.7 on: no import of kdoctor, no news of Python 3. Python imports this as it
starts; it undoes at once what brought it here, so that neither the program nor a process that it
starts sees any of it. Imported are only modules that every Python has loaded by then.
"""

import sys


def _install():
    import atexit
    import os

    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != own]
    sys.path_importer_cache.pop(own, None)
    before = os.environ.pop("KDOCTOR_RUN_PYTHONPATH", None)
    if before is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = before
    kdoctor = os.environ.pop("KDOCTOR_RUN", "")
    if kdoctor:
        # Registered before anything of the program's, so it runs after all of that.
        atexit.register(_at_the_end, kdoctor.split(os.pathsep, 1))


def _at_the_end(kdoctor):
    """Give an error that nobody caught to kdoctor, which writes under the traceback."""
    # Python leaves it here before it calls sys.excepthook, whoever that is.
    error = getattr(sys, "last_value", None)
    try:
        if error is not None and isinstance(error, Exception):
            _ask(kdoctor, error)
    except BaseException:  # noqa: BLE001 - the program's exit code is the program's
        pass


def _ask(kdoctor, error):
    import traceback

    text = "".join(traceback.format_exception(type(error), error, sys.last_traceback))
    words = text.lower()
    concerned = ("keras", "tensorflow", "segmentation_models", "numpy", "h5py", "protobuf")
    if not any(word in words for word in concerned):
        if "tensorflow" not in sys.modules and "keras" not in sys.modules:
            return
    import json
    import subprocess

    versions = {}
    for name in ("keras", "tensorflow", "tf_keras"):
        found = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(found, str):
            versions[name] = found
    told = {
        "text": text,
        "versions": versions,
        "python": sys.executable,
        "folder": sys.path[0] if sys.path else "",
    }
    program, root = kdoctor
    start = (
        "import sys; sys.path.append(%r); from kdoctor.watch.answering import main; main()" % root
    )
    answering = subprocess.Popen([program, "-P", "-c", start], stdin=subprocess.PIPE)
    answering.communicate(json.dumps(told).encode("ascii"))


def _hand_on():
    """Import the sitecustomize that this one stands before, if there is one."""
    del sys.modules["sitecustomize"]
    import sitecustomize  # noqa: F401 - raises ImportError, as it would have without this one


if __name__ == "sitecustomize":
    try:
        _install()
    finally:
        _hand_on()
