"""What modules of the tree export, as the scanner of another module asks it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from kdoctor.engine import scan
from kdoctor.keras_api import Presence, lookup, surface
from kdoctor.modules.exports import ProjectPackage
from kdoctor.syntax import ClassInfo
from kdoctor.target import Target

STARS = {"keras.layers": ["Dense", "Conv2D"]}


@pytest.fixture
def exports(tmp_path):
    """Write files, then ask what ``from .module import name`` binds in ``pkg/use.py``."""

    def ask(files, module="m", name="x", level=1, asker="pkg/use.py"):
        for path, source in ({"pkg/__init__.py": ""} | files).items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(source)
        package = ProjectPackage(STARS.get)
        return package.exports(str(tmp_path / asker), module, level, name)

    return ask


def test_a_module_of_the_tree_hides_what_its_package_imports_under_its_name(exports):
    own = {"pkg/m/__init__.py": "import keras.utils", "pkg/m/keras/__init__.py": ""}
    assert exports(own, name="keras") is None
    assert exports({"pkg/m/keras/__init__.py": "", "pkg/m/keras/x.py": ""}, "m.keras") is None


def test_what_a_package_takes_out_of_its_own_module_of_that_name_hides_the_module(exports):
    own = {"pkg/m/__init__.py": "from .keras import keras", "pkg/m/keras.py": "import keras"}
    assert exports(own, name="keras") == "keras"


@pytest.mark.parametrize(
    ("source", "meaning"),
    [
        ("from keras import backend as x", "keras.backend"),
        ("import keras.backend as x", "keras.backend"),
        ("import keras as x", "keras"),
        ("import keras\nx = keras.layers.Dense", "keras.layers.Dense"),
        ("from tensorflow import keras\nKL = keras.layers\nx = KL.Dense", "tensorflow.keras.layers.Dense"),
        ("from .deep import y as x", "keras.models.Model"),
        ("from . import deep\nx = deep.y", "keras.models.Model"),
        ("from pkg.deep import y as x", "keras.models.Model"),
        ("if True:\n    from keras import Input as x", "keras.Input"),
        ("try:\n    from keras import x\nexcept ImportError:\n    from keras import x", "keras.x"),
        ("try:\n    from keras import x\nexcept ImportError:\n    from tensorflow.keras import x", None),
        ("from keras import x\nx = 1", None),
        ("from keras import x\ndel x", None),
        ("x = make()", None),
        ("def x(): ...", None),
        ("", None),
        ("from .m import x", None),
        ("x = x", None),
        ("print 'two'", None),
    ],
)  # fmt: skip
def test_a_name_means_what_all_its_bindings_agree_on(exports, source, meaning):
    assert (
        exports({"pkg/m.py": source, "pkg/deep.py": "from keras.models import Model as y"})
        == meaning
    )


def test_a_star_import_brings_what_the_module_exports(exports):
    files = {
        "pkg/m.py": "from keras.layers import *\nfrom .more import *",
        "pkg/more.py": "from keras import backend as K\nfrom keras import Input as _i",
    }
    assert exports(files, name="Dense") == "keras.layers.Dense"
    assert exports(files, name="K") == "keras.backend"
    assert exports(files, name="_i") is None
    assert exports(files, name="Nonsense") is None


def test_a_star_import_of_an_unknown_module_may_bring_anything(exports):
    files = {"pkg/m.py": "from keras.layers import *\nfrom other import *"}
    assert exports(files, name="Dense") is None


def test_of_bases_among_layers_the_special_one_counts(exports):
    source = "import keras\nclass Mine(keras.layers.Layer): ...\n"
    info = exports({"pkg/m.py": f"{source}class x(Mine, keras.layers.Dense): ...\n"})
    assert (info.base, info.closed) == ("keras.layers.Dense", True)
    other = exports({"pkg/m.py": f"{source}class x(Mine, keras.losses.Loss): ...\n"})
    assert (other.base, other.closed) == ("keras.layers.Layer", False)


def test_an_optimizer_is_the_same_where_it_comes_from_the_legacy_module(exports):
    source = (
        "import keras\nif new():\n    from keras.optimizers.legacy import Adam as x\n"
        "else:\n    from keras.optimizers import {} as x\n"
    )
    assert exports({"pkg/m.py": source.format("Adam")}) == "keras.optimizers.Adam"
    assert exports({"pkg/m.py": source.format("SGD")}) is None


def test_a_class_tells_its_nearest_imported_base_and_all_own_members(exports):
    files = {
        "pkg/m.py": "from .base import Base\nclass x(Base):\n    size = 1\n    def call(self, y):\n"
        "        self.w = y\n",
        "pkg/base.py": "import keras\nclass Base(keras.layers.Layer):\n    def helper(self): ...\n",
    }
    members = frozenset({"size", "call", "w", "helper"})
    info = ClassInfo("x", "keras.layers.Layer", members, closed=True, hands_on=True)
    found = exports(files)
    assert replace(found, path="") == info
    assert Path(found.path).parts[-2:] == ("pkg", "m.py")


@pytest.mark.parametrize(
    ("body", "hands_on", "takes"),
    [
        ("size = 1", True, set()),
        ("def __init__(self, **rest):\n        super().__init__(**rest)", True, {"self"}),
        (
            "def __init__(self, size, **kw):\n        kw.pop('w')\n        super().__init__(**kw)",
            True,
            {"self", "size", "w"},
        ),
        ("def __init__(self, **rest):\n        super().__init__()", False, {"self"}),
        ("def __init__(self, size):\n        super().__init__(**{})", False, {"self", "size"}),
    ],
)
def test_a_class_tells_whether_keywords_get_to_its_base(exports, body, hands_on, takes):
    source = f"from keras.layers import Layer\n\n\nclass x(Layer):\n    {body}\n"
    info = exports({"pkg/m.py": source})

    assert (info.hands_on, info.takes) == (hands_on, takes)
    mixed = exports({"pkg/m.py": source.replace("(Layer)", "(Layer, Unknown)")})
    assert not mixed.hands_on


@pytest.mark.parametrize(
    "source",
    [
        "import keras\nclass x(keras.Model, mixin()): ...",
        "import keras, other\nclass x(keras.Model, other.Mixin): ...",
        "import keras\n@wraps\nclass x(keras.Model): ...",
        "import keras\nclass x(keras.Model, metaclass=M): ...",
        "import keras\nclass x(keras.Model):\n    def __getattr__(self, name): ...",
        "import keras\nclass x(keras.Model):\n    def f(self): setattr(self, name, 1)",
    ],
)
def test_a_class_whose_members_cannot_all_be_known_is_open(exports, source):
    found = exports({"pkg/m.py": source})
    assert found.base == "keras.Model"
    assert not found.closed


def test_the_tree_may_hold_what_lies_beside_the_package_or_in_a_folder_of_sources(tmp_path):
    for path in ("pkg/__init__.py", "names/below.py", "one.py", "src/two.py", "keras/x.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "setup.py").touch()
    package = ProjectPackage(STARS.get)
    tops = ("pkg", "names", "one", "two", "below", "numpy", "keras")
    held = [top for top in tops if package.may_hold(str(tmp_path / "pkg" / "use.py"), top)]
    assert held == ["pkg", "names", "one", "two"]


def test_answers_do_not_depend_on_what_was_asked_before(tmp_path):
    ring = {
        "a.py": "from b import *\nfrom c import *",
        "b.py": "from a import *",
        "c.py": "from keras import Input as y",
    }
    for name, source in ring.items():
        (tmp_path / name).write_text(source)
    asker = str(tmp_path / "use.py")
    one, other = ProjectPackage(STARS.get), ProjectPackage(STARS.get)
    forth = [one.exports(asker, module, 0, "y") for module in "abc"]
    back = [other.exports(asker, module, 0, "y") for module in "cba"]
    assert forth == back[::-1]


def test_what_star_imports_bind_is_listed(exports, tmp_path):
    files = {
        "pkg/m.py": "from keras import backend as K\nfrom keras.layers import *\n_x = 1",
        "pkg/listed.py": "from keras import a, b\n__all__ = ['a']",
        "pkg/dynamic.py": "from keras import a\n__all__ = ['a']\n__all__ += other",
    }
    exports(files)
    package, asker = ProjectPackage(STARS.get), str(tmp_path / "pkg" / "use.py")
    assert sorted(package.star_names(asker, "m", 1)) == ["Conv2D", "Dense", "K"]
    assert sorted(package.star_names(asker, "listed", 1)) == ["a"]
    assert package.star_names(asker, "dynamic", 1) is None
    assert package.star_names(asker, "keras.layers", 0) is None


def test_a_folder_named_keras_is_not_keras(exports):
    files = {"keras/__init__.py": "", "keras/layers.py": "Dense = 1", "train.py": ""}
    assert exports(files, "keras.layers", "Dense", level=0, asker="train.py") is None


def test_other_installed_packages_are_not_of_the_tree(exports):
    files = {
        "site-packages/other/__init__.py": "from keras import Model as x",
        "site-packages/mine/__init__.py": "from keras import Model as x",
        "site-packages/mine/use.py": "",
    }
    asker = "site-packages/mine/use.py"
    assert exports(files, "other", level=0, asker=asker) is None
    assert exports(files, "mine", level=0, asker=asker) == "keras.Model"


BY_BRANCH = """
import os
import keras
import keras.backend as K

