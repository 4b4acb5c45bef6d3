"""A program on Keras 2, and with its fixes on Keras 3: what it shows must be the same."""

from __future__ import annotations

from kdoctor.engine import fix
from kdoctor.verify.execution import execute

HEAD = "import numpy as np\nfrom keras import backend as K\n\n"


def fixed(source, *rules, unsafe=False):
    select = rules or ["KD101"]
    result = fix(["-"], stdin=source.encode(), select=select, unsafe=unsafe)
    (file,) = result.files or [None]
    return source if file is None else file.after.decode()


def check_that_it_keeps_its_meaning(program, shown, expected):
    before = f"{HEAD}{program}\nshown = {shown}\n"
    old = execute(before, "shown", on_keras_2=True)
    assert (old.raised, old.value) == (None, expected)
    after = fixed(before, "KD101")
    new = execute(after, "shown")
    assert (new.raised, new.value) == (None, expected), after
