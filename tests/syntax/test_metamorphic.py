"""Changes of spelling that change no meaning do not change the names."""

import ast
import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

SOURCE = '''\
import k
from k import ops as K
from k.layers import Dense, Layer

L = k.layers
D = L.Dense

class Mine(Layer):
    """Reads K.docstring."""

    def call(self, x, K2=K.default):
        y = [K.sum(i) for i in x if K.mean(i)]
        return K.square(
            K.abs(x) + D(3)(x),
            axis=-1,
        )

def build(n: "k.Model", K=None):
    K.hidden(n)
    return lambda x: Dense(n)(k.Input(x))

for i in K.range(3):
    K.print(f"{K.inner(i)}")
'''


def indented(source):
    return textwrap.indent(source, "    ")


CHANGES = {
    "another alias": lambda s: re.sub(r"\bK\b", "KK", s),
    "in a function": lambda s: f"def program():\n{indented(s)}\nprogram()\n",
    "in an if": lambda s: f"if True:\n{indented(s)}\n",
    "in a try": lambda s: f"try:\n{indented(s)}\nexcept ValueError:\n    raise\n",
    "in a with": lambda s: f"with x:\n{indented(s)}\n",
    "reflowed": lambda s: ast.unparse(ast.parse(s)),
    "windows": lambda s: s.replace("\n", "\r\n"),
    "comments": lambda s: re.sub(r"([(,:])\n", r"\1  # K.comment\n", s),
    "a prelude": lambda s: "'''K.text'''\nother = 3\n" + s,
    "aliased by hand": lambda s: s.replace("import ops as K", "import ops\nK = ops"),
    "tabs": lambda s: s.replace("    ", "\t"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_same_names_are_found(names, change):
    changed = CHANGES[change](SOURCE)
    assert changed != SOURCE
    ast.parse(changed)

    assert names(changed)[-14:] == names(SOURCE)[-14:]
    assert "k.ops.sum" in names(changed)


@given(st.data())
def test_any_alias_in_any_nesting_means_the_same(parse, data):
    alias = data.draw(st.sampled_from(["k", "a", "_", "ops", "ä"]))
    form = data.draw(
        st.sampled_from(
            [
                ("import k as {0}", "{0}.ops"),
                ("from k import ops as {0}", "{0}"),
                ("import k.ops as {0}", "{0}"),
                ("import k\n{0}0 = k.ops", "{0}0"),
            ]
        )
    )
    wraps = data.draw(
        st.lists(
            st.sampled_from([
                "def f():", "if y:", "class A:", "with y:", "for y in z:", "while y:",
                "try:", "async def f():",
            ]),
            max_size=5,
        )
    )  # fmt: skip
    source = f"{form[1].format(alias)}.sum(y)"
    for wrap in wraps:
        source = f"{wrap}\n{indented(source)}"
        if wrap == "try:":
            source += "\nfinally:\n    pass"
    source = f"{form[0].format(alias)}\n{source}\n"

    called = [ref.name for ref in parse(source).references if ref.call is not None]
    assert called == ["k.ops.sum"], source
