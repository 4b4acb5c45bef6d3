"""Code that fails on the target, and does no harm there."""

import libcst as cst
import pytest


def guarded(parse, source, name, **options):
    module = parse(source, **options)
    found = [ref for ref in module.references if ref.name == name]
    assert found, [ref.name for ref in module.references]
    return module.is_guarded(found[0].node)


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    from k.old import x\nexcept ImportError:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept Exception:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept (ValueError, ImportError):\n    from k.new import x",
        "try:\n    from k.old import x\nexcept ModuleNotFoundError:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept ImportError:\n    x = 3",
        "try:\n    from k.old import x\nexcept ImportError:\n    def x(): pass",
        "try:\n    from k.old import x\nexcept ImportError:\n    class x: pass",
        (
            "try:\n    from k.old import x\nexcept ImportError:\n    try:\n        from k.gone import x\n"
            "    except ImportError:\n        from k.new import x"
        ),
        "try:\n    from k.old import x\nexcept ImportError:\n    x = None\nif x is not None:\n    x()",
        "try:\n    from k.old import x\nexcept ImportError:\n    x = None\nNEW = x is None",
        (
            "try:\n    from k.old import x\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
            "if HAS:\n    x()"
        ),
        "import k\nif k.__version__ < '3':\n    from k.old import x",
        (
            "def f():\n    try:\n        from k.old import x\n    except ImportError:\n"
            "        from k.new import x"
        ),
    ],
)
def test_an_import_with_a_fallback_that_works_is_guarded(parse, source):
    assert guarded(parse, source, "k.old.x")


@pytest.mark.parametrize(
    "source",
    [
        "from k.old import x",
        "try:\n    from k.old import x\nexcept ImportError:\n    pass",
        "try:\n    from k.old import x\nexcept ImportError:\n    raise",
        "try:\n    from k.old import x\nexcept ImportError as e:\n    print(e)",
        "try:\n    from k.old import x\nexcept ValueError:\n    from k.new import x",
        "try:\n    from k.old import x\nexcept ImportError:\n    from k.gone import x",
        "try:\n    from k.old import x\nexcept ImportError:\n    from k.new import y",
        "try:\n    from k.old import x\nexcept ImportError:\n    x = None\nx()",
        "try:\n    from k.old import x\nexcept ImportError:\n    x = None",
        "try:\n    pass\nexcept ImportError:\n    from k.old import x",
        "try:\n    from k.old import x\nfinally:\n    x = 3",
        "if something:\n    from k.old import x",
        "import k\nif k.__version__ > '3':\n    from k.old import x",
        "if True:\n    from k.old import x",
    ],
)
def test_an_import_without_one_is_not(parse, source):
    assert not guarded(parse, source, "k.old.x")


def test_a_missing_name_in_a_module_that_is_there_is_no_missing_module(parse):
    source = "try:\n    from k.ops import gone\nexcept {}:\n    from k.ops import here as gone"

    assert not guarded(parse, source.format("ModuleNotFoundError"), "k.ops.gone")
    assert guarded(parse, source.format("ImportError"), "k.ops.gone")


def test_the_fallback_of_an_import_that_works_is_never_reached(parse):
    source = (
        "try:\n    from k.new import x\nexcept ImportError:\n    from k.old import x\n    k.gone"
    )

    assert guarded(parse, source, "k.old.x")


def test_the_fallback_is_reached_where_something_else_can_fail(parse):
    source = "try:\n    from k.new import x\n    f()\nexcept E:\n    from k.old import x"

    assert not guarded(parse, source, "k.old.x")


@pytest.mark.parametrize(
    "handler",
    ["except ValueError:\n    pass", "except ImportError:\n    raise", "finally:\n    f()"],
)
def test_an_import_whose_failure_nobody_survives_hides_no_other(parse, handler):
    source = f"try:\n    from k.old import x\n    from k.gone import y\n{handler}"

    assert not guarded(parse, source, "k.gone.y")


def test_an_import_statement_of_a_class_fails(parse):
    of_class = "try:\n    import k.layers.Dense\n    k.old.x()\nexcept ImportError:\n    k.old.y()"
    assert guarded(parse, of_class, "k.old.x")
    assert not guarded(parse, of_class, "k.old.y")
    of_module = of_class.replace("layers.Dense", "layers")
    assert not guarded(parse, of_module, "k.old.x")


def test_what_comes_after_a_failing_import_is_never_reached(parse):
    source = """
        try:
            from k.old import x
            from k import gone
        except ImportError:
            from k.new import x
    """

    assert guarded(parse, source, "k.gone")


