"""A definition is sliced with what it needs; nothing that trains, reads or sends runs."""

from __future__ import annotations

import json
import sys

import pytest

from kdoctor.verify.user.interpreter import choose
from kdoctor.verify.user.local_modules import place_of
from kdoctor.verify.user.slicing import NotSliced, Sliced
from kdoctor.verify.user.sources import sources_of


@pytest.fixture
def module(tmp_path):
    def make(text, **others):
        for name, content in others.items():
            path = tmp_path / f"{name.replace('_in_', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        main = tmp_path / "main.py"
        main.write_text(text)
        return Sliced(text, place_of(main), lambda place: place.path.read_text())

    return make


def lines_of(found, piece=0):
    return [line for line in found.pieces[piece].text.split("\n") if line]


def test_a_slice_has_only_what_is_needed_and_keeps_line_numbers(module):
    text = "import keras\nimport os\nW = 2 * 3\nos.remove('x')\n\n\ndef f(x):\n    return W * x\n"
    found = module(text).slice("f")
    assert lines_of(found) == ["W = 2 * 3", "def f(x):", "    return W * x"]
    assert found.pieces[0].text.split("\n").index("def f(x):") == 6


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\r\r\n"])
def test_lines_end_where_python_ends_lines(module, newline):
    text = newline.join(["W = 2", "os.remove('x')", "def f(x):", "    return W * x", ""])
    assert lines_of(module(text).slice("f")) == ["W = 2", "def f(x):", "    return W * x"]
    (source,) = sources_of("main.py", text.encode(), text.encode())
    assert len(source.places) == len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def test_probing_a_python_runs_no_modules_of_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit(1)\n")
    assert choose(str(tmp_path), sys.executable).path == sys.executable


def test_an_import_loses_the_names_that_are_not_needed(module):
    found = module("from keras.layers import Dense, Gone\ndef f():\n    return Dense(1)\n").slice(
        "f"
    )
    assert lines_of(found)[0] == "from keras.layers import Dense"
    assert found.frameworks == {"keras"}


def test_a_local_variable_of_the_same_name_is_not_needed(module):
    found = module("x = open('data').read()\ndef f(x):\n    return x\n").slice("f")
    assert lines_of(found) == ["def f(x):", "    return x"]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("import numpy as np\nW = np.load('w')\ndef f(x):\n    return x * W", 2, "np.load()"),
        ("while True:\n    W = 1\ndef f(x):\n    return x * W", 1, "a loop"),
        ("for W in m.fit(1):\n    pass\ndef f(x):\n    return x * W", 1, "m.fit()"),
        ("for W in range(3):\n    m.fit(1)\ndef f(x):\n    return x * W", 2, "m.fit()"),
        ("if x:\n    m.fit(1)\n    W = 1\ndef f(x):\n    return x * W", 2, "m.fit()"),
        ("import cv2\nW = cv2.thing()\ndef f(x):\n    return x * W", 2, "cv2"),
        ("def g():\n    m.fit(1)\nW = g()\ndef f(x):\n    return x * W", 3, "fit()"),
        ("m = make()\ndef f(x):\n    return m(x)", 1, "undefined or comes from a star import"),
        ("with open('a') as W:\n    pass\ndef f(x):\n    return W", 1, "open() reads"),
    ],
)
def test_a_value_with_side_effects_is_a_reason(module, text, line, told):
    with pytest.raises(NotSliced, match="it needs") as refusal:
        module(text).slice("f")
    assert refusal.value.line == line
    assert told in refusal.value.why


def test_guarded_imports_and_settings_are_kept(module):
    text = (
        "try:\n    from keras import ops\nexcept ImportError:\n    ops = None\n"
        "from keras import backend as K\nK.set_epsilon(1e-3)\nK.clear_session()\n"
        "def f(x):\n    return ops.exp(x)\n"
    )
    found = lines_of(module(text).slice("f"))
    assert "    ops = None" in found
    assert "K.set_epsilon(1e-3)" in found
    assert "K.clear_session()" not in found


def test_a_decorator_a_base_and_a_default_are_needed(module):
    text = "def d(f):\n    return f\nN = 3\n\nclass B:\n    pass\n@d\nclass A(B):\n    def g(self, n=N):\n        pass\n"
    found = lines_of(module(text).slice("A"))
    assert {"def d(f):", "N = 3", "class B:", "@d", "class A(B):"} <= {*found}


