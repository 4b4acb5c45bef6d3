"""Which saved models code loads, and what is said of code that cannot be read."""

from pathlib import Path

import pytest

from kdoctor.errors import FileProblem
from kdoctor.keras_api import newest_target
from kdoctor.models.loads_in_code import loads_in

TARGET = newest_target()


@pytest.fixture
def _models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.h5", "b.keras"):
        (tmp_path / name).write_bytes(b"x")


def loaded(code):
    Path("code.py").write_text(code, encoding="utf-8")
    return [(each.place.line, str(each.path)) for each in loads_in("code.py", TARGET)]


@pytest.mark.usefixtures("_models")
@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import keras\nkeras.models.load_model(filepath='a.h5')\n", [(2, "a.h5")]),
        ("for name in ('a.h5', 'b.keras'):\n    model.load_weights(name)\n", None),
        ("from keras.models import load_model as get\nget('b' + '.keras')\n", [(2, "b.keras")]),
        ("from pathlib import Path\nnet.load_weights(Path('.') / 'a.h5')\n", [(2, "a.h5")]),
        ("def load(name):\n    return load_model(f'{name}.h5')\n", []),
        ("open('a.h5')\nload_model()\nload_model('absent.h5')\nload_model(1)\n", []),
    ],
)
def test_a_path_that_is_written_out_and_there_is_told(code, found):
    told = [(2, "a.h5"), (2, "b.keras")] if found is None else found
    assert loaded(code) == told


@pytest.mark.usefixtures("_models")
def test_code_that_is_not_there_or_no_python_is_a_problem():
    with pytest.raises(FileProblem, match=r"^cannot be read: No such file or directory$"):
        loads_in("absent.py", TARGET)
    with pytest.raises(FileProblem, match="was never closed"):
        loaded("x = (\n")


@pytest.mark.usefixtures("_models")
def test_a_deep_expression_keeps_nothing_from_being_told():
    deep = "'a'" + " + ''" * 150
    assert loaded(f"load_model({deep})\nload_model('a.h5')\n")[-1:] == [(2, "a.h5")]
