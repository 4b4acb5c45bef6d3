"""Imports are sorted as the project tells ruff and isort, and lines as long as it has them."""

import random
import subprocess
import sys

import pytest

from kdoctor.engine import fix
from kdoctor.project.code_style import style_of
from kdoctor.project.import_sorting import Sorting

IMPORTS = [
    "import os", "import re", "import sys", "from collections import OrderedDict, defaultdict",
    "import pandas as pd", "from sklearn import metrics", "from zlib import crc32",
    "import own.part", "from own import other", "from keras.layers import Dense, Dropout",
    "from keras import layers", "from keras.models import Model", "import scipy",
    "from keras.utils import to_categorical", "from keras.callbacks import Callback",
]  # fmt: skip
USES = [
    "K.square(x)", "K.variable(x)", "K.cast_to_floatx(x)", "K.count_params(x)", "K.relu(x)",
    "K.random_normal((2, 2))", "K.sum(x, axis=0)", "K.image_data_format()", "K.clear_session()",
]  # fmt: skip
SETTINGS = [
    "",
    "force-sort-within-sections = true",
    "force-single-line = true",
    "force-single-line = true\nforce-sort-within-sections = true",
    "combine-as-imports = true",
    "order-by-type = false",
    "combine-as-imports = true\norder-by-type = false\nforce-sort-within-sections = true",
    'known-first-party = ["own", "sklearn"]',
]
RUFF = (sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "I001", "--quiet")


def drawn(draw):
    chosen = draw.sample(IMPORTS, draw.randint(1, 6))
    keras = draw.choice(["from keras import backend as K", "import keras.backend as K"])
    used = draw.sample(USES, draw.randint(1, 4))
    lines = "".join(f"    x = {use}\n" for use in used)
    bound = [line.split()[-1].strip(",") for line in chosen if " own" not in line]
    return "\n".join([*chosen, keras, "", "", f"def f(x):\n{lines}    return x, {bound}\n"])


def test_ruff_finds_no_new_order_of_imports_whatever_it_is_told(tmp_path):
    draw = random.Random(7)  # noqa: S311 - drawn the same each time
    for number, settings in enumerate(SETTINGS):
        folder = tmp_path / f"project_{number}"
        folder.mkdir()
        (folder / "pyproject.toml").write_text(
            f"[tool.ruff]\nline-length = {draw.choice([60, 88, 120])}\n[tool.ruff.lint.isort]\n{settings}\n"
        )
        for each in range(12):
            (folder / f"code_{each}.py").write_text(drawn(draw))
    subprocess.run([*RUFF, "--fix", tmp_path], check=True)
    before = {path: path.read_text() for path in tmp_path.rglob("*.py")}
    result = fix([tmp_path], apply=True, unsafe=True, target="keras==3.15.1")
    assert not result.left_alone
    assert sum(path.read_text() != text for path, text in before.items()) > len(before) / 2
    found = subprocess.run([*RUFF, "--diff", tmp_path], check=False, capture_output=True, text=True)
    assert found.stdout == ""
    long = [path for path in before if _is_too_long(path)]
    assert not long


def _is_too_long(path):
    limit = style_of(path.parent).line_limit
    return max(map(len, path.read_text().splitlines())) > max(limit, 80)


@pytest.mark.parametrize(
    ("name", "text", "sorting"),
    [
        ("ruff.toml", "[lint.isort]\nforce-single-line = true\n", Sorting(True, single_line=True)),
        (".isort.cfg", "[settings]\nprofile = google\n",
         Sorting(True, by_module=True, single_line=True, by_type=False)),
        ("setup.cfg", "[isort]\nforce_sort_within_sections = True\nknown_first_party = a, b\n",
         Sorting(True, by_module=True, own=("a", "b"))),
        ("pyproject.toml", "[tool.isort]\nprofile = 'black'\ncombine_as_imports = true\n",
         Sorting(True, together=True)),
        ("pyproject.toml", "[tool.isort]\norder_by_type = false\n", Sorting(True, by_type=False)),
        ("tox.ini", "[isort]\nforce_single_line = 1\n", Sorting(True, single_line=True)),
        ("setup.cfg", "[flake8]\nmax-line-length = 70\n", Sorting()),
    ],
)  # fmt: skip
def test_what_a_project_says_of_its_imports_is_read(tmp_path, name, text, sorting):
    (tmp_path / name).write_text(text)
    assert style_of(tmp_path).sorting == sorting


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("[*]\nmax_line_length = 72\n", 72),
        ("root = true\n\n[*]\nmax_line_length = 72\n[*.py]\nmax_line_length = 99\n", 99),
        ("[*.{py,pyi}]\nmax_line_length = 90\n[*.md]\nmax_line_length = 20\n", 90),
        ("[*.js]\nmax_line_length = 20\n", None),
        ("[*]\nmax_line_length = off\n", None),
    ],
)
def test_what_editors_are_told_counts_as_well(tmp_path, text, limit):
    (tmp_path / ".editorconfig").write_text(text)
    assert style_of(tmp_path).line_limit == limit


