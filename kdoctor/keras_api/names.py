"""Look up a dotted name on a target: existence, new location, Python's error message."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct

from kdoctor.keras_api import tables
from kdoctor.keras_api.members import Classes, classes_of
from kdoctor.keras_api.presence import Presence
from kdoctor.keras_api.signatures import Signature, parse_signature
from kdoctor.keras_api.suggest import suggestions
from kdoctor.keras_api.surface import (
    COMPATIBLE,
    COMPATIBLE_1,
    PRIVATE_ROOT,
    Surface,
    distribution_of,
    has_keras_3,
    is_lender,
    known_releases,
    last_kind,
    minor,
    periods,
    root_spelling,
    spelled,
    split_root,
    surface_at,
    surface_on,
)
from kdoctor.keras_api.tables import ClassFamily, EntryKind, NameSpan
from kdoctor.target import Target

Form = Literal["attribute", "from-import", "import"]

# Folders of the packages that no public listing names and that can be imported all the same.
_PRIVATE = frozenset({"src", "api"})

# The roots that code of today imports, and those that serve code of other TensorFlow versions.
_PUBLIC = ("keras", "tf.keras", "tf_keras")
_CONTRIB = "tensorflow.contrib.keras"


class Lookup(Struct, frozen=True):
    """What is known of one dotted name on one target.

    Names in it are spelled with the root that was asked with (``tensorflow.keras.…``), save in
    ``elsewhere``. ``missing_prefix`` is the first dotted prefix that is not there. ``periods`` are
    the releases in which the name existed under its root, as pairs of first and last known;
    ``since`` and ``until`` are those of the period at, or last before, the target.
    ``moved_to``: the same object, proven by a release that had it under both names, best first.
    ``import_only``: ``import`` finds it, plain attribute access does not (``tf.keras.saving``).
    ``attribute_only``: the other way round: ``tf.compat.v1.keras.x`` finds it, importing from or
    below ``tensorflow.compat.v1.keras`` does not (TensorFlow 2.16 and later with Keras 3); nor
    does importing from the submodules of ``tensorflow.contrib.keras``.
    ``private``: the root is TensorFlow's private copy of Keras. ``public``: the public names, best
    first, that on the target lead to what such a private name is, or was, a copy of.
    ``stub``: what the object raises as soon as it is called, "" for a working one.
    ``error``: Python's message for attribute access, "" unless the name is missing.
    """

    qualified: str
    presence: Presence
    root: str | None = None
    name: str = ""
    missing_prefix: str | None = None
    kind: EntryKind | None = None
    family: ClassFamily = ClassFamily.OTHER
    home: str = ""
    stub: str = ""
    import_only: bool = False
    attribute_only: bool = False
    private: bool = False
    public: tuple[str, ...] = ()
    periods: tuple[tuple[str, str], ...] = ()
    since: str | None = None
    until: str | None = None
    moved_to: tuple[str, ...] = ()
    error: str = ""
    _missing: _Missing | None = None

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Names on the target that look like the missing one; sought when they are asked for."""
        return self._missing.names_alike() if self._missing else ()

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The missing name under other roots of the target; sought when it is asked for."""
        return self._missing.under_other_roots() if self._missing else ()


class _Missing(Struct, frozen=True):
    """A name that is not there: ``prefix`` is the part that is gone, ``rest`` stood behind it."""

    surface: Surface
    root: str
    spelling: str
    name: str
    prefix: str
    target: Target

    def under_other_roots(self) -> tuple[str, ...]:
        return _elsewhere(self.root, self.name, self.target)

    def names_alike(self) -> tuple[str, ...]:
        if not self.prefix:  # the root itself is gone
            return ()
        rest = self.name[len(self.prefix) + 1 :]
        kind = last_kind(self.surface.root, self.name)
        alike = suggestions(self.surface, self.prefix, rest, kind)
        return tuple(spelled(self.spelling, new) for new in alike)


class _Found(Struct, frozen=True):
    """How far a name could be followed: ``prefix`` is the last part looked at."""

    presence: Presence
    prefix: str = ""
    entry: NameSpan | None = None


@lru_cache(maxsize=2048)
def lookup(qualified: str, target: Target) -> Lookup:
    """Say whether ``qualified`` exists on ``target``, and what became of it.

    The root decides: ``keras.backend.sum`` is gone from Keras 3, ``tensorflow.keras.backend.sum``
    is there. What the data cannot tell is UNKNOWN: private names, other packages, old facades.
    """
    split = split_root(qualified)
    if split is None:
        return Lookup(qualified, Presence.UNKNOWN)
    root, name = split
    private = root == PRIVATE_ROOT
    surface = surface_on(root, target)
    if surface is None:
        return Lookup(qualified, Presence.UNKNOWN, root, name, private=private)
    spelling = root_spelling(qualified) or root
    if is_lender(spelling) and surface.release.startswith("1."):
        return Lookup(qualified, Presence.UNKNOWN)  # what TensorFlow 1 called so was its own
    found = _find(surface, name)
    public = _public_names(surface, name, target) if private else ()
    attribute_only = _is_attribute_only(root, spelling, target)
    history = _history(surface, root, name)
    since, until = _period_at(history, surface)
    if found.presence is not Presence.MISSING:
        entry = found.entry
        return Lookup(
            qualified,
            found.presence,
            root,
            name,
            kind=entry.kind if entry else None,
            family=entry.family if entry else ClassFamily.OTHER,
            home=surface.home(entry) if entry else "",
            stub=entry.stub if entry else "",
            import_only=bool(entry and entry.import_only),
            attribute_only=attribute_only,
            private=private,
            public=public,
            periods=history,
            since=since,
            until=until,
        )
    return Lookup(
        qualified,
        Presence.MISSING,
        root,
        name,
        missing_prefix=_written(spelling, found.prefix),
        attribute_only=attribute_only and surface.entry("") is not None,
        private=private,
        public=public,
        periods=history,
        since=since,
        until=until,
        moved_to=tuple(spelled(spelling, new) for new in _moved_to(surface, name)),
        error=_attribute_error(surface, root, found.prefix, spelling),
        _missing=_Missing(surface, root, spelling, name, found.prefix, target),
    )


def _is_attribute_only(root: str, spelling: str, target: Target) -> bool:
    if root == _CONTRIB:
        return True
    return (root in COMPATIBLE or is_lender(spelling)) and has_keras_3(target)


@lru_cache(maxsize=2048)
def signature(qualified: str, target: Target) -> Signature | None:
    """Return the parameters of a function, of making a class's instances, or of a method.

    None where the name does not exist on ``target`` or its definition could not be read.
    """
    split = split_root(qualified)
    surface = surface_on(split[0], target) if split else None
    if split is None or surface is None:
        return None
    name, entry = split[1], surface.entry(split[1])
    if entry is None:  # maybe one that stands under the module's own name
        name = surface.canonical(name)
        entry = surface.entry(name)
    if entry is not None:
        text = surface.signature(entry)
        return None if text is None else parse_signature(text)
    owner, _, member = name.rpartition(".")
    entry, classes = surface.entry(owner), classes_behind(surface)
    if entry is None or classes is None or entry.kind is not EntryKind.CLASS:
        return None
    info = classes.info(surface.home(entry))
    if info is None or member not in info.members:
        return None
    text = classes.signature_text(info.members[member])
    return None if text is None else parse_signature(text)


@lru_cache(maxsize=2048)
def methods(qualified: str, target: Target) -> frozenset[str]:
    """Return the names of all methods of a class for which there is a ``signature``, and more."""
    split = split_root(qualified)
    surface = surface_on(split[0], target) if split else None
    if split is None or surface is None:
        return frozenset()
    entry, classes = surface.entry(surface.canonical(split[1])), classes_behind(surface)
    if entry is None or classes is None or entry.kind is not EntryKind.CLASS:
        return frozenset()
    info = classes.info(surface.home(entry))
    return frozenset() if info is None else frozenset(info.members)


def error_text(qualified: str, target: Target, form: Form) -> str:
    """Return Python's message for a name that is missing on ``target``; "" for any other.

    ``form`` is how the code gets at it: ``keras.backend.sum``, ``from keras.backend import sum``
    or ``import keras.backend.sum``. The path that Python appends to an ImportError is left out.
    """
    found = lookup(qualified, target)
    if module := _unimportable(found, form):
        return f"No module named '{module}'"
    if found.missing_prefix is None:
        return ""
    owner, _, leaf = found.missing_prefix.rpartition(".")
    match form:
        case "attribute":
            return found.error
        case "from-import" if found.missing_prefix == qualified:
            return f"cannot import name '{leaf}' from '{owner}'"
        case _:
            return f"No module named '{found.missing_prefix}'"


def error_type(qualified: str, target: Target, form: Form) -> str:
    """Return the exception's name for a name that is missing on ``target``; "" for any other."""
    found = lookup(qualified, target)
    if _unimportable(found, form):
        return "ModuleNotFoundError"
    if found.missing_prefix is None:
        return ""
    match form:
        case "attribute":
            return "AttributeError"
        case "from-import" if found.missing_prefix == qualified:
            return "ImportError"
        case _:
            return "ModuleNotFoundError"


