"""What a scan learns of a file's parameters, attributes and calls from the project's other files."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import kdoctor

TARGET = "keras==3.15.1"
HEAD = "from tensorflow.keras import Input, Model, Sequential, layers\n"
# What the file itself tells nothing of: only a model has no `fit_generator` any more.
LIB = HEAD + "def f(net, n=None):\n    return net.predict_classes(n)\n"
GIVEN = "Sequential([layers.Dense(1)])"


@pytest.fixture
def found(tmp_path):
    """Write a project, scan one file of it, return the lines with a finding of members."""

    def ask(files: dict[str, str], path: str = "lib.py", **options: object) -> list[int]:
        for name, text in ({"setup.py": ""} | files).items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        result = kdoctor.scan(
            [tmp_path / path],
            target=TARGET,
            isolated=True,
            select=["KD2"],
            jobs=1,
            project_types=True,
            **options,
        )
        assert not result.unreadable
        return [each.place.line for each in result.findings]

    return ask


def uses(code: str, start: str = "from lib import f\n") -> dict[str, str]:
    return {"lib.py": LIB, "use.py": f"{HEAD}{start}{code}"}


@pytest.mark.parametrize(
    ("start", "code"),
    [
        ("from lib import f\n", f"f({GIVEN})"),
        ("from lib import f\n", f"f(net={GIVEN})"),
        ("from lib import f as g\n", f"g({GIVEN})"),
        ("import lib\n", f"lib.f({GIVEN})"),
        ("import lib as tools\n", f"tools.f({GIVEN})"),
        ("from lib import *\n", f"f({GIVEN})"),
        ("from lib import f\n", f"model = {GIVEN}\nfor _ in range(3):\n    f(model, 1)"),
        ("from lib import f\n", f"def test():\n    f({GIVEN})\n    f(Sequential())"),
        ("from lib import f\n", f"f({GIVEN})\nf(None)"),
        ("from lib import f\n", f"x = Input((3,))\nf(Model(x, x))\nf({GIVEN})"),
        ("from lib import f\n", f"print(f({GIVEN}), isinstance(1, int))"),
        ("from lib import f\n__all__ = ['f']\n", f"f({GIVEN})"),
        ("from lib import f\n", f"run = lambda: f({GIVEN})"),
    ],
)
def test_a_parameter_has_what_calls_in_other_files_pass(found, start, code):
    assert found(uses(code, start)) == [3]


@pytest.mark.parametrize(
    "code",
    [
        "",
        "f(make())",
        "f(1)",
        "f('net')",
        f"f({GIVEN})\nf(make())",
        f"f({GIVEN})\nf(layers.Dense(1))",
        f"f(*[{GIVEN}])",
        f"f(**dict(net={GIVEN}))",
        f"f({GIVEN})\nf(*rest)",
        f"f({GIVEN})\nrun(f)",
        f"f({GIVEN})\ncalls = [f]",
        f"f({GIVEN})\ncalls = {{'f': f}}",
        f"f({GIVEN})\nlist(map(f, nets))",
        f"f({GIVEN})\ng = f\ng(make())",
        f"f({GIVEN})\nfrom functools import partial\npartial(f, make())()",
        f"f({GIVEN})\nThread(target=f, args=(make(),)).start()",
        f"f({GIVEN})\nwrapped = retry(f)",
        f"f({GIVEN})\n@f\ndef g(): ...",
        f"f({GIVEN})\nf.delay(make())",
        f"f({GIVEN})\ndef g(call=f):\n    call(make())",
        f"f({GIVEN})\nclass A:\n    run = f",
        f"f({GIVEN})\ndef g():\n    return f",
        f"f({GIVEN})\ndef g():\n    yield f",
        f"f({GIVEN})\nself.f = f",
        f"f({GIVEN})\nf, g = g, f",
        f"f({GIVEN})\nprint(f'{{f(make())}}')",
        f"f({GIVEN})\nprint(f'{{f}}')",
        f"f({GIVEN})\nsorted(nets, key=f)",
        f"f({GIVEN})\nnets.apply(f)",
        f"f({GIVEN})\n(f or g)(make())",
        f"f({GIVEN})\n(f if a else g)(make())",
        f"f({GIVEN})\nimport lib\ngetattr(lib, 'f')(make())",
        f"f({GIVEN})\nimport lib\nlib.f(make())",
        f"f({GIVEN})\nimport lib\nlib.f = other",
        f"f({GIVEN})\nimport lib\nfor each in [lib]:\n    each.f(make())",
        f"f({GIVEN})\nimport lib\nrun(lib)\nthing.f(make())",
        f"f({GIVEN})\nfrom unittest import mock\nmock.patch('lib.f')",
        f"f({GIVEN})\nfrom importlib import import_module\nimport_module('lib').f(make())",
        f"f({GIVEN})\neval('f')(make())",
        f"f({GIVEN})\nglobals()['f'](make())",
        f"from tf_keras import Sequential\nf({GIVEN})",
        f"import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nf({GIVEN})",
    ],
)
def test_nothing_is_known_where_something_unknown_may_be_passed(found, code):
    assert found(uses(code)) == []


@pytest.mark.parametrize(
    "definition",
    [
        "@wrapped\ndef f(net):\n    net.predict_classes(1)\n",
        "async def f(net):\n    net.predict_classes(1)\n",
        "def f(*net):\n    net.predict_classes(1)\n",
        "def f(net=1):\n    net.predict_classes(1)\n",
        "def f(net: int):\n    net.predict_classes(1)\n",
        "def f(net):\n    net.predict_classes(1)\nf = wrapped(f)\n",
        "def f(net):\n    net.predict_classes(1)\ncalls = {'f': f}\n",
        "def f(net):\n    net.predict_classes(1)\ndef g(name):\n    return globals()[name]\n",
        "def f(net):\n    net.predict_classes(1)\nf(make())\n",
        "def f(net):\n    net.predict_classes(1)\ndef f(net):\n    net.predict_classes(1)\n",
        "if x:\n    def f(net):\n        net.predict_classes(1)\n",
        "def f(net):\n    net = make()\n    net.predict_classes(1)\n",
    ],
)
def test_nothing_is_known_of_a_function_that_may_be_another(found, definition):
    files = {"lib.py": HEAD + definition, "use.py": f"{HEAD}from lib import f\nf({GIVEN})\n"}
    assert found(files) == []


def test_a_name_of_another_module_is_not_the_function(found):
    other = {"other.py": "def f(x): ...\n", "more.py": "from other import f\nf(1)\nrun(f)\n"}
    assert found(uses(f"f({GIVEN})") | other) == [3]


def test_a_re_export_of_a_package_is_the_function(found):
    files = {
        "pkg/__init__.py": "from .lib import f\n",
        "pkg/lib.py": LIB,
        "tests/test_it.py": f"{HEAD}import pkg\npkg.f({GIVEN})\n",
    }
    assert found(files, "pkg/lib.py") == [3]
    files["tests/test_more.py"] = "from pkg import f\nf(make())\n"
    assert found(files, "pkg/lib.py") == []


CLASS = (
    HEAD + "class Agent:\n    def __init__(self, net):\n        self.net = net\n"
    "    def act(self, x):\n        return self.net.predict_classes(x)\n"
)


@pytest.mark.parametrize(
    "code",
    [
        f"Agent({GIVEN})",
        f"class Mine(Agent):\n    def __init__(self):\n        super().__init__({GIVEN})",
        f"class Mine(Agent):\n    pass\nMine({GIVEN})",
        f"def test(agent: Agent):\n    isinstance(agent, Agent)\n    Agent(net={GIVEN}).act(1)",
    ],
)
def test_an_attribute_has_what_the_constructor_is_called_with(found, code):
    files = {"lib.py": CLASS, "use.py": f"{HEAD}from lib import Agent\n{code}\n"}
    assert found(files) == [6]


@pytest.mark.parametrize(
    "code",
    [
        "Agent(make())",
        f"Agent({GIVEN})\nclass Mine(Agent):\n    pass\nMine(make())",
        f"Agent({GIVEN})\nclass Mine(Agent):\n    def __init__(self, x): super().__init__(x)",
        f"Agent({GIVEN})\nclass Mine(Agent, Other):\n    pass",
        f"Agent({GIVEN})\nclass Mine(Agent):\n    @classmethod\n    def new(cls): cls(make())",
        f"Agent({GIVEN})\nregistry = {{'agent': Agent}}",
        f"Agent({GIVEN})\nload(custom_objects={{'Agent': Agent}})",
        f"Agent({GIVEN})\nAgent.__new__(Agent)",
        f"Agent({GIVEN})\ndef make_one(kind=Agent):\n    return kind(make())",
        f"Agent({GIVEN})\nAgent.__init__(thing, make())",
        f"Agent({GIVEN})\nagent.net = 1\ntype(agent)(make())\nkinds = [Agent]",
    ],
)
def test_nothing_is_known_of_a_constructor_that_is_called_unseen(found, code):
    files = {"lib.py": CLASS, "use.py": f"{HEAD}from lib import Agent\n{code}\n"}
    assert found(files) == []


METHOD = HEAD + "class Agent:\n    def act(self, net):\n        return net.predict_classes(1)\n"


def test_a_method_takes_what_all_calls_of_that_name_pass(found):
    start = f"{HEAD}from lib import Agent\n"
    assert found({"lib.py": METHOD, "use.py": f"{start}Agent().act({GIVEN})\n"}) == [4]
    for more in ("other.act(make())", "run(agent.act)", "getattr(agent, 'act')(make())"):
        assert found({"lib.py": METHOD, "use.py": f"{start}Agent().act({GIVEN})\n{more}\n"}) == []


def test_a_method_that_a_foreign_base_may_call_is_not_known(found):
    lib = METHOD.replace("class Agent:", "class Agent(Foreign):")
    use = f"{HEAD}from lib import Agent\nAgent().act({GIVEN})\n"
    assert found({"lib.py": lib, "use.py": use}) == []


def test_a_call_has_what_a_function_of_another_file_returns(found):
    lib = f"{HEAD}def make():\n    x = Input((3,))\n    return layers.Dense(4)(x)\n"
    use = "from tensorflow.keras import layers\nfrom lib import make\nx = make()\nx.get_shape()\n"
    assert found({"lib.py": lib, "use.py": use}, "use.py") == [4]
    unknown = lib.replace("    return", "    if a:\n        return thing()\n    return")
    assert found({"lib.py": unknown, "use.py": use}, "use.py") == []


def test_an_attribute_has_what_a_base_class_in_another_file_sets(found):
    base = f"{HEAD}class Base:\n    def __init__(self):\n        self.net = {GIVEN}\n"
    use = (
        "from tensorflow.keras import layers\nfrom base import Base\nclass Mine(Base):\n"
        "    def run(self, x):\n        return self.net.predict_classes(x)\n"
    )
    assert found({"base.py": base, "use.py": use}, "use.py") == [5]
    other = base + "    def reset(self):\n        self.net = make()\n"
    assert found({"base.py": other, "use.py": use}, "use.py") == []


def test_tf_keras_objects_that_come_from_another_file_stay_unknown(found):
    lib = "from tf_keras import Sequential\ndef make():\n    return Sequential()\n"
    use = "import keras\nfrom lib import make\nx = make()\nx.get_layer_names()\nx.predict_classes(1)\n"
    assert found({"lib.py": lib, "use.py": use}, "use.py") == []


def test_files_that_ask_each_other_come_to_an_end(found):
    files = {
        "a.py": f"{HEAD}import b\ndef f(x):\n    b.g(x)\n    x.predict_classes(1)\n",
        "b.py": f"{HEAD}import a\ndef g(x):\n    a.f(x)\n    x.predict_classes(1)\n",
    }
    assert found(files, "a.py") == []
    assert found(files, "b.py") == []


def lines(result: kdoctor.ScanResult) -> list[tuple[str, int, str]]:
    return [(Path(each.place.path).name, each.place.line, each.message) for each in result.findings]


def test_neither_the_order_of_files_nor_who_is_named_counts(tmp_path, monkeypatch):
    files = {
        "setup.py": "",
        "lib.py": LIB,
        "models.py": f"{HEAD}def make():\n    return {GIVEN}\n",
        "use.py": f"{HEAD}from lib import f\nfrom models import make\nf({GIVEN})\n",
        "more.py": f"{HEAD}from models import make\nmake().predict_classes(1)\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    options = {"target": TARGET, "project_types": True, "isolated": True}
    whole = lines(kdoctor.scan(["."], jobs=1, **options))
    assert {name for name, _, _ in whole} == {"lib.py", "more.py"}
    assert lines(kdoctor.scan(["."], jobs=2, **options)) == whole
    assert lines(kdoctor.scan(["."], jobs=1, gate=False, **options)) == whole
    for order in itertools.permutations(["lib.py", "models.py", "use.py", "more.py"]):
        alone = [each for name in order for each in lines(kdoctor.scan([name], **options))]
        assert sorted(alone) == sorted(whole)


def test_the_cache_knows_that_another_file_passes_something_else(tmp_path, monkeypatch):
    for name, text in uses(f"f({GIVEN})").items():
        (tmp_path / name).write_text(text)
    (tmp_path / "setup.py").write_text("")
    monkeypatch.chdir(tmp_path)
    options = {"target": TARGET, "project_types": True, "isolated": True, "cache": True, "jobs": 1}
    assert [line for _, line, _ in lines(kdoctor.scan(["lib.py"], **options))] == [3]
    assert [line for _, line, _ in lines(kdoctor.scan(["lib.py"], **options))] == [3]
    (tmp_path / "more.py").write_text("from lib import f\nf(make())\n")  # a file that was not there
    assert lines(kdoctor.scan(["lib.py"], **options)) == []
    (tmp_path / "more.py").write_text("import lib\n")
    assert [line for _, line, _ in lines(kdoctor.scan(["lib.py"], **options))] == [3]
    (tmp_path / "use.py").write_text(f"{HEAD}from lib import f\nf(layers.Dense(1))\n")
    assert lines(kdoctor.scan(["lib.py"], **options)) == []


def test_the_cache_knows_on_what_a_second_answer_of_a_file_rests(tmp_path, monkeypatch):
    """What the first question found out of the file between is not found out again."""
    lib = (
        HEAD
        + "from base import Maker\n"
        + "".join(f"def make_{n}():\n    return Maker([layers.Dense(1)])\n" for n in (1, 2))
    )
    files = {"setup.py": "", "base.py": "Maker = object\n", "lib.py": lib} | {
        f"use_{n}.py": f"{HEAD}from lib import make_{n}\nmake_{n}().predict_classes(1)\n"
        for n in (1, 2)
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    options = {"target": TARGET, "project_types": True, "isolated": True, "cache": True, "jobs": 1}
    asking = ["use_1.py", "use_2.py"]
    assert lines(kdoctor.scan(asking, **options)) == []
    (tmp_path / "base.py").write_text(f"{HEAD}Maker = Sequential\n")
    found = lines(kdoctor.scan(asking, **options))
    assert [(name, line) for name, line, _ in found] == [("use_1.py", 3), ("use_2.py", 3)]


def test_types_are_followed_but_where_an_option_or_the_settings_say_no(tmp_path, monkeypatch):
    for name, text in uses(f"f({GIVEN})").items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    options = {"target": TARGET, "jobs": 1, "select": ["KD205"]}
    assert [at for _, at, _ in lines(kdoctor.scan(["lib.py"], **options))] == [3]
    assert lines(kdoctor.scan(["lib.py"], project_types=False, **options)) == []
    (tmp_path / "kdoctor.toml").write_text("project-types = false\n")
    assert lines(kdoctor.scan(["lib.py"], **options)) == []
    followed = lines(kdoctor.scan(["lib.py"], project_types=True, **options))
    assert [line for _, line, _ in followed] == [3]


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_has_the_findings_alone_that_it_has_in_a_scan_of_its_folder(
    tmp_path, monkeypatch, cache, jobs
):
    files = {
        "setup.py": "",
        "pkg/__init__.py": "from .lib import f\n",
        "pkg/lib.py": LIB,
        "pkg/base.py": f"{HEAD}class Base:\n    def __init__(self):\n        self.net = {GIVEN}\n",
        "pkg/mine.py": f"{HEAD}from .base import Base\nclass Mine(Base):\n"
        "    def run(self, x):\n        return self.net.predict_classes(x)\n",
        "pkg/make.py": f"{HEAD}def make():\n    x = Input((3,))\n    return layers.Dense(1)(x)\n",
        "tests/test_it.py": f"{HEAD}import pkg\nfrom pkg.make import make\n"
        f"pkg.f({GIVEN})\nmake().get_shape()\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    options = {
        "target": TARGET,
        "project_types": True,
        "isolated": True,
        "cache": cache,
        "jobs": jobs,
    }
    whole = lines(kdoctor.scan(["."], **options))
    assert {name for name, _, _ in whole} == {"lib.py", "mine.py", "test_it.py"}
    alone = [each for name in files for each in lines(kdoctor.scan([name], **options))]
    assert sorted(alone) == sorted(whole)


def test_what_one_class_alone_has_is_told_in_no_file_that_does_not_name_it(found):
    """The gate asks by the names of classes: what it does not see, no rule must tell."""
    use = f"{HEAD}from lib import f\nf(layers.Normalization())\n"
    lib = HEAD + "def f(layer):\n    layer.vocab_size\n    layer.get_output_at(0)\n"
    for options in ({}, {"gate": False}):
        assert found({"lib.py": lib, "use.py": use}, **options) == [4]


def test_a_sequential_of_another_file_may_be_called_there(tmp_path):
    lib = f"{HEAD}class A:\n    def __init__(self, net):\n        self.net = net\n"
    lib += "    def out(self):\n        return self.net.output\n"
    use = f"{HEAD}from lib import A\nnet = {GIVEN}\nnet(Input((3,)))\nA(net)\n"
    for name, text in {"setup.py": "", "lib.py": lib, "use.py": use}.items():
        (tmp_path / name).write_text(text)
    result = kdoctor.scan(
        [tmp_path / "lib.py"], target=TARGET, project_types=True, isolated=True, jobs=1
    )
    assert [(each.code, each.severity) for each in result.findings] == [("KD218", "change")]