def test_statements_on_one_line_are_separated(module):
    found = lines_of(module("a = 1; train(); b = 2\ndef f():\n    return a + b\n").slice("f"))
    assert found[0] == "a = 1; b = 2"


def test_modules_of_the_project_are_sliced_as_well(module):
    found = module(
        "from pkg.losses import dice\nfrom pkg import other\ndef f(a, b):\n    return dice(a, b) + other.g(a)\n",
        pkg_in___init__="import nowhere\n",
        pkg_in_losses="from keras import backend as K\nimport nowhere\ndef dice(a, b):\n    return K.sum(a * b)\ntrain()\n",
        pkg_in_other="from . import losses\ndef g(a):\n    return losses.dice(a, a)\n",
    ).slice("f")
    assert {piece.name for piece in found.pieces} == {"main", "pkg", "pkg.losses", "pkg.other"}
    texts = {piece.name: piece.text for piece in found.pieces}
    assert "nowhere" not in texts["pkg"] + texts["pkg.losses"]
    assert "train()" not in texts["pkg.losses"]
    assert found.frameworks == {"keras"}


def test_a_reason_in_another_module_names_it(module):
    main = module(
        "from data import W\ndef f(x):\n    return x * W\n",
        data="import numpy as np\nW = np.loadtxt('w')\n",
    )
    with pytest.raises(NotSliced, match=r"in data, it needs W: np\.loadtxt\(\)"):
        main.slice("f")


def test_a_module_used_as_a_whole_keeps_its_constants_and_reexports(module):
    found = module(
        "from pkg import ops\ndef f(x):\n    return ops.scale(x) * ops.RATE\n",
        pkg_in___init__="",
        pkg_in_ops="from .one import *\nfrom .two import scale\nRATE = 0.5\nSEEN = open('x').read()\n",
        pkg_in_one="def other(x):\n    return x\n",
        pkg_in_two="def scale(x):\n    return x\n",
    ).slice("f")
    texts = {piece.name: piece.text for piece in found.pieces}
    assert "RATE = 0.5" in texts["pkg.ops"]
    assert "def other" in texts["pkg.one"]
    assert "def scale" in texts["pkg.two"]


def test_a_definition_that_depends_on_side_effects_is_dropped_with_them(module):
    found = module(
        "from pkg import ops\ndef f(x):\n    return ops.g(x)\n",
        pkg_in___init__="",
        pkg_in_ops="SEEN = open('x').read()\ndef g(x):\n    return x\ndef h(x):\n    return SEEN\n",
    ).slice("f")
    texts = {piece.name: piece.text for piece in found.pieces}
    assert "def g" in texts["pkg.ops"]
    assert "open" not in texts["pkg.ops"]
    assert "def h" not in texts["pkg.ops"]


def test_names_needed_besides_a_whole_module_are_kept(module):
    numbers = [f"N{number}" for number in range(9)]  # some of them are looked up after the module
    found = module(
        "from pkg import ops\n"
        + "".join(f"{each} = 3\n" for each in numbers)
        + f"def f(x):\n    return ops.g(x) * {' * '.join(numbers)}\n",
        pkg_in___init__="",
        pkg_in_ops="def g(x):\n    return x\n",
    ).slice("f")
    assert {"from pkg import ops", *(f"{each} = 3" for each in numbers)} <= {*lines_of(found)}


def test_reading_the_clock_the_environment_or_random_numbers_is_allowed(module):
    text = (
        "import os, random, time\nROOM = os.environ.get('ROOM', 'x')\nAT = os.path.join(ROOM, 'y')\n"
        "SEED = random.random() + time.time()\ndef f(x):\n    return x, AT, SEED\n"
    )
    found = lines_of(module(text).slice("f"))
    assert found[1:4] == text.split("\n")[1:4]
    with pytest.raises(NotSliced):
        module("import os\nA = os.replace('a', 'b')\ndef f(x):\n    return A\n").slice("f")


