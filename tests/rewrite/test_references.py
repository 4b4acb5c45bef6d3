"""Names that are read without being called, and names that are imported."""

import pytest

from kdoctor.model import Applicability
from kdoctor.rewrite import GuardAnswer, Question, given, rewrite

SQUARE = ("keras.backend.square(x)", "keras.ops.square(x)")
ARGMAX = ("keras.backend.argmax(x, axis=-1)", "keras.ops.argmax(x, axis)")
PERMUTE = ("keras.backend.permute_dimensions(x, pattern)", "keras.ops.transpose(x, pattern)")
ALWAYS = Question("always()", "never", lambda _: GuardAnswer.YES)
INPUT = ("keras.models.Input", "keras.Input")


@pytest.mark.parametrize(
    "place",
    ["map({}, xs)", "Dense(1, activation={})", "fn = {}", "x = {}.__name__", "[{}]", "f(*{})"],
)
def test_a_bare_reference_is_rewritten_where_both_sides_take_the_same(line, place):
    row = ("keras.backend.square(x)", "keras.ops.square(x)")
    assert line(place.format("K.square"), row) == place.format("ops.square")


def test_a_bare_reference_with_another_default_is_a_reason(refusal):
    assert "takes its arguments differently" in refusal("map(K.argmax, xs)", ARGMAX)


def test_a_bare_reference_with_other_names_is_a_reason(refusal):
    assert "takes its arguments differently" in refusal("f = K.permute_dimensions", PERMUTE)


@pytest.mark.parametrize(
    "right", ["keras.ops.square(x) + 0", "keras.ops.reshape(x, (-1,))", "x.square"]
)
def test_a_bare_reference_to_what_is_no_plain_call_is_a_reason(refusal, right):
    assert "takes its arguments differently" in refusal(
        "f = K.square", ("keras.backend.square(x)", right)
    )


def test_a_bare_reference_to_an_unknown_callable_is_a_reason(refusal):
    assert refusal("f = K.square", SQUARE, signatures={"keras.ops.square": None})


def test_a_bare_reference_may_gain_optional_parameters(line):
    known = {"keras.ops.square": "x, out=None"}
    assert line("f = K.square", SQUARE, signatures=known) == "f = ops.square"


def test_crossed_parameters_are_not_straight(refusal):
    known = {"keras.ops.g": "a, b"}
    row = ("keras.backend.f(a, b)", "keras.ops.g(a=b, b=a)")
    assert refusal("h = K.f", row, signatures=known)


def test_a_guard_about_arguments_cannot_be_answered_without_a_call(refusal):
    row = rewrite("keras.backend.square(x)", "keras.ops.square(x)", given("x"))
    assert refusal("f = K.square", row) == "`x` is not passed"


def test_a_guard_about_the_place_can(line):
    row = rewrite("keras.backend.square(x)", "keras.ops.square(x)", ALWAYS)
    assert line("f = K.square", row) == "f = ops.square"


def test_an_assignment_to_the_name_is_a_reason(refusal):
    assert "assigned" in refusal("K.square = f", SQUARE)


def test_a_name_is_changed_wherever_it_is_read(fix):
    source = "import keras\nx = keras.models.Input((1,))\nisinstance(x, keras.models.Input)\n"
    assert (
        fix(source, INPUT).text
        == "import keras\nx = keras.Input((1,))\nisinstance(x, keras.Input)\n"
    )


def test_star_arguments_do_not_matter_to_a_name(fix):
    source = "import keras\nx = keras.models.Input(*args, **kwargs)\n"
    assert fix(source, INPUT).text == "import keras\nx = keras.Input(*args, **kwargs)\n"


def test_an_imported_name_is_imported_from_its_new_place(fix):
    source = "from keras.models import Model, Input\n\nx = Input((1,))\nm = Model(x, x)\n"
    after = "from keras import Input\nfrom keras.models import Model\n\nx = Input((1,))\nm = Model(x, x)\n"
    assert fix(source, INPUT, imports_too=True).text == after
    assert fix(source, INPUT).text == after


def test_an_import_that_moves_joins_the_line_of_its_new_place(fix):
    source = "from keras.models import Input, Model\nfrom keras import utils\n\nInput(1), Model\n"
    after = "from keras.models import Model\nfrom keras import Input, utils\n\nInput(1), Model\n"
    assert fix(source, INPUT, imports_too=True).text == after


def test_an_import_that_moves_joins_a_line_below_the_imports_of_other_packages(fix):
    source = (
        "from keras.models import Input\nimport numpy as np\nfrom keras import utils\n\nInput(1)\n"
    )
    after = "import numpy as np\nfrom keras import Input, utils\n\nInput(1)\n"
    assert fix(source, INPUT, imports_too=True).text == after


def test_an_import_that_moves_shares_its_line_with_what_else_comes(fix):
    source = "from keras import backend as K\nfrom keras.models import Input, Model\n\nModel(K.square(Input(1)))\n"
    after = "from keras import Input, ops\nfrom keras.models import Model\n\nModel(ops.square(Input(1)))\n"
    assert fix(source, INPUT, SQUARE, imports_too=True).text == after