@pytest.mark.parametrize(
    "source",
    [
        "if hasattr(k.ops, 'gone'):\n    k.ops.gone(x)",
        "if not hasattr(k.ops, 'gone'):\n    pass\nelse:\n    k.ops.gone(x)",
        "y = k.ops.gone(x) if hasattr(k.ops, 'gone') else 3",
        "hasattr(k.ops, 'gone') and k.ops.gone(x)",
        "not hasattr(k.ops, 'gone') or k.ops.gone(x)",
        "if getattr(k.ops, 'gone', None) is not None:\n    k.ops.gone(x)",
        "if getattr(k.ops, 'gone', None):\n    k.ops.gone(x)",
        "if y and hasattr(k.ops, 'gone'):\n    k.ops.gone(x)",
        "def f():\n    if not hasattr(k.ops, 'gone'):\n        return 3\n    return k.ops.gone(x)",
        "HAS = hasattr(k.ops, 'gone')\nif HAS:\n    k.ops.gone(x)",
        "if hasattr(k.ops, 'gone'):\n    def f():\n        return k.ops.gone(x)",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    y = k.ops.here(x)",
        (
            "def f():\n    try:\n        return k.ops.gone(x)\n    except Exception:\n"
            "        return k.ops.here(x)"
        ),
        "try:\n    k.ops.gone(x)\nexcept AttributeError:\n    k.ops.here(x)",
        "if False:\n    k.ops.gone(x)",
        "try:\n    f = k.ops.gone\nexcept AttributeError:\n    from k.new import f",
        "try:\n    f = k.ops.gone\nexcept AttributeError:\n    def f(x): pass",
        "try:\n    class A(k.ops.gone): pass\nexcept AttributeError:\n    class A: pass",
        "try:\n    x.f = k.ops.gone\nexcept AttributeError:\n    x.f = 3",
        "try:\n    gone = k.ops.gone\nexcept AttributeError:\n    gone = k2.ops.gone",
        "try:\n    y, gone = 1, k.ops.gone\nexcept AttributeError:\n    y, gone = 2, k2.gone",
        "try:\n    k.ops.gone\nexcept AttributeError:\n    k = k2",
        "try:\n    y = k.ops.here\nexcept AttributeError:\n    y = k.ops.gone",
        "try:\n    k.ops.here(x)\nexcept (ImportError, AttributeError):\n    k.ops.gone(x)",
    ],
)
def test_a_use_that_is_not_reached_or_has_a_fallback_is_guarded(parse, source):
    assert guarded(parse, f"import k, k2\n{source}", "k.ops.gone")


@pytest.mark.parametrize(
    "source",
    [
        "if not hasattr(k.ops, 'gone'):\n    k.ops.gone(x)",
        "if hasattr(k.ops, 'here'):\n    k.ops.gone(x)",
        "if hasattr(x, 'gone'):\n    k.ops.gone(x)",
        "if x:\n    k.ops.gone(x)",
        "if x1 > 2:\n    k.ops.gone(x)",
        "try:\n    print(k.ops.gone(x))\nexcept AttributeError as e:\n    print(e)",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    z = 3",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    y = None\ny.z",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    y = None\ny = 3\ny.z",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    from k.old import y",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    y = k.ops.gone(x)",
        "try:\n    y = k.ops.gone(x)\nexcept ValueError:\n    y = 3",
        "try:\n    y = k.ops.gone(x)\nexcept AttributeError:\n    raise",
        "try:\n    k.ops.gone\nexcept AttributeError:\n    raise",
        "try:\n    k.ops.gone\nexcept ValueError:\n    k = k2",
        "try:\n    y = k.ops.here(x.y)\nexcept AttributeError:\n    y = k.ops.gone(x)",
        "try:\n    y = k.ops.here(x)\nexcept (AttributeError, ValueError):\n    k.ops.gone(x)",
        "try:\n    y = f(x)\nexcept AttributeError:\n    y = k.ops.gone(x)",
        "try:\n    y = k.ops.here(x)\nexcept:\n    y = k.ops.gone(x)",
        "def f():\n    if hasattr(k.ops, 'here'):\n        x = 1\n    return k.ops.gone(x)",
        "try:\n    def f(): return k.ops.gone(x)\nexcept AttributeError:\n    def f(): return 3",
    ],
)
def test_any_other_use_is_not(parse, source):
    assert not guarded(parse, f"import k\n{source}", "k.ops.gone")


IN_A_TEST = """
import k, pytest, unittest

{decorator}
class Tests:
    def test(self):
        k.ops.gone(x)
"""


