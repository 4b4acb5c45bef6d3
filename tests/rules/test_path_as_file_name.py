"""KD317: which values are surely a path, and where folder and name are told apart."""

from __future__ import annotations

import pytest

from kdoctor import engine

TARGET = "keras==3.15.1"
HEAD = "import os\nfrom pathlib import Path\n\nimport keras\n\n"


def told(source, target=TARGET):
    source = source.encode()
    return engine.scan(["-"], stdin=source, select=["KD317"], target=target).findings


def mended(call):
    source = f"{HEAD}keras.utils.get_file({call})\n".encode()
    result = engine.fix(["-"], stdin=source, select=["KD317"], target=TARGET, unsafe=True)
    text = result.files[0].after.decode() if result.files else source.decode()
    return text.splitlines()[-1].removeprefix("keras.utils.get_file(")[:-1]


@pytest.mark.parametrize(
    "name",
    [
        "'a/b.h5'", "f'{a}/b.h5'", "'a/' + b", "'a/%s' % b", "a + '/' + b", "'a/' 'b.h5'",
        "os.path.join(a, b)", "os.path.join('', 'a/b')", "os.path.abspath(a)", "str(Path(a) / b)",
        "Path(a) / b", "Path(a).joinpath(b)", "Path(a).resolve()", "Path(a).parent / b",
        "Path.home() / b", "Path('') / 'a/b'", "Path('a/b')",
    ],
)  # fmt: skip
def test_a_value_with_a_folder_in_it_is_told(name):
    assert len(told(f"{HEAD}keras.utils.get_file({name}, url)\n")) == 1


@pytest.mark.parametrize(
    "name",
    [
        "a", "'b.h5'", "a + b", "f'{a}.h5'", "os.path.join(a)", "os.path.join('', a)", "Path(a)",
        "Path('.') / a", "Path() / 'b.h5'", "os.path.basename('a/b')", "a / b", "a.joinpath(b)",
        "Path('a/b').name", "'a/b'.split('/')[-1]", "os.path.join(*parts)",
    ],
)  # fmt: skip
def test_what_may_be_a_name_alone_is_not(name):
    assert not told(f"{HEAD}keras.utils.get_file({name}, url)\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("'a/b.h5', url", "'b.h5', url, cache_subdir='datasets/a'"),
        ('"/b.h5", url', '"b.h5", url, cache_subdir="/"'),
        ("'/a/c/b.h5', url", "'b.h5', url, cache_subdir='/a/c'"),
        ("os.path.join(a, c, 'b')", "'b', cache_subdir=os.path.join('datasets', a, c)"),
    ],
)
def test_the_folder_is_given_apart(before, after):
    assert mended(before) == after


@pytest.mark.parametrize(
    "call",
    [
        "'a/b.h5', url, cache_subdir='c'", "'a/b.zip', url, extract=True", "'a/b.h5', url, False",
        "'a/', url", "os.path.join(a, b), url", "os.path.join(a, 'c/b.h5'), url", "'a/b', **more",
    ],
)  # fmt: skip
def test_where_more_is_said_of_folders_it_is_left_to_people(call):
    assert mended(call) == call


def test_it_is_told_beside_a_keras_2_that_stays_one_and_from_3_6_on():
    source = "import keras\nimport tf_keras\n\n{}.utils.get_file('a/b.h5', url)\ntf_keras.Model()\n"
    assert len(told(source.format("keras"))) == 1
    assert not told(source.format("tf_keras"))
    assert not told(source.format("keras"), "keras==3.5.0")
