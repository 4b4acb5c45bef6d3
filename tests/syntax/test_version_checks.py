"""What a check of a version, an engine or a member decides for the target."""

import pytest

from .guarded import guarded


@pytest.mark.parametrize("old", ["sys.version_info < (3, 12)", "sys.version_info[:2] < (3, 12)"])
def test_what_asks_for_a_newer_python_guards_nothing(parse, old):
    source = f"""
        import k, sys

        def f(x):
            if {old}:
                raise RuntimeError("it is too old")
            k.ops.gone(x)
    """

    assert not guarded(parse, source, "k.ops.gone")
    assert guarded(parse, source.replace(" < ", " >= "), "k.ops.gone")


@pytest.mark.parametrize(
    "old",
    [
        "(3, 12) > sys.version_info",
        "not sys.version_info >= (3, 12)",
        "sys.version_info.minor < 12",
        "12 > sys.version_info[1]",
        "sys.version_info <= (3, 11)",
    ],
)
def test_what_asks_for_a_newer_python_may_be_written_in_many_ways(parse, old):
    source = """
        import k, sys

        def f(x):
            if {}:
                raise RuntimeError("not of this one")
            k.ops.gone(x)
    """

    assert not guarded(parse, source.format(old), "k.ops.gone")
    assert guarded(parse, source.format(f"not ({old})"), "k.ops.gone")


@pytest.mark.parametrize(
    "test",
    ["k.engine() == 'one'", "'one' == k.engine()", "not 'one' != k.engine()",
     "k.engine() in ('one', 'old')", "'one' in (k.engine(),)", "'one' is k.engine()",
     "k.engine().startswith('o')", "k.engine() == 'one' == engine"],
)  # fmt: skip
def test_what_runs_on_an_engine_that_may_be_used_is_not_guarded(parse, test):
    source = f"""
        import k
        engine = k.engine()
        if {test}:
            k.ops.gone(x)
        else:
            k.gone(x)
    """

    assert not guarded(parse, source, "k.ops.gone")
    assert not guarded(parse, source, "k.gone")


@pytest.mark.parametrize(
    "test",
    [
        "k.__version__ < '3'",
        "k.__version__.startswith('2.')",
        "k.__version__[0] == '2'",
        "int(k.__version__.split('.')[0]) < 3",
        "int(k.__version__[0]) < 3",
        "float(k.__version__[:3]) < 3",
        "version.parse(k.__version__) < version.parse('3.0')",
        "Version(k.__version__) < Version('3')",
        "LooseVersion(k.__version__) <= LooseVersion('2.4')",
        "tuple(map(int, k.__version__.split('.'))) < (3, 0)",
        "version.parse(k.__version__).major < 3",
        "int(k.__version__.split('.', maxsplit=1)[0]) == 2",
        "major < 3",
        "(major, minor) < (3, 0)",
        "first == '2'",
        "tuple(int(v) for v in k.__version__.split('.')[:2]) < (3, 0)",
        "[int(v) for v in k.__version__.split('.')][0] < 3",
        "k.version().split('.')[0] == '2'",
        "'gone' in dir(k)",
        "not 'there' in dir(k)",
        "'there' not in vars(k)",
        "version.parse(importlib.metadata.version('k')) < version.parse('3')",
        "metadata.version('k').startswith('2')",
        "os.environ.get('TF_USE_LEGACY_KERAS') == '1'",
        "os.environ.get('TF_USE_LEGACY_KERAS', '0') == '1'",
        "int(os.getenv('TF_USE_LEGACY_KERAS', '0'))",
        "os.getenv('TF_USE_LEGACY_KERAS')",
        "k_version == '2.2.4'",
        "OLD",
        "MAJOR == 2",
        "not (k.__version__ >= '3')",
        "(True if k.__version__[0] == '2' else False)",
        "x and k.__version__ < '3'",
        "sys.version_info[0] < 3",
        "sys.version_info < (3,)",
        "sys.version_info.major == 2",
        "six.PY2",
    ],
)
def test_a_version_check_is_decided_for_the_target(parse, test):
    source = f"""
        import k, sys, six
        from k import __version__ as k_version
        from packaging import version
        from packaging.version import Version
        from distutils.version import LooseVersion
        import importlib.metadata, os
        from importlib import metadata
        major, minor = map(int, k.__version__.split(".")[:2])
        first, second, third = k.__version__.split(".")
        OLD = k.__version__ < "3"
        MAJOR = int(k.__version__.split(".")[0])
        if {test}:
            k.ops.gone(x)
        else:
            k.gone(x)
    """

    assert guarded(parse, source, "k.ops.gone")
    assert not guarded(parse, source, "k.gone")


