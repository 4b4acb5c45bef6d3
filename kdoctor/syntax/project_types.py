"""What the other files of the project tell of one file's values, for one target."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from kdoctor.syntax.imports import parts_of_name
from kdoctor.syntax.observations import NOT_SEEN, Observations
from kdoctor.syntax.package import ClassInfo, Package
from kdoctor.syntax.type_oracle import TypeOracle
from kdoctor.syntax.type_sets import Types
from kdoctor.target import FRAMEWORKS

if TYPE_CHECKING:
    import libcst as cst

    from kdoctor.syntax.values import Value

_T = TypeVar("_T")
_NOTHING: Types = frozenset()
MAX_DEPTH: Final = 1
"""Through how many other files a type is followed."""


class Noted(Protocol):
    """Answers, and learns on what files the answer rests."""

    def __call__(self, ask: Callable[[], _T]) -> _T:
        """Return what ``ask`` does."""


def directly(ask: Callable[[], _T]) -> _T:
    """Answer where nobody wants to know on what that rests."""
    return ask()


class Reach(NamedTuple):
    """With what other files answer: what is known of the target, and how many files further.

    At a depth of 0 a file answers by itself.
    """

    oracle: TypeOracle
    depth: int


class PassingCall(Struct, frozen=True):
    """A call that passes a parameter: the ``number``-th of ``count`` of something called ``leaf``.

    They are counted by source, from 0. ``place`` is where it passes the parameter called ``name``,
    below 0 where that is by keyword only.
    """

    leaf: str
    number: int
    count: int
    place: int
    name: str


class Passing(Struct, frozen=True):
    """What all calls of a function pass for a parameter: ``values``, and what the file's own do."""

    values: tuple[Value, ...]
    own_calls: tuple[PassingCall, ...]


class OpenUse(NamedTuple):
    """A use of a name, in the module that it stands in; what is asked of that is ``noted``."""

    module: Any  # a `Module`, which is made of what stands here
    node: cst.Name | cst.Attribute
    noted: Noted


class UseElsewhere(NamedTuple):
    """A use of a name in another file with this text. To open it takes long.

    It gives None where the file is no Python, or the name may mean something else there.
    """

    text: str
    open: Callable[[], OpenUse | None]


class UsesElsewhere(NamedTuple):
    """The uses of a name that are seen in other files, and whether these are all."""

    uses: tuple[UseElsewhere, ...]
    are_all: bool


class Project(Package, Protocol):
    """The project's modules, and what is inferred of their values, if that is wanted."""

    follows_types: bool
    observations: Observations

    def passing(
        self, unit_path: str, function: str, parameter: str, reach: Reach
    ) -> Passing | None:
        """Return what all calls in the project pass for a parameter of ``unit_path``'s function.

        ``function`` is its name, or ``Class.method``. None where it may be called elsewhere, or
        where something unknown is passed.
        """

    def may_be_passed(
        self, unit_path: str, function: str, parameter: str, reach: Reach
    ) -> Types | None:
        """Return what the calls in other files may pass, None where ``passing`` is None."""

    def returned(
        self, unit_path: str, module: str, level: int, name: str, reach: Reach
    ) -> Value | None:
        """Return what a function of another module surely returns."""

    def may_be_returned(
        self, unit_path: str, module: str, level: int, name: str, reach: Reach
    ) -> Types:
        """Return what a function of another module may return."""

    def kept(self, cls: ClassInfo, member: str, reach: Reach) -> Value | None:
        """Return what an attribute of the objects of a class surely holds."""

    def may_be_kept(self, cls: ClassInfo, member: str, reach: Reach) -> Types:
        """Return what an attribute of the objects of a class may hold."""

    def uses_elsewhere(self, unit_path: str, name: str, oracle: TypeOracle) -> UsesElsewhere:
        """Return where other files, but for tests, use what ``unit_path`` defines at its top."""


class ProjectTypes:
    """What the project's other files pass, keep and return, as seen from the file ``path``.

    They ask others in their turn, but for ``depth`` files at most, this one counted.
    """

    def __init__(
        self, package: Project | None, path: str, oracle: TypeOracle, depth: int = MAX_DEPTH
    ) -> None:
        self._package = package if package is not None and depth and package.follows_types else None
        self.asks = self._package is not None  # other files, at all
        self.seen = NOT_SEEN if package is None else package.observations.of(path)
        self._path = path
        self._reach = Reach(oracle, depth - 1)
        # No module of the tree is called like a framework, whatever lies in its folders.
        self._tops = dict.fromkeys(FRAMEWORKS, False)

    def passing(self, function: str, parameter: str) -> Passing | None:
        """Return what all calls pass for a parameter, None where that is unknown."""
        if self._package is None:
            return None
        return self._package.passing(self._path, function, parameter, self._reach)

    def may_be_passed(self, function: str, parameter: str) -> Types | None:
        """Return what calls in other files may pass for a parameter, None where it is unknown."""
        if self._package is None or not function:
            return None
        return self._package.may_be_passed(self._path, function, parameter, self._reach)

    def returned(self, name: str) -> Value | None:
        """Return what calling a function of another file gives; ``.models.make`` is a name."""
        package, parts = self._package, self._own_parts(name)
        if package is None or parts is None:
            return None
        return package.returned(self._path, *parts, self._reach)

    def may_be_returned(self, name: str) -> Types:
        """Return what calling a function of another file may give."""
        package, parts = self._package, self._own_parts(name)
        if package is None or parts is None:
            return _NOTHING
        return package.may_be_returned(self._path, *parts, self._reach)

    def _own_parts(self, name: str) -> tuple[str, int, str] | None:
        """Return a name's module, its leading dots and its last part; None of no module of ours."""
        package, top = self._package, name.partition(".")[0]
        if package is None:
            return None
        if top and top not in self._tops:
            self._tops[top] = package.may_hold(self._path, top)
        return parts_of_name(name) if not top or self._tops[top] else None

    def kept(self, cls: ClassInfo, member: str) -> Value | None:
        """Return what an attribute of the objects of another file's class surely holds."""
        return None if self._package is None else self._package.kept(cls, member, self._reach)

    def may_be_kept(self, cls: ClassInfo, member: str) -> Types:
        """Return what an attribute of the objects of another file's class may hold."""
        if self._package is None:
            return _NOTHING
        return self._package.may_be_kept(cls, member, self._reach)
