"""Functions of the tree's modules: the same answers from their own lines as from all of the file."""

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest

from kdoctor.modules import ast_cache
from kdoctor.modules.ast_cache import AstCache
from kdoctor.modules.dependencies import Dependencies
from kdoctor.modules.function_summaries import FunctionSummaries
from kdoctor.modules.module_summary import parsed
from kdoctor.modules.parameter_flow import Callees

_SOURCE = '''\
"""A page.\x0c"""
import keras.backend as K
import numpy as np
def plain(a, b): return K.square(b); K.abs(a)
def zeros():
    made = np.zeros(3)

    return made  # the end

@some.register
def decorated(x):
    return K.sum(x)
def twice(x):
    return K.mean(x)
twice_in_one = """
def twice(x):
    return K.max(x)
"""
def twice(x):
    return K.min(x)
if True:
    def inner(x):
        return K.exp(x)
def last(x):
    return K.log(x)'''
_NAMES = ("plain", "zeros", "decorated", "twice", "inner", "last", "missing")


def _sure(callees: Iterable[Callees]) -> list[tuple[int, str]]:
    """Return what surely is called with which parameter, where that is one function."""
    return [(position, one.callee) for position, (one, *others), sure in callees
            if sure and not others]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_function_is_read_by_its_own_lines(tmp_path: Path, monkeypatch, newline: str):
    path = tmp_path / "own.py"
    path.write_bytes(_SOURCE.replace("\n", newline).encode())
    noted, anew = (FunctionSummaries(Dependencies(), AstCache()) for _ in range(2))
    noted.note(str(path), ast.parse(path.read_bytes()))
    wanted = {each: (anew.parameter_callees(str(path), each), anew.returned_call(str(path), each))
              for each in _NAMES}  # fmt: skip
    assert _sure(wanted["plain"][0]) == [(1, "K.square")]  # what comes after it never runs
    assert wanted["plain"][1] is None
    assert wanted["zeros"] == ((), "np.zeros")
    assert _sure(wanted["last"][0]) == [(0, "K.log")]
    assert wanted["last"][1] == "K.log"
    assert wanted["twice"] == (None, None)
    lengths: list[int] = []
    monkeypatch.setattr(
        ast_cache, "parsed", lambda source: lengths.append(len(source)) or parsed(source)
    )
    for names in (["plain", "zeros", "last"], _NAMES):
        found = {
            each: (noted.parameter_callees(str(path), each), noted.returned_call(str(path), each))
            for each in names
        }
        assert found == {each: wanted[each] for each in names}
        assert max(lengths) < 100 or names is _NAMES