@pytest.mark.parametrize(
    "test",
    [
        "k.engine() == 'old'",
        "'old' == k.engine()",
        "k.engine() in ('old', 'older')",
        "'one' not in (engine, 'one')",
        "engine == 'old'",
    ],
)
def test_what_runs_on_an_engine_that_is_gone_is_guarded(parse, test):
    source = f"""
        import k
        engine = k.engine()
        if {test}:
            k.ops.gone(x)
        else:
            k.gone(x)
    """

    assert guarded(parse, source, "k.ops.gone")
    assert not guarded(parse, source, "k.gone")


@pytest.mark.parametrize(
    "cases",
    [
        "case 'old':\n{}\n    case _:\n{}",
        "case 'old' | 'older':\n{}\n    case 'one' | 'two':\n{}",
        "case ('old' as engine):\n{}\n    case engine:\n{}",
        "case _ if k.engine() == 'old':\n{}\n    case _:\n{}",
        "case 'old' if asked():\n{}\n    case _ if asked():\n{}",
    ],
)
def test_what_a_case_runs_on_an_engine_that_is_gone_is_guarded(parse, cases):
    uses = ("        k.ops.gone(x)", "        k.gone(x)")
    source = f"import k\nmatch k.engine():\n    {cases.format(*uses)}\n"

    assert guarded(parse, source, "k.ops.gone")
    assert not guarded(parse, source, "k.gone")


def test_what_an_earlier_case_takes_never_gets_to_a_later_one(parse):
    source = """
        import k
        match k.__version__ < "3":
            case False:
                k.gone(x)
            case _:
                k.ops.gone(x)
    """

    assert guarded(parse, source, "k.ops.gone")
    assert not guarded(parse, source, "k.gone")


@pytest.mark.parametrize(
    ("subject", "cases"),
    [
        ("mode", ("'old'", "_")),
        ("k.engine(), 1", ("('old', 1)", "_")),
        ("k.engine()", ("str()", "_")),
        ("k.engine()", ("'one' if asked()", "'one'")),
        ("k.engine()", ("'one'", "'two'")),
    ],
)
def test_cases_that_the_target_may_get_to_are_not(parse, subject, cases):
    source = (
        f"import k\nmatch {subject}:\n    case {cases[0]}:\n        k.gone(x)\n"
        f"    case {cases[1]}:\n        k.ops.gone(x)\n"
    )

    assert not guarded(parse, source, "k.gone")
    assert not guarded(parse, source, "k.ops.gone")


@pytest.mark.parametrize(
    ("subject", "names"), [("k.engine()", ("k.ops.gone", "k.gone")), ("mode", ())]
)
def test_imports_in_cases_for_engines_stand_in_for_each_other(parse, subject, names):
    source = f"""
        import k
        match {subject}:
            case "old":
                import k.ops as engine
            case _:
                import k as engine
        engine.gone(x)
    """

    found = [each for each in parse(source).references if each.name.endswith("gone")]
    assert [name for each in found for name in each.names] == [*names]


def test_a_loop_that_a_version_check_never_enters_is_guarded(parse):
    source = """
        import k
        is_old = k.__version__ < "3"
        while is_old:
            k.ops.gone(x)
        while not is_old:
            k.gone(x)
            break
        else:
            k.other(x)
    """

    assert guarded(parse, source, "k.ops.gone")
    assert not guarded(parse, source, "k.gone")
    assert not guarded(parse, source, "k.other")


