"""Paths that are not one literal: what they surely end in, held against what Python makes of them."""

import re

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kdoctor.analysis.dataflow.texts import NUMBER, texts_of
from kdoctor.documents import Document
from kdoctor.engine import fix, scan
from kdoctor.keras_api import newest_target, oracle
from kdoctor.rules.saving._path_endings import ending
from kdoctor.syntax import Module

MODEL = (
    "import os, sys, time, datetime\nfrom pathlib import Path\nimport keras\n\n"
    "model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
)
HOLDER = (
    "class Trainer:\n    def __init__(self, name):\n        self.name = name\n"
    "        self.checkpoint = {path}\n"
    "        self.model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n\n"
    "    def run(self):\n        self.model.{call}\n"
)


def told(source, select):
    with_gate, without = (
        scan(["-"], stdin=source.encode(), select=[select], gate=gate).findings
        for gate in (True, False)
    )
    assert with_gate == without
    return with_gate


def mended(source, code):
    result = fix(["-"], stdin=source.encode(), select=[code], unsafe=True)
    return result.files[0].after.decode() if result.files else source


@pytest.mark.parametrize(
    ("above", "path", "new"),
    [
        ("NAME = 'net'", "f'models/{NAME}'", "f'models/{NAME}.keras'"),
        ("NAME = sys.argv[1]", "f'models/{NAME}/best'", "f'models/{NAME}/best.keras'"),
        ("NAME = sys.argv[1]", "f'{NAME}_best'", "f'{NAME}_best.keras'"),
        ("epoch = 3", "f'models/{epoch}'", "f'models/{epoch}.keras'"),
        ("epoch = given()", "f'models/{epoch:02d}'", "f'models/{epoch:02d}.keras'"),
        ("loss = given()", "f'net-{loss:.2f}'", "f'net-{loss:.2f}.keras'"),
        ("NAME = 'net'", "'models/{}'.format(NAME)", "'models/{}.keras'.format(NAME)"),
        ("NAME = 'net'", "'models/{n}'.format(n=NAME)", "'models/{n}.keras'.format(n=NAME)"),
        ("NAME = 'net'", "'models/%s' % NAME", "'models/%s.keras' % NAME"),
        ("NAME = 'net'", "'%s_%03d' % (NAME, 3)", "'%s_%03d.keras' % (NAME, 3)"),
        ("NAME = 'net'", "os.path.join('models', f'{NAME}')", "os.path.join('models', f'{NAME}.keras')"),
        ("NAME = given()", "Path('a').joinpath(NAME, 'b')", "Path('a').joinpath(NAME, 'b.keras')"),
        ("", "(Path('a') / 'b').as_posix()", "(Path('a') / 'b.keras').as_posix()"),
        ("", "'models/' 'net'", "'models/' 'net.keras'"),
        ("", "'_'.join(['a', given(), 'net'])", "'_'.join(['a', given(), 'net.keras'])"),
        (
            "now = datetime.datetime.now()",
            "'net-' + now.strftime('%Y-%m-%d')",
            "'net-' + now.strftime('%Y-%m-%d.keras')",
        ),
    ],
)  # fmt: skip
def test_a_path_that_surely_ends_in_nothing_of_keras_is_told(above, path, new):
    source = f"{MODEL}{above}\nmodel.save({path})\n"
    assert len(told(source, "KD604")) == 1
    assert mended(source, "KD604") == f"{MODEL}{above}\nmodel.save({new})\n"


