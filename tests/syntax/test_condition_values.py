"""What is said of a condition is what Python makes of it, in each world that the target may be.

Tests are drawn from all that the reachability knows: versions, the engine, Python's version,
`hasattr`. Each is written in both orders, negated, chained, with `in`, joined by `and` and `or`.
"""

from __future__ import annotations

import random
from collections import namedtuple
from distutils.version import LooseVersion
from types import SimpleNamespace

import libcst as cst
import packaging.version
import pytest

HEAD = """
import k, os, sys, platform
from k import __version__ as k_version
from packaging import version
from packaging.version import Version
from distutils.version import LooseVersion
from importlib import metadata
major, minor = map(int, k.__version__.split(".")[:2])
engine = k.engine()
is_3 = k.__version__ >= "3"
def is_old(): return k.__version__ < "3"
"""
ENGINES = ("one", "two")
PYTHONS = ((3, 9, 0), (3, 11, 0), (3, 11, 5), (3, 15, 1), (3, 30, 2))

# Values that are compared with each other, by sort, the known one first.
VERSIONS = ("k.__version__", "k_version", "k.version()", "getattr(k, '__version__', '0')",
            "metadata.version('k')")  # fmt: skip
TEXTS = ("'2.4'", "'3'", "'3.15.1'", "'10'", "'4.0.0'")
NUMBERS_KNOWN = (
    *("int(k.__version__[0])", "int(k_version.split('.')[0])", "major", "minor"),
    *("version.parse(k.__version__).major", "Version(k_version).minor", "len(k.__version__)"),
    *("sys.version_info[0]", "sys.version_info.major", "sys.version_info[1]"),
    *("sys.version_info.minor", "int(platform.python_version_tuple()[1])"),
)
NUMBERS = ("2", "3", "15", "11", "-1")
TUPLES_KNOWN = (
    *("(major, minor)", "tuple(map(int, k.__version__.split('.')))", "sys.version_info"),
    *("sys.version_info[:2]", "tuple(int(v) for v in k.__version__.split('.')[:2])"),
)
TUPLES = ("(2, 4)", "(3,)", "(3, 11)", "(3, 15)", "(4, 0)")
ENGINES_KNOWN = ("k.engine()", "engine", "k.engine().lower()", "k.engine()[:3]")
NAMES = ("'one'", "'two'", "'theano'", "'tw'")
ORDERED = ("<", "<=", ">", ">=", "==", "!=")
FLAGS = (
    *("is_3", "is_old()", "hasattr(k.ops, 'here')", "hasattr(k, 'gone')", "'gone' in dir(k)"),
    *("getattr(k, 'gone', None) is None", "None is not getattr(k.ops, 'here', None)"),
    *("hasattr(k, 'gone') == False", "True is hasattr(k.ops, 'here')", "k.__version__ == '3.15.1'"),
    *("k.__version__.startswith('2.')", "k.__version__.startswith(('2.', '3.'))"),
    *("k.engine().startswith('t')", "k.engine() in {'theano', 'cntk'}", "'here' in vars(k.ops)"),
    *("'gone' not in k.__dict__", "sys.version.startswith('3')", "sys.hexversion >= 0x03000000"),
    *(
        "getattr(k, 'gone', False)",
        "not getattr(k.ops, 'here', None)",
        "sys.version_info.micro < 0",
    ),
    *("bool(k.engine())", "(is_3, k.engine()) == (False, 'one')", "[is_3] == [True]"),
    *("os.environ.get('TF_USE_LEGACY_KERAS') == '1'", "'1' == os.getenv('TF_USE_LEGACY_KERAS')"),
)


def drawn_comparison(rng: random.Random, *, chained: bool = True) -> str:
    """One comparison, in any order, chained or with ``in``."""
    parser = rng.choice(["version.parse", "Version", "LooseVersion"])
    known, others = rng.choice([
        (VERSIONS, TEXTS),
        ([f"{parser}({rng.choice(VERSIONS[:2])})"], [f"{parser}({each})" for each in TEXTS]),
        (NUMBERS_KNOWN, NUMBERS), (NUMBERS_KNOWN, NUMBERS),
        (TUPLES_KNOWN, TUPLES),
        (ENGINES_KNOWN, NAMES), (ENGINES_KNOWN, NAMES), (ENGINES_KNOWN, NAMES),
    ])  # fmt: skip
    value, one, two = rng.choice(known), rng.choice(others), rng.choice(others)
    sign = rng.choice(ORDERED)
    if known is ENGINES_KNOWN:
        sign = rng.choice(("==", "!="))
    ways = [f"{value} {sign} {one}", f"{one} {sign} {value}", f"({value}) {sign} ({one})"]
    if chained:
        ways.append(f"{one} {rng.choice(ORDERED)} {value} {rng.choice(ORDERED)} {two}")
    if "(" not in one or one[0] == "(":
        brackets = rng.choice(["({}, {})", "[{}, {}]", "{{{}, {}}}"]).format(one, two)
        ways += [f"{value} {word} {brackets}" for word in ("in", "not in")]
        ways += [f"{one} {word} ({value}, {two})" for word in ("in", "not in")]
    return rng.choice(ways)


