"""A file that imports nothing of Keras itself gets it from where the rest of its project does."""

import subprocess
import sys

import pytest

from kdoctor.engine import fix, scan

BASE = "from {} import layers\n\n\nclass Base(layers.Layer):\n    pass\n"
TF_BASE = "import tensorflow as tf\n\n\nclass Base(tf.keras.layers.Layer):\n    pass\n"
HEIR = (
    "from net.base import Base\n\n\n"
    "class Mine(Base):\n    def show(self):\n        return self.weights[0].eval()\n"
)
OTHERS = {"net/__init__.py": "", "pyproject.toml": ""}
RUFF = (sys.executable, "-m", "ruff", "check", "--isolated", "--select", "I001,F401", "--no-cache")


def laid_down(folder, files):
    for name, text in (OTHERS | files).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def fixed(folder, files, name="net/mine.py", **options):
    laid_down(folder, files)
    result = fix([folder], unsafe=True, target="keras==3.15.1", **options)
    return next(each.after.decode() for each in result.files if each.path.endswith(name))


@pytest.mark.parametrize(
    ("base", "line"),
    [
        (BASE.format("keras"), "from keras import ops"),
        (BASE.format("tensorflow.keras"), "from tensorflow.keras import ops"),
        (TF_BASE, "from tensorflow.keras import ops"),
        (TF_BASE.replace("as tf", "").replace("tf.", "tensorflow."), "from tensorflow.keras import ops"),
        (
            BASE.format("tensorflow.keras").replace("from", "from tensorflow import keras\nfrom", 1),
            "from tensorflow.keras import ops",
        ),
    ],
)  # fmt: skip
def test_a_new_import_has_the_root_that_the_project_has(tmp_path, base, line):
    after = fixed(tmp_path, {"net/base.py": base, "net/mine.py": HEIR})
    assert f"{line}\n\nfrom net.base import Base\n" in after
    assert "ops.convert_to_numpy(" in after


@pytest.mark.parametrize(
    ("roots", "line"),
    [
        (["keras", "tensorflow.keras", "tensorflow.keras"], "from tensorflow.keras import ops"),
        (["keras", "keras", "tensorflow.keras"], "from keras import ops"),
        (["keras", "tensorflow.keras"], "from keras import ops"),  # neither is usual
        (["tf_keras", "tf_keras", "keras"], "from keras import ops"),  # it has no `ops`
        (["tensorflow.python.keras", "tensorflow.keras"], "from tensorflow.keras import ops"),
    ],
)
def test_what_most_files_have_counts(tmp_path, roots, line):
    more = {f"net/part_{n}.py": BASE.format(root) for n, root in enumerate(roots)}
    last = {"net/base.py": BASE.format(roots[-1]), "net/mine.py": HEIR}
    del more[f"net/part_{len(roots) - 1}.py"]
    assert line in fixed(tmp_path, more | last)


def test_the_answer_is_the_same_whatever_is_looked_at_first(tmp_path):
    files = {f"net/part_{n}.py": BASE.format("tensorflow.keras") for n in range(5)}
    heirs = {f"net/heir_{n}.py": HEIR for n in range(4)}
    laid_down(tmp_path, files | heirs | {"net/base.py": BASE.format("keras")})
    seen = set()
    paths = [str(each) for each in sorted(tmp_path.glob("net/heir_*.py"))]
    for jobs in (1, 2):
        for order in (paths, paths[::-1], paths[2:3]):
            result = fix(order, unsafe=True, target="keras==3.15.1", jobs=jobs)
            seen |= {each.after for each in result.files}
    assert len(seen) == 1
    assert "from tensorflow.keras import ops" in seen.pop().decode()


def test_the_cache_forgets_it_when_another_file_changes_its_root(tmp_path, monkeypatch):
    monkeypatch.setattr("kdoctor.modules.file_stamp._SETTLES", -(10**12))
    # In folders of their own: nothing else is asked about them.
    more = {f"part_{n}/__init__.py": "" for n in range(2)}
    laid_down(tmp_path, {"net/base.py": BASE.format("keras"), "net/mine.py": HEIR} | more)

    def ask():
        result = scan([tmp_path], target="keras==3.15.1", cache=True)
        return "".join(str(each.fix.diff) for each in result.findings if each.fix)

    assert "+from keras import ops" in ask()
    assert "+from keras import ops" in ask()
    laid_down(tmp_path, dict.fromkeys(more, BASE.format("tensorflow.keras")))
    assert "+from tensorflow.keras import ops" in ask()


def test_a_file_with_a_root_of_its_own_keeps_it_and_no_file_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr("kdoctor.modules.reverse_imports._Project.root", property(pytest.fail))
    own = HEIR.replace(
        "from net", "import tensorflow as tf\nfrom tensorflow.keras import layers\n\nfrom net"
    ).replace("return ", "tf.print(layers.Dense)\n        return ")
    files = {"net/base.py": BASE.format("keras"), "net/mine.py": own}
    assert "from tensorflow.keras import layers, ops\n" in fixed(tmp_path, files)


def test_a_file_that_reads_keras_from_tensorflow_goes_on_so(tmp_path):
    own = HEIR.replace("from net", "import tensorflow as tf\n\nfrom net").replace(
        "return ", "tf.keras.backend.clear_session()\n        return "
    )
    after = fixed(tmp_path, {"net/base.py": BASE.format("keras"), "net/mine.py": own})
    assert "from keras" not in after
    assert "tf.keras.ops.convert_to_numpy(" in after


@pytest.mark.parametrize(
    "above",
    [
        "from net.base import Base\n",
        "from .base import Base\n",
        "from __future__ import annotations\n\nfrom net.base import Base\n",
        "from __future__ import annotations\n\nN = 1\n\nfrom net.base import Base\n",
        "import os\n\nfrom .base import Base\n\nprint(os)\n",
        "import numpy as np\n\nfrom .base import Base\n\nprint(np)\n",
        '"""About."""\n\nfrom . import base\nfrom .base import Base\n\nprint(base)\n',
        '"""About."""\n\nfrom __future__ import annotations\n\nfrom .base import Base\n',
    ],
)
def test_a_new_import_stands_in_the_section_of_other_peoples_packages(tmp_path, above):
    mine = HEIR.replace("from net.base import Base\n", above)
    files = {"net/base.py": BASE.format("keras"), "net/mine.py": mine}
    laid_down(tmp_path, files)
    assert subprocess.run([*RUFF, tmp_path], check=False, capture_output=True).returncode == 0
    assert "import ops\n" in fixed(tmp_path, files, apply=True)
    done = subprocess.run([*RUFF, tmp_path], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
