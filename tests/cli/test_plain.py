"""Arguments that are read without Typer mean what Typer reads."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from kdoctor.cli import choices, fast_args, run_fix, run_scan
from kdoctor.cli.app import app_of

APPS = {name: app_of([name, "rules"]) for name in fast_args.GRAMMARS}
FUNCTIONS = {"scan": run_scan.scan, "fix": run_fix.fix}
VALUES = [
    "a.py", "src/b.py", "-", "--", "", "KD1,KD2", "1", "0", "2", "01", "+1", "1_0", "٣", "-1", "3.0",
    "keras", "tf.keras", "KEEP", "always", "never", "Auto", "json", "text", "python", "a=b", "=",
    "-q", "-qv", "-j4", "-j", "--jobs", "--help", "-h", "--version", "--no-unsafe", "--undo",
    "--executor", "--stdin-filename", "\udce9.py", "é.py", "*.py", "~", "$HOME", "a b", "--sel", "x\n",
    "--quiet=1", "--jobs=", "--verify", "--add-ignores", "--reason",
]  # fmt: skip


def bound_to(name, *paths, **options):
    """Return what a command does with its parameters, those left out included."""
    bound = inspect.signature(FUNCTIONS[name]).bind(*paths, **options)
    bound.apply_defaults()
    return {**bound.arguments, "typed": choices.engine_options(**bound.arguments["typed"])}


def read_by_typer(words):
    """Return the parameters that a command is called with, None where it is not called."""
    called = []

    def command(*paths, **options):
        called.append(bound_to(words[0], *paths, **options))
        return 0

    module = {"scan": run_scan, "fix": run_fix}[words[0]]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, words[0], command)
        CliRunner().invoke(APPS[words[0]], words, prog_name="kdoctor")
    return called[0] if called else None


def read_plainly(words):
    asked = fast_args.read(words)
    if asked is None:
        return None
    return bound_to(words[0], **asked)


def options_of(name):
    grammar = fast_args.GRAMMARS[name]
    return [*grammar.flags, *grammar.lists, *grammar.values]


@st.composite
def command_lines(draw):
    name = draw(st.sampled_from(sorted(fast_args.GRAMMARS)))
    option = st.sampled_from(options_of(name))
    value = st.sampled_from(VALUES)
    piece = st.one_of(
        value.map(lambda text: [text]),
        option.map(lambda word: [word]),
        st.tuples(option, value).map(list),
        st.tuples(option, value).map(lambda pair: ["=".join(pair)]),
        st.tuples(option, value).map(lambda pair: ["".join(pair)]),
    )
    return [name, *(word for words in draw(st.lists(piece, max_size=6)) for word in words)]


@settings(max_examples=300, deadline=None)
@given(words=command_lines())
@example(words=["scan", "--force-exclude", "--no-cache", "a.py", "b.py"])
@example(words=["fix", "--apply", "--force-exclude", "a.py", "--unsafe"])
@example(words=["scan", "-j2", "-o=a.txt", "-oa", "-j=2"])
def test_what_is_read_plainly_is_what_typer_reads(words):
    plainly = read_plainly(words)
    if plainly is not None:
        assert plainly == read_by_typer(words)


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, option) for name in fast_args.GRAMMARS for option in options_of(name)],
)
def test_every_option_of_the_grammar_is_read_as_typer_reads_it(name, option):
    grammar = fast_args.GRAMMARS[name]
    if option in grammar.flags:
        forms = [[option]]
    else:
        known = {
            "jobs": "2",
            "namespace": "keras",
            "kind": "rst",
            "color": "never",
            "shape": "json",
            "show": "all",
            "keras_2_helpers": "import",
            "backend": "jax,torch",
        }
        parameter = grammar.lists.get(option) or grammar.values[option][0]
        value = known.get(parameter, "KD1")
        attached = f"{option}={value}" if option.startswith("--") else f"{option}{value}"
        forms = [[option, value], [attached]]
    for words in forms:
        line = [name, "a.py", *words]
        assert read_plainly(line) == read_by_typer(line) is not None


@pytest.mark.parametrize(
    "words",
    [
        [], ["scan", "--help"], ["scan", "-qv"], ["scan", "--jobs", "0"], ["scan", "--nonsense"],
        ["rules"], ["scan", "--select"], ["fix", "--verify"], ["scan", "--color", "red"],
        ["scan", "--", "-a.py"], ["scan", "-"], ["fix", "--undo"], ["scan", "--stdin-filename", "a.py"], ["--version"],
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_typer(words):
    assert fast_args.read(words) is None
    assert fast_args.run(words) is None


@pytest.mark.parametrize("value", ["1", "0", "true", "No", "", "2"])
@pytest.mark.parametrize("words", [["scan", "a.py"], ["fix", "--no-cache"]])
def test_the_variable_against_caches_is_read_as_typer_reads_it(words, value, monkeypatch):
    monkeypatch.setenv("KDOCTOR_NO_CACHE", value)
    plainly = read_plainly(words)
    assert plainly is None or plainly == read_by_typer(words)
    assert (plainly is None) is (value != "1")


def test_what_a_shell_completes_is_left_to_typer(monkeypatch):
    monkeypatch.setenv("_KDOCTOR_COMPLETE", "complete_bash")
    assert fast_args.run(["scan", "there-is-none.py"]) is None


def test_a_problem_ends_plain_arguments_with_a_sentence(capsys):
    assert fast_args.run(["scan", "there-is-none.py"]) == 2
    assert capsys.readouterr().err.startswith("kdoctor: there-is-none.py: No such file")