@pytest.mark.parametrize(
    "decorator",
    [
        "@unittest.skipIf(k.__version__ >= '3', 'of old')",
        "@pytest.mark.skipif(k.__version__[0] == '3', reason='of old')",
        "@unittest.skipUnless(k.__version__ < '3', 'of old')",
        "@unittest.skipUnless(hasattr(k.ops, 'gone'), 'of old')",
        "@mine\n@pytest.mark.slow()\n@pytest.mark.skipif(k.__version__ >= '3', reason='of old')",
        "@unittest.skipIf(sys.platform == 'aix', '')\n@unittest.skipIf(k.__version__ >= '3', '')",
    ],
)
def test_what_is_in_a_test_that_the_target_skips_is_guarded(parse, decorator):
    source = IN_A_TEST.format(decorator=decorator)

    assert guarded(parse, source, "k.ops.gone")
    assert not guarded(parse, source.replace(decorator, ""), "k.ops.gone")


@pytest.mark.parametrize(
    "decorator",
    [
        "@unittest.skipIf(k.__version__ < '3', 'of new')",
        "@unittest.skipUnless(k.__version__ >= '3', 'of new')",
        "@pytest.mark.skipif(sys.platform == 'win32', reason='not here')",
        "@pytest.mark.skipif('k.__version__ > 3', reason='a text is not read')",
        "@pytest.mark.skipif(reason='later')",
        "@another(k.__version__ >= '3')",
    ],
)
def test_what_is_in_any_other_test_is_not(parse, decorator):
    assert not guarded(parse, IN_A_TEST.format(decorator=decorator), "k.ops.gone")


KEPT = """
import k, pytest

if_2 = pytest.mark.skipif(k.__version__ >= "3", reason="of old")
{again}

@if_2
def test():
    k.ops.gone(x)
"""


def test_what_skips_a_test_may_be_kept_in_a_name(parse):
    assert guarded(parse, KEPT.format(again=""), "k.ops.gone")


@pytest.mark.parametrize(
    "again",
    [
        "if_2 = pytest.mark.slow",
        "if quick(): if_2 = pytest.mark.slow",
        "from here import if_2",
        "def if_2(test): return test",
        "if_2 += other",
    ],
)
def test_what_else_the_name_may_be_is_not_passed_over(parse, again):
    assert not guarded(parse, KEPT.format(again=again), "k.ops.gone")


@pytest.mark.parametrize("skip", ["pytest.skip('of old')", "self.skipTest('of old')"])
def test_what_stands_below_a_skip_is_guarded(parse, skip):
    source = f"""
        import k, pytest, sys

        def test(self):
            if k.__version__ >= "3":
                print("no")
                {skip}
            k.ops.gone(x)
    """

    assert guarded(parse, source, "k.ops.gone")
    assert not guarded(parse, source.replace(skip, "pytest.warns()"), "k.ops.gone")


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


def test_what_stands_below_the_answer_to_a_command_line_is_not(parse):
    source = """
        import k, sys

        def main(args):
            if args.version:
                print("1.0")
                sys.exit()
            k.ops.gone(x)
    """

    assert not guarded(parse, source, "k.ops.gone")


def test_what_a_skipped_test_is_called_with_is_read_all_the_same(parse):
    source = """
        import k, unittest

        @unittest.skipIf(k.__version__ >= "3", "of old")
        def test(given=k.ops.gone): pass
    """

    assert not guarded(parse, source, "k.ops.gone")


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


def test_members_are_guarded_like_names(parse):
    module = parse("""
        import k
        model = k.Sequential()
        if hasattr(model, "nothing"):
            model.nothing
        try:
            x = model.nothing
        except AttributeError:
            x = model.layers
        model.nothing
    """)
    uses = [use for use in module.members if use.member == "nothing"]

    assert [module.is_guarded(use.node) for use in uses] == [True, True, False]


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations\nimport k\n\n\ndef f(x: k.gone.X): pass",
        "from __future__ import annotations\nimport k\n\n\ndef f() -> list[k.gone.X]: pass",
        "import k\n\n\ndef f():\n    x: k.gone.X = None",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from k.gone import X",
        "import typing\nif typing.TYPE_CHECKING:\n    from k.gone import X",
    ],
)
def test_what_only_a_type_checker_reads_is_guarded(parse, source):
    assert guarded(parse, source, "k.gone.X")