is_tf_keras = int(os.environ.get("TF_KERAS", "0"))
back = os.environ["X"]
if back == "tf":
    is_tf_keras = True
use_keras_2 = is_tf_keras or keras.__version__ < "3.0"
if use_keras_2:
    import pk.ops as ops
else:
    from keras import ops


def f(y):
    return ops.absolute(y)


ops.f = f
"""


def test_a_name_that_is_another_module_in_another_branch_is_not_followed(tmp_path):
    package = tmp_path / "pk"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "ops.py").write_text("import keras.backend as K\n\nabsolute = K.abs\n")
    (package / "backend.py").write_text(BY_BRANCH)
    result = scan([str(tmp_path)], target="keras==3.15.1")
    assert {Path(each.place.path).name for each in result.findings} == {"ops.py"}


BY_SETTING = """
import os

if os.environ.get("TF_KERAS"):
    from {} import keras
else:
    {}
"""


@pytest.mark.parametrize(
    ("one", "other", "followed"),
    [
        ("tensorflow", "import keras", True),
        ("tensorflow.python", "import keras", True),
        ("tensorflow", "import tf_keras as keras", False),
        ("tensorflow", "from mine import keras", False),
    ],
)
def test_the_same_keras_under_other_roots_is_followed(tmp_path, one, other, followed):
    package = tmp_path / "pk"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "backend.py").write_text(
        BY_SETTING.format(one, other) + "\n\ndef f(x):\n    return keras.backend.sum(x)\n"
    )
    (package / "use.py").write_text(
        "from .backend import keras\n\n\ndef f(x):\n    return keras.backend.sum(x)\n"
    )
    result = scan([str(tmp_path)], target="keras==3.15.1", select=["KD101"])
    found = {Path(each.place.path).name for each in result.findings}
    assert found == ({"backend.py", "use.py"} if followed else set())


@pytest.mark.parametrize(
    ("one", "other", "followed"),
    [
        ("from keras.backend import *", "from tensorflow.keras.backend import *", True),
        ("from keras.backend import sum", "from tensorflow.keras.backend import sum", True),
        ("from .by_keras import *", "from .by_tensorflow import *", True),
        ("from keras.backend import *", "from numpy import *", False),
        ("from keras.backend import sum", "from numpy import sum", False),
        ("from keras.backend import sum", "from tf_keras.backend import sum", False),
        (
            "from keras.backend import sum",
            "from tensorflow.keras.backend import mean as sum",
            False,
        ),
        ("from keras.backend import *", "from .mine import *", False),
        # No release had it under both.
        (
            "from keras.backend import tf as sum",
            "from tensorflow.keras.backend import tf as sum",
            False,
        ),
    ],
)
def test_a_name_of_the_same_keras_under_other_roots_is_followed(tmp_path, one, other, followed):
    package = tmp_path / "pk"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "by_keras.py").write_text("from keras.backend import *\n")
    (package / "by_tensorflow.py").write_text("from tensorflow.keras.backend import *\n")
    (package / "mine.py").write_text("def sum(x):\n    return x\n")
    (package / "backend.py").write_text(
        BY_SETTING.format("tensorflow", "pass")
        .replace("from tensorflow import keras", one)
        .replace("pass", other)
    )
    (package / "use.py").write_text("from . import backend as K\n\nresult = K.sum([1])\n")
    result = scan([str(tmp_path)], target="keras==3.15.1", select=["KD101"])
    found = {Path(each.place.path).name for each in result.findings} - {"backend.py"}
    assert found == ({"use.py"} if followed else set())


@pytest.mark.parametrize("root", ["keras", "tensorflow.keras"])
@pytest.mark.parametrize("version", ["2.3.1", "2.15.0", "3.0.5", "3.15.1"])
def test_the_modules_that_are_everywhere_are(root, version):
    target = Target("keras", version, "test", version, version)
    for name in surface._EVERYWHERE - {""}:
        assert lookup(f"{root}.{name}", target).presence is not Presence.MISSING


@pytest.mark.parametrize(
    "handing_on",
    [
        "from .. import backend",
        "from ..backend import *\nfrom pkg import backend",
        "import pkg.backend as backend",
    ],
)
def test_what_a_package_hands_on_as_its_own_may_be_a_module(exports, handing_on):
    files = {"pkg/backend.py": "import keras", "pkg/net/__init__.py": handing_on}
    assert exports(files, "net.backend", "keras") == "keras"
    assert exports(files, "pkg.net.backend", "keras", 0) == "keras"
    assert exports(files, "net.backend", "layers") is None
    assert exports({"pkg/net/__init__.py": "from . import backend"}, "net.backend", "keras") is None


@pytest.mark.parametrize("own", ["from . import metrics", "from pkg import metrics"])
def test_what_a_package_takes_from_itself_is_its_module(tmp_path, own):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(own)
    base = "import keras\n\n\nclass Mine(keras.metrics.Metric):\n    pass\n"
    (tmp_path / "pkg/metrics.py").write_text(base)
    use = tmp_path / "use.py"
    use.write_text("from pkg import metrics\n\nmetrics.Mine().stateful\n")

    assert [each.code for each in scan([str(use)]).findings] == ["KD205"]
    assert [each.code for each in scan([str(use)], gate=False).findings] == ["KD205"]


def test_what_is_kept_of_a_ring_of_modules_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("kdoctor.modules.exports._MAX_RESOLVED_WEIGHT", 2000)
    size = 30
    for number in range(size):
        code = f"from m{(number + 1) % size} import *\nfrom keras import backend as K{number}\n"
        (tmp_path / f"m{number}.py").write_text(code)
    package = ProjectPackage(STARS.get)
    most = 0
    for module in range(size):
        for name in range(size):
            meant = package.exports(str(tmp_path / "use.py"), f"m{module}", 0, f"K{name}")
            assert meant == "keras.backend"
            kept = package._kept.known.values()
            most = max(most, sum(len(dependencies) for ((_, dependencies),) in kept))
    assert 1000 < most < 2000 + 4 * size  # what one question adds


def test_a_name_in_a_ring_of_star_imports_is_that_of_the_one_module_that_binds_it(exports):
    files = {
        "pkg/m.py": "from .n import *",
        "pkg/n.py": "from .m import *\nfrom .o import *",
        "pkg/o.py": "from .m import *\nfrom keras import backend as x",
    }
    assert exports(files) == "keras.backend"
    assert exports(files | {"pkg/n.py": "from .m import *\nfrom .o import *\nx = 1"}) is None
    outside = "from .m import *\nfrom .o import *\nfrom keras.layers import *"
    both = {"pkg/o.py": "from .m import *\nfrom keras import backend as Dense"}
    assert exports(files | {"pkg/n.py": outside} | both, name="Dense") is None


def test_a_large_folder_above_a_file_is_not_listed(tmp_path, monkeypatch):
    own = tmp_path / "large" / "own"
    own.mkdir(parents=True)
    (own / "helpers.py").write_text("from keras import backend as K\n")
    monkeypatch.chdir(own)
    listed = []
    real = os.listdir

    def listdir(path="."):
        listed.append(Path(path).resolve())
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    source = b"import helpers\nfrom helpers import K\n\nK.sum(helpers.x)\n"
    found = scan(["-"], stdin=source, target="keras==3.15.1").findings

    assert [each.code for each in found] == ["KD101"]  # what stands beside it is known
    assert own in listed
    assert own.parent not in listed
