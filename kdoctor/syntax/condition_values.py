"""Abstract values of conditions: a value, several possible values, or unknown."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple, NoReturn

import libcst as cst
from msgspec import Struct
from packaging.version import Version


class Undecided(Exception):
    """The condition is a guard whose outcome on the target is unknown."""


class NotAGuard(Exception):
    """The condition does not depend on the target."""


class PossibleConstants(Struct, frozen=True):
    """One of several values, such as the backend or Python's version.

    ``is_version``: where the values tell different things, nothing is said of either branch.
    Else both are looked at.
    """

    values: tuple[Any, ...]
    is_version: bool = False

    def undecided(self) -> NoReturn:
        """Say that it depends on which of the values it is.

        Raises:
            Undecided, NotAGuard: always one of the two.
        """
        raise Undecided if self.is_version else NotAGuard


class UnknownObject(Struct, frozen=True):
    """An object of which only its existence is known: ``getattr(keras, "ops", None)``."""


class _PythonVersion(NamedTuple):
    major: int
    minor: int
    micro: int
    releaselevel: str = "final"
    serial: int = 0


_OLDEST_PYTHON: Final = 9  # no Keras 3 ran on an older Python 3 than 3.9
_MAX_COMBINATIONS: Final = 4096  # combinations of values that are tried
_NEWEST: Final = _PythonVersion(3, 99, 99)


OF_PYTHON: Final[dict[str, Callable[[Any], object]]] = {
    "sys.version_info": lambda version: version,
    "sys.version_info.major": lambda version: version.major,
    "sys.version_info.minor": lambda version: version.minor,
    "sys.version_info.micro": lambda version: version.micro,
    "sys.version": lambda version: "{}.{}.{} (main)".format(*version),
    "sys.hexversion": lambda version: (3 << 24) + (version.minor << 16) + (version.micro << 8),
    "platform.python_version()": lambda version: "{}.{}.{}".format(*version),
    "platform.python_version_tuple()": lambda version: tuple(map(str, version[:3])),
}
"""What tells the version of Python, and what it is of a version: names, and calls of names."""


@cache
def python_versions(*, newest: bool = False) -> tuple[_PythonVersion, ...]:
    """Return what ``sys.version_info`` may be: the oldest and the latest of each Python 3.

    ``newest``: of a Python that is newer than any that code asks for.
    """
    if newest:
        return (_NEWEST,)
    return tuple(
        _PythonVersion(3, minor, micro)
        for minor in range(_OLDEST_PYTHON, _NEWEST.minor + 1)
        for micro in (0, _NEWEST.micro)
    )


def map_possible(function: Callable[..., Any], *values: object) -> Any:
    """Apply a function to each combination of possible argument values.

    >>> of_each(str.upper, OneOf(("tensorflow", "jax")))
    OneOf(values=('TENSORFLOW', 'JAX'), is_version=False)
    >>> of_each(len, OneOf(("tensorflow", "tensorflow")))
    10
    """
    partly = [each for each in values if isinstance(each, PossibleConstants)]
    if not partly:
        return function(*values)
    whole = PossibleConstants((), any(each.is_version for each in partly))
    count = 1
    for each in partly:
        count *= len(each.values)
    if count > _MAX_COMBINATIONS:
        whole.undecided()
    choices = [each.values if isinstance(each, PossibleConstants) else (each,) for each in values]
    found: list[Any] = []
    for chosen in product(*choices):
        made = function(*chosen)
        if made not in found[-1:] and made not in found:
            found.append(made)
    return found[0] if len(found) == 1 else PossibleConstants(tuple(found), whole.is_version)


def truth_of(value: object) -> bool:
    """Return the truth of a value.

    Raises:
        Undecided, NotAGuard: it may be one that is, and one that is not.
    """
    if not isinstance(value, PossibleConstants):
        return bool(value)
    truths = {bool(each) for each in value.values}
    return value.undecided() if len(truths) > 1 else truths.pop()


def numbers_in(texts: object) -> list[int]:
    """Return strings as numbers, of ``"3.15.1".split(".")``."""
    if not isinstance(texts, list | tuple):
        raise NotAGuard
    return [*map(int, texts)]


def is_text(value: object) -> bool:
    """Say whether a value is a text."""
    return isinstance(value, str)


def version_of(text: object) -> Version:
    """Return the version that a text, or another version, names."""
    return Version(str(text))


def known(value: object, unknown: Collection[type[Exception]]) -> object:
    """Return a value unless something unknown takes part.

    Raises:
        Undecided, NotAGuard: what is unknown of another part decides.
    """
    if unknown:
        raise Undecided if Undecided in unknown else NotAGuard
    return value


def compare_partially(operator_: type[cst.BaseCompOp], left: object, right: object) -> object:
    """Compare two values, either of which may be only partly known."""
    sides = (left, right)
    unknown = {type(each) for each in sides if isinstance(each, Undecided | NotAGuard)}
    known(None, unknown)
    return map_possible(lambda *both: _COMPARE[operator_](*_of_one_kind(*both)), left, right)


def _of_one_kind(left: object, right: object) -> tuple[object, object]:
    """Return both as versions where one is (a LooseVersion is compared with a text).

    Of something that is there nobody knows whether it is the same as another value.
    """
    if isinstance(left, UnknownObject) or isinstance(right, UnknownObject):
        other = right if isinstance(left, UnknownObject) else left
        if other is not None:
            raise NotAGuard
    if isinstance(left, Version) and isinstance(right, str):
        return left, Version(right)
    if isinstance(right, Version) and isinstance(left, str):
        return Version(left), right
    return left, right


def _is_the_same(one: object, other: object) -> bool:
    """Say whether one is the other: of texts that are equal nobody knows whether they are."""
    if one is other or any(each is None or isinstance(each, bool) for each in (one, other)):
        return one is other
    if one == other:
        raise NotAGuard
    return False


_COMPARE: Final[dict[type[cst.BaseCompOp], Callable[[Any, Any], bool]]] = {
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.Is: _is_the_same,
    cst.IsNot: lambda one, other: not _is_the_same(one, other),
    cst.In: lambda one, other: operator.contains(other, one),
    cst.NotIn: lambda one, other: not operator.contains(other, one),
}