@pytest.mark.parametrize(
    "source",
    [
        "import k\n\n\ndef f(x: k.gone.X): pass",
        "import k\nx: k.gone.X = None",
        "import k\n\n\ndef f():\n    class A:\n        x: k.gone.X = None",
        "from __future__ import annotations\nimport k\n\n\ndef f(x=k.gone.X): pass",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    from k.gone import X",
    ],
)
def test_what_python_evaluates_is_not_for_types_only(parse, source):
    assert not guarded(parse, source, "k.gone.X")


def test_an_import_behind_one_that_may_well_work_is_guarded(parse):
    source = "try:\n    from m.own.a import x\nexcept ImportError:\n    from m.a import x"
    assert guarded(parse, source, "m.a.x")


@pytest.mark.parametrize("tried", ["m.b import x", "n.a import x", "m.own.a import y"])
def test_another_import_before_it_does_not_guard_an_import(parse, tried):
    source = f"try:\n    from {tried}\nexcept ImportError:\n    from m.a import x"
    assert not guarded(parse, source, "m.a.x")


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        ("except NameError:\n    y = 3", True),
        ("except NameError:\n    pass", True),
        ("except (NameError, AttributeError) as e:\n    print(e)", True),
        ("except:\n    y = 3", True),
        ("except Exception:\n    pass", False),
        ("except AttributeError:\n    y = 3", False),
        ("except ImportError:\n    y = 3", False),
        ("except NameError:\n    raise SystemExit", False),
    ],
)
def test_a_name_that_nothing_binds_is_guarded_by_a_handler_for_it(parse, handler, expected):
    module = parse(f"from k import *\ntry:\n    y = x.old()\n{handler}")
    assert module.is_guarded(module.unbound_reads["x"]) is expected


def test_a_handler_for_a_name_guards_no_attribute(parse):
    source = "import k\ntry:\n    y = k.old.x\nexcept NameError:\n    y = 3"
    assert not guarded(parse, source, "k.old.x")


def test_a_call_by_way_of_what_is_there_does_the_work(parse):
    source = "import k\ntry:\n    k.old.make().update(x)\nexcept AttributeError:\n    {}"

    assert guarded(parse, source.format("k.new.make().update(x)"), "k.old.make")
    assert not guarded(parse, source.format("k.new.take().update(x)"), "k.old.make")
    assert not guarded(parse, source.format("pass"), "k.old.make")


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


def test_what_only_a_type_checker_reads_is_guarded_by_whatever_name(parse):
    source = "import k\nfrom typing import TYPE_CHECKING as TC\nif TC:\n    k.gone\n"
    assert guarded(parse, source, "k.gone")
    source = "import k\nfrom mine import TC\nif TC:\n    k.gone\n"
    assert not guarded(parse, source, "k.gone")


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


BELOW = "try:\n    from k.old import x\n    k.ops.gone(y)\n"


@pytest.mark.parametrize(
    "source",
    [
        f"{BELOW}except ImportError:\n    print('install the old one')",
        f"{BELOW}except ImportError as e:\n    print(e)\nfinally:\n    f()",
        f"{BELOW}except ImportError:\n    pass",
        f"{BELOW}except Exception:\n    sys.exit(1)",
        "try:\n    from k.old import x\nexcept ImportError:\n    f()\nelse:\n    k.ops.gone(y)",
        "try:\n    from k.old import x\nexcept ImportError:\n    f()\n    k.ops.gone(y)",
        (
            "try:\n    from k.old import x\nexcept ImportError:\n    x = None\n"
            "if x is None:\n    raise ImportError('it needs k.old')\nk.ops.gone(y)"
        ),
        (
            "try:\n    from k.old import x\n    HAS_X = True\nexcept ImportError:\n"
            "    HAS_X = False\nif not HAS_X:\n    raise RuntimeError('it needs k.old')\n"
            "k.ops.gone(y)"
        ),
    ],
)
def test_what_stands_below_an_import_that_will_be_mended_is_looked_at(parse, source):
    assert not guarded(parse, f"import k, sys\n{source}", "k.old.x")
    module = parse(f"import k, sys\n{source}")
    (use,) = [each for each in module.references if each.name.endswith("ops.gone")]
    assert not module.is_guarded(use.node)


