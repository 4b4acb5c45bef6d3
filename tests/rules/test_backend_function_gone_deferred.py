"""An import from `keras.backend` that nothing replaces: it stands in the functions that use it."""

from kdoctor.engine import fix, scan

SOURCE = """\
import keras.backend.tensorflow_backend as KTF
from keras.backend import get_session, square


def f(x):
    return train(get_session(), square(x))


def g(p):
    KTF.set_session(p)
"""
AFTER = """\
from keras import ops


def f(x):
    from keras.backend import get_session
    return train(get_session(), ops.square(x))


def g(p):
    import keras.backend.tensorflow_backend as KTF
    KTF.set_session(p)
"""


def fixed(source: str) -> str:
    files = fix(["-"], stdin=source.encode(), target="keras==3.15.1", isolated=True).files
    return files[0].after.decode() if files else source


def test_the_file_can_be_imported_and_a_second_fix_changes_nothing():
    assert fixed(SOURCE) == AFTER
    assert fixed(AFTER) == AFTER


def test_what_is_left_is_told_where_it_is_needed_and_what_to_do():
    left = scan(["-"], stdin=AFTER.encode(), target="keras==3.15.1", isolated=True).findings
    assert [(each.code, each.place.line) for each in left] == [("KD101", 5), ("KD101", 10)]
    assert all(each.help and each.no_fix_because for each in left)


def test_a_function_that_runs_with_the_file_keeps_the_import():
    source = "from keras.backend import get_session\nsession = get_session()\n"
    assert fixed(source) == source