def _unimportable(found: Lookup, form: Form) -> str:
    """Return the first module that an import needs and that only attributes lead to; "" if none.

    ``tensorflow.contrib.keras`` itself can be imported, its submodules lie somewhere else.
    """
    if not found.attribute_only:
        return ""
    root = root_spelling(found.qualified) or ""
    parts = found.name.split(".") if found.name else []
    module = parts if form == "import" else parts[:-1]
    if found.root == _CONTRIB or is_lender(root):
        return f"{root}.{module[0]}" if form != "attribute" and module else ""
    return root if form == "import" or (form == "from-import" and parts) else ""


def _written(spelling: str, prefix: str) -> str:
    """Return a missing prefix as code writes it; without the root, what is missing is its owner."""
    return f"{spelling}.{prefix}" if prefix else spelling.rpartition(".")[0]


def _find(surface: Surface, name: str) -> _Found:
    if surface.entry("") is None:
        return _Found(Presence.MISSING)
    if direct := surface.entry(name):
        return _Found(Presence.EXISTS, name, direct)
    parts = surface.canonical(name).split(".") if name else []
    prefix, entry = "", surface.entry("")
    for number, part in enumerate(parts):
        owner, owner_entry = prefix, entry
        prefix = ".".join(parts[: number + 1])
        entry = surface.entry(prefix)
        if entry is not None:
            continue
        if owner_entry is not None and owner_entry.kind is EntryKind.CLASS:
            return _find_member(surface, owner_entry, parts[number:], _spelled(name, prefix))
        is_module = owner_entry is not None and owner_entry.kind is EntryKind.MODULE
        is_private = (
            part.startswith("_")
            or part == "tests"
            or (not owner and part in _PRIVATE and surface.root != PRIVATE_ROOT)
        )
        if not is_module or is_private or surface.is_open(owner):
            return _Found(Presence.UNKNOWN)
        if len(parts) != name.count(".") + 1:  # missing behind a module's alias
            return _Found(Presence.UNKNOWN)
        return _Found(Presence.MISSING, prefix)
    return _Found(Presence.EXISTS, prefix, entry)


