"""Branches that a fix empties, or makes the same as another, are what one would have written."""

import ast
import itertools

import pytest

from kdoctor.engine import fix
from kdoctor.rewrite.branch_texts import negated_test

HEAD = "import keras\nimport tensorflow as tf\nfrom keras import backend as K\n\n\n"
OFF = "tf.compat.v1.disable_eager_execution()"


def fixed(path, source, *, unsafe=True):
    path.write_text(source)
    result = fix([path], apply=True, unsafe=unsafe, target="keras==3.15.1")
    assert not result.left_alone
    return path.read_text()


def body(text):
    """Return what stands below the imports."""
    return text.partition("\n\n\n")[2]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # The same code now, by whichever import.
        (
            ("def f(x):\n    if K.backend() == 'tensorflow':\n        y = keras.ops.square(x)\n"
            "    else:\n        y = K.square(x)\n    return y\n"),
            "def f(x):\n    y = keras.ops.square(x)\n    return y\n",
        ),
        (
            "def f(x):\n    return keras.ops.exp(x) if K.ndim(x) == 2 else K.exp(x)\n",
            "def f(x):\n    return keras.ops.exp(x)\n",
        ),
        # One of them reads a module of the package's own.
        (
            (
                "from .. import backend\n\n\nif K.backend() == 'tensorflow':\n"
                "    y = backend.f(K.abs(x))\nelse:\n    y = backend.f(keras.ops.abs(x))\n"
            ),
            "from .. import backend\n\n\ny = backend.f(ops.abs(x))\n",
        ),
        # The comments of both, the continuation line, a text of several lines.
        (
            ("if K.backend() == 'tensorflow':  # it has no negative axes\n    # first\n"
            "    y = K.sum(x,\n              axis=1)\n    z = '''\n    a\n'''\nelse:\n"
            "    y = keras.ops.sum(x, axis=1)  # second\n    z = '''\n    a\n'''\n"),
            ("# it has no negative axes\n# second\n# first\n"
            "y = ops.sum(x,\n            axis=1)\nz = '''\n    a\n'''\n"),
        ),
        # Only the last two are the same.
        (
            "if x:\n    y = 1\nelif K.ndim(x) == 2:\n    y = K.abs(x)\nelse:\n    y = keras.ops.abs(x)\n",
            "if x:\n    y = 1\nelse:\n    y = ops.abs(x)\n",
        ),
        # What is asked does more than give an answer, or is bound for what follows.
        (
            "if any(x):\n    y = K.abs(x)\nelse:\n    y = keras.ops.abs(x)\n",
            "if any(x):\n    y = ops.abs(x)\nelse:\n    y = keras.ops.abs(x)\n",
        ),
        (
            "y = K.abs(x) if [each for each in x] else keras.ops.abs(x)\n",
            "y = ops.abs(x) if [each for each in x] else keras.ops.abs(x)\n",
        ),
        (
            "if x.pop():\n    y = K.abs(x)\nelse:\n    y = keras.ops.abs(x)\n",
            "if x.pop():\n    y = ops.abs(x)\nelse:\n    y = keras.ops.abs(x)\n",
        ),
        (
            "y = K.abs(x) if (z := x) else keras.ops.abs(x)\n",
            "y = ops.abs(x) if (z := x) else keras.ops.abs(x)\n",
        ),
        # Alike before: somebody wrote it so.
        (
            "if x:\n    y = K.abs(x)\nelse:\n    y = K.abs(x)\n",
            "if x:\n    y = ops.abs(x)\nelse:\n    y = ops.abs(x)\n",
        ),
        # Nothing is left of a branch.
        (
            (f"def f(x):\n    if K.backend() == 'tensorflow':\n        {OFF}\n    else:\n        x = 1\n"
            "    return x\n"),
            "def f(x):\n    if K.backend() != 'tensorflow':\n        x = 1\n    return x\n",
        ),
        (
            f"if not x:\n    {OFF}\nelse:  # here\n    # why\n    x = K.abs(x)\n",
            "if x:  # here\n    # why\n    x = ops.abs(x)\n",
        ),
        (f"if x and y:\n    {OFF}\nelse:\n    x = 1\n", "if not (x and y):\n    x = 1\n"),
        (f"if x < 1:\n    {OFF}\nelse:\n    x = 1\n", "if not x < 1:\n    x = 1\n"),
        (f"if x < y:\n    {OFF}\nelse:\n    x = 1\n", "if not x < y:\n    x = 1\n"),
        (f"if x:\n    x = 1\nelse:\n    {OFF}\n", "if x:\n    x = 1\n"),
        (f"if x:\n    x = 1\nelif y:\n    {OFF}\nx = 2\n", "if x:\n    x = 1\nx = 2\n"),
        (
            f"if x:\n    x = 1\nelif y():\n    {OFF}\nx = 2\n",
            "if x:\n    x = 1\nelif y():\n    pass\nx = 2\n",
        ),
        # Another branch asks first.
        (
            f"if x:\n    {OFF}\nelif y:\n    x = 1\nelse:\n    x = 2\n",
            "if x:\n    pass\nelif y:\n    x = 1\nelse:\n    x = 2\n",
        ),
        # Nothing at all is left.
        (f"def f(x):\n    if x:\n        if x > 2:\n            {OFF}\n    return x\n",
         "def f(x):\n    return x\n"),
        (f"def f(x):\n    if x:\n        {OFF}\n", "def f(x):\n    pass\n"),
        (
            f"def f(x):\n    if x:\n        # we draw\n        {OFF}\n    else:\n        x = 1\n",
            "def f(x):\n    if x:\n        # we draw\n        pass\n    else:\n        x = 1\n",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_is_left_is_what_one_would_write(tmp_path, before, after, newline):
    source = (HEAD + before).replace("\n", newline)
    path = tmp_path / "code.py"
    path.write_bytes(source.encode())
    result = fix([path], apply=True, unsafe=True, target="keras==3.15.1")
    assert not result.left_alone
    assert body(path.read_bytes().decode().replace(newline, "\n")) == after


def test_imports_that_only_the_test_or_the_other_branch_read_go_as_well(tmp_path):
    source = HEAD + (
        "def f(x):\n    if K.backend() == 'tensorflow':\n        y = keras.ops.square(x)\n"
        "    else:\n        y = K.square(x)\n    return tf.abs(y)\n"
    )
    after = fixed(tmp_path / "code.py", source, unsafe=False)
    assert after.startswith("import keras\nimport tensorflow as tf\n\n\n")


def test_an_import_that_both_branches_make_now_is_made_once(tmp_path):
    source = (
        "import tensorflow as tf\nfrom packaging import version\n\n__all__ = ['A']\n\n"
        "if version.parse(tf.__version__) >= version.parse('2.11.0rc0'):\n"
        "    from tensorflow.keras.optimizers.legacy import Optimizer  # type: ignore\n"
        "else:\n    from tensorflow.keras.optimizers import Optimizer  # type: ignore\n\n\n"
        "class A(Optimizer):\n    pass\n"
    )
    assert fixed(tmp_path / "code.py", source) == (
        "import tensorflow as tf\n\n__all__ = ['A']\n\n"
        "from tensorflow.keras.optimizers import Optimizer  # type: ignore\n\n\n"
        "class A(Optimizer):\n    pass\n"
    ).replace("import tensorflow as tf\n\n", "", 1)


@pytest.mark.parametrize(
    ("test", "only_answers"),
    {
        "os.name.split('x')[0] == 'posi'": True,
        "int(tf.__version__.replace('rc', '.').split('.')[1]) < 4": True,
        "os.environ.get('MODE', '').lower() == 'old'": True,
        "str(x).strip()": True,
        # What a class of the user's does in its methods, no name says.
        "x.split(2)": False,
        "queue.replace(x)": False,
        "x.name.strip().split()": False,
    }.items(),
)
def test_a_test_goes_only_where_its_methods_are_those_of_a_text(tmp_path, test, only_answers):
    source = HEAD.replace("import keras", "import os\n\nimport keras", 1) + (
        f"def f(x, queue):\n    if {test}:\n        y = keras.ops.square(x)\n"
        "    else:\n        y = K.square(x)\n    return y\n"
    )
    assert (f"if {test}:" in fixed(tmp_path / "code.py", source)) != only_answers


def test_an_import_called_parse_may_give_numbers():
    """``not x < nan`` is true, ``x >= nan`` is not."""
    assert negated_test("x < parse('nan')") == "not x < parse('nan')"
    assert negated_test("x < version.parse('2')") == "x >= version.parse('2')"


def test_drawn_branches_do_what_they_did(tmp_path):
    """Each world of tests and branches ends with the same values, whatever was written anew."""
    kinds = ["K.abs(v)", "keras.ops.abs(v)", "3", OFF]
    for number, (one, two, three) in enumerate(itertools.product(kinds, repeat=3)):
        lines = [each if each == OFF else f"y = {each}" for each in (one, two, three)]
        source = (
            f"{HEAD}def f(a, b, v, y):\n    if a:\n        {lines[0]}\n    elif not b:\n"
            f"        {lines[1]}\n    else:\n        {lines[2]}\n    return y\n"
        )
        after = fixed(tmp_path / f"code_{number}.py", source)
        for a, b in itertools.product([False, True], repeat=2):
            assert run(after, a, b) == run(source, a, b), (source, after)


def run(source, a, b):
    """Run the function alone, with a framework that says what it is asked to do."""

    class Keras:
        ops = None
        abs = staticmethod(lambda x: ("abs", x))

    Keras.ops = Keras
    spaces = {"K": Keras, "ops": Keras, "keras": Keras, "tf": Quiet()}
    function = next(each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef))
    exec(ast.unparse(function), spaces)  # noqa: S102 - of this file
    return spaces["f"](a, b, 1, 0)


class Quiet:
    """Whatever is asked of it is nothing."""

    def __getattr__(self, name):
        return self

    def __call__(self):
        return None
