"""The interface by which syntax asks what imported names are.

A name is passed as it was imported: ``keras.layers.Dense``, ``tensorflow.keras.layers.Dense``.
Every question may be answered with None, which means "not known" and never leads to a finding.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from kdoctor.syntax.package import ClassInfo
from kdoctor.value_types import Context, ReceiverHint, Type

PARTIAL: Final = "functools.partial"
"""Calling what it gives calls its first argument: ``partial(Conv2D, padding="same")(64)``."""

FROM_CONFIG: Final = "from_config"
"""The method by which each class of Keras makes an object of itself."""


class TypeOracle(Protocol):
    """What imported names are on the target."""

    def class_type(self, qualified: str) -> Type | None:
        """Return what an instance of the class ``qualified`` is, None for no known class."""

    def result_type(self, qualified: str) -> Type | None:
        """Return what calling the function ``qualified`` gives."""

    def applied_type(self, qualified: str, tensor: Type) -> Type | None:
        """Return what the function ``qualified`` gives when a tensor of this type goes in."""

    def has_weights(self, layer: Type) -> bool:
        """Say whether a layer surely has weights, so that nobody makes one just to calculate."""

    def defines(self, qualified: str, member: str) -> bool:
        """Say whether a class surely has ``member`` from no base that others are made from, too.

        Whatever is listed behind it in ``class Mine(keras.layers.Layer, Mixin)``, that comes first.
        """

    def member_type(self, owner: Type, member: str, *, called: bool) -> Type | None:
        """Return what ``owner.member`` is, or gives when it is called.

        ``__call__`` (called) is a call of the instance itself with a symbolic tensor,
        ``__getitem__`` an element that is taken by index, ``pop`` one that is taken out,
        ``__iter__`` one that a loop gives, ``__enter__`` what ``with … as`` binds.
        """

    @property
    def typed_members(self) -> Collection[str]:
        """The members of which ``member_type`` can tell anything, of whatever object."""

    @property
    def typed_methods(self) -> Collection[str]:
        """The members of which it can tell what they give when they are called."""

    @property
    def methods_that_tell_types(self) -> Collection[str]:
        """The methods that tell what they are called on, ``compile`` of a model."""

    def receiver_type(self, method: str, given: Mapping[int | str, Type | None]) -> Type | None:
        """Return what an object must be of which ``method`` is called in this way.

        ``compile(loss=…)`` is called on a model, and so is ``compile(Adam(0.1), "mse")``.
        ``given``: what is passed, by position and by keyword; None where it is not known.
        """

    @property
    def methods_that_hint(self) -> Collection[str]:
        """The methods of which two different ones tell together what they are called on."""

    @property
    def attributes_that_hint(self) -> Mapping[str, ReceiverHint]:
        """The attributes that hint at what they are read of, as such methods do."""

    def receiver_hint(self, method: str, given: Collection[int | str]) -> ReceiverHint | None:
        """Return what a call of ``method`` hints at that passes these positions and keywords."""

    def may_be_known(self, qualified: str) -> bool:
        """Say whether a dotted name can have to do with what is known at all."""

    def is_called_like(self, qualified: str) -> bool:
        """Say whether a name of the user's own ends like that of a known class.

        ``mine.compat.keras.layers.Dense`` may be that class, of whatever ``mine.compat`` took.
        """

    def star_names(self, module: str) -> Collection[str] | None:
        """Return what ``from module import *`` binds, None where the module is not known."""

    def exists(self, qualified: str) -> bool | None:
        """Say whether ``qualified`` can be imported or read on the target, None if not known."""

    def moved_to(self, qualified: str) -> Collection[str]:
        """Return the names on the target of the very thing that a name that is gone stood for."""

    def is_module(self, qualified: str) -> bool | None:
        """Say whether ``qualified`` is a module on the target, None if not known."""

    def common_name_of(self, names: Collection[str]) -> str | None:
        """Return the one to go by of names that are one thing under several roots, if they are."""

    def version(self, module: str) -> str | None:
        """Return what ``module.__version__`` is on the target (``keras``, ``tensorflow``)."""

    def answers(self, function: str) -> Collection[str] | None:
        """Return all that a function without arguments can give on the target, as far as known."""

    def method_context(self, owner: Type, method: str) -> Context | None:
        """Return the context of the body of ``method`` in a subclass of ``owner``."""

    def argument_context(self, callee: str, argument: int | str) -> Context | None:
        """Return the context of the body of a function that is passed as this argument.

        ``callee`` is the dotted name that is called (``keras.layers.Lambda``), or the bare name of
        a method (``compile``) whose owner need not be known. ``argument`` is the position from 0
        or the keyword; a function inside a list or a dict that is passed counts as passed.
        """

    def function_context(self, parameters: Sequence[str]) -> Context | None:
        """Return the context of a function that has these parameters: ``(y_true, y_pred)``."""

    def block_context(self, qualified: str) -> Context | None:
        """Return the context of the body of ``with qualified():``."""


class _NoOracle(Struct, frozen=True):
    """Knows nothing: names are still resolved, but have no meaning."""

    def class_type(self, qualified: str) -> Type | None:  # noqa: ARG002
        return None

    def result_type(self, qualified: str) -> Type | None:  # noqa: ARG002
        return None

    def applied_type(self, qualified: str, tensor: Type) -> Type | None:  # noqa: ARG002
        return None

    def has_weights(self, layer: Type) -> bool:  # noqa: ARG002
        return False

    def defines(self, qualified: str, member: str) -> bool:  # noqa: ARG002
        return False

    def member_type(self, owner: Type, member: str, *, called: bool) -> Type | None:  # noqa: ARG002
        return None

    @property
    def typed_members(self) -> Collection[str]:
        return ()

    @property
    def typed_methods(self) -> Collection[str]:
        return ()

    @property
    def methods_that_tell_types(self) -> Collection[str]:
        return ()

    def receiver_type(self, method: str, given: object) -> Type | None:  # noqa: ARG002
        return None

    @property
    def methods_that_hint(self) -> Collection[str]:
        return ()

    @property
    def attributes_that_hint(self) -> Mapping[str, ReceiverHint]:
        return {}

    def receiver_hint(self, method: str, given: object) -> ReceiverHint | None:  # noqa: ARG002
        return None

    def may_be_known(self, qualified: str) -> bool:  # noqa: ARG002
        return False

    def is_called_like(self, qualified: str) -> bool:  # noqa: ARG002
        return False

    def star_names(self, module: str) -> Collection[str] | None:  # noqa: ARG002
        return None

    def exists(self, qualified: str) -> bool | None:  # noqa: ARG002
        return None

    def moved_to(self, qualified: str) -> Collection[str]:  # noqa: ARG002
        return ()

    def is_module(self, qualified: str) -> bool | None:  # noqa: ARG002
        return None

    def common_name_of(self, names: Collection[str]) -> str | None:  # noqa: ARG002
        return None

    def version(self, module: str) -> str | None:  # noqa: ARG002
        return None

    def answers(self, function: str) -> None:  # noqa: ARG002
        return None

    def method_context(self, owner: Type, method: str) -> Context | None:  # noqa: ARG002
        return None

    def argument_context(self, callee: str, argument: int | str) -> Context | None:  # noqa: ARG002
        return None

    def function_context(self, parameters: Sequence[str]) -> Context | None:  # noqa: ARG002
        return None

    def block_context(self, qualified: str) -> Context | None:  # noqa: ARG002
        return None


NO_ORACLE: TypeOracle = _NoOracle()


class NameFacts(Protocol):
    """Resolves the names of one source."""

    def meant_by(self, node: ast.expr) -> Collection[str]:
        """Return the dotted names that an expression may be, none where it is no chain."""

    def classes_meant_by(self, node: ast.expr) -> Iterable[ClassInfo]:
        """Return the classes of the tree's other modules that an expression may be."""

    @property
    def project_classes(self) -> Collection[ClassInfo]:
        """The classes of the tree's other modules that the source imports."""