@pytest.mark.parametrize(
    "source",
    [
        # The fallback works.
        f"{BELOW}except ImportError:\n    from k.new import x\nx(1)",
        # The program is written for both.
        (
            "try:\n    from k.old import x\n    OLD = True\nexcept ImportError:\n    OLD = False\n"
            "if OLD:\n    k.ops.gone(y)"
        ),
        (
            "try:\n    from k.old import x\nexcept ImportError:\n    x = None\n"
            "def f():\n    if x is None:\n        raise ImportError('it needs k.old')\n"
            "    k.ops.gone(x)"
        ),
        (
            "try:\n    from k.old import x\nexcept ImportError:\n    x = None\n"
            "if x is not None:\n    k.ops.gone(x)"
        ),
        # What it is for is done in the same breath, or not at all.
        "try:\n    from k.old import x\n    k.ops.gone(x)\nexcept ImportError:\n    pass",
    ],
)
def test_what_stands_below_an_import_that_something_makes_up_for_is_not(parse, source):
    assert guarded(parse, f"import k\n{source}", "k.ops.gone")


REFUSED = "import k, os, pytest, sys, unittest\n"


@pytest.mark.parametrize(
    ("source", "stop"),
    [
        ("if k.__version__ >= '3':\n    raise ImportError('old')\nk.ops.gone(x)", 3),
        ("if k.__version__ >= '3':\n    print('old')\n    sys.exit('old')\nk.ops.gone(x)", 4),
        ("if k.__version__ >= '3':\n    raise SystemExit\nk.ops.gone(x)", 3),
        ("if not k.__version__ < '3':\n    exit()\nk.ops.gone(x)", 3),
        ("assert k.__version__ < '3', 'old'\nk.ops.gone(x)", 2),
        ("if sys.version_info >= (3,):\n    raise RuntimeError('2')\nk.ops.gone(x)", 3),
        ("if not hasattr(k.ops, 'gone'):\n    raise ImportError\nk.ops.gone(x)", 3),
        ("if k.__version__ >= '3':\n    raise E\nelse:\n    k.ops.gone(x)", 3),
        ("if k.__version__ >= '3':\n    raise E\nelif y:\n    k.ops.gone(x)", 3),
        ("if k.__version__ < '3':\n    k.ops.gone(x)\nelse:\n    raise E", 5),
        ("if y:\n    if k.__version__ >= '3':\n        raise E\n    k.ops.gone(x)", 4),
        ("OLD = k.__version__ < '3'\nif not OLD:\n    raise E\ndef f():\n    k.ops.gone(x)", 4),
        # Nobody knows how it turns out: what stands below it is looked at all the same.
        ("if k.__version__ >= version():\n    raise E\nk.ops.gone(x)", None),
        ("if sys.version_info >= (3, 12):\n    raise E\nk.ops.gone(x)", None),
        ("if k.__version__ < '3':\n    raise E\nk.ops.gone(x)", None),
    ],
)
def test_what_a_module_refuses_to_run_is_looked_at(parse, source, stop):
    assert not guarded(parse, REFUSED + source, "k.ops.gone")
    assert refused_at(parse, REFUSED + source) == stop


@pytest.mark.parametrize(
    "source",
    [
        # A function for another Keras does no harm, nor do tests that are skipped.
        "def f():\n    if k.__version__ >= '3':\n        raise E\n    k.ops.gone(x)",
        (
            "class A:\n    def f(self):\n        if k.__version__ >= '3':\n            raise E\n"
            "        k.ops.gone(x)"
        ),
        "if k.__version__ >= '3':\n    pytest.skip('', allow_module_level=True)\nk.ops.gone(x)",
        "if k.__version__ >= '3':\n    raise unittest.SkipTest('')\nk.ops.gone(x)",
        "if k.__version__ >= '3':\n    raise pytest.skip.Exception('')\nk.ops.gone(x)",
        # It is caught: what does the work is the handler.
        (
            "try:\n    if k.__version__ >= '3':\n        raise ImportError\n    k.ops.gone(x)\n"
            "except ImportError:\n    k.ops.here(x)"
        ),
        # The program is written for both.
        "if k.__version__ < '3':\n    k.ops.gone(x)\nelse:\n    k.ops.here(x)",
        (
            "if k.__version__ < '3':\n    k.ops.gone(x)\nelif k.__version__ < '4':\n    pass\n"
            "else:\n    raise E"
        ),
    ],
)
def test_what_is_for_another_keras_is_not_looked_at(parse, source):
    assert guarded(parse, REFUSED + source, "k.ops.gone")
    assert refused_at(parse, REFUSED + source) is None


def refused_at(parse, source):
    """Return the line of the statement with which the module stops the target."""
    module = parse(source)
    stops = [module.refusal(each) for each in (*module.nodes(cst.If), *module.nodes(cst.Assert))]
    found = [module.place(each).line for each in stops if each is not None]
    assert len(found) < 2
    return found[0] if found else None
