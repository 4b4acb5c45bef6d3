"""An import that nothing replaces stands in the functions that use it, so that the file works."""

import ast
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from kdoctor.engine import fix, scan
from kdoctor.model import Applicability

GONE = "from keras.engine.training import reduce_per_replica"
IN_A_FUNCTION = "def f(x):\n    return reduce_per_replica(x)\n"


def fixed(folder: Path, source: str, **options) -> str:
    path = folder / "code.py"
    path.write_text(source)
    files = fix([path], target="keras==3.15.1", unsafe=True, isolated=True, **options).files
    return files[0].after.decode() if files else source


def test_an_import_stands_in_each_function_that_uses_it(tmp_path):
    source = (
        f"{GONE} as reduce, other\n\n\n"
        'def f(x):\n    """Say."""\n    def g():\n        return reduce(x)\n    return g\n\n\n'
        "class Mine:\n    @staticmethod\n    def h(x):\n        return other(reduce(x))\n"
    )
    after = fixed(tmp_path, source)
    assert after == (
        'def f(x):\n    """Say."""\n'
        "    from keras.engine.training import reduce_per_replica as reduce\n"
        "    def g():\n        return reduce(x)\n    return g\n\n\n"
        "class Mine:\n    @staticmethod\n    def h(x):\n"
        "        from keras.engine.training import reduce_per_replica as reduce, other\n"
        "        return other(reduce(x))\n"
    )
    assert fixed(tmp_path, after) == after


def test_what_is_left_is_still_told_where_it_is_needed(tmp_path):
    after = fixed(tmp_path, f"{GONE}\n\n\n{IN_A_FUNCTION}")
    path = tmp_path / "after.py"
    path.write_text(after)
    (found,) = scan([path], target="keras==3.15.1", isolated=True).findings
    assert (found.code, found.place.line) == ("KD102", 2)


def rating(folder, name="code.py", **options):
    found = scan([folder], target="keras==3.15.1", isolated=True, **options).findings
    return next(each.fix for each in found if Path(each.place.path).name == name)


@pytest.mark.parametrize(
    ("importing", "is_tried"),
    [
        ("from . import code_of_keras\n", False),
        ("try:\n    from . import code_of_keras\nexcept OSError:\n    pass\n", False),
        ("try:\n    import other\nexcept ImportError:\n    from . import code_of_keras\n", False),
        ("try:\n    from . import code_of_keras\nexcept ImportError:\n    pass\n", True),
        ("try:\n    from .code_of_keras import f\nexcept (OSError, Exception):\n    pass\n", True),
        ("try:\n    if 1:\n        from . import code_of_keras\nexcept:\n    pass\n", True),
        ("try:\n    from .between import f\nexcept ImportError:\n    f = None\n", True),
    ],
)
def test_it_is_not_safe_where_another_file_does_without(tmp_path, importing, is_tried):
    """There, a program works on Keras 3 as it is, and would fail in the function."""
    (tmp_path / "setup.py").touch()
    (tmp_path / "__init__.py").touch()
    (tmp_path / "code_of_keras.py").write_text(f"{GONE}\n\n\n{IN_A_FUNCTION}")
    (tmp_path / "between.py").write_text("from .code_of_keras import f\n")
    alone = rating(tmp_path, "code_of_keras.py", cache=tmp_path / "cache")
    (tmp_path / "user.py").write_text(importing)
    for _ in range(2):  # the second time from the cache
        found = rating(tmp_path, "code_of_keras.py", cache=tmp_path / "cache")
        assert found.applicability == (Applicability.UNSAFE if is_tried else alone.applicability)
        assert ("another file does without" in found.unsafe_because) is is_tried
    assert alone.applicability is Applicability.SAFE


@pytest.mark.frameworks
def test_the_file_can_be_imported_then(tmp_path):
    for name, source in (("before", None), ("after", f"{GONE}\n\n\n{IN_A_FUNCTION}")):
        text = fixed(tmp_path, source) if source else f"{GONE}\n\n\n{IN_A_FUNCTION}"
        (tmp_path / f"{name}.py").write_text(text)
        done = subprocess.run([sys.executable, "-c", f"import {name}"], cwd=tmp_path, check=False)
        assert (done.returncode == 0) == (name == "after")


