"""What stands in for a class that is gone: where it is asked for, derived from, listed."""

import pytest

from kdoctor.engine import fix


@pytest.fixture(autouse=True)
def any_length(tmp_path, monkeypatch):
    """Where long lines are broken is told elsewhere."""
    (tmp_path / "ruff.toml").write_text("line-length = 320\n")
    monkeypatch.chdir(tmp_path)


def mended(source: str) -> str:
    result = fix(["-"], stdin=source.encode(), select=["KD102"], unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import keras\nisinstance(x, keras.layers.LocallyConnected1D)\n",
            'import keras\nisinstance(x, getattr(keras.layers, "LocallyConnected1D", ()))\n',
        ),
        (
            "import keras as K\nissubclass(x, (str, (K.layers.LocallyConnected1D, int)))\n",
            (
                "import keras as K\n"
                'issubclass(x, (str, (getattr(K.layers, "LocallyConnected1D", ()), int)))\n'
            ),
        ),
        (
            "from keras.layers import LocallyConnected1D as L\n\n\nclass Mine(L):\n    pass\n",
            (
                "from keras import layers\n\n\n"
                'class Mine(getattr(layers, "LocallyConnected1D", layers.Layer)):\n    pass\n'
            ),
        ),
        (
            "from keras import layers as L\nALL = [\n    L.Dense,\n    L.LocallyConnected2D,  # 2\n]\n",
            (
                "from keras import layers as L\nALL = [\n    L.Dense,\n"
                '    getattr(L, "LocallyConnected2D", None),  # 2\n]\n'
            ),
        ),
        (
            (
                "import pytest\nfrom keras import layers\n\n\n"
                "@pytest.mark.parametrize('cls', [layers.Dense, layers.LocallyConnected2D])\n"
                "def test(cls):\n    cls()\n"
            ),
            (
                "import pytest\nfrom keras import layers\n\n\n"
                "@pytest.mark.parametrize('cls', [layers.Dense, "
                'getattr(layers, "LocallyConnected2D", None)])\n'
                "def test(cls):\n    cls()\n"
            ),
        ),
    ],
)
def test_a_gone_class_is_asked_for_where_it_is_only_spoken_of(before, after):
    assert mended(before) == after
    assert mended(after) == after


@pytest.mark.parametrize(
    "source",
    [
        # It is needed.
        "import keras\ny = keras.layers.LocallyConnected1D(3, 3)(x)\n",
        (
            "from keras.layers import LocallyConnected1D\n\n\nclass Mine(LocallyConnected1D):\n"
            "    pass\n\n\ny = LocallyConnected1D(3, 3)(x)\n"
        ),
        # Only this function fails.
        "import keras\n\n\ndef all():\n    return [keras.layers.LocallyConnected1D]\n",
        # A class cannot have one base twice.
        (
            "import keras\n\n\nclass Mine(keras.layers.Layer, keras.layers.LocallyConnected1D):\n"
            "    pass\n"
        ),
        # Another `isinstance`.
        (
            "import keras\n\n\ndef isinstance(a, b):\n    return a is b\n\n\n"
            "isinstance(x, keras.layers.LocallyConnected1D)\n"
        ),
        # No class.
        "import keras\nFUNCTIONS = [keras.utils.multi_gpu_model]\n",
        # Others import it from here.
        (
            "from keras.layers import LocallyConnected1D\n\n__all__ = ['LocallyConnected1D', 'is_it']\n"
            "\n\ndef is_it(x):\n    return isinstance(x, LocallyConnected1D)\n"
        ),
    ],
)
def test_a_gone_class_that_is_needed_is_left(source):
    assert mended(source) == source
