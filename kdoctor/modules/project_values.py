"""What the rest of the project passes to the functions of a file, keeps and returns.

Asked only for what neither the file nor a declaration tells. First of all what *may* be there is
found in the quick facts of the files in question: where that is nothing, no tree of libcst's is
made of them. ``depth`` is how many files further others are asked for an answer: so no question
leads back to itself, and the answer is the same whoever asks first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from kdoctor.modules.call_sites import CallSite, CallSites
from kdoctor.modules.definition_uses import UnseenError
from kdoctor.modules.dependencies import Dependencies, TrackedMemo
from kdoctor.modules.lazy_sites import LazySites
from kdoctor.modules.recent_sources import RecentSource, RecentSources
from kdoctor.syntax.project_types import Passing, PassingCall, Project, Reach
from kdoctor.syntax.type_sets import Types, told_of

if TYPE_CHECKING:
    from kdoctor.syntax.inference import Inference
    from kdoctor.syntax.may_types import MayTypes
    from kdoctor.syntax.quick_facts import Stars
    from kdoctor.syntax.type_oracle import TypeOracle
    from kdoctor.syntax.user_class import UserClass
    from kdoctor.syntax.values import Value
    from kdoctor.value_types import Type

_NOTHING: Types = frozenset()
_MAX_ANSWERS: Final = 4096


class Parameter(Struct, frozen=True):
    """A parameter of a function. ``place`` is -1 where it is not passed by position."""

    name: str
    place: int
    default: ast.expr | None


class Checks(NamedTuple):
    """What is asked about a source.

    ``is_of_keras_2``: whether its Keras may be tf_keras, whose objects look the same and are not;
    ``own_class``: a class of a module as other modules see it.
    """

    is_of_keras_2: Callable[[RecentSource], bool]
    own_class: Callable[[str, str, TypeOracle], UserClass | None]


class ProjectValues:
    """What one file of the project may learn of the others. Paths are absolute."""

    def __init__(  # noqa: PLR0913, PLR0917 - where it looks, and whom it asks
        self, package: Project, stars: Stars, sources: RecentSources, calls: CallSites,
        checks: Checks, trace: Dependencies,
    ) -> None:  # fmt: skip
        self._package = package
        self._stars = stars
        self._sources = sources
        self._checks = checks
        self._sites = LazySites(trace, calls)
        self._may_be_called_elsewhere = TrackedMemo(trace, calls.may_be_elsewhere, _MAX_ANSWERS)
        self.may_be_passed = TrackedMemo(trace, self._may_be_passed, _MAX_ANSWERS)
        self.passing = TrackedMemo(trace, self._passing, _MAX_ANSWERS)
        self.may_be_returned = TrackedMemo(trace, self._may_be_returned, _MAX_ANSWERS)
        self.returned = TrackedMemo(trace, self._returned, _MAX_ANSWERS)
        self.may_be_kept = TrackedMemo(trace, self._may_be_kept, _MAX_ANSWERS)
        self.kept = TrackedMemo(trace, self._kept, _MAX_ANSWERS)

    def forget(self) -> None:
        """Drop all answers."""
        self._sites.forget()
        self._may_be_called_elsewhere.forget()
        self.may_be_passed.forget()
        for may in (self.may_be_returned, self.may_be_kept):
            may.forget()
        for known in (self.passing, self.returned, self.kept):
            known.forget()

    # -- what is passed

    def _may_be_passed(self, path: str, function: str, name: str, reach: Reach) -> Types | None:
        """Return what calls in other files may pass, None where one passes what is unknown."""
        parameter = self._parameter(path, function, name)
        # Of its own calls the file knows by itself.
        if parameter is None or not self._may_be_called_elsewhere(path, function):
            return None
        found: set[Type] = set()
        is_called = False
        try:
            for site in self._sites.of(path, function):
                is_called = True
                if site.path == path:
                    types = self._plainly_passed(site, parameter)
                else:
                    types = self._may_pass(site, parameter, reach)
                if types is None:
                    return None
                found |= types
        except UnseenError:
            return None
        return frozenset(found) if is_called else None

    def _plainly_passed(self, site: CallSite, parameter: Parameter) -> Types | None:
        """Return None where a call of the file itself passes a number, a text, or what is hidden.

        What else it may be, is asked of the file.
        """
        call = self._source(site).calls(site.leaf)[site.number]
        return None if _argument(call, parameter, site.bound) is None else _NOTHING

    def _may_pass(self, site: CallSite, parameter: Parameter, reach: Reach) -> Types | None:
        """Return what a call may pass, None where that is unknown."""
        source = self._source(site)
        call = source.calls(site.leaf)[site.number]
        given = _argument(call, parameter, site.bound)
        if given is None:
            return None
        if isinstance(given, ast.Constant):
            return _NOTHING  # None: what it may be, too, is told by the others
        types = self._may(source, reach).types_in(call, given)
        return told_of(types) or None

    def _passing(self, path: str, function: str, name: str, reach: Reach) -> Passing | None:
        """Return what all calls pass for a parameter, None where that is unknown."""
        may = self.may_be_passed(path, function, name, reach)
        parameter = self._parameter(path, function, name)
        if may is None or parameter is None:
            return None
        sites = tuple(self._sites.of(path, function))  # all of them are known: `may` is
        around = Reach(reach.oracle, reach.depth + 1)
        own_sites = (each for each in sites if each.path == path)
        passed = [may, *(self._may_pass(each, parameter, around) for each in own_sites)]
        if None in passed or not any(passed):
            return None
        values: list[Value] = []
        own: list[PassingCall] = []
        for site in sites:
            source = self._source(site)
            calls, place = source.calls(site.leaf), parameter.place - site.bound
            call = PassingCall(site.leaf, site.number, len(calls), place, name)
            if site.path == path:
                own.append(call)
                continue
            if isinstance(_argument(calls[site.number], parameter, site.bound), ast.Constant):
                continue  # None: what it may be, too, is told by the others
            value = self._exact(source, reach, partial(_ask_passed, call))
            if value is None:
                return None
            values.append(value)
        return Passing(tuple(values), tuple(own))

    def _parameter(self, path: str, function: str, name: str) -> Parameter | None:
        node = next((each.functions.get(function) for each in self._sources.of(path) or ()), None)
        return None if node is None else _parameter_of(node.args, name)

    def _source(self, site: CallSite) -> RecentSource:
        sources = self._sources.of(site.path) or ()
        return next(each for each in sources if each.unit == site.unit)

    # -- what is returned, and what attributes hold

    def _may_be_returned(self, path: str, function: str, reach: Reach) -> Types:
        """Return what a function may return."""

        def ask(source: RecentSource) -> Types:
            node = source.functions.get(function)
            return _NOTHING if node is None else self._may(source, reach).returned_types(node)

        return self._of_all(path, ask)

    def _returned(self, path: str, function: str, reach: Reach) -> Value | None:
        """Return what a function surely returns, None where that is unknown."""
        if not self.may_be_returned(path, function, reach):
            return None
        return self._exact_of_file(path, reach, lambda known: known.returned_by(function))

    def _may_be_kept(self, path: str, member: str, reach: Reach) -> Types:
        """Return what an attribute of that name may hold in objects of classes of a module."""
        return self._of_all(path, lambda source: self._may(source, reach).kept_types(member))

    def _kept(self, path: str, cls: str, member: str, reach: Reach) -> Value | None:
        """Return what an attribute of objects of a class surely holds, None where unknown."""
        if not self.may_be_kept(path, member, reach):
            return None
        return self._exact_of_file(path, reach, lambda known: known.member_of_class(cls, member))

    # -- one source

    def _of_all(self, path: str, ask: Callable[[RecentSource], Iterable[Type]]) -> Types:
        sources = self._sources.of(path) or ()
        return told_of(each for source in sources for each in ask(source))

    def _may(self, source: RecentSource, reach: Reach) -> MayTypes:
        facts = self._sources.facts(
            source.path, source.text, source.tree, self._package, self._stars
        )
        return facts.possible(reach.oracle, reach.depth)

    def _exact_of_file(
        self, path: str, reach: Reach, ask: Callable[[Inference], Value]
    ) -> Value | None:
        sources = self._sources.of(path) or ()
        return self._exact(sources[0], reach, ask) if len(sources) == 1 else None

    def _exact(
        self, source: RecentSource, reach: Reach, ask: Callable[[Inference], Value]
    ) -> Value | None:
        """Return what the inference of a source answers, as another file may be told it."""
        from kdoctor.syntax.portable_values import portable  # noqa: PLC0415 - it imports libcst

        if self._checks.is_of_keras_2(source):
            return None
        asked = self._sources.module(source, self._package, reach.oracle)
        if asked is None:
            return None
        module, noted = asked
        found = noted(lambda: ask(module.inferences[reach.depth]))
        own_class = self._checks.own_class
        return portable(found, lambda name: own_class(source.path, name, reach.oracle))


def _ask_passed(call: PassingCall, known: Inference) -> Value:
    return known.passed(call)


def _parameter_of(arguments: ast.arguments, name: str) -> Parameter | None:
    placed = [*arguments.posonlyargs, *arguments.args]
    required = len(placed) - len(arguments.defaults)
    for place, each in enumerate(placed):
        if each.arg == name:
            default = arguments.defaults[place - required] if place >= required else None
            return _of_interest(Parameter(name, place, default))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if each.arg == name:
            return _of_interest(Parameter(name, -1, default))
    return None


def _of_interest(parameter: Parameter) -> Parameter | None:
    """Return a parameter, but for one with numbers or texts by default."""
    default = parameter.default
    is_none = isinstance(default, ast.Constant) and default.value is None
    return parameter if default is None or is_none or not _is_literal(default) else None


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=inner):
            return _is_literal(inner)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return all(map(_is_literal, elements))
    return isinstance(node, ast.Dict) and not node.keys


def _argument(call: ast.Call, parameter: Parameter, bound: int) -> ast.expr | None:
    """Return what a call passes, or None by default; None where that is nothing of interest."""
    given = _passed(call, parameter, bound)
    if given is None and not _has_stars(call):
        given = parameter.default
        given = given if isinstance(given, ast.Constant) else None  # else it is of another file
    return None if isinstance(given, ast.Constant) and given.value is not None else given


def _passed(call: ast.Call, parameter: Parameter, bound: int) -> ast.expr | None:
    place = parameter.place - bound
    if 0 <= place < len(call.args) and not any(
        isinstance(each, ast.Starred) for each in call.args[: place + 1]
    ):
        return call.args[place]
    return next((each.value for each in call.keywords if each.arg == parameter.name), None)


def _has_stars(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg is None for each in call.keywords
    )
