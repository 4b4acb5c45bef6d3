"""The values of a test's ``@pytest.mark.parametrize`` parameters."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import Binding, BindingKind

_MARK = "pytest.mark.parametrize"


def pytest_parameter_values(binding: Binding) -> Sequence[cst.BaseExpression]:
    """Return all values of a test parameter, nothing if unknown.

    ``@pytest.mark.parametrize("layer", [Dense, Conv1D])`` above ``def test(layer):`` passes both.
    """
    function = binding.scope.node
    if binding.kind is not BindingKind.PARAMETER or not isinstance(function, cst.FunctionDef):
        return ()
    for decorator in function.decorators:
        match decorator.decorator:
            case cst.Call(
                func=mark,
                args=[
                    cst.Arg(value=cst.SimpleString() as names, star=""),
                    cst.Arg(value=cst.List() | cst.Tuple() as cases, star=""),
                    *_,
                ],
            ) if dotted_name(mark) == _MARK:
                listed = [each.strip() for each in str(literal(names)).split(",")]
                if binding.name in listed:
                    return _column(cases, listed.index(binding.name), len(listed))
    return ()


def _column(cases: cst.List | cst.Tuple, index: int, width: int) -> Sequence[cst.BaseExpression]:
    found: list[cst.BaseExpression] = []
    for case in cases.elements:
        match _plain(case.value):
            case each if width == 1:
                found += each
            case [cst.Tuple() | cst.List() as row] if len(row.elements) == width:
                found.append(row.elements[index].value)
            case row if len(row) == width:
                found.append(row[index])
            case _:
                return ()
    return found


def _plain(case: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what is in ``pytest.param(…, id="a")``, or the case itself."""
    if isinstance(case, cst.Call) and dotted_name(case.func) == "pytest.param":
        return [each.value for each in case.args if each.keyword is None]
    return [case]
