"""The import block gains and loses only what it must, and no comment."""

import pytest

from kdoctor.documents import Document
from kdoctor.model import Applicability, Edit, Fix, ImportNeed, Span
from kdoctor.rewrite import plan_imports, render
from kdoctor.syntax import Module

SQUARE = ("keras.backend.square(x)", "keras.ops.square(x)")
VARIABLE = ("keras.backend.variable(value)", "keras.Variable(value)")
COUNT = ("keras.backend.count_params(x)", "math.prod(x.shape)")
INPUT = ("keras.models.Input", "keras.Input")
ROWS = (SQUARE, VARIABLE, COUNT)


def parsed_from(source):
    return Module.parse(Document.parse(source.encode(), "code.py").units[0])


def check(fix, before, after, *, path="code.py"):
    assert fix(before, *ROWS, path=path).text == after


class TestWhatGoes:
    def test_an_import_that_loses_its_last_use_turns_into_the_new_one(self, fix):
        check(
            fix,
            "from keras import backend as K  # the backend\nK.square(x)\n",
            "from keras import ops  # the backend\nops.square(x)\n",
        )

    def test_an_import_that_is_still_used_stays(self, fix):
        check(
            fix,
            "from keras import backend as K\nK.square(K.epsilon())\n",
            "from keras import backend as K\nfrom keras import ops\nops.square(K.epsilon())\n",
        )

    def test_an_import_used_inside_an_argument_stays(self, fix):
        check(
            fix,
            "from keras import backend as K\nK.count_params(K.ones)\n",
            "import math\n\nfrom keras import backend as K\nmath.prod(K.ones.shape)\n",
        )

    def test_an_import_that_was_never_used_stays(self, fix):
        check(
            fix,
            "from keras import backend as K\nimport keras.backend as B\nK.square(x)\n",
            "from keras import ops\nimport keras.backend as B\nops.square(x)\n",
        )

    @pytest.mark.parametrize(
        "keeping",
        [
            "from keras import backend as K\n__all__ = ['K']\n",
            "from keras import backend as K  # noqa\n",
            "from keras import backend as K  # noqa: E402,F401\n",
            "for fast in (True,):\n    from keras import backend as K\n",
            "try:\n    from keras import backend as K\nexcept ImportError:\n    K = None\n",
        ],
    )
    def test_exported_guarded_and_marked_imports_stay(self, fix, keeping):
        result = fix(f"{keeping}K.square(x)\n", SQUARE).text
        assert "from keras import backend as K" in result
        assert "ops.square(x)" in result

    def test_an_import_of_a_package_face_stays(self, fix):
        result = fix("from keras import backend as K\nK.square(x)\n", SQUARE, path="p/__init__.py")
        assert "import backend as K" in result.text

    def test_other_marks_keep_nothing(self, fix):
        check(
            fix,
            "from keras import backend as K  # noqa: E402\nK.square(x)\n",
            "from keras import ops  # noqa: E402\nops.square(x)\n",
        )

    def test_a_deleted_name_keeps_its_import(self, fix):
        result = fix("from keras import backend as K\nK.square(x)\ndel K\n", SQUARE).text
        assert "import backend as K" in result

    def test_the_whole_line_goes_where_nothing_takes_its_place(self, fix):
        check(
            fix,
            "import os\nimport keras\nfrom keras import backend as K\n\nkeras.Model(K.variable(0))\n",
            "import os\nimport keras\n\nkeras.Model(keras.Variable(0))\n",
        )

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("\nfrom keras import backend as K\n\nimport os\n", "\nimport os\n"),
            ("from keras import backend as K\n\n\nimport os\n", "import os\n"),
            ("import os\n\nfrom keras import backend as K\n\n\nx = 1\n", "import os\n\n\nx = 1\n"),
            ("x = 1\n\n\nfrom keras import backend as K\n\nx = 2\n", "x = 1\n\n\nx = 2\n"),
            ("import os\nfrom keras import backend as K\n\nx = 1\n", "import os\n\nx = 1\n"),
            ("\r\nfrom keras import backend as K\r\n\r\nx = 1\r\n", "\r\nx = 1\r\n"),
        ],
    )
    @pytest.mark.parametrize("more", ["", "import keras.backend as B\n"])
    def test_blank_lines_on_both_sides_are_not_added_up(self, fix, before, after, more):
        newline = "\r\n" if "\r" in before else "\n"
        line = f"from keras import backend as K{newline}"
        before = before.replace(line, line + more.replace("\n", newline))
        uses = f"import keras{newline}K.variable(0){newline}"
        uses += f"B.variable(1){newline}" if more else ""
        made = f"import keras{newline}keras.Variable(0){newline}"
        made += f"keras.Variable(1){newline}" if more else ""
        check(fix, before + uses, after + made)

    def test_a_comment_behind_a_line_that_goes_stays(self, fix):
        check(
            fix,
            "import keras\n# above\nfrom keras import backend as K  # behind\nK.variable(0)\n",
            "import keras\n# above\n# behind\nkeras.Variable(0)\n",
        )

    def test_comments_inside_a_list_that_goes_stay(self, fix):
        check(
            fix,
            "import keras\nfrom keras import (  # one\n    backend as K,  # two\n)  # three\nK.variable(0)\n",
            "import keras\n# one\n# two\n# three\nkeras.Variable(0)\n",
        )

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("def f():\n    from keras.backend import square  # s\n", "def f():\n    pass  # s\n"),
            ("def f(): from keras.backend import square\n", "def f(): pass\n"),
            (
                "try:\n    from keras.backend import (  # a\n        square)\nexcept ImportError: x\n",
                "try:\n    pass\n    # a\nexcept ImportError: x\n",
            ),
            (
                "def f():\n    from keras.backend import square; import keras.backend as square\n",
                "def f():\n    import keras.backend as square\n",
            ),
        ],
    )
    def test_a_block_that_loses_its_only_statement_passes(self, fix, before, after):
        assert fix(before, SQUARE, imports_too=True).text == after

    def test_a_last_line_without_newline_goes_whole(self, fix):
        before = "import keras\ndef f():\n    K.variable(0)\nfrom keras import backend as K"
        check(fix, before, "import keras\ndef f():\n    keras.Variable(0)")


