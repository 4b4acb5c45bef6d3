"""Run ``train.py`` of each folder named in a fork that has imported Keras; print to ``printed``.

Runs on Python 3.7 and without kdoctor.
"""

import contextlib
import os
import sys
import traceback

import keras  # noqa: F401
import tensorflow as tf

with contextlib.suppress(ImportError):
    tf.keras  # noqa: B018 - it is loaded when it is first asked for


def run(folder):
    os.chdir(folder)
    out = open("printed", "w", encoding="utf-8")
    os.dup2(out.fileno(), 1)
    os.dup2(out.fileno(), 2)
    path = os.path.join(folder, "train.py")
    sys.path.insert(0, folder)
    sys.argv = [path]
    status = 0
    try:
        code = compile(open(path, encoding="utf-8").read(), path, "exec")
        exec(code, {"__name__": "__main__", "__file__": path})
    except BaseException as error:
        traceback.print_exception(type(error), error, error.__traceback__.tb_next)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


for each in sys.argv[1:]:
    child = os.fork()
    if not child:
        run(each)
    os.waitpid(child, 0)
