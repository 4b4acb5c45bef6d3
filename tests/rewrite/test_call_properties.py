# ruff: noqa: S102 - runs code of its own making
"""Whatever the signatures and the layout of a call: the new code passes what the old one passed."""

import io
import tokenize
from collections import Counter

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from kdoctor.rewrite.pattern import Pattern

PARAMETERS = ("a", "b", "c", "d")
VALUES = (
    "p",
    "q",
    "1",
    "-2",
    "'s'",
    "p + q",
    "p or q",
    "lambda: p",
    "p if q else 3",
    "[p, q]",
    "(p)",
    "p\n  + q",
    "f(p,\n  q)",
    "not q",
    "(p, q)",
    "{'k': p}",
    "p[0]",
    "(n for n in q)",
)
SEPARATORS = (", ", ", ", ",", " ,\n    ", ",  # why\n    ")
TEMPLATES = ("ops.new", "+", "method", "index")


@st.composite
def signatures(draw, names):
    """A parameter list: some required, then some with defaults."""
    required = draw(st.integers(0, len(names)))
    defaults = st.sampled_from(["None", "0", "-1", "'s'"])
    pieces = [*names[:required], *(f"{name}={draw(defaults)}" for name in names[required:])]
    if draw(st.booleans()) and len(names) > 1:
        pieces.insert(draw(st.integers(1, len(names) - 1)), "*" if draw(st.booleans()) else "/")
    return ", ".join(pieces)


@st.composite
def rewrites(draw):
    """Left side, right side, and the new signature under other names in another order."""
    old = draw(st.permutations(PARAMETERS).map(list))[: draw(st.integers(1, 4))]
    left = draw(signatures(old))
    form = draw(st.sampled_from(TEMPLATES))
    if form != "ops.new":
        x, *others = old
        operand = " + ".join(others) or "1"
        right = {
            "+": f"({x}, {operand})",
            "method": f"keras.ops.wrap({x}).method({', '.join(others)})",
            "index": f"[{x}, {operand}][0]",
        }[form]
        if form == "+":
            right = (
                f"keras.ops.wrap({x}) - ({operand})"
                if len(others) > 1
                else f"keras.ops.wrap({x}) - {operand}"
            )
        return left, right, None
    new_order = draw(st.permutations(old))
    renamed = {name: draw(st.sampled_from([name, f"new_{name}"])) for name in old}
    new_names = [renamed[name] for name in new_order]
    positional = draw(st.integers(0, len(new_order)))
    arguments = [
        name if index < positional else f"{renamed[name]}={name}"
        for index, name in enumerate(new_order)
    ]
    required = draw(st.integers(0, len(new_order)))
    defaults = st.sampled_from(["None", "0", "-1", "'s'"])
    new = [*new_names[:required], *(f"{name}={draw(defaults)}" for name in new_names[required:])]
    if positional == 0 and draw(st.booleans()):
        new.insert(0, "*")
    return left, f"keras.ops.new({', '.join(arguments)})", ", ".join(new)


@st.composite
def calls(draw, left, depth=2):
    """A call of the old name in any layout; now and then one that Python refuses."""
    values = st.sampled_from(VALUES)
    if depth:
        values = st.one_of(values, values, calls(left, depth=depth - 1))
    parameters = Pattern.parse(f"keras.backend.old({left})").parameters.values()
    room = [each for each in parameters if each.kind is not each.KEYWORD_ONLY]
    positional = draw(
        st.integers(sum(each.kind is each.POSITIONAL_ONLY for each in room), len(room))
    )
    rest = [
        each.name
        for each in [*room[positional:], *(each for each in parameters if each not in room)]
        if each.default is each.empty or draw(st.booleans())
    ]
    if draw(st.integers(0, 59)) == 7:
        positional += 1
    if draw(st.integers(0, 59)) == 7:
        rest = ["nonsense", *rest[1:]]
    arguments = [draw(values) for _ in range(positional)]
    arguments += [f"{name}={draw(values)}" for name in draw(st.permutations(rest))]
    if not arguments:
        return "K.old()"
    if arguments == ["(n for n in q)"] and draw(st.booleans()):
        arguments = ["n for n in q"]
    text = arguments[0]
    for argument in arguments[1:]:
        text += draw(st.sampled_from(SEPARATORS)) + argument
    text += draw(st.sampled_from(["", "", ",", "  # end\n", "\n"]))
    return f"K.old({draw(st.sampled_from(['', ' ', chr(10)]))}{text})"