class TestListsOfNames:
    def test_one_name_of_several_turns_into_the_new_one(self, fix):
        check(
            fix,
            "from keras import backend as K, layers\nK.square(layers.Dense(1))\n",
            "from keras import layers, ops\nops.square(layers.Dense(1))\n",
        )

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("from keras import backend as K, layers", "from keras import layers"),
            ("from keras import layers, backend as K", "from keras import layers"),
            ("from keras import layers, backend as K, models", "from keras import layers, models"),
            ("from keras import (layers, backend as K)", "from keras import (layers)"),
            ("from keras import (layers, backend as K,)", "from keras import (layers,)"),
            (
                "from keras import (\n    backend as K,\n    layers,\n)",
                "from keras import (\n    layers,\n)",
            ),
            (
                "from keras import (\n    layers,\n    backend as K,\n)",
                "from keras import (\n    layers,\n)",
            ),
            (
                "from keras import (\n    layers,  # l\n    backend as K,  # b\n    models,  # m\n)",
                "from keras import (\n    layers,  # l\n    # b\n    models,  # m\n)",
            ),
            (
                "from keras import (\n    layers,  # l\n    backend as K,  # b\n)",
                "from keras import (\n    layers,  # l\n    # b\n)",
            ),
            (
                "from keras import (\n    layers,  # l\n    backend as K\n)",
                "from keras import (\n    layers,  # l\n    \n)",
            ),
            ("from keras import layers, \\\n    backend as K", "from keras import layers"),
            ("import keras.backend as K, os", "import os"),
        ],
    )
    def test_one_name_of_several_goes_alone(self, fix, before, after):
        rest = "K.variable(0)\n"
        result = fix(f"import keras\n{before}\n{rest}", VARIABLE).text
        assert result == f"import keras\n{after}\nkeras.Variable(0)\n"

    def test_two_neighbours_go_together(self, fix):
        before = "from keras.backend import square, a, variable, count_params\na(square(x), variable(0), count_params(x))\n"
        result = fix(before, *ROWS).text
        assert "from keras.backend import a\n" in result

    def test_a_name_joins_a_list_of_its_module_in_order(self, fix):
        check(
            fix,
            "from keras import Model, layers, utils\nimport keras.backend as K\nK.square(K.epsilon())\n",
            "from keras import Model, layers, ops, utils\nimport keras.backend as K\nops.square(K.epsilon())\n",
        )
        check(
            fix,
            "from keras import backend, layers\nbackend.square(backend.epsilon())\n",
            "from keras import backend, layers, ops\nops.square(backend.epsilon())\n",
        )
        check(
            fix,
            "from keras import backend, utils\nbackend.square(backend.epsilon())\n",
            "from keras import backend, ops, utils\nops.square(backend.epsilon())\n",
        )

    def test_a_name_joins_a_list_in_brackets_on_a_line_of_its_own(self, fix):
        check(
            fix,
            "from keras import (\n    backend as K,\n    utils,  # u\n)\nK.square(K.epsilon())\n",
            "from keras import (\n    backend as K,\n    ops,\n    utils,  # u\n)\nops.square(K.epsilon())\n",
        )
        check(
            fix,
            "from keras import (\n    backend as K,\n    layers  # l\n)\nK.square(K.epsilon())\n",
            "from keras import (\n    backend as K,\n    layers,  # l\n    ops,\n)\nops.square(K.epsilon())\n",
        )