@pytest.mark.parametrize(
    ("name", "text", "limit"),
    [
        ("pyproject.toml", "[tool.black]\ntarget-version = ['py311']\n", 88),
        ("pyproject.toml", "[tool.ruff.lint]\nselect = ['ALL']\n", 88),
        ("ruff.toml", "[lint]\nselect = ['ALL']\n", 88),
        ("ruff.toml", "extend = '../ruff.toml'\n", None),
        ("setup.cfg", "[isort]\nprofile = black\n", 88),
        ("setup.cfg", "[flake8]\nexclude = build\n", 79),
        ("tox.ini", "[pycodestyle]\nstatistics = True\n", 79),
        (".flake8", "[flake8]\nignore = E203,E501\n", None),
        (".flake8", "[flake8]\nextend-ignore = E5\n", None),
        (".flake8", "[flake8]\nmax-line-length = 130\n", 130),
        ("pyproject.toml", "[tool.black]\nline-length = 100\n[tool.ruff.lint]\n", 100),
        ("pyproject.toml", "[project]\nname = 'x'\n", None),
    ],
)
def test_a_tool_that_is_told_no_limit_has_its_usual_one(tmp_path, name, text, limit):
    (tmp_path / name).write_text(text)
    assert style_of(tmp_path).line_limit == limit


def test_each_project_of_a_repository_has_the_lines_that_it_asks_for(tmp_path):
    source = (
        "from keras import backend as K\n\n\ndef f(x, y):\n"
        "    return K.sum(K.square(x), axis=-1) + K.sum(K.square(y), axis=-1)\n"
    )
    (tmp_path / ".git").mkdir()
    (tmp_path / "ruff.toml").write_text("line-length = 120\n")
    for name, limit in {"one": 70, "two": 100}.items():
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "setup.cfg").write_text(f"[flake8]\nmax-line-length = {limit}\n")
        (tmp_path / name / "inner" / "code.py").write_text(source)
    (tmp_path / "code.py").write_text(source)
    fix([tmp_path], apply=True, target="keras==3.15.1")
    paths = [tmp_path / "one/inner/code.py", tmp_path / "two/inner/code.py", tmp_path / "code.py"]
    counts = [path.read_text().count("\n") for path in paths]
    assert counts[0] > counts[1] == counts[2] == source.count("\n")


def test_the_limit_of_another_folder_is_not_in_the_cache(tmp_path):
    path = tmp_path / "code.py"
    (tmp_path / ".git").mkdir()
    path.write_text(
        "from keras import backend as K\n\n\ndef f(x, y):\n"
        "    return K.sum(K.square(x), axis=-1) + K.sum(K.square(y), axis=-1)\n"
    )
    first = fix([path], target="keras==3.15.1", cache=True).files[0].after
    (tmp_path / ".editorconfig").write_text("[*]\nmax_line_length = 70\n")
    second = fix([path], target="keras==3.15.1", cache=True).files[0].after
    assert second.count(b"\n") > first.count(b"\n")


def test_names_that_have_a_line_each_go_on_having_one(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(
        "from keras import activations\nfrom keras import backend as K\nfrom keras import layers\n\n\n"
        "def f(x):\n    return activations.relu(layers.ReLU()(K.square(K.variable(x))))\n"
    )
    fix([path], apply=True, target="keras==3.15.1")
    head = path.read_text().partition("\n\n\n")[0].split("\n")
    assert all(line.count(",") == 0 for line in head)
    assert "from keras import ops" in head