def test_what_runs_on_one_of_the_engines_is_not(parse):
    source = """
        import k
        if k.engine() == "one":
            k.gone(x)
        elif k.engine() != "old":
            k.ops.gone(x)
    """

    assert not guarded(parse, source, "k.gone")
    assert not guarded(parse, source, "k.ops.gone")


@pytest.mark.parametrize(
    "test",
    [
        "unknown.__version__ < '3'",
        "tf_version() > 2",
        "IS_TF2",
        "is_keras_3()",
        "compat.PY3",
        "sys.version_info >= (3, 12)",
        "unknown_version",
        "hasattr(unknown, 'x')",
    ],
)
def test_under_a_version_check_that_nobody_can_decide_all_is_guarded(parse, test):
    source = f"""
        import k, sys, unknown, compat
        if {test}:
            k.ops.gone(x)
        else:
            k.gone(x)
    """

    assert guarded(parse, source, "k.ops.gone")
    assert guarded(parse, source, "k.gone")


@pytest.mark.parametrize(
    "test", ["flags.use_fp16", "IS_FLOAT16", "has_l2_norm", "is_hdf5(path)", "conversion == 'rgb'"]
)
def test_a_number_in_a_name_is_not_always_that_of_a_release(parse, test):
    assert not guarded(parse, f"import k\nif {test}:\n    k.ops.gone()", "k.ops.gone")


def test_a_fallback_import_gives_one_name_several_meanings_of_which_the_target_takes_one(parse):
    source = "try:\n    from {0} import x\nexcept ImportError:\n    from {1} import x\nx.y"
    taken = []
    for first, second in [("k.old", "k.new"), ("k.new", "k2")]:
        ref = parse(source.format(first, second)).references[-1]
        assert ref.names == (f"{first}.x.y", f"{second}.x.y")
        taken.append(ref.name)

    assert taken == ["k.new.x.y", "k.new.x.y"]


def test_a_fallback_attribute_gives_a_name_another_meaning_too(parse):
    source = "import k, k2\ntry:\n    f = k.gone\nexcept AttributeError:\n    f = k2.ops.x\nf()"
    ref = parse(source).references[-1]

    assert (ref.names, ref.name) == (("k.gone", "k2.ops.x"), "k2.ops.x")


def test_a_version_check_chooses_between_imports(names):
    source = (
        "import k\nif k.__version__ < '3':\n    from k import a\nelse:\n    from k2 import a\na"
    )

    assert names(source)[-1] == "k2.a"


@pytest.mark.parametrize(
    "setting",
    [
        "keras3 = k.__version__ >= '3'",
        "keras3 = parse(k.__version__).major >= 3",
        "def __init__(self):\n        self.keras3 = k.__version__ >= '3'",
    ],
)
def test_a_member_of_a_class_keeps_the_answer(parse, setting):
    source = f"""
import k
from packaging.version import parse
class A:
    {setting}
    def f(self):
        if not self.keras3:
            k.ops.gone(x)
        else:
            k.gone(x)
"""
    assert guarded(parse, source, "k.ops.gone")
    assert not guarded(parse, source, "k.gone")


@pytest.mark.parametrize(
    "setting",
    [
        "keras3 = unknown",
        "keras3 = k.__version__ >= '3'\n    def g(self):\n        self.keras3 = False",
        "keras3 = k.__version__ >= '3'\n    def g(self):\n        self.keras3, self.b = False, 1",
        "b = 1",
    ],
)
def test_a_member_that_may_be_another_is_no_guard(parse, setting):
    source = f"""
import k
class A:
    {setting}
    def f(self):
        if not self.keras3:
            k.ops.gone(x)
"""
    assert not guarded(parse, source, "k.ops.gone")


@pytest.mark.parametrize(
    "test",
    ["os.environ.get('OTHER') == '1'", "metadata.version('other') < '3'", "'x' in dir(unknown)"],
)
def test_what_asks_for_something_else_decides_nothing(parse, test):
    source = f"""
        import k, os, unknown
        from importlib import metadata
        if {test}:
            k.ops.gone(x)
        else:
            k.new(x)
    """
    module = parse(source)
    (use,) = [each for each in module.references if each.name == "k.ops.gone"]
    assert not module.is_dead(use.node)
