"""A name that the program itself puts into Keras' modules is the program's, not Keras'."""

from __future__ import annotations

import pytest

from kdoctor.engine import scan

_USE = "\n\ndef f(x):\n    return K.softmax(x)\n"


def found(tmp_path, files, asked="use.py", target="keras==3.15.1"):
    for name, source in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    return [each.code for each in scan([tmp_path / asked], target=target).findings]


@pytest.mark.parametrize("root", ["keras", "tensorflow.keras"])
@pytest.mark.parametrize(
    "given",
    [
        "K.softmax = sharp",
        "setattr(K, 'softmax', sharp)",
        "if not hasattr(K, 'softmax'):\n    K.softmax = sharp",
        "for each in (sharp,):\n    setattr(K, each.__name__, each)",
        "def give(monkeypatch):\n    monkeypatch.setattr(K, 'softmax', sharp)",
        "with mock.patch.object(K, 'softmax', create=True):\n    f(1)",
        "with patch.object(target=K, attribute='softmax', new=sharp, create=True):\n    f(1)",
        "def test(mocker, name):\n    mocker.patch.object(K, name, create=True)",
        "@mock.patch('{root}.backend.softmax', create=True)\ndef test(softmax):\n    f(1)",
    ],
)
def test_a_function_that_the_file_gives_is_left_alone(tmp_path, root, given):
    start = f"from {root} import backend as K\n"
    given = given.replace("{root}", root)
    above, below = f"{start}{given}\n{_USE}", f"{start}{_USE}\n{given}\n"
    target = "keras==3.15.1" if root == "keras" else "tensorflow==2.21.0"
    for source in (above, below):
        assert found(tmp_path, {"use.py": source}, target=target) == []
    assert found(tmp_path, {"use.py": start + _USE}, target=target) != []


def test_a_function_of_another_name_is_none_of_it(tmp_path):
    source = f"from keras import backend as K\n\nK.sharp = sharp\n{_USE}"
    assert found(tmp_path, {"use.py": source}) == ["KD101"]


@pytest.mark.parametrize(
    "patch",
    [
        "mock.patch.object(K, 'softmax')",  # it raises itself
        "mock.patch.object(K, 'softmax', create=False)",
        "mock.patch.object(K, 'sharp', create=True)",
        "mock.patch.object(create=True)",
        "mock.patch('keras.backend.sharp', create=True)",
        "mock.patch(create=True)",
        "mock.create(K, 'softmax', create=True)",
    ],
)
def test_a_mock_that_gives_nothing_of_this_name_is_none_of_it(tmp_path, patch):
    source = f"from keras import backend as K\n\nwith {patch}:\n    pass\n{_USE}"
    assert found(tmp_path, {"use.py": source}) == ["KD101"]


@pytest.mark.parametrize(
    "patch", ["mock.patch.object(K, 'sum')", "mock.patch('keras.backend.sum', return_value=3)"]
)
def test_a_mock_gives_what_is_called_as_a_function_of_python(tmp_path, patch):
    source = f"from keras import backend as K\n\nwith {patch}:\n    K.sum(1)\n"
    assert found(tmp_path, {"use.py": source}) == []


def test_what_is_imported_before_it_is_given_is_reported(tmp_path):
    source = "import keras\nfrom keras.backend import softmax\n\nkeras.backend.softmax = softmax\n"
    assert found(tmp_path, {"use.py": source}) == ["KD101"]


@pytest.mark.parametrize(
    ("own", "use"),
    [
        ("K.softmax = sharp", "from pk.backend import K"),
        ("setattr(K, 'softmax', sharp)", "from pk.backend import K, sharp"),
        ("if not hasattr(K, 'softmax'):\n    K.softmax = sharp", "from pk.backend import sharp, K"),
        ("import keras\nkeras.backend.softmax = sharp", "from keras import backend as K, layers\nimport pk.backend"),
    ],
)  # fmt: skip
def test_a_function_that_an_imported_file_gives_is_left_alone(tmp_path, own, use):
    files = {
        "setup.py": "",
        "pk/__init__.py": "",
        "pk/backend.py": f"from keras import backend as K\n\nsharp = None\n{own}\n",
        "use.py": use + _USE,
    }
    assert found(tmp_path, files) == []
    assert found(tmp_path, files | {"pk/backend.py": "from keras import backend as K\n\nsharp = 1\n"}) == ["KD101"]  # fmt: skip