class TestWhereItStands:
    def test_one_import_for_all_uses(self, fix):
        check(
            fix,
            "from keras import backend as K\nK.square(x)\nK.square(K.variable(K.square(y)))\n",
            "from keras import Variable, ops\nops.square(x)\nops.square(Variable(ops.square(y)))\n",
        )

    def test_the_docstring_and_future_imports_stay_first(self, fix):
        check(
            fix,
            '"""Doc."""\nfrom __future__ import annotations\nfrom keras import backend as K\nK.square(x)\n',
            '"""Doc."""\nfrom __future__ import annotations\nfrom keras import ops\nops.square(x)\n',
        )

    def test_an_import_in_a_function_is_replaced_there_if_keras_is_imported_in_functions_only(
        self, fix
    ):
        check(
            fix,
            "import os\ndef f():\n    from keras import backend as K\n    return K.square(1)\n\ndef g():\n    from keras import backend as K\n    return K.square(2)\n",
            "import os\ndef f():\n    from keras import ops\n    return ops.square(1)\n\ndef g():\n    from keras import ops\n    return ops.square(2)\n",
        )

    def test_an_import_in_a_function_moves_up_if_keras_is_imported_there(self, fix):
        check(
            fix,
            "from keras import layers\ndef f():\n    from keras import backend as K\n    return K.square(1)\n",
            "from keras import layers, ops\ndef f():\n    return ops.square(1)\n",
        )

    def test_a_function_that_imports_for_the_whole_module_gets_the_new_import_at_the_top(self, fix):
        check(
            fix,
            "from keras import layers\ndef load():\n    global K\n    from keras import backend as K\ndef f():\n    return K.square(1)\n",
            "from keras import layers, ops\ndef load():\n    global K\ndef f():\n    return ops.square(1)\n",
        )

    def test_a_function_that_only_imports_keeps_a_body(self, fix):
        check(
            fix,
            "import keras\ndef f():\n    from keras import backend as K  # here\n    K.variable(0)\n",
            "import keras\ndef f():\n    # here\n    keras.Variable(0)\n",
        )
        check(
            fix,
            "import keras\nclass A:\n    def f(self): from keras import backend as K; K.variable(0)\n",
            "import keras\nclass A:\n    def f(self): keras.Variable(0)\n",
        )
        check(
            fix,
            "import keras\ndef f():\n    if 1:\n        def g():\n            return K.variable(0)\n    from keras import backend as K\n",
            "import keras\ndef f():\n    if 1:\n        def g():\n            return keras.Variable(0)\n",
        )

    def test_each_branch_of_a_guard_gets_its_own(self, fix):
        check(
            fix,
            "try:\n    from keras import backend as K\nexcept ImportError:\n    from tensorflow.keras import backend as K\nK.square(x)\n",
            "try:\n    from keras import ops\nexcept ImportError:\n    from tensorflow.keras import ops\nops.square(x)\n",
        )

    def test_a_star_import_stays_and_gets_a_neighbour(self, fix):
        before = "from keras.backend import *\nx = 1\n"
        check(fix, before, before)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (
                "import os; from keras import backend as K\nK.square(x)\n",
                "import os; from keras import ops\nops.square(x)\n",
            ),
            (
                "from keras import backend as K; K.square(x)\n",
                "from keras import ops; ops.square(x)\n",
            ),
            (
                "from keras import backend as K; K.square(K.e)\n",
                "from keras import backend as K; from keras import ops; ops.square(K.e)\n",
            ),
            (
                "import keras; from keras import backend as K; K.variable(0)\n",
                "import keras; keras.Variable(0)\n",
            ),
            (
                "import keras; from keras import backend as K  # k\nK.variable(0)\n",
                "import keras  # k\nkeras.Variable(0)\n",
            ),
            (
                "import keras\nfrom keras import backend as K;\nK.variable(0)\n",
                "import keras\nkeras.Variable(0)\n",
            ),
        ],
    )
    def test_statements_that_share_a_line(self, fix, before, after):
        check(fix, before, after)

    def test_the_newlines_of_the_file_are_kept(self, fix):
        check(
            fix,
            "from keras import backend as K\r\nK.square(K.epsilon())\r\n",
            "from keras import backend as K\r\nfrom keras import ops\r\nops.square(K.epsilon())\r\n",
        )

    def test_an_import_of_another_package_replaces_the_line_too(self, fix):
        check(
            fix,
            "from keras import backend as K\nK.count_params(x)\n",
            "import math\nmath.prod(x.shape)\n",
        )

    def test_two_imports_of_one_module_give_one_new_import_above_all_uses(self, fix):
        check(
            fix,
            "from keras import backend as K\nx = K.square(1)\nimport keras.backend as B\ny = B.square(K.square(2))\n",
            "from keras import ops\nx = ops.square(1)\ny = ops.square(ops.square(2))\n",
        )
        check(
            fix,
            "from keras import backend as K\nimport keras.backend as B\nx = B.square(1)\ny = K.square(2)\n",
            "from keras import ops\nx = ops.square(1)\ny = ops.square(2)\n",
        )

    def test_two_modules_at_once(self, fix):
        check(
            fix,
            "from keras import backend as K\nK.square(K.count_params(x))\n",
            "import math\n\nfrom keras import ops\nops.square(math.prod(x.shape))\n",
        )


