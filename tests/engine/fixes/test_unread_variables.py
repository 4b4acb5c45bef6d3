"""What was assigned for an argument that a fix leaves out goes with it, and nothing else does."""

from __future__ import annotations

import json

import pytest

from kdoctor.engine import fix

HEAD = "import os\n\nimport keras\nimport tensorflow as tf\n\n\ndef train(model, x, workers=1):\n"
CALL = "    return model.fit(x, x, workers=workers)\n"
LEFT = "    return model.fit(x, x)\n"
MODEL = "    model = keras.Sequential([keras.layers.Dense(1)])\n"


@pytest.fixture
def project_notebook(tmp_path):
    """Return a fixed notebook of these cells."""

    def fix_notebook(*cells):
        path = tmp_path / "a.ipynb"
        made = [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
             "source": cell.splitlines(keepends=True)}
            for cell in cells
        ]  # fmt: skip
        path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4}))
        (changed,) = fix([path], unsafe=True).files
        return changed.after.decode()

    return fix_notebook


def fixed(body, head=HEAD):
    result = fix(["-"], stdin=f"{head}{MODEL}{body}".encode(), unsafe=True)
    assert not result.left_alone
    (changed,) = result.files
    before, _, after = changed.after.decode().partition(MODEL)
    return before, after


GONE = {
    "a number": "    workers = 4\n",
    "a name": "    workers = x\n",
    "with its type": "    workers: int = 4\n",
    "a member of a module": "    workers = tf.float32\n",
    "several": "    workers = (1, -2)\n",
    "twice": "    workers = 1\n    workers = 2\n",
    "one for another": "    count = 4\n    workers = count\n",
    "beside a method called eval": "    keras.backend.eval(x)\n    workers = 4\n",
    "where it is not given": "    if workers is None:\n        workers = 4\n",
    "where two are not given": "    if not workers or x is None:\n        workers = 4\n",
}


@pytest.mark.parametrize("lines", GONE.values(), ids=GONE)
def test_what_is_assigned_for_it_alone_goes(lines):
    changed = fixed(lines + CALL)[1]
    assert changed.endswith(LEFT)
    assert "workers" not in changed
    assert "4" not in changed


def test_two_fixes_that_read_it_take_it_together():
    again = "    model.fit(x, x, workers=workers)\n"
    assert fixed("    workers = 4\n" + again + CALL)[1] == "    model.fit(x, x)\n" + LEFT


def test_a_block_that_holds_nothing_else_keeps_a_pass():
    lines = "    if os.cpu_count() > 2:\n        workers = 4\n"
    assert fixed(lines + CALL)[1] == "    if os.cpu_count() > 2:\n        pass\n" + LEFT


def test_an_import_that_nothing_else_uses_goes_as_well():
    before, _ = fixed("    workers = tf.float32\n" + CALL)
    assert "tensorflow" not in before


STAYS = {
    "read elsewhere": "    workers = 4\n    print(workers)\n",
    "read as text": "    workers = 4\n    print(locals())\n",
    "read in a function": "    workers = 4\n    run(lambda: workers)\n",
    "read by what stays": "    count = 4\n    workers = count\n    print(count, workers)\n",
    "counted": "    workers = 4\n    workers += 1\n",
    "deleted": "    workers = 4\n    del workers\n    workers = 2\n",
    "computed": "    workers = os.cpu_count()\n",
    "looked up": "    workers = x[0]\n",
    "a property": "    workers = x.size\n",
    "with another": "    workers = total = 4\n",
    "unpacked": "    workers, total = 4, 5\n",
    "a loop": "    for workers in x:\n        pass\n",
    "behind another": "    print(x); workers = 4\n",
    "on the line of its test": "    if x: workers = 4\n",
    "with a comment": "    workers = 4  # as many as cores\n",
    "below a comment": "    # as many as cores\n    workers = 4\n",
    "read in another library's language": "    workers = 4\n    x.query('a > @workers')\n",
    "read as a text that is formatted": "    workers = 4\n    print(f'{x} workers')\n",
    "read in a frame": "    workers = 4\n    os._getframe().f_locals\n",
    "listed": "    workers = 4\n    print(dir())\n",
    "tried": "    try:\n        workers = tf.float32\n    except AttributeError:\n        pass\n",
    "handled": "    try:\n        pass\n    except ValueError:\n        workers = 4\n",
    "named by a function inside": "    workers = 4\n\n    def f():\n        nonlocal workers\n\n",
    "global": "    global workers_\n    workers_ = 4\n    workers = 4\n    print(workers)\n",
    "one of two": "    if workers is None:\n        workers = 4\n        print(x)\n",
    "with an else": "    if workers is None:\n        workers = 4\n    else:\n        print(x)\n",
}


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_does_more_stays(lines):
    assert fixed(lines + CALL)[1] == lines + LEFT


def test_what_a_module_assigns_stays():
    source = f"import keras\n{MODEL}workers = 4\n{CALL}".replace("    ", "").replace("return ", "")
    (changed,) = fix(["-"], stdin=source.encode(), unsafe=True).files
    assert changed.after.decode() == source.replace(", workers=workers", "")


def test_what_is_moved_elsewhere_is_still_read():
    body = "    lr = 0.1\n    model.compile(keras.optimizers.SGD(lr=lr))\n"
    assert fixed(body)[1] == body.replace("lr=lr", "learning_rate=lr")


def test_what_a_magic_may_read_stays(project_notebook):
    cells = [
        HEAD.partition("def")[0],
        f"def train(x):\n{MODEL}    workers = 4\n    !echo {{workers}}\n{CALL}",
    ]
    assert "workers = 4" in project_notebook(*cells)


def test_line_endings_stay():
    source = f"{HEAD}{MODEL}    workers = 4\n{CALL}".replace("\n", "\r\n")
    result = fix(["-"], stdin=source.encode(), unsafe=True)
    assert result.files[0].after.decode().endswith((MODEL + LEFT).replace("\n", "\r\n"))


def test_work_does_not_grow_with_the_square_of_the_functions():
    one = "def f{n}(x):\n    workers = 4\n    return model.fit(x, x, workers=workers)\n\n\n"
    head = "import keras\n\nmodel = keras.Sequential()\n\n\n"
    source = head + "".join(one.format(n=n) for n in range(300))
    (changed,) = fix(["-"], stdin=source.encode(), unsafe=True).files
    assert b"workers" not in changed.after