def _spelled(name: str, prefix: str) -> str:
    return name if name.count(".") == prefix.count(".") else prefix


def _find_member(surface: Surface, entry: NameSpan, rest: list[str], prefix: str) -> _Found:
    """Look for an attribute of a class: methods surely exist, the rest is not for a class to say.

    Instance attributes and what a metaclass may bring cannot be told from the class's name.
    """
    classes = classes_behind(surface)
    info = classes.info(surface.home(entry)) if classes else None
    if classes is None or info is None or len(rest) != 1:
        return _Found(Presence.UNKNOWN)
    if rest[0] in info.members and info.members[rest[0]].kind is not tables.MemberKind.ATTRIBUTE:
        return _Found(Presence.EXISTS, prefix)
    if classes.presence(info, rest[0]) is Presence.MISSING and rest[0] != "mro":
        return _Found(Presence.MISSING, prefix)
    return _Found(Presence.UNKNOWN)


def classes_behind(surface: Surface) -> Classes | None:
    """Return the classes of the distribution that a surface's names come from."""
    return classes_of(distribution_of(surface), surface.release)


def _public_names(surface: Surface, name: str, target: Target) -> tuple[str, ...]:
    """Return where the target publishes what a name of TensorFlow's private copy stood for.

    Up to TensorFlow 2.5 the copy was ``tf.keras`` itself: names of one home were one object.
    """
    now = surface_on("tf.keras", target)
    if now is None:
        return ()
    found: list[str] = []
    for release in reversed(surface.table.releases):
        then, private = surface_at("tf.keras", release), surface_at(surface.root, release)
        if then is None or private is None or distribution_of(then) != "tensorflow":
            continue
        entry = private.entry(private.canonical(name))
        for public in then.names_of(private.home(entry)) if entry else ():
            there = _find(now, public).presence is Presence.EXISTS
            found += [public] if there else now.moved_to(public)
        if found:
            break
    leaf = name.rpartition(".")[2]
    best = sorted(set(found), key=lambda new: (new.rpartition(".")[2] != leaf, len(new), new))
    return tuple(f"tensorflow.keras.{new}" for new in best)


