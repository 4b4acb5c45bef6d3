"""What `K.get_session().run(…)` becomes, by what it runs and whether its value is taken."""

import pytest

from kdoctor.engine import fix

HEAD = "import keras\nfrom keras import backend as K\n\nx = keras.Variable([1.0])\nmade = [x.assign([2.0])]\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("value = K.get_session().run(x)", "value = ops.convert_to_numpy(x)[()]"),
        ("K.get_session().run(x.assign([3.0]))", "x.assign([3.0])"),
        ("K.get_session().run(  # now\n    x.assign([3.0])\n)", None),
        # What these were bound to has run, or is several: nothing stands for it.
        ("K.get_session().run(made)", None),
        ("values = K.get_session().run(made)", None),
        ("values = K.get_session().run([x, x])", None),
        ("K.get_session().run(x)", None),
        ("b = a\na = b\nv = K.get_session().run(a)", "v = ops.convert_to_numpy(a)[()]"),
    ],
)
def test_a_run_is_written_as_what_it_does(before, after):
    source = f"{HEAD}{before}\n"
    done = fix(["-"], stdin=source.encode(), unsafe=True)
    fixed = done.files[0].after.decode() if done.files else source
    assert fixed.splitlines()[-1] == (after or source.splitlines()[-1])