def test_a_function_of_another_module_of_the_project_may_be_called(module):
    text = (
        "from pkg.marks import mark, send\nRATE = mark(3)\nSENT = send(3)\n"
        "@mark(1)\ndef f(x):\n    return x * RATE\n\n\ndef g(x):\n    return x * SENT\n"
    )
    marks = "def mark(x):\n    return x\n\n\ndef send(x):\n    return m.fit(x)\n"
    made = module(text, pkg_in___init__="", pkg_in_marks=marks)
    assert [each.name for each in made.slice("f").pieces] == ["main", "pkg", "pkg.marks"]
    with pytest.raises(NotSliced) as refusal:
        made.slice("g")
    assert "send() calls fit() on line 6" in refusal.value.why


def test_a_script_finds_the_modules_at_the_root_of_its_project(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    for folder, text in (("tests", ""), ("src/pkg", "def d(x):\n    return x\n"), ("json", "")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").write_text(text)
    (tmp_path / "tests" / "__init__.py").unlink()
    path = tmp_path / "tests" / "check.py"
    text = "import json\nfrom pkg import d\ndef f(x):\n    return d(json.dumps(x))\n"
    path.write_text(text)
    made = Sliced(text, place_of(path), lambda place: place.path.read_text())
    assert [each.name for each in made.slice("f").pieces] == ["check", "pkg"]


def test_a_line_of_a_notebook_is_named_with_its_cell():
    cells = [["import keras\n"], ["x = 1\n", "def f(y):\n", "    return y"]]
    made = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": each,
        }
        for each in cells
    ]
    text = json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    (source,) = sources_of("a.ipynb", text, text)
    line = source.before.split("\n").index("def f(y):") + 1
    assert source.place(line) == (2, 2)
    assert source.where(line) == "line 2 of cell 2"


def test_the_names_that_a_setting_needs_are_kept(module):
    made = module(
        "import keras.backend as K\nfrom pkg.net import g\nFORMAT = 'channels_first'\n"
        "K.set_image_data_format(FORMAT)\nprint(K.floatx())\ndef f(x):\n    return g(x)\n",
        pkg_in___init__="",
        pkg_in_net="from keras import config\nconfig.set_epsilon(1e-5)\ndef g(x):\n    return x\n",
    )
    found = made.slice("f")
    assert lines_of(found)[:4] == [
        "import keras.backend as K",
        "from pkg.net import g",
        "FORMAT = 'channels_first'",
        "K.set_image_data_format(FORMAT)",
    ]
    net = next(number for number, each in enumerate(found.pieces) if each.name == "pkg.net")
    assert lines_of(found, net)[:2] == ["from keras import config", "config.set_epsilon(1e-5)"]


@pytest.mark.parametrize(
    "change",
    [
        "W.append(3)",
        "W[0] = 3",
        "W.kept = 3",
        "for each in range(3):\n    W.append(each)",
        "if W:\n    W.extend([1])",
    ],
)
def test_statements_that_change_a_value_are_kept_with_it(module, change):
    found = module(f"W = []\n{change}\ndef f(x):\n    return W + x\n").slice("f")
    assert lines_of(found) == ["W = []", *change.split("\n"), "def f(x):", "    return W + x"]


def test_a_value_changed_by_a_statement_that_must_not_run_is_a_reason(module):
    text = "W = []\nW.append(model.fit(1))\ndef f(x):\n    return W + x\n"
    with pytest.raises(NotSliced, match=r"it needs W: model.fit\(\) reads, writes, trains"):
        module(text).slice("f")


def test_assignments_in_an_imported_module_are_not_needed(module):
    text = "import os\nos.environ['A'] = main.fit(1)\ndef f(x):\n    return os.sep + x\n"
    assert "environ" not in module(text).slice("f").pieces[0].text


def test_code_that_cannot_use_keras_is_recognised_without_running_it(module):
    text = (
        "import tensorflow as tf\nimport other\nfrom not_here import Experiment\n"
        "data = Experiment()\n@data.config\ndef settings(): pass\n"
        "@data.config\ndef size(x): return tf.size(x)\n"
        "@data.config\ndef mine(x): return other.f(x)\n"
        "def inner(x):\n    import keras\n    return data\n"
        "def calls(x): return size(data)\n"
    )
    main = module(text, other="")
    found = {each for each in main.bound if main.may_need_keras(each)}
    assert found == {"tf", "other", "size", "mine", "inner", "calls"}