@pytest.mark.parametrize(
    "source",
    [
        # Something else may take the name between the two imports.
        "from keras.models import Input\nif x:\n    Input = x\nfrom keras import utils\n\nInput(1)\n",
        "from keras.models import Input\nInput = x(Input)\nfrom keras import utils\n\nInput(1)\n",
        "from keras.models import Input\nwith x as Input:\n    pass\nfrom keras import utils\n\nInput(1)\n",
        "from keras.models import Input\nfrom settings import *\nfrom keras import utils\n\nInput(1)\n",
        "from keras.models import Input\nif x:\n    from mine import Input\nfrom keras import utils\n\nInput(1)\n",
        "from keras.models import Input\ndef f():\n    global Input\n    Input = x\nf()\nfrom keras import utils\n\nInput(1)\n",
        # What is imported in between may take it from here.
        "from keras.models import Input\nfrom . import part\nfrom keras import utils\n\nInput(1)\n",
        "from keras.models import Input\nrun()\nfrom keras import utils\n\n__all__ = ['Input']\n",
        # It is read above the other.
        "from keras.models import Input\n\nInput(1)\n\nfrom keras import utils\n",
    ],
)
def test_an_import_that_moves_stays_where_its_place_matters(fix, source):
    after = source.replace("keras.models", "keras", 1)
    assert fix(source, INPUT, imports_too=True).text == after


def test_an_imported_name_keeps_its_alias(fix):
    source = "from keras.models import Input as I\nx = I((1,))\n"
    assert (
        fix(source, INPUT, imports_too=True).text == "from keras import Input as I\nx = I((1,))\n"
    )


def test_a_re_exported_name_stays_exported(fix):
    source = "from keras.models import Input\n__all__ = ['Input']\n"
    after = "from keras import Input\n__all__ = ['Input']\n"
    assert fix(source, INPUT, imports_too=True).text == after


def test_a_module_that_moved_is_imported_from_its_new_place(fix):
    row = ("keras.utils.np_utils", "keras.utils")
    source = "from keras.utils import np_utils\ny = np_utils.to_categorical(y)\n"
    after = "from keras import utils as np_utils\ny = np_utils.to_categorical(y)\n"
    assert fix(source, row, imports_too=True).text == after


def test_an_import_is_cured_by_rewriting_its_uses(fix):
    source = "from keras.backend import square, epsilon\ny = square(x) + epsilon()\nf = square\n"
    after = "from keras import ops\nfrom keras.backend import epsilon\ny = ops.square(x) + epsilon()\nf = ops.square\n"
    result = fix(source, SQUARE, imports_too=True)
    assert result.text == after


def test_an_import_stays_while_one_use_cannot_be_rewritten(fix):
    source = "from keras.backend import square\ny = square(x)\nz = square(*x)\n"
    after = "from keras import ops\nfrom keras.backend import square\ny = ops.square(x)\nz = square(*x)\n"
    assert fix(source, SQUARE, imports_too=True).text == after


def test_an_import_that_nothing_uses_goes_but_not_as_a_safe_fix(fix):
    result = fix("import os\nfrom keras.backend import square\n", SQUARE, imports_too=True)
    assert result.text == "import os\n"
    assert result.fixes[0].applicability is Applicability.UNSAFE


def test_an_import_for_others_is_a_reason(fix):
    source = "from keras.backend import square\n"
    result = fix(source, SQUARE, imports_too=True, path="p/__init__.py")
    assert result.text == source
    assert result.reasons == ("other files may import it from here",)


def test_what_stands_in_a_module_that_moved_moves_along(fix):
    row = ("keras.layers.core", "keras.layers")
    source = "import keras\nfrom keras.layers.core import Dense\nx = keras.layers.core.Flatten(Dense(1))\n"
    after = "import keras\nfrom keras.layers import Dense\nx = keras.layers.Flatten(Dense(1))\n"
    assert fix(source, row, imports_too=True).text == after


def test_a_module_imported_by_its_dotted_name_goes_with_its_last_use(fix):
    row = ("keras.utils.np_utils.to_categorical(y)", "keras.utils.to_categorical(y)")
    source = "import keras.utils.np_utils\ny = keras.utils.np_utils.to_categorical(y)\n"
    after = "import keras\ny = keras.utils.to_categorical(y)\n"
    from_import = ("keras.utils.np_utils", "keras.utils")
    assert fix(source, row, from_import, imports_too=True).text == after


def test_a_variable_that_is_made_of_a_name_is_what_its_users_go_on_reading(fix):
    source = "from keras import backend as K\nf = K.square\na = f(x)\nb = map(f, [a])\n"
    expected = "from keras import ops\nf = ops.square\na = f(x)\nb = map(f, [a])\n"
    assert fix(source, SQUARE).text == expected


def test_a_local_name_of_what_moved_is_read_as_before(fix):
    source = (
        "from keras import models\ndef f():\n    new = models.Input\n    return new.x, new(3)\n"
    )
    fixed = fix(source, INPUT, imports_too=True).text
    assert "new = Input\n    return new.x, new(3)" in fixed


def test_a_call_by_a_variable_that_cannot_be_made_anew_is_rewritten_itself(fix):
    source = "from keras import backend as K\nf = K.argmax\na = f(x)\n"
    result = fix(source, ARGMAX)
    assert "f = K.argmax\na = ops.argmax(x, axis=-1)" in result.text
    assert len(result.reasons) == 1


def test_a_variable_that_is_made_of_a_name_in_two_places_is_read_as_before(fix):
    source = (
        "from keras import backend as K\n"
        "if big:\n    f = K.square\nelse:\n    f = K.square\na = f(x)\n"
    )
    expected = source.replace("backend as K", "ops").replace("K.", "ops.")
    assert fix(source, SQUARE).text == expected


def test_a_name_that_is_imported_for_others_goes_on_saying_so(fix):
    source = "from keras.models import Input as Input, Model as Model\n"
    after = "from keras import Input as Input\nfrom keras.models import Model as Model\n"
    assert fix(source, INPUT, imports_too=True).text == after
    assert fix(source.replace(" as Input", " as I"), INPUT, imports_too=True).text == (
        "from keras import Input as I\nfrom keras.models import Model as Model\n"
    )
