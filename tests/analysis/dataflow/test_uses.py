"""Where variables are read: to store something under a name is not to read it."""

import libcst as cst
import pytest

from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.documents import Document
from kdoctor.engine import scan
from kdoctor.syntax import Module


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = [1]\nprint(x)\nx = [2]\nprint(x)\n", [2]),
        ("x = [1]\nx.append(x)\n", [2, 2]),
        ("x = [1]\nx += [2]\n", [2]),
        ("x = [1]\nfor x in x:\n    pass\n", [2]),
        ("x = [1]\nwith x as x:\n    pass\n", [2]),
        ("x = [1]\nx, y = x\n", [2]),
        ("x = [1]\nif y:\n    x = [2]\nprint(x)\n", [4]),
        ("x = [1]\ndel x\n", []),
        ("x = [1]\n\n\ndef f():\n    x = 2\n    return x\n", []),
        ("x = [1]\n\n\ndef f():\n    global x\n    x = x\n", [6]),
        ("x = [1]\ny = f(x=2)\nz = y.x\ny.x = f(x=x)\n", [4]),
    ],
)
def test_what_is_stored_anew_is_not_read(source, lines):
    module = Module.parse(Document.parse(source.encode(), "code.py").units[0])
    first = next(each for each in module.nodes(cst.Name) if each.value == "x")
    assert [module.place(each).line for each in reads_of(module, first)] == lines


def test_a_list_keeps_what_it_holds_though_its_name_is_used_again():
    models = "".join(
        f"loss = [{', '.join(losses)}]\nmodel = keras.Model(x, outputs)\n"
        "model.compile('sgd', loss=loss, metrics=['mae'])\n"
        for losses in (["'mse'", "'mae'"], ["'mse'", "'mae'", "'mse'"])
    )
    source = f"import keras\n\n\ndef made(x, outputs):\n{models}".replace("\nlo", "\n    lo")
    source = source.replace("\nmo", "\n    mo")
    found = scan(["-"], stdin=source.encode(), select=["KD411"], target="keras==3.15.1").findings
    assert [each.message.rpartition("expected: ")[2] for each in found] == [
        "2, got: 1",
        "3, got: 1",
    ]