@pytest.mark.parametrize(
    ("above", "path"),
    [
        ("epoch = 3", "'models/' + str(epoch)"),
        ("", "'models/' + str(int(time.time()))"),
        ("", "'a' if sys.argv else 'b'"),
        ("if sys.argv:\n    P = 'a'\nelse:\n    P = 'b/c'", "P"),
        ("P = 'a'\nP = 'b'\ndef late():\n    return 1", "[P, P][0] if 0 else P"),
        ("NAMES = 1\nfor name in ['a', 'b']:\n    pass", "f'models/{name}'"),
    ],
)
def test_what_no_single_literal_ends_is_told_without_a_fix(above, path):
    source = f"{MODEL}{above}\nmodel.save({path})\n"
    found = told(source, "KD604") if "[0]" not in path else []
    assert [each.fix for each in found] == [None] * len(found)
    assert len(found) == ("[0]" not in path)


@pytest.mark.parametrize(
    ("above", "path"),
    [
        ("NAME = sys.argv[1]", "f'models/{NAME}'"),
        ("", "'models/' + sys.argv[1]"),
        ("NAME = 'net.keras'", "f'models/{NAME}'"),
        ("EXT = '.h5'", "f'net{EXT}'"),
        ("n = 5", "f'net.h{n}'"),
        ("n = given()", "f'net.{n:x}'"),
        ("EXT = 'keras'", "'net.%s' % EXT"),
        ("", "given() + 'keras'"),
        ("", "given() + '5'"),
        ("P = 'a' if given() else 'b.keras'", "P"),
        ("for name in ['a', 'b.h5']:\n    pass", "name"),
        ("for name in given():\n    pass", "f'models/{name}'"),
        ("P = given() or 'net'", "P"),
        ("NAME = 'net'", "'models/{}'.format(*NAME)"),
        ("NAME = 'net'", "'models/%s{}'.format(NAME) % given()"),
        ("user = given()\nURL = 'hf://'", "f'{URL}{user}/net'"),
        ("", "Path('net').with_suffix('.keras')"),
        ("", "Path('net').with_suffix(given())"),
    ],
)
def test_a_path_that_may_be_right_is_not_told(above, path):
    assert told(f"{MODEL}{above}\nmodel.save({path})\n", "KD604") == ()


@pytest.mark.parametrize(
    ("path", "call", "code"),
    [
        ("'best'", "save(self.checkpoint)", "KD604"),
        ("'best.h5'", "save_weights(self.checkpoint)", "KD601"),
        ("f'{name}_best'", "save(self.checkpoint)", "KD604"),
        ("'best'", "save(f'{self.name}_{self.checkpoint}')", "KD604"),
        ("'x'", "save(f'{self.checkpoint}/net')", "KD604"),
    ],
)
def test_a_path_that_an_attribute_keeps_is_known(path, call, code):
    assert len(told(MODEL + HOLDER.format(path=path, call=call), code)) == 1


def test_the_literal_that_an_attribute_keeps_is_renamed():
    source = MODEL + HOLDER.format(path="'best.h5'", call="save_weights(self.checkpoint)")
    assert mended(source, "KD601") == source.replace("'best.h5'", "'best.weights.h5'")


@pytest.mark.parametrize(
    "more",
    [
        "\n\ndef late(trainer, path):\n    trainer.checkpoint = path\n",
        "\n\ndef late(trainer):\n    setattr(trainer, sys.argv[1], 'best.weights.h5')\n",
        "\n\nclass Other(Trainer):\n    checkpoint = property(given)\n",
        "\n\nclass Other(Trainer):\n    @property\n    def checkpoint(self):\n        return given()\n",
        "\n\ndef late(trainer):\n    trainer.checkpoint += given()\n",
    ],
)
def test_an_attribute_that_may_hold_something_else_is_not_told(more):
    source = MODEL + HOLDER.format(path="'best.h5'", call="save_weights(self.checkpoint)") + more
    assert told(source, "KD601") == ()


def test_of_an_object_from_elsewhere_nothing_is_known():
    source = f"{MODEL}class Mine:\n    out = 'net'\n\n\ndef go(args):\n    model.save(args.out)\n"
    assert told(source, "KD604") == ()


