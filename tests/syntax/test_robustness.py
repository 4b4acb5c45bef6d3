"""Code that is broken, deep, or large."""

import os
import subprocess
import sys

import libcst as cst
import pytest

from kdoctor.errors import SyntaxProblem


@pytest.mark.parametrize(
    ("source", "line", "column", "why"),
    [
        ("x = 1\nprint 'a'\n", 2, 1, "Missing parentheses"),
        ("x = (1\n", 1, 5, "never closed"),
        ("if x:\npass\n", 2, 1, "indented block"),
        ("x = 'a\n", 1, 5, "unterminated string"),
        ("\f\n\fx = )", 2, 6, "unmatched"),
    ],
)
def test_what_is_no_python_is_refused_in_pythons_words_at_its_place(
    parse, source, line, column, why
):
    with pytest.raises(SyntaxProblem, match=why) as caught:
        parse(source)

    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "source",
    [
        "x = " + " + ".join(["k.a"] * 400),
        "x = k.a" + ".b()" * 200,
        "x = " + "not " * 400 + "k.a",
        "x = " + "-" * 400 + "k.a",
        "x = " + "k.a if y else " * 400 + "z",
        "if k.a: pass\n" + "elif x: pass\n" * 400,
        "x = " + "'a' " * 1500 + "\nk.a",
        "x = " + "lambda: " * 400 + "k.a",
        "x = " + "(" * 190 + "k.a" + ")" * 190,
        "x = k" + ".a" * 400,
    ],
    ids=lambda source: source[:12],
)
def test_deep_code_is_read_to_the_end(parse, source):
    module = parse("import k\n" + source)

    assert {ref.name[:3] for ref in module.references} >= {"k", "k.a"}
    assert module.source(module.references[-1].node).startswith("k.a")
    assert module.members == ()
    assert not module.is_guarded(module.references[-1].node)
    module.context_of(module.references[-1].node)


@pytest.mark.parametrize(
    "source", ["x = " + "(" * 5000 + ")" * 5000, "x = " + "[" * 3000, "f(" * 2000 + ")" * 2000]
)
def test_what_python_finds_too_deep_is_refused_at_once(parse, source):
    with pytest.raises(SyntaxProblem, match="nested parentheses"):
        parse(source)


def test_parsing_many_brackets_in_strings_raises_nothing(parse):
    parse("x = '" + "(" * 1000 + "'  # " + "[" * 1000)


@pytest.mark.skipif(os.name == "nt", reason="limits of a stack")
def test_code_that_overflows_a_usual_stack_does_not_end_the_process():
    """libcst's parser is native code: without a stack of its own this is a segmentation fault.

    On a stack of 1 MB a thousand levels are enough; the time that libcst takes grows by the square.
    """
    source = "source = 'x = ' + 'lambda:' * 1000 + '1'\n"
    ours = (
        "from kdoctor.documents import Document\n"
        "from kdoctor.syntax import Module\n"
        "Module.parse(Document.parse(source.encode(), 'a.py').units[0])\n"
    )
    assert on_a_small_stack(source + ours) in {0, 1}
    assert on_a_small_stack(f"{source}import libcst\nlibcst.parse_module(source)\n") < 0


def on_a_small_stack(program):
    import resource  # noqa: PLC0415 - of POSIX alone

    limit = (2**20, resource.getrlimit(resource.RLIMIT_STACK)[1])
    code = f"import resource\nresource.setrlimit(resource.RLIMIT_STACK, {limit})\n"
    again = f"import os, sys\nos.execv(sys.executable, [sys.executable, '-c', {program!r}])\n"
    done = subprocess.run([sys.executable, "-c", code + again], capture_output=True, check=False)
    return done.returncode


def test_three_hundred_layers_in_a_chain_are_followed(parse):
    chain = "import k\nx = k.Input()\n" + "x = k.layers.Dense(3)(x)\n" * 300 + "x._history\n"

    assert [use.member for use in parse(chain).members] == ["_history"]


@pytest.mark.parametrize(
    "ring",
    [
        "t = k.Input()\nx = t\nfor i in y:\n    x = x + t\n    x.a\nx.b\n",
        "x = k.Input()\nwhile y:\n    z = x\n    x = z + k.Input()\nz.a\n",
        "x = k.Input()\n" + "x = k.layers.Dense(3)(x)\n" * 100,
    ],
)
def test_types_do_not_depend_on_which_was_asked_first(parse, ring):
    def types(priority):
        module = parse(f"import k\n{ring}")
        nodes = [
            *module.nodes(cst.Name),
            *module.nodes(cst.Call),
            *module.nodes(cst.BinaryOperation),
        ]
        asked = {node: module.type_of(node) for node in priority(nodes)}
        return [asked[node] for node in nodes]

    assert types(reversed) == types(list) == types(lambda nodes: nodes[len(nodes) // 2 :] + nodes)


def test_functions_that_call_each_other_come_to_an_end(parse):
    functions = "".join(
        f"def f{i}():\n" + "".join(f"    if x: return f{j}()\n" for j in range(30))
        for i in range(30)
    )

    assert parse(f"import k\n{functions}\nf0().x").members == ()


def test_a_name_that_is_bound_thousands_of_times_is_resolved_quickly(parse):
    module = parse("import k\n" + "x = k.a\nx.b\n" * 3000)

    assert sum(ref.name == "k.a.b" for ref in module.references) == 3000
