"""A name that a fix binds hides none of a file that takes all of the module."""

import pytest

from kdoctor.engine import fix

LOSSES = "from keras import backend as K\n\n\ndef loss(x):\n    return K.square(x)\n"
HIDDEN = "from keras import ops as keras_ops\n"
PLAIN = "from keras import ops\n"


@pytest.mark.parametrize(
    ("others", "imported"),
    [
        ({"main.py": "import ops\nfrom net.losses import *\nops.run()\n"}, HIDDEN),
        ({"main.py": "from net.losses import *\nfrom own import ops\nops.run()\n"}, HIDDEN),
        ({"main.py": "ops = []\nfrom net.losses import *\n"}, HIDDEN),
        (
            {"main.py": "from own import *\nfrom net.losses import *\n", "own.py": "ops = []\n"},
            PLAIN,  # the file itself does not write the name
        ),
        (
            {
                "main.py": "from own import *\nfrom net.losses import *\nprint(ops)\n",
                "own.py": "ops = []\n",
            },
            HIDDEN,
        ),
        ({"net/__init__.py": "from .losses import *\n", "net/ops.py": ""}, HIDDEN),
        (
            {
                "net/__init__.py": "from .losses import *\n",
                "main.py": "import ops\nfrom net import *\nops.run()\n",
            },
            HIDDEN,
        ),
        ({"main.py": "import ops\nfrom net.losses import loss\nops.run()\n"}, PLAIN),
        ({"main.py": "from net.losses import *\n\ndef f(ops):\n    return ops\n"}, PLAIN),
        ({"main.py": "from keras import ops\nfrom net.losses import *\nops.abs(1)\n"}, PLAIN),
        ({}, PLAIN),
    ],
)
def test_a_new_import_hides_no_name_of_who_takes_all(tmp_path, others, imported):
    (tmp_path / "net").mkdir()
    files = {"net/__init__.py": "", "net/losses.py": LOSSES, **others}
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    result = fix([tmp_path / "net" / "losses.py"])
    assert result.files[0].after.decode().startswith(imported)


def test_a_listed_module_hands_on_no_new_name(tmp_path):
    (tmp_path / "losses.py").write_text(f"{LOSSES}\n\n__all__ = ['loss']\n")
    (tmp_path / "main.py").write_text("import ops\nfrom losses import *\nops.run()\n")
    result = fix([tmp_path / "losses.py"])
    assert result.files[0].after.decode().startswith(PLAIN)