def test_alternatives_of_one_try_move_together(tmp_path):
    source = (
        "try:\n    from keras.src.engine.training import reduce_per_replica\n"
        f"except ImportError:\n    {GONE}\n\n\n{IN_A_FUNCTION}"
    )
    assert fixed(tmp_path, source) == (
        "def f(x):\n    try:\n        from keras.src.engine.training import reduce_per_replica\n"
        f"    except ImportError:\n        {GONE}\n    return reduce_per_replica(x)\n"
    )


@pytest.mark.parametrize(
    "rest",
    [
        "reduce_per_replica(1)\n",
        f"{IN_A_FUNCTION}\nmine = [reduce_per_replica]\n",
        "class Mine(reduce_per_replica):\n    pass\n",
        "class Mine:\n    reduce = reduce_per_replica\n",
        "def f(x=reduce_per_replica):\n    return x\n",
        "def f(x) -> reduce_per_replica:\n    return x\n",
        "@reduce_per_replica\ndef f(x):\n    return x\n",
        "f = lambda x: reduce_per_replica(x)\n",
        "def f(x): return reduce_per_replica(x)\n",
        f"__all__ = ['reduce_per_replica']\n\n\n{IN_A_FUNCTION}",
        f"{IN_A_FUNCTION}\nreduce_per_replica = 3\n",
        f"{IN_A_FUNCTION}\ndel reduce_per_replica\n",
        "def f(x):\n    global reduce_per_replica\n    return reduce_per_replica(x)\n",
        "def f():\n    def g():\n        global reduce_per_replica\n        reduce_per_replica()\n",
    ],
)
def test_an_import_stays_that_something_else_needs(tmp_path, rest):
    source = f"{GONE}\n\n\n{rest}"
    assert fixed(tmp_path, source) == source


@pytest.mark.parametrize(
    "alternatives",
    [
        "try:\n    {old}\nexcept ImportError:\n    reduce_per_replica = None\n",
        "try:\n    {old}\nexcept ImportError:\n    {old}\nelse:\n    print()\n",
        "if 1:\n    {old}\n",
        "try:\n    {old}\nexcept ImportError:\n    {old}  # old\n",
        "{old}  # noqa: F401\n",
        "{old}  # kdoctor: ignore\n",
    ],
)
def test_an_import_stays_that_the_file_decides_about(tmp_path, alternatives):
    source = f"{alternatives.format(old=GONE)}\n\n{IN_A_FUNCTION}"
    assert fixed(tmp_path, source) == source


def test_an_import_stays_that_another_file_takes_from_here(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "other.py").write_text("from code import reduce_per_replica\n")
    source = f"{GONE}\n\n\n{IN_A_FUNCTION}"
    assert fixed(tmp_path, source) == source


def test_line_endings_and_tabs_stay(tmp_path):
    path = tmp_path / "code.py"
    path.write_bytes(f"{GONE}\r\n\r\n\r\ndef f(x):\r\n\treturn reduce_per_replica(x)\r\n".encode())
    fix([path], target="keras==3.15.1", unsafe=True, apply=True, isolated=True)
    after = path.read_bytes()
    assert after == f"def f(x):\r\n\t{GONE}\r\n\treturn reduce_per_replica(x)\r\n".encode()


def test_a_cell_that_others_read_keeps_its_import(tmp_path):
    cells = [GONE, IN_A_FUNCTION, "f(1)", "reduce_per_replica(2)"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    path = tmp_path / "book.ipynb"
    path.write_text(nbformat.writes(book))
    fix([path], target="keras==3.15.1", unsafe=True, apply=True, isolated=True)
    assert [each.source for each in nbformat.reads(path.read_text(), 4).cells] == cells


def test_imports_of_several_statements_stand_in_one_function(tmp_path):
    source = (
        f"{GONE}\nfrom keras.engine import no_such\n\n\n"
        "def f(x):\n    # Why.\n    return no_such(reduce_per_replica(x))\n"
    )
    after = fixed(tmp_path, source)
    ast.parse(after)
    assert after.count("    from keras.engine") == 2
    assert "    # Why.\n" in after
