"""Import libcst without the modules and methods that a scan does not need.

Its nodes are some 190 frozen dataclasses. For each, ``dataclass`` writes and compiles six methods.
``__repr__``, ``__eq__`` and ``__hash__`` it throws away, since ``CSTNode`` has given the class its
own; ``__setattr__`` and ``__delattr__`` refuse, the same way in each; and most classes are never
asked for their ``__init__``, since few kinds of nodes make up a file. To write them takes half of
the time of ``import libcst``. A quarter is for modules of which a scan uses nothing.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable
from functools import cached_property
from importlib.machinery import PathFinder
from types import FunctionType, MethodType
from typing import Any, Final

from kdoctor.syntax.lowering import lazy_module
from kdoctor.syntax.lowering.process import may_change_libcst

_OWN: Final = ("__repr__", "__eq__", "__hash__")
_WRITTEN: Final = ("__init__", "__setattr__", "__delattr__")
# Modules, and what is imported of them by name: it is taken from them once it is asked for.
_NOT_USED: Final = {
    "libcst.metadata": (),
    "libcst.metadata.base_provider": (
        *("BaseMetadataProvider", "BatchableMetadataProvider", "VisitorMetadataProvider"),
    ),
    "libcst.metadata.wrapper": ("MetadataWrapper",),
    "libcst.helpers": ("ensure_type",),
    "libcst._batched_visitor": ("BatchableCSTVisitor", "visit_batched"),
    "libcst._parser.entrypoints": ("parse_expression", "parse_module", "parse_statement"),
    "libcst._parser.types.config": ("KNOWN_PYTHON_VERSION_STRINGS", "PartialParserConfig"),
}


def import_libcst() -> None:
    """Import libcst the fast way, unless it is imported or others use it."""
    if "libcst" in sys.modules or not may_change_libcst():
        return
    usual = dataclasses.dataclass

    def lean(cls: type | None = None, /, **options: Any) -> Any:
        if cls is None:
            return lambda cls: lean(cls, **options)
        if options == {"frozen": True} and _is_as_expected(cls):
            return _lean_dataclass(cls, usual)
        if all(vars(cls).get(name) for name in _OWN):
            options = {"repr": False, "eq": False, **options}
        return usual(cls, **options)

    package = PathFinder.find_spec("libcst")
    for folder in (package and package.submodule_search_locations) or ():
        for name, imported in _NOT_USED.items():
            place = os.path.join(folder, *name.split(".")[1:-1])  # noqa: PTH118 - it costs more
            lazy_module.install_lazy_module(name, [place], imported)
    vars(dataclasses)["dataclass"] = lean  # what another thread makes meanwhile is not changed
    try:
        import libcst  # noqa: PLC0415
    finally:
        vars(dataclasses)["dataclass"] = usual
    lazy_module.take_back_placeholders(libcst, _NOT_USED)
    for name in _NOT_USED:
        parent, _, leaf = name.rpartition(".")
        if {name, parent} <= sys.modules.keys():
            vars(sys.modules[parent]).setdefault(leaf, sys.modules[name])  # as an import does it


def _is_as_expected(cls: type) -> bool:
    """Say whether ``dataclass`` would add ``_WRITTEN`` to a node, each field a parameter.

    From Python 3.14 on, it does so in another way than here.
    """
    known = vars(cls)
    return (
        sys.version_info < (3, 14)
        and cls.__module__.startswith("libcst.")
        and all(known.get(name) for name in _OWN)
        and not any(name in known for name in _WRITTEN)
        and hasattr(cls, "__post_init__")
        and all(
            field.init and field.kw_only is not True
            for field in known.values()
            if isinstance(field, dataclasses.Field)
        )
    )


def _lean_dataclass(cls: type, usual: Callable[..., type]) -> type:
    """Make a frozen dataclass of a class, as ``dataclass`` does but for what it writes."""
    bases = [vars(base).get("__dataclass_params__") for base in cls.__mro__[1:]]
    frozen = [params for params in bases if params is not None and params.frozen]
    # First, since `dataclass` makes the docstring of its signature, where the class has none.
    _define(cls, "__init__", _LazyInit(cls))
    # A class that is not frozen has no methods written, but may have no base that is frozen.
    try:
        for params in frozen:
            params.frozen = False
        usual(cls, init=False, repr=False, eq=False)
    finally:
        for params in frozen:
            params.frozen = True
    params = vars(cls)["__dataclass_params__"]
    params.init = params.repr = params.eq = params.frozen = True
    _refuse(cls)
    return cls


def _define(cls: type, name: str, method: object) -> None:
    type.__setattr__(cls, name, method)


def _refuse(cls: Any) -> None:
    """Give a class the ``__setattr__`` and ``__delattr__`` of a frozen dataclass."""

    def is_refused(self: object, name: str) -> bool:
        return type(self) is cls or any(name == each.name for each in dataclasses.fields(cls))

    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807
        if is_refused(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:  # noqa: N807
        if is_refused(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    _define(cls, "__setattr__", __setattr__)
    _define(cls, "__delattr__", __delattr__)


class _LazyInit:
    """The ``__init__`` of a frozen dataclass: written when it is first asked for, by a call, too.

    The class with slots that libcst makes of the class has it as well.
    """

    def __init__(self, cls: type) -> None:
        self._cls = cls

    @cached_property
    def __wrapped__(self) -> FunctionType:
        """The function that it stands for, by the name that ``inspect`` asks for."""
        return _init(self._cls)

    def __get__(self, node: object, kind: type) -> Callable[..., None]:
        written = self.__wrapped__
        for owner in kind.__mro__:
            if vars(owner).get("__init__") is self:
                _define(owner, "__init__", written)
        return written if node is None else MethodType(written, node)


def _init(cls: type) -> FunctionType:
    """Write the ``__init__`` that ``dataclass`` writes."""
    kinds: dict[str, Any] = {}
    given: dict[str, Any] = {"_object": object, "_made": _MADE}
    parameters, body = ["self"], []
    for field in dataclasses.fields(cls):
        name = value = field.name
        kinds[name] = field.type
        if field.default is not dataclasses.MISSING:
            given[f"_default_{name}"] = field.default
            parameters.append(f"{name}=_default_{name}")
        elif field.default_factory is not dataclasses.MISSING:
            given[f"_make_{name}"] = field.default_factory
            parameters.append(f"{name}=_made")
            value = f"_make_{name}() if {name} is _made else {name}"
        else:
            parameters.append(name)
        body.append(f"_object.__setattr__(self, {name!r}, {value})")
    lines = [
        f"def written({', '.join(given)}):",
        f" def __init__({', '.join(parameters)}):",
        *(f"  {line}" for line in body),
        "  self.__post_init__()",
        " return __init__",
    ]
    scope: dict[str, Any] = {}
    # As `dataclass` itself does it; what is run holds nothing but names of fields.
    exec("\n".join(lines), vars(sys.modules[cls.__module__]), scope)  # noqa: S102
    init: FunctionType = scope["written"](**given)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**kinds, "return": None}
    return init


@dataclasses.dataclass(repr=False, eq=False)
class _Sample:
    made: list[object] = dataclasses.field(default_factory=list)


# What a parameter has as its default where a factory makes the value.
_MADE: Final[object] = _Sample.__init__.__defaults__[0]  # type: ignore[index]
