"""A fix can be kept to the statements that bind some names."""

from kdoctor import engine

TEXT = """\
from keras import backend as K
from keras.layers.core import Dense

é = "äöü"; first = lambda x: K.sum(x, axis=-1)


@staticmethod
def second(x, y=K.abs(-1.0)):
    return K.square(x)


class Third:
    rate = K.epsilon()

    def total(self, x):
        return K.sum(x)


print(K.mean([1.0]))
"""


def within(path, *names):
    done = engine.fix([path], within=frozenset(names), isolated=True, target="keras==3.15.1")
    return done.files[0].after.decode() if done.files else None


def test_only_the_statements_that_bind_the_names_are_fixed(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(TEXT)
    second = within(path, "second")
    assert "def second(x, y=ops.abs(-1.0)):\n    return ops.square(x)\n" in second
    assert second.count("K.") == TEXT.count("K.") - 2
    assert "from keras import backend as K\nfrom keras import ops\n" in second
    first = within(path, "first")
    assert 'é = "äöü"; first = lambda x: ops.sum(x, axis=-1)\n' in first
    assert first.count("K.") == TEXT.count("K.") - 1
    assert "ops.sum(x)" in within(path, "Third")
    assert within(path, "Dense").splitlines()[1] == "from keras.layers import Dense"
    assert within(path) is None
    assert within(path, "nothing") is None


def test_lines_may_end_in_any_way(tmp_path):
    path = tmp_path / "a.py"
    for end in ("\r\n", "\r"):
        path.write_bytes(TEXT.replace("\n", end).encode())
        done = within(path, "second")
        assert f"def second(x, y=ops.abs(-1.0)):{end}    return ops.square(x){end}" in done
        assert done.count("K.") == TEXT.count("K.") - 2
