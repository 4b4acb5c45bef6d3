"""Imports in branches: what is for another release stays out of the fix, what fails goes."""

import pytest

from kdoctor.engine import fix

USE = "\n\ndef f(x):\n    return {}\n"
K, OPS = USE.format("K.square(x)"), USE.format("ops.square(x)")
OLD, NEW = "from keras import backend as K\n", "from tensorflow.keras import backend as K\n"
NEW_OPS = "from tensorflow.keras import ops\n"


def fixed(source):
    result = fix(["-"], stdin=source.encode(), target="keras==3.15.1", unsafe=True)
    assert not result.left_alone
    return result.files[0].after.decode() if result.files else source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Each branch only chose where to import from: the target knows.
        (
            f"import tensorflow as tf\n\nif tf.__version__ < '2.0':\n    {OLD}else:\n    {NEW}{K}",
            f"{NEW_OPS}{OPS}",
        ),
        (
            f"import tensorflow as tf\n\nif tf.__version__ >= '2.0':\n    {NEW}else:\n    {OLD}{K}",
            f"{NEW_OPS}{OPS}",
        ),
        # What else is in the branch for the other release is left alone.
        (
            (
                "import tensorflow as tf\n\nif tf.__version__ < '2.0':\n"
                f"    {OLD}    OLD = True\nelse:\n    {NEW}    OLD = False\n{K}"
            ),
            (
                "import tensorflow as tf\n\nif tf.__version__ < '2.0':\n"
                f"    OLD = True\nelse:\n    {NEW_OPS}    OLD = False\n{OPS}"
            ),
        ),
        # Who uses it in the branch for the other release goes on importing it.
        (
            (
                f"import tensorflow as tf\n\nif tf.__version__ < '2.0':\n    {OLD}"
                "    old = K.square(2)\n"
                f"else:\n    {NEW}{K}"
            ),
            (
                f"import tensorflow as tf\n\nif tf.__version__ < '2.0':\n    {OLD}"
                "    old = K.square(2)\n"
                f"else:\n    {NEW_OPS}{OPS}"
            ),
        ),
        # The user's own switch: both branches count.
        (
            f"from mine import TF\n\nif TF:\n    {NEW}else:\n    {OLD}{K}",
            f"from mine import TF\n\nif TF:\n    {NEW_OPS}else:\n    from keras import ops\n{OPS}",
        ),
        # The branches would become the same.
        (
            f"from mine import a\n\nif a:\n    {NEW}else:\n    import tensorflow.keras.backend as K\n{K}",
            f"{NEW_OPS}{OPS}",
        ),
        # An import that fails, and what only its guard read.
        (
            (
                "import keras\nfrom packaging.version import Version\n\n"
                "if Version(keras.__version__) >= Version('2.2.0'):\n"
                "    from keras.utils.layer_utils import count_params\n"
                "else:\n    from keras.engine.topology import count_params\n"
                f"{USE.format('count_params(x.weights)')}"
            ),
            f"import math\n{USE.format('sum([math.prod(weight.shape) for weight in x.weights])')}",
        ),
        # A comment is kept, but for those that tell tools what to pass over.
        (
            (
                "import tensorflow as tf\n\nif tf.__version__ < '2.0':\n"
                f"    {OLD.rstrip()}  # type: ignore\nelse:\n    {NEW}{K}"
            ),
            f"{NEW_OPS}{OPS}",
        ),
    ],
)
def test_branches_import_what_the_target_uses(before, after):
    assert fixed(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # A module that cannot be read may bind `ops`, too.
        (
            f"{OLD}from settings import *\n{K}",
            f"from settings import *\nfrom keras import ops\n{OPS}",
        ),
        (
            f"from keras import ops\n{OLD}from settings import *\n{K}",
            (
                "from keras import ops\nfrom settings import *\nfrom keras import ops as keras_ops\n"
                f"{USE.format('keras_ops.square(x)')}"
            ),
        ),
        (
            f"{OLD}try:\n    from settings import *\nexcept ImportError:\n    pass\n{K}",
            (
                "try:\n    from settings import *\nexcept ImportError:\n    pass\n"
                f"from keras import ops\n{OPS}"
            ),
        ),
        # What runs above it needs it there.
        (
            f"{OLD}y = K.square(1)\nfrom settings import *\n{K}",
            f"from keras import ops\ny = ops.square(1)\nfrom settings import *\nfrom keras import ops\n{OPS}",
        ),
        # Of Keras' own modules it is known what a star brings.
        (
            f"{OLD}from keras.layers import *\n{K}",
            f"from keras import ops\nfrom keras.layers import *\n{OPS}",
        ),
    ],
)
def test_what_a_star_may_bind_anew_is_imported_below_it(before, after):
    assert fixed(before) == after


HELPERS = "layers", "utils.generic_utils import has_arg", "utils import tf_utils"


def branch(root, *names):
    return "".join(
        f"    from {root}{'.' if ' import ' in each else ' import '}{each}\n" for each in names
    )


@pytest.mark.parametrize(
    ("first", "other"),
    [("try:\n", "except ImportError:\n"), ("if sys.argv[1] == 'tf':\n", "else:\n")],
)
@pytest.mark.parametrize("roots", [("tensorflow.keras", "keras"), ("keras", "tensorflow.keras")])
def test_what_a_helper_needs_is_imported_once_above_or_once_in_each_branch(first, other, roots):
    use = "\n\ndef f(fn, x):\n    return has_arg(fn, 'x'), {}smart_cond(x, fn, fn), layers.Add()\n"
    branches = [branch(root, *HELPERS) for root in roots]
    after = fixed(
        f"import sys\n\n{first}{branches[0]}{other}{branches[1]}{use.format('tf_utils.')}"
    )
    assert after.startswith("import inspect\nimport sys\n\n")
    assert after.count("import inspect") == 1
    chosen = [branch(root, "layers", "ops") for root in roots]
    assert f"{first}{chosen[0]}{other}{chosen[1]}" in after
    assert after.endswith(use.format(""))


def test_what_another_package_has_is_imported_above_the_branches_that_choose():
    use = USE.format("K.count_params(x)")
    after = fixed(f"try:\n    {NEW}except ImportError:\n    {OLD}{use}")
    assert after.endswith(USE.format("np.prod(x.shape)"))
    assert after.count("import numpy as np\n") == 1
    assert "    import numpy" not in after