@st.composite
def cases(draw):
    row = draw(rewrites())
    place = draw(st.sampled_from(PLACES))
    return row, "".join(
        piece if index == 0 else draw(calls(row[0])) + piece
        for index, piece in enumerate(place.split("{}"))
    )


PLACES = (
    "y = {}",
    "y = -{} if p else [{}]",
    "y = {}.shape, {} ** 2",
    "y = f({}, k={})[0]",
    "def g():\n    return {}\ny = g()",
)


class Recorder:
    """Stands for any result; it remembers how it came about."""

    def __init__(self, *story):
        self.story = story

    def __eq__(self, other):
        return isinstance(other, Recorder) and shown(self.story) == shown(other.story)

    __hash__ = None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Recorder("attribute", self, name)

    def __call__(self, *args, **kwargs):
        return Recorder("call", self, args, sorted(kwargs.items()))

    def _operator(name):  # noqa: N805 - makes methods
        return lambda self, *others: Recorder(name, self, *others)

    __add__, __radd__, __sub__, __rsub__ = map(_operator, ("add", "radd", "sub", "rsub"))
    __neg__, __pow__, __getitem__ = map(_operator, ("neg", "pow", "item"))
    del _operator


def shown(value):
    match value:
        case Recorder():
            return ("recorder", shown(value.story))
        case tuple() | list():
            return (type(value).__name__, *map(shown, value))
        case dict():
            return ("dict", *((key, shown(each)) for key, each in value.items()))
    return type(value).__name__ if callable(value) or hasattr(value, "send") else repr(value)


def outcome(source, left, right, new):
    """Run a source whose old function is the right side itself, over recording stubs."""

    class Namespace:
        pass

    ops, backend = Namespace(), Namespace()
    namespace = {
        "ops": ops,
        "K": backend,
        "p": Recorder("p"),
        "q": Recorder("q"),
        "f": Recorder("f"),
    }
    if new is not None:
        exec(f"def new({new}): return locals()", namespace)
        ops.new = lambda *a, **k: Recorder("new", sorted(namespace["new"](*a, **k).items()))
    ops.wrap = lambda value: Recorder("wrap", value)
    exec(f"def old({left}): return {right.replace('keras.ops', 'ops')}", namespace)
    backend.old = namespace["old"]
    try:
        exec(source, namespace)
    except Exception as error:  # noqa: BLE001 - both sides must fail alike
        return type(error).__name__
    return shown(namespace["y"])


def tokens(source, kinds):
    read = io.StringIO(source).readline
    return Counter(token.string for token in tokenize.generate_tokens(read) if token.type in kinds)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(), st.booleans())
def test_the_new_code_passes_what_the_old_code_passed(fix, case, known):
    (left, right, new), code = case
    code += "\n"
    try:
        compile(code, "code", "exec")
    except SyntaxError:
        return
    signatures = {"keras.ops.new": new if known else None}
    before = f"from keras import backend as K\n{code}"
    after = fix(before, (f"keras.backend.old({left})", right), signatures=signatures).text
    body = "".join(
        line
        for line in after.splitlines(keepends=True)
        if not line.startswith("from keras import ")
    )
    expected = outcome(code, left, right, new)
    event("rewritten" if "K.old" not in body else "refused in part")
    if expected == "TypeError" and "K.old" in body:
        return
    assert outcome(body, left, right, new) == expected
    kept = tokens(code, {tokenize.COMMENT, tokenize.NUMBER, tokenize.STRING})
    assert kept <= tokens(body, {tokenize.COMMENT, tokenize.NUMBER, tokenize.STRING})
