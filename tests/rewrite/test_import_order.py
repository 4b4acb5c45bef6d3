"""What ruff's isort and pyflakes say of files that they had nothing to say of before the fix."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from kdoctor.engine import fix

LIBRARY = {"os": "os.sep", "sys": "sys.path", "math": "math.pi", "json": "json.dumps"}
OTHERS = {
    "import numpy as np": "np.e",
    "import pytest": "pytest.raises",
    "import scipy.signal": "scipy.signal",
    "from absl import app": "app",
    "from zlib2 import a, b": "(a, b)",
}
KERAS = {
    "from {} import layers": "layers.Dense",
    "from {} import Model, layers, utils": "(Model, layers, utils)",
    "from {} import optimizers": "optimizers.SGD",
    "from {}.layers import Dense, Flatten": "(Dense, Flatten)",
    "from {}.models import Model as M": "M",
    "from {}.utils import to_categorical": "to_categorical",
    "from {} import losses as all_losses": "all_losses",
    # What these import has moved.
    "from {}.models import Input, Sequential": "(Input, Sequential)",
    "from {}.layers.core import Dropout, Permute": "(Dropout, Permute)",
    "from {}.utils.np_utils import normalize": "normalize",
}
BACKENDS = {
    "from {} import backend as K": "K.",
    "import {}.backend as K": "K.",
    "from {} import backend": "backend.",
    "from {}.backend import square, variable, count_params, epsilon, sin": "",
}
FUNCTIONS = ("square(x)", "sin(x)", "variable(0)", "count_params(x)", "epsilon()", "cast_to_floatx(x)")  # fmt: skip
OWN = {"from mine import thing": "thing", "from .next_door import other": "other"}
SETTINGS = (
    "",
    "[tool.ruff]\nline-length = 60\n",
)


def drawn(draw):
    root = draw.choice(["keras", "tensorflow.keras"])
    some = {f"import {name}": use for name, use in LIBRARY.items() if draw.random() < 0.4}
    for known in (OTHERS, KERAS, OWN):
        some |= {line.format(root): use for line, use in known.items() if draw.random() < 0.3}
    backend = draw.choice(list(BACKENDS))
    prefix = BACKENDS[backend]
    imports = [*some, backend.format(root)]
    draw.shuffle(imports)
    calls = [f"{prefix}{each}" for each in FUNCTIONS if draw.random() < 0.4]
    if not prefix:
        calls = [each for each in calls if not each.startswith("cast")]
    future = "from __future__ import annotations\n" if draw.random() < 0.2 else ""
    doc = '"""About."""\n' if draw.random() < 0.5 else ""
    body = "".join(f"    {each}\n" for each in [*some.values(), *calls, "x"])
    return f"{doc}{future}{chr(10).join(imports)}\n\n\ndef f(x):\n{body}"


def ruff(folder, *arguments):
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "I,F401,E501"]
    done = subprocess.run(
        [*command, "--output-format", "json", *arguments, "."],
        cwd=folder, capture_output=True, check=False,
    )  # fmt: skip
    return {(Path(each["filename"]).name, each["code"]) for each in json.loads(done.stdout)}


@pytest.mark.parametrize("settings", SETTINGS)
def test_ruff_finds_nothing_new_in_sorted_imports(tmp_path, settings):
    seed = random.SystemRandom().randrange(10**9)
    draw = random.Random(seed)  # noqa: S311 - for tests
    (tmp_path / "pyproject.toml").write_text(settings)
    (tmp_path / "mine.py").write_text("thing = 1\n")
    for number in range(120):
        (tmp_path / f"file_{number}.py").write_text(drawn(draw))
    before = ruff(tmp_path, "--fix")
    texts = {path.name: path.read_text() for path in tmp_path.glob("file_*.py")}
    result = fix([tmp_path], apply=True, unsafe=True, target="keras==3.15.1", workers=0)
    assert len(result.files) > 80
    new = ruff(tmp_path) - before
    name = min(new, default=("", ""))[0]
    assert not new, (
        f"seed {seed}: {sorted(new)}\n{texts[name]}\n---\n{(tmp_path / name).read_text()}"
    )