def test_a_star_import_in_a_branch_is_followed_and_kept_if_needed(module):
    text = (
        "from keras import backend as K\n"
        "if K.backend() == 'theano':\n    from theirs import *\nelse:\n    from ours import *\n"
        "def uses(x):\n    return K.sum(moments(x))\n"
        "def other(x):\n    return K.sum(x)\n"
    )
    ours = "from keras import backend as K\ndef moments(x):\n    return K.mean(x)\n"
    main = module(
        text, ours=ours, theirs="import theano\ndef other_one(x):\n    return theano.f(x)\n"
    )
    uses = main.slice("uses")
    assert [piece.name for piece in uses.pieces] == ["main", "ours"]
    assert "    from ours import *" in lines_of(uses)
    assert lines_of(uses, 1) == ours.splitlines()
    assert "import *" not in main.slice("other").pieces[0].text
    assert len(main.slice("other").pieces) == 1


def test_a_module_used_as_a_whole_reexports_star_imports_in_branches(module):
    branch = "import keras\nif keras.backend.backend() == 'x':\n    from deep import *\n"
    main = module(
        "import middle\ndef f(x):\n    return middle.deepest(x)\n",
        middle=branch,
        deep="import keras\ndef deepest(x):\n    return keras.ops.abs(x)\n",
    )
    found = main.slice("f")
    assert [piece.name for piece in found.pieces] == ["main", "middle", "deep"]
    assert "    from deep import *" in lines_of(found, 1)


def test_a_function_in_a_module_of_the_project_may_be_called(module):
    tools = (
        "import os\ndef mark(f):\n    return f\ndef clean(f):\n    os.remove('x')\n    return f\n"
    )
    text = (
        "import tools\nfrom folder import inner\n@tools.mark\ndef f(x): return x\n"
        "@inner.mark(1)\ndef g(x): return x\n@tools.clean(1)\ndef h(x): return x\n"
    )
    main = module(text, tools=tools, folder_in_inner=tools.replace("(f)", "(n)"))
    assert [piece.name for piece in main.slice("f").pieces] == ["main", "tools"]
    assert main.slice("g").pieces[-1].name == "folder.inner"
    with pytest.raises(NotSliced, match=r"tools.clean\(\) calls remove\(\) on line 5"):
        main.slice("h")


def test_a_name_is_followed_through_circular_star_imports_of_packages(module):
    main = module(
        "from .package_ import Warm\ndef f(x):\n    return Warm(x)\n",
        __init__="",
        package__in___init__="from .inner import *\n",
        package__in_inner="from .deeper import *\nfrom . import *\n",
        package__in_deeper="import keras\nfrom .inner import *\nWarm = keras.ops.abs\n",
    )
    main.place.path.with_name("__init__.py").write_text("")
    found = Sliced(main.text, place_of(main.place.path), main.read).slice("f")
    texts = {
        piece.name.partition(".")[2]: lines_of(found, n) for n, piece in enumerate(found.pieces)
    }
    assert texts["package_.deeper"][0] == "import keras"
    assert texts["package_.deeper"][-1] == "Warm = keras.ops.abs"
    assert texts["package_"] == ["from .inner import *"]


def test_a_parent_package_drops_star_imports_that_are_not_needed(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    star = "from .wanted import *\nfrom .other import *\nfrom keras.layers import *\n"
    (package / "__init__.py").write_text(star)
    (package / "other.py").write_text("import nowhere\nb = nowhere.b\n")
    (package / "wanted.py").write_text("import keras\ndef f():\n    return keras\n")
    text = "from .wanted import f\ndef g():\n    return f()\n"
    (package / "user.py").write_text(text)
    place = place_of(package / "user.py")
    found = Sliced(text, place, lambda other: other.path.read_text()).slice("g")
    assert {each.name for each in found.pieces} == {"package", "package.user", "package.wanted"}
    above = next(each for each in found.pieces if each.name == "package")
    # The other module is not there: its import would fail, and all of the package with it.
    lines = [line for line in above.text.split("\n") if line]
    assert lines == ["from .wanted import *", "from keras.layers import *"]
