"""An import that fails is mended in its place, and keeps its name, where all its uses can follow."""

import pytest

from kdoctor.engine import fix

OLD = "from keras.utils.np_utils import to_categorical"
NEW = "from keras.utils import to_categorical"


def fixed(folder, source, **options):
    path = folder / "code.py"
    path.write_text(source)
    (result,) = fix([path], target="keras==3.15.1", **options).files
    return result.after.decode()


@pytest.mark.parametrize("above", ["", "import keras\n", "import tensorflow as tf\n"])
@pytest.mark.parametrize("name", ["", " as one_hot"])
def test_calls_whose_call_changes_too_keep_the_name_of_their_import(tmp_path, above, name):
    call = name.removeprefix(" as ") or "to_categorical"
    source = f"{above}{OLD}{name}\n\nx = {call}([0, 1])\ny = {call}([2], 3, dtype='int32')\n"
    assert fixed(tmp_path, source) == (
        f"{above}{NEW}{name}\n\n"
        f"x = {call}([0, 1]).astype('float32')\ny = {call}([2], 3).astype('int32')\n"
    )


def test_an_import_in_a_function_is_put_anew_there(tmp_path):
    source = f"import keras\n\n\ndef one_hot():\n    {OLD}\n    return to_categorical([1])\n"
    assert fixed(tmp_path, source) == (
        f"import keras\n\n\ndef one_hot():\n    {NEW}\n"
        "    return to_categorical([1]).astype('float32')\n"
    )


def test_what_is_handed_on_reads_the_same_import(tmp_path):
    source = f"{OLD}\n\nx = to_categorical([1])\ny = map(to_categorical, [x])\n"
    assert fixed(tmp_path, source, unsafe=True) == (
        f"{NEW}\n\nx = to_categorical([1]).astype('float32')\ny = map(to_categorical, [x])\n"
    )


def test_an_import_stays_that_a_use_without_a_rewrite_reads(tmp_path):
    """Put anew, it would give that use another type, and nothing would tell of it any more."""
    source = f"{OLD}\n\nx = to_categorical([1])\nto_categorical.calls = 1\n"
    after = fixed(tmp_path, source, unsafe=True)
    assert OLD in after
    assert "utils.to_categorical([1])" in after
    assert "\nto_categorical.calls = 1" in after


def test_an_import_stays_that_a_branch_chooses(tmp_path):
    source = f"try:\n    {OLD}\nexcept ImportError:\n    {NEW}\n\nx = to_categorical([1])\n"
    path = tmp_path / "code.py"
    path.write_text(source)
    assert not fix([path], target="keras==3.15.1").files
