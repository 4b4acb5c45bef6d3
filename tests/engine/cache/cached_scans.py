"""A small project, and scans of it with a cache."""

from __future__ import annotations

from kdoctor import engine

OLD = "from keras import backend as K\n\nx = K.sum(1)\n"


NEW = "from keras import ops as K\n\nx = K.sum(1)\n"


FILES = {
    "pyproject.toml": "",
    "train.py": OLD,
    "use.py": "from compat import K\n\nx = K.sum(1)\n",
    "compat.py": "from keras import backend as K\n",
    "clean.py": "import os\n",
}


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def scan(*paths, **options):
    how = {"cache": True, "jobs": 1, "target": "keras==3.15.1"} | options
    return engine.scan(paths or ["."], **how)


def both(**options):
    """Scan with the cache and without it."""
    return scan(**options), scan(**options, cache=False)


def files_of(project):
    return [each for each in (project / ".kdoctor_cache" / "scan").iterdir() if "-" in each.name]
