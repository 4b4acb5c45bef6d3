"""Names that only text reads keep their imports."""

import pytest

from kdoctor.engine import fix as fix_files

SQUARE = ("keras.backend.square(x)", "keras.ops.square(x)")


@pytest.mark.parametrize(
    "reading",
    [
        "print(eval('K.epsilon()'))\n",
        "exec(open('more.py').read())\n",
        "globals()['K'].epsilon()\n",
        "vars()['K'].epsilon()\n",
        "def f():\n    '''\n    >>> K.epsilon()\n    1e-07\n    '''\n",
        "def f(x):  # type: (K.Tensor) -> None\n    pass\n",
        "def f():\n    '''\n    >>> (1 +\n    ...  K.epsilon())\n    1.0\n    '''\n",
    ],
)
def test_an_import_that_text_may_read_stays(fix, reading):
    result = fix(f"from keras import backend as K\nK.square(x)\n{reading}", SQUARE).text
    assert "from keras import backend as K\nfrom keras import ops" in result
    assert "ops.square(x)" in result


@pytest.mark.parametrize(
    "saying",
    [
        "print('K.epsilon()')\n",
        "model.eval(), vars(args)['epochs']  # of type K\n",
        "def f():\n    '''K is the backend.\n\n    >>> x.K\n    '''\n",
    ],
)
def test_other_text_keeps_nothing(fix, saying):
    result = fix(f"from keras import backend as K\nK.square(x)\n{saying}", SQUARE).text
    assert "import backend as K" not in result


def test_an_import_that_fails_on_the_target_goes_for_all_that():
    source = "from keras.utils import np_utils\nx = np_utils.to_categorical([1], eval('2'))\n"
    done = fix_files(["-"], stdin=source.encode())
    assert b"np_utils" not in done.files[0].after