def drawn(rng: random.Random, depth: int = 2) -> str:
    """A test: a comparison or a flag, negated, joined with others."""
    if depth == 0 or rng.random() < 0.4:
        return drawn_comparison(rng) if rng.random() < 0.7 else rng.choice(FLAGS)
    one, two = drawn(rng, depth - 1), drawn(rng, depth - 1)
    return rng.choice([
        f"not ({one})", f"({one}) and ({two})", f"({one}) or ({two})", f"not (({one}) and ({two}))",
        f"({one}) if ({two}) else not ({one})", f"any([{one}, {two}])", f"all(({one}, {two}))",
        f"bool({one})", f"({one}) is True", f"({one}) == ({two})", f"False != ({one})",
    ])  # fmt: skip


def worlds():
    """The names that a test reads, in each world that the target may be."""
    info = namedtuple("info", "major minor micro releaselevel serial")  # noqa: PYI024
    for engine in ENGINES:
        for python in PYTHONS:
            text = ".".join(map(str, python))
            k = SimpleNamespace(
                __version__="3.15.1",
                version=lambda: "3.15.1",
                engine=lambda engine=engine: engine,
                ops=SimpleNamespace(here=len),
            )
            yield {
                "k": k, "k_version": "3.15.1", "major": 3, "minor": 15, "engine": engine,
                "is_3": True, "is_old": lambda: False, "LooseVersion": LooseVersion,
                "version": packaging.version, "Version": packaging.version.Version,
                "metadata": SimpleNamespace(version=lambda name: "3.15.1"),  # noqa: ARG005
                "os": SimpleNamespace(environ={}, getenv={}.get),
                "sys": SimpleNamespace(
                    version_info=info(*python, "final", 0), version=f"{text} (main)",
                    hexversion=(3 << 24) + (python[1] << 16) + (python[2] << 8),
                ),
                "platform": SimpleNamespace(
                    python_version=lambda text=text: text,
                    python_version_tuple=lambda text=text: tuple(text.split(".")),
                ),
            }  # fmt: skip


def truths(test: str) -> set[object]:
    """What Python makes of a test, in all worlds: True, False, and None where it raises."""
    found: set[object] = set()
    code = compile(test, "<test>", "eval")
    for world in worlds():
        try:
            found.add(bool(eval(code, world)))  # noqa: S307 - a test of what Python does
        except (TypeError, ValueError, IndexError, AttributeError):
            found.add(None)
    return found


def answer(parse, test: str) -> object:
    """What kdoctor says: True, False, or None where it does not know."""
    module = parse(f"{HEAD}\nif {test}:\n    k.ops.then\nelse:\n    k.ops.otherwise\n")
    dead = {
        each.name.rpartition(".")[2]: module.is_dead(each.node)
        for each in module.references
        if each.name in {"k.ops.then", "k.ops.otherwise"}
    }
    assert not all(dead.values()), test
    return None if not any(dead.values()) else dead["otherwise"]


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_of_a_condition_is_what_python_makes_of_it(parse, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    decided = 0
    for _ in range(150):
        test = drawn(rng)
        said, found = answer(parse, test), truths(test)
        if said is not None:
            assert found <= {said, None}, (test, said, found)
            decided += 1
    assert decided > 75


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("seed", range(3))
def test_a_comparison_that_turns_out_alike_everywhere_is_decided(parse, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    for _ in range(150):
        test = drawn_comparison(rng, chained=False)  # of a chain, the parts depend on each other
        test = rng.choice([test, f"not ({test})", f"not {test}", f"({test}) and True"])
        found = truths(test)
        if len(found) == 1 and None not in found:
            assert {answer(parse, test)} == found, test


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("seed", range(2))
def test_what_stops_a_module_stops_it_in_python(parse, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    stopped = 0
    for _ in range(100):
        test = drawn(rng)
        module = parse(f"{HEAD}\nif {test}:\n    raise ImportError\nk.ops.below\n")
        (below,) = [each for each in module.references if each.name == "k.ops.below"]
        assert not module.is_guarded(below.node), test
        (statement,) = module.nodes(cst.If)
        if module.refusal(statement) is not None:
            assert truths(test) <= {True, None}, test
            stopped += 1
    assert stopped > 15
