"""What a reference lacks on the target: `lookup`, and what lookup leaves to its callers."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator
from typing import Literal

import libcst as cst
from msgspec.structs import replace

from kdoctor.analysis.calls import passed
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.text_mentions import mentions_word
from kdoctor.keras_api import Lookup, Presence, split_root
from kdoctor.memoize import once
from kdoctor.syntax import Module, Reference, ReferenceKind
from kdoctor.syntax.imports import dotted_name
from kdoctor.syntax.literals import literal

# Private names that old code reads all the same, gone from Keras 3. A test reaches for each.
PRIVATE = frozenset(
    {
        "__internal__",
        "applications.imagenet_utils._obtain_input_shape",
        "backend._BACKEND",
        "backend._current_graph",
        "backend._keras_base_dir",
        "initializers._compute_fans",
    }
)
# TensorFlow's old faces of Keras: `tf.compat.v1.keras` is what `tf.keras` is, since Keras 3.
FACADES = ("tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras")
_BUILTINS = frozenset(dir(builtins))
_ABOVE_FACADES = "tensorflow.compat."

Form = Literal["attribute", "from-import", "import"]


def look_up(module: Module, reference: Reference, facts: TargetFacts) -> Lookup | None:
    """Return what is known of a missing name, None of one that is there or not known."""
    name = reference.name
    if is_closed(reference) or facts.is_open(name):
        return None
    if name.startswith(_ABOVE_FACADES) and facts.runs_keras_3("tf.keras"):
        for facade in FACADES:
            if f"{name}.".startswith(f"{facade}."):
                name = f"tensorflow.keras{name.removeprefix(facade)}"
    found = facts.lookup(name)
    if found.presence is Presence.MISSING:
        return found
    if found.presence is Presence.EXISTS:
        return _not_imported(module, reference, facts, found)
    return _private(facts, found)


def may_be_missing(facts: TargetFacts, name: str) -> bool:
    """Say whether ``look_up`` could find that a name is missing, by the name alone."""
    for facade in FACADES:
        if f"{name}.".startswith(f"{facade}."):
            name = f"tensorflow.keras{name.removeprefix(facade)}"
    found = facts.lookup(name)
    if found.presence is Presence.EXISTS:
        parts = found.qualified.split(".")
        prefixes = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
        return found.root == "tf.keras" and any(facts.lookup(e).import_only for e in prefixes)
    return found.presence is Presence.MISSING or _private(facts, found) is not None


def is_closed(reference: Reference) -> bool:
    """Say whether the way to it is closed, whatever stands behind: KD103 says so."""
    if not reference.name.startswith("tensorflow."):
        return False
    name = f"{reference.name}."
    if name.startswith(_ABOVE_FACADES) and any(
        name.startswith(f"{each}.") and imports_through(reference, each) for each in FACADES
    ):
        return True
    hidden = name.startswith("tensorflow.python.") and reference.binding.name == "tensorflow"
    return hidden or name.startswith("tensorflow.contrib.")


def imports_through(reference: Reference, package: str) -> bool:
    """Say whether the import statement has to find ``package`` as a module."""
    statement = reference.binding.statement
    if isinstance(statement, cst.Import):
        path = reference.binding.imported
    else:
        path = reference.binding.imported.rpartition(".")[0]
        if reference.binding.alias is None:  # `from a.b import *`
            path = reference.binding.imported
    return f"{path}.".startswith(f"{package}.")


def form_of(reference: Reference) -> Form:
    """Return how the code gets at a name."""
    if reference.kind is not ReferenceKind.IMPORT:
        return "attribute"
    names_a_member = isinstance(reference.node, cst.ImportAlias) and isinstance(
        reference.binding.statement, cst.ImportFrom
    )
    return "from-import" if names_a_member else "import"


def is_given(module: Module, reference: Reference) -> bool:
    """Say whether the program itself puts the name there: ``K.dtype = dtype``.

    Anywhere in the module, for who knows which function runs first, or in one that it imports. To
    import the name, it must be there before.
    """
    name = reference.name
    wanted = {name, f"{name.rpartition('.')[0]}.*"}
    if reference.kind is ReferenceKind.IMPORT:
        return any(
            given in wanted and module.span(node).start < module.span(reference.node).start
            for given, node in _given_here(module)
        )
    return any(given in wanted for given, _ in _given_here(module)) or not wanted.isdisjoint(
        module.assigned_in_project
    )


@once
def _given_here(module: Module) -> tuple[tuple[str, cst.CSTNode], ...]:
    stored = [
        (each.name, each.node) for each in module.references if each.kind is ReferenceKind.STORE
    ]
    if mentions_word(module, "setattr"):
        stored += _set_by_name(module)
    if mentions_word(module, "modules"):
        stored += _put_among_modules(module)
    if mentions_word(module, "patch"):
        stored += _patched(module)
    return tuple(stored)


def _put_among_modules(module: Module) -> Iterator[tuple[str, cst.CSTNode]]:
    """Yield what ``sys.modules["keras.utils.np_utils"] = mine`` gives: the module, all in it."""
    for node in module.nodes(cst.AssignTarget):
        match node.target:
            case cst.Subscript(
                value=modules,
                slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as name))],
            ) if module.qualified(modules) == "sys.modules":
                yield str(literal(name)), node
                yield f"{literal(name)}.*", node


def _set_by_name(module: Module) -> Iterator[tuple[str, cst.CSTNode]]:
    """Yield what ``setattr(K, "gather", f)`` gives, ``K.*`` where the name is not to be read."""
    for call in module.nodes(cst.Call):
        match call:
            case cst.Call(
                func=cst.Name("setattr") | cst.Attribute(attr=cst.Name("setattr")),
                args=[owner, name, *_],
            ):
                given = module.qualified(owner.value)
                leaf = literal(name.value) if isinstance(name.value, cst.SimpleString) else "*"
                if given is not None:
                    yield f"{given}.{leaf}", call


def _patched(module: Module) -> Iterator[tuple[str, cst.CSTNode]]:
    """Yield what ``mock.patch.object(K, "mean", create=True)`` gives, or ``patch("keras.…")``.

    Without ``create=True`` it looks for the name first, and fails as any use of it does: but for
    the names of Python's own functions, such as ``sum``.
    """
    for call in module.nodes(cst.Call):
        name = _patched_by(module, call)
        created = passed(call, "create")
        if name.rpartition(".")[2] in _BUILTINS or (
            name and created is not None and dotted_name(created) == "True"
        ):
            yield name, call


def _patched_by(module: Module, call: cst.Call) -> str:
    """Return the dotted name that a call of ``mock.patch`` replaces, "" for any other call."""
    function = dotted_name(call.func) or ""
    target = passed(call, "target", 0)
    if target is None:
        return ""
    if function.endswith("patch.object"):
        owner, attribute = module.qualified(target), passed(call, "attribute", 1)
        leaf = literal(attribute)
        return f"{owner}.{leaf if isinstance(leaf, str) else '*'}" if owner and attribute else ""
    text = literal(target) if function.rpartition(".")[2] == "patch" else ""
    return text if isinstance(text, str) else ""


def is_tried(module: Module, reference: Reference) -> bool:
    """Say whether a name stands in a `try` that catches something."""
    around = [reference.node, *module.ancestors(reference.node)]
    return any(
        isinstance(outer, cst.Try) and inner is outer.body and outer.handlers
        for inner, outer in itertools.pairwise(around)
    )


def by_star(reference: Reference) -> bool:
    """Say whether a name is read that ``from … import *`` was to bind."""
    return reference.binding.local == "*" and reference.kind is ReferenceKind.LOAD


def another_star_may_bind_it(module: Module, reference: Reference) -> bool:
    """Say whether the file has star imports of which nobody knows what they bind."""
    return by_star(reference) and any(
        each.local == "*" and split_root(each.imported) is None for each in module.imports
    )


def error_of(reference: Reference, found: Lookup) -> str:
    """Return the exception that reaching for a missing name raises."""
    prefix = found.missing_prefix or ""
    owner, _, leaf = prefix.rpartition(".")
    if by_star(reference) and owner == reference.binding.name:
        return f"NameError: name '{leaf}' is not defined"
    match form_of(reference):
        case "attribute":
            binding = reference.binding
            # `import tensorflow.keras.layers as L` finds the module under the name it asks for.
            asks = isinstance(binding.statement, cst.Import) and binding.name == binding.imported
            if asks and binding.imported == owner and found.root == "tf.keras":
                return f"AttributeError: module '{owner}' has no attribute '{leaf}'"
            return f"AttributeError: {found.error}"
        case "from-import" if prefix == found.qualified:
            return f"ImportError: cannot import name '{leaf}' from '{owner}'"
        case _:
            return f"ModuleNotFoundError: No module named '{prefix}'"


def _not_imported(
    module: Module, reference: Reference, facts: TargetFacts, found: Lookup
) -> Lookup | None:
    """Return a module that only an import statement finds, where none does."""
    if reference.kind is not ReferenceKind.LOAD or found.root != "tf.keras":
        return None
    parts = found.qualified.split(".")
    bound = reference.binding.name.count(".") + 1
    for length in range(bound + 1, len(parts) + 1):
        prefix = ".".join(parts[:length])
        entry = facts.lookup(prefix)
        if entry.import_only and not any(
            f"{each.imported}.".startswith(f"{prefix}.") for each in module.imports
        ):
            owner = facts.lookup(".".join(parts[: length - 1]))
            error = f"module '{owner.home}' has no attribute '{parts[length - 1]}'"
            return replace(found, presence=Presence.MISSING, missing_prefix=prefix, error=error)
    return None


def _private(facts: TargetFacts, found: Lookup) -> Lookup | None:
    split = split_root(found.qualified)
    if split is None or not facts.runs_keras_3(split[0]):
        return None
    name = next((each for each in PRIVATE if f"{split[1]}.".startswith(f"{each}.")), None)
    if name is None:
        return None
    spelling = found.qualified.removesuffix(f".{split[1]}")
    owner = facts.lookup(f"{spelling}.{name}".rpartition(".")[0])
    return replace(
        found,
        presence=Presence.MISSING,
        missing_prefix=f"{spelling}.{name}",
        error=f"module '{owner.home}' has no attribute '{name.rpartition('.')[2]}'",
    )
