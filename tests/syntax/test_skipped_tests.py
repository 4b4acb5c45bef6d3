"""What is in a test that the target skips, or below what ends the program, is not looked at."""

import libcst as cst
import pytest

from .guarded import guarded

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
