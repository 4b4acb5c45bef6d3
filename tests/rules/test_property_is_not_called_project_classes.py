"""What may be an object of a class that another file of the tree defines."""

import pytest

from kdoctor.engine import scan

COMP = (
    "import keras\n\n\nclass Comp(keras.optimizers.SGD):\n    def variables(self):\n"
    "        return []\n\n\nclass Plain(keras.optimizers.SGD):\n    pass\n"
)
MODEL = "import keras\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
READ = "model.optimizer.variables()\n"


def codes(folder, code):
    (folder / "pk").mkdir()
    (folder / "pk" / "__init__.py").write_text("")
    (folder / "pk" / "comp.py").write_text(COMP)
    (folder / "use.py").write_text(f"{MODEL}{code}")
    return [each.code for each in scan([str(folder)], select=["KD217"]).findings]


@pytest.mark.parametrize(
    "code",
    [
        "from pk.comp import Comp\nopt = Comp(0.1)\nmodel.compile(optimizer=opt, loss='mse')\n",
        "from pk import comp\nmodel.compile(comp.Comp(0.1), 'mse')\n",
        "import pk.comp\nmodel.compile(pk.comp.Comp(0.1), 'mse')\n",
        "from pk.comp import Comp\n",  # it may well be one of these
        # Of a class that is nowhere to be seen.
        "from elsewhere import Comp\nmodel.compile(Comp(0.1), 'mse')\n",
        "model.compile('sgd', 'mse')\nmodel.compile(optimizer=made(), loss='mse')\n",
    ],
)
def test_a_method_of_an_optimizer_of_ones_own_is_no_property(tmp_path, code):
    assert codes(tmp_path, f"{code}{READ}") == []


@pytest.mark.parametrize(
    "code",
    [
        "",
        "model.compile('sgd', 'mse')\n",
        "name = 'sgd'\nmodel.compile(name, 'mse')\n",
        "model.compile(keras.optimizers.SGD(0.1), 'mse')\n",
        "from pk.comp import Plain\nmodel.compile(Plain(0.1), 'mse')\n",
        "from elsewhere import Comp\nother.compile(Comp(0.1), loss='mse')\n",
    ],
)
def test_that_of_keras_is_one_all_the_same(tmp_path, code):
    assert codes(tmp_path, f"{code}{READ}") == ["KD217"]


def test_an_object_of_a_known_class_is_of_no_other(tmp_path):
    code = "from pk.comp import Comp\nkeras.optimizers.SGD().variables()\n"
    assert codes(tmp_path, code) == ["KD217"]


def test_self_is_of_no_class_that_is_imported(tmp_path):
    code = (
        "from pk.comp import Comp\n\n\nclass Mine(keras.optimizers.Adam):\n"
        "    def count(self):\n        return len(self.variables())\n"
    )
    assert codes(tmp_path, code) == ["KD217"]
