"""Run each line of a file in a fork of its own, and print what each raised as one JSON object.

A line that needs what is not installed, or that raises nothing, is left out. Needs no kdoctor.
"""

import io
import json
import linecache
import os
import re
import sys
import traceback


def raised(line, number):
    path = f"/home/me/work/job_{number}.py"
    source = line.replace("; ", "\n").replace("\\n", "\n    ")
    linecache.cache[path] = (len(source), None, [f"{each}\n" for each in source.split("\n")], path)
    try:
        exec(compile(source, path, "exec"), {"__name__": "__main__"})
    except BaseException as error:
        missing = isinstance(error, ImportError) and re.search(
            r"^import (\w+)|; import (\w+)", line
        )
        names = re.findall(r"\bimport (\w+)", line)
        if missing and getattr(error, "name", None) in names:
            return ""
        out = io.StringIO()
        traceback.print_exception(type(error), error, error.__traceback__.tb_next, file=out)
        return out.getvalue()
    return ""


found = {}
for number, line in enumerate(open(sys.argv[1], encoding="utf-8")):
    line = line.strip()
    if not line or line.startswith("#"):
        continue
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        with os.fdopen(writing, "w", encoding="utf-8") as out:
            out.write(raised(line, number))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as told:
        text = told.read()
    os.waitpid(child, 0)
    if text:
        found[line] = text
print(json.dumps(found))