def test_a_value_that_serves_others_is_not_renamed():
    source = f"{MODEL}EXT = '.h5'\nmodel.save_weights(f'net{{EXT}}')\nmodel.save('net' + EXT)\n"
    assert [each.fix for each in told(source, "KD601")] == [None]


def test_a_template_that_is_half_filled_in_keeps_its_fields():
    source = (
        f"{MODEL}folder = given()\n"
        "keras.callbacks.ModelCheckpoint(f'{folder}/w.{{epoch:02d}}-{{loss:.2f}}.hdf5')\n"
    )
    assert len(told(source, "KD602")) == 1
    assert mended(source, "KD602") == source.replace(".hdf5'", ".keras'")


def test_what_is_handed_to_a_function_that_saves_is_told_where_it_is_given():
    source = f"{MODEL}\n\ndef keep(net, path):\n    net.save(path)\n\n\nkeep(model, 'net')\n"
    source = source.replace("net.save", "model.save")
    found = told(source, "KD604")
    assert [each.place.line for each in found] == [12]
    assert mended(source, "KD604") == source.replace("'net'", "'net.keras'")


# -- drawn expressions, which Python evaluates

NAMES = {"a": "net", "b": "dir/x.h5", "c": "v1.", "n": 5, "x": 0.25, "u": "unknown.keras"}
ABOVE = (
    "import os\nfrom pathlib import Path\na = 'net'\nb = 'dir/x.h5'\nc = 'v1.'\nn = 5\nx = 0.25\n"
)
TEXT = st.sampled_from(
    ["'w'", "'a/b'", "'.h5'", "'keras'", "''", "'x.weights.h5'", "a", "b", "c", "u"]
)


def combined(inner):
    pair = st.tuples(inner, inner)
    return st.one_of(
        pair.map(lambda each: f"({each[0]} + {each[1]})"),
        pair.map(lambda each: f'f"{{{each[0]}}}_{{{each[1]}}}"' if '"' not in "".join(each) else each[0]),
        pair.map(lambda each: f'"%s-%s" % ({each[0]}, {each[1]})'),
        st.just('"x.h%d" % n'),
        pair.map(lambda each: f'"{{1}}/{{0}}".format({each[0]}, {each[1]})'),
        pair.map(lambda each: f'"{{}}{{:.1f}}".format({each[0]}, x)'),
        pair.map(lambda each: f"os.path.join({each[0]}, {each[1]})"),
        pair.map(lambda each: f"str(Path({each[0]}) / ({each[1]}))"),
        pair.map(lambda each: f"({each[0]} if n else {each[1]})"),
        pair.map(lambda each: f'"".join([{each[0]}, str(n), {each[1]}])'),
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.recursive(TEXT, combined, max_leaves=6))
def test_what_is_known_of_a_path_is_what_python_makes_of_it(expression):
    source = f"{ABOVE}path = {expression}\n"
    scope = {"u": NAMES["u"]}
    exec(source, scope)  # noqa: S102 - it is drawn from the parts above
    real = scope["path"]
    unit = Document.parse(source.encode(), "f.py").units[0]
    module = Module.parse(unit, oracle(newest_target()))
    value = module.nodes(cst.Assign)[-1].value
    number = r"[-+.\de]+"
    known = [
        re.compile(
            ("" if each.whole else "(?s:.*)")
            + number.join(re.escape(part) for part in each.text.split(NUMBER))
        )
        for each in texts_of(module, value)
    ]
    # A path loses what is needless of it: `a//b`, `a/./b`, `a/`.
    assert "Path(" in expression or any(each.fullmatch(real) for each in known), (real, known)
    found = ending(module, value)
    if found is None or found.extension is None:
        return
    wanted = (".keras", ".h5", ".hdf5")
    if real.endswith(wanted) and not real.rpartition("/")[2].startswith("."):
        assert found.extension
        assert real.endswith(found.extension)
    else:
        assert not found.extension.endswith(wanted) or "/." in f"/{real}"