def test_fixes_that_bind_one_name_to_two_things_do_not_go_together():
    module = parsed_from("x = 1\n")
    one = Fix("", (), Applicability.SAFE, (ImportNeed("keras", "ops", "ops"),))
    other = Fix("", (), Applicability.SAFE, (ImportNeed("tensorflow.keras", "ops", "ops"),))
    with pytest.raises(ValueError, match="bind the same name"):
        plan_imports(module, [one, other])


def test_a_need_without_any_import_to_stand_beside_goes_below_the_docstring():
    need = ImportNeed("os", None, "os")
    for before, after in [
        ("x = 1\n", "import os\nx = 1\n"),
        ('"""Doc."""\n\n# about x\nx = 1\n', '"""Doc."""\n\nimport os\n\n# about x\nx = 1\n'),
        ("@a\ndef f(): ...\n", "import os\n@a\ndef f(): ...\n"),
        (
            '"""Doc."""\nfrom __future__ import annotations\nx = 1\n',
            '"""Doc."""\nfrom __future__ import annotations\n\nimport os\nx = 1\n',
        ),
        (
            "import re\n\nimport sys\nx = 1\nimport json\n",
            "import os\nimport re\n\nimport sys\nx = 1\nimport json\n",
        ),
    ]:
        module = parsed_from(before)
        fix = Fix("", (Edit(Span(len(before), len(before)), ("",)),), Applicability.SAFE, (need,))
        edits = plan_imports(module, [fix])
        assert render(module.text, edits, Span(0, len(before)), "\n") == after


def test_what_a_function_imports_from_its_new_place_it_goes_on_importing_itself(fix):
    source = "import keras\ndef f():\n    from keras.models import Input\n    return Input((1,))\n"
    expected = source.replace("keras.models import", "keras import")
    assert fix(source, INPUT, imports_too=True).text == expected


def test_an_import_under_an_if_of_a_function_goes_with_its_uses(fix):
    source = (
        "import keras\ndef f(x, y):\n    if x:\n        from keras import backend as K\n"
        "        y = K.variable(0)\n    return y\n"
    )
    check(
        fix,
        source,
        "import keras\ndef f(x, y):\n    if x:\n        y = keras.Variable(0)\n    return y\n",
    )


@pytest.mark.parametrize(
    "kept",
    [
        "def f(x):\n    try:\n        from keras import backend as K\n    except ImportError:\n        x()\n",
        "def f(x):\n    global K\n    if x:\n        from keras import backend as K\n",
        "if x:\n    from keras import backend as K\nelse:\n    K = None\n",
    ],
)
def test_an_import_that_tries_or_serves_others_stays_without_uses(fix, kept):
    indent = "    " if kept.startswith("def") else ""
    result = fix(f"import keras\n{kept}{indent}K.variable(0)\n", VARIABLE).text
    assert "import backend as K" in result
    assert "keras.Variable(0)" in result


def test_each_branch_in_a_function_imports_what_is_used_and_no_more(fix):
    source = (
        "def f(x):\n    if x:\n        from keras import backend as k\n"
        "    else:\n        import keras.backend as k\n    return k.square(x)\n"
    )
    after = (
        "def f(x):\n    if x:\n        from keras import ops\n"
        "    else:\n        from keras import ops\n    return ops.square(x)\n"
    )
    check(fix, source, after)