def _history(surface: Surface, root: str, name: str) -> tuple[tuple[str, str], ...]:
    """Return when ``name`` was there under ``root``.

    With Keras 3 ``tf.compat.v1.keras`` has the surface of ``tf.keras``, but what was gone by then
    had been there for longer: ``backend.get_session`` up to 2.15, not 1.15.
    """
    history = periods(surface.root, surface.canonical(name))
    if root != COMPATIBLE_1 or surface.root == root:
        return history
    releases = surface.table.releases
    end = releases.index(known_releases(root)[-1])
    outlived = bool(history) and releases.index(history[-1][1]) > end
    return history if outlived else periods(root, name) or history


def _period_at(
    history: tuple[tuple[str, str], ...], surface: Surface
) -> tuple[str, str] | tuple[None, None]:
    releases = surface.table.releases
    begun = [span for span in history if releases.index(span[0]) <= surface.number]
    if begun:
        return begun[-1]
    return history[0] if history else (None, None)


def _moved_to(surface: Surface, name: str) -> tuple[str, ...]:
    """Return where the object is now: by the whole name, or by its class for a member."""
    if direct := surface.moved_to(name):
        return direct
    owner, _, member = name.rpartition(".")
    return tuple(f"{new}.{member}" for new in surface.moved_to(owner)) if owner else ()


def _elsewhere(root: str, name: str, target: Target) -> tuple[str, ...]:
    found = []
    for other in _PUBLIC:
        surface = surface_on(other, target)
        if other == root or surface is None:
            continue
        if _find(surface, name).presence is Presence.EXISTS:
            found.append(f"{other.replace('tf.', 'tensorflow.')}.{name}")
    return tuple(found)


def _attribute_error(surface: Surface, root: str, missing: str, spelling: str) -> str:
    owner, _, leaf = missing.rpartition(".")
    entry = surface.entry(owner)
    if surface.entry("") is None:
        return "module 'tensorflow' has no attribute 'contrib'"
    if entry is None:
        return ""
    if entry.kind is EntryKind.CLASS:
        return f"type object '{owner.rpartition('.')[2]}' has no attribute '{leaf}'"
    module = surface.home(entry)
    if root == "tf.keras" and surface.root == "tf_keras":  # TF_USE_LEGACY_KERAS
        module = module.replace("tf_keras", "tf_keras.api._v2.keras", 1)
    if surface.root == "tf.keras" and (2, 2) <= minor(surface.release) <= (2, 5):
        module = module.replace("tensorflow.python.keras.api._v2.keras", "tensorflow.keras", 1)
    is_public = module.startswith("keras.") and not module.startswith("keras._tf_keras.")
    if is_lender(spelling) and is_public and surface.release.startswith("3."):
        module = f"keras._tf_keras.{module}"
    return f"module '{module}' has no attribute '{leaf}'"
