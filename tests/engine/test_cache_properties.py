"""Whatever is asked, and whatever is changed in between: with the cache as without it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from typer.testing import CliRunner

from kdoctor import engine
from kdoctor.cli.app import app
from kdoctor.modules import file_stamp

FIXTURES = Path(__file__).parents[2] / "fixtures"
TARGET = "keras==3.15.1"
# Of one size, so that a signature without times would take one for the other.
_SIZE = 120


def _padded(*texts):
    return tuple(f"{text}\n{'#' * (_SIZE - len(text))}\n" for text in texts)


USERS = {
    "a.py": "from b import K\nK.sum(1)",
    "pkg/e.py": "from pkg import K\nK.sum(1)",
    "notes.md": "from c import K\nK.sum(1)",
}
USES = _padded(
    *USERS.values(),
    "from b import *\nK.sum(1)",
    "import c\nc.K.sum(1)",
    "from .d import K\nK.sum(1)  # kdoctor: ignore",
    "from keras import layers\nfrom b import Own\nOwn().get_output_at(0)",
    "x = = 1  # keras",
)
# Modules that hand Keras on to others. `late` is not there at first; a package goes before a file.
MODULES = {
    "b.py": "from c import K",
    "c.py": "from pkg.d import *",
    "pkg/__init__.py": "from .d import K",
    "pkg/d.py": "from keras import backend as K",
}
PLACES = (*MODULES, "late.py", "c/__init__.py", "pkg/late.py")
HANDS_ON = _padded(
    *MODULES.values(),
    "from keras import ops as K",
    "from late import K",
    "from .late import K",
    "import keras\nclass Own(keras.layers.Layer):\n    pass\nK = keras.backend",
    "K = None",
)
NAMES = (*USERS, *PLACES)
SETTINGS = settings(
    max_examples=15,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class _Edits(RuleBasedStateMachine):
    """A project of modules that import each other, of which some is always being changed."""

    def __init__(self):
        super().__init__()
        self.home = Path.cwd()
        self.folder = Path(tempfile.mkdtemp(prefix="kdoctor-cache-"))
        os.chdir(self.folder)
        (self.folder / "pyproject.toml").touch()
        self.clock = 10**18
        # Each change here has its own time: so no time is too new to be told by.
        self.settles, file_stamp._SETTLES = file_stamp._SETTLES, -(10**19)
        for name, source in {**USERS, **MODULES}.items():
            self._write(name, *_padded(source))

    def teardown(self):
        os.chdir(self.home)
        file_stamp._SETTLES = self.settles
        shutil.rmtree(self.folder)

    @rule(name=st.sampled_from(tuple(USERS)), source=st.sampled_from(USES))
    def edit_use(self, name, source):
        self._write(name, source)

    @rule(name=st.sampled_from(PLACES), source=st.sampled_from(HANDS_ON))
    def edit_module(self, name, source):
        self._write(name, source)

    @rule(name=st.sampled_from(PLACES), backend=st.booleans())
    def end_the_way(self, name, backend):
        self._write(name, HANDS_ON[3 if backend else 4])

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name):
        (self.folder / name).unlink(missing_ok=True)

    @rule(one=st.sampled_from(NAMES), other=st.sampled_from(NAMES))
    def rename(self, one, other):
        if (self.folder / one).exists() and one != other:
            (self.folder / other).parent.mkdir(exist_ok=True)
            (self.folder / one).replace(self.folder / other)

    @rule(one=st.sampled_from(NAMES), other=st.sampled_from(NAMES))
    def swap(self, one, other):
        first, second = self.folder / one, self.folder / other
        if first.exists() and second.exists():
            texts = first.read_text(), second.read_text()
            self._write(one, texts[1])
            self._write(other, texts[0])

    @rule(name=st.sampled_from(NAMES))
    def touch(self, name):
        if (self.folder / name).exists():
            self._stamp(self.folder / name)

    @rule(name=st.sampled_from(NAMES))
    def scan_one(self, name):
        if (self.folder / name).exists():
            assert _said([name], cache=True) == _said([name], cache=False)

    @rule(folder=st.sampled_from(["pkg", "c"]))
    def lose_a_package(self, folder):
        shutil.rmtree(self.folder / folder, ignore_errors=True)

    @rule()
    def harm_the_cache(self):
        for file in (self.folder / ".kdoctor_cache" / "scan").glob("*-*"):
            file.write_bytes(file.read_bytes()[:-7])

    @invariant()
    def the_cache_changes_nothing(self):
        assert _said(["."], cache=True) == _said(["."], cache=False)

    def _write(self, name, source):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source if path.suffix == ".py" else f"```python\n{source}```\n")
        self._stamp(path)

    def _stamp(self, path):
        self.clock += 1
        os.utime(path, ns=(self.clock, self.clock))


def _said(paths, *, cache):
    return engine.scan(paths, cache=cache, jobs=1, target=TARGET, isolated=True, diffs=False)


TestEdits = _Edits.TestCase
TestEdits.settings = SETTINGS


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Files of every kind, some of which cannot be read, in which something is found."""
    folder = tmp_path_factory.mktemp("corpus")
    shutil.copytree(FIXTURES / "example", folder / "example")
    (folder / "pyproject.toml").touch()
    for number, source in enumerate((*USES, *HANDS_ON)):
        (folder / f"m{number}.py").write_text(source)
    (folder / "b.py").write_text("from c import K\n")
    (folder / "c.py").write_text("from keras import backend as K\n")
    (folder / "bad.ipynb").write_text("{keras")
    return folder


@pytest.fixture(scope="module")
def expected(corpus):
    """What is said of the corpus by the plainest of runs."""
    return {form: _run(corpus, form, "--no-cache", "--no-gate", "-j1") for form in ("json", "text")}


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_combination_of_flags_changes_a_byte(corpus, expected, form):
    """All of them, in an order in which the cache is met cold, warm and made by other flags."""
    shutil.rmtree(corpus / ".kdoctor_cache", ignore_errors=True)
    names = ["example", "bad.ipynb", *sorted(each.name for each in corpus.glob("*.py"))]
    for gate in ((), ("--no-gate",)):
        for jobs in ("-j1", "-j2"):
            for cache in ((), (), ("--no-cache",)):
                for paths in ((".",), names, names[::-1]):
                    said = _run(corpus, form, *gate, *cache, jobs, *paths)
                    assert said == expected[form], (gate, cache, jobs, paths)


def _run(folder, form, *arguments):
    home = Path.cwd()
    os.chdir(folder)
    try:
        ended = CliRunner().invoke(
            app,
            ["scan", "--isolated", "--target", TARGET, "--format", form, *arguments],
            env={"KDOCTOR_NO_CACHE": ""},
        )
    finally:
        os.chdir(home)
    assert ended.exit_code == 2, ended.output
    # The next command has the paths of this one.
    return re.sub(r"`kdoctor (\w+) [^`]*`", r"`kdoctor \1`", ended.stdout)
