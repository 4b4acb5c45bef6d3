"""Explain missing names: attributes, imports and modules of Keras, by the API of each release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kdoctor.diagnose import remedies
from kdoctor.diagnose.by_rules import RuleAnswer, Wanted, ask
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.frames import FrameOrigin, TracebackFrame
from kdoctor.diagnose.naming import MissingName, missing_name
from kdoctor.diagnose.snippets import SnippetName
from kdoctor.diagnose.version_detection import all_targets
from kdoctor.keras_api import (
    Lookup,
    Presence,
    known_releases,
    lookup,
    newest_target,
    split_root,
)
from kdoctor.keras_api.surface import surface_at
from kdoctor.target import FRAMEWORKS, Target


def explain_name(case: Case) -> Diagnosis | None:
    """Return why a name is missing; None where the error is about something else."""
    missing = missing_name(case.error)
    if missing is None or not missing.module:
        return None
    if own := _own_file(missing, case):
        return own
    if split_root(missing.qualified) is None:
        return _of_tensorflow(missing, case)
    missing = _meant(missing)
    found, target = _looked_up(missing, case)
    if case.is_inside_keras:
        return _mixture(missing, found, case)
    if found.presence is Presence.EXISTS and found.root != "keras" and _is_of_python(missing):
        return None
    return _explained(_Search(missing, found, target, case))


def _is_of_python(missing: MissingName) -> bool:
    """Say whether it is a name like ``__version__``: the API data has these not of each release."""
    return missing.name.startswith("__")


def _meant(missing: MissingName) -> MissingName:
    """Return the one thing in a module that is back with other contents, else the name itself.

    ``tf.keras.wrappers`` held ``scikit_learn`` up to 2.12 and is another module since 3.8: who
    misses it misses what it held.
    """
    found = lookup(missing.qualified, newest_target())
    if missing.form != "import" or found.root is None or len(found.periods) < 2:
        return missing
    old, new = (_contents(found, last) for _, last in found.periods[-2:])
    if len(old) != 1 or old & new:
        return missing
    (child,) = old
    module, qualified = f"{missing.module}.{missing.name}", f"{missing.qualified}.{child}"
    return replace(missing, module=module, name=child, qualified=qualified)


def _contents(found: Lookup, release: str) -> set[str]:
    surface = surface_at(found.root, release) if found.root is not None else None
    return set(surface.children(found.name)) if surface is not None else set()


def _looked_up(missing: MissingName, case: Case) -> tuple[Lookup, Target]:
    """Look the name up in the release that ran, else in the newest one that lacks it."""
    target = case.target
    found = lookup(missing.qualified, target)
    is_shown = _has_owner(missing, target)
    if case.is_stated or (found.presence is Presence.MISSING and is_shown):
        return found, target
    for other in all_targets(case.detected, found.root or "keras"):
        there = lookup(missing.qualified, other)
        if there.presence is Presence.MISSING and (is_shown or _has_owner(missing, other)):
            return there, other
    return found, target


def _has_owner(missing: MissingName, target: Target) -> bool:
    """Say whether a release has the module that was there and lacked the name.

    Python says of a module that it has no such name only where it found the module itself.
    """
    if missing.form == "import":
        return True
    owner = missing.qualified.rpartition(".")[0]
    return lookup(owner, target).presence is not Presence.MISSING


@dataclass(frozen=True, slots=True)
class _Search:
    missing: MissingName
    found: Lookup
    target: Target
    case: Case

    @property
    def answer(self) -> RuleAnswer:
        """What the rules say about the line."""
        return ask(self.case.blamed, _wanted(self.missing), self.target, self.case.read)


def _explained(search: _Search) -> Diagnosis:
    found, case, target = search.found, search.case, search.target
    package = case.package
    if found.presence is Presence.EXISTS:
        if found.import_only and search.missing.form == "attribute":
            return _not_imported(search)
        return _unreachable(search) or _other_release(search)
    answer = RuleAnswer() if package else search.answer
    rules = [finding.code for finding in answer.findings]
    steps = tuple(remedies.of_answer(answer)) or tuple(remedies.of_lookup(found))
    if not answer.diff:
        steps = (*steps, *remedies.of_module(found, target))
    if package:
        steps = tuple(remedies.for_a_package(package, found))
    if since := _later(found, target):
        there = remedies.below_tensorflow(found, target)
        steps = (there, _newer(found, since)) if there else (*steps, _newer(found, since))
    elif not steps and found.root == "keras" and found.until:
        steps = tuple(step for step in [remedies.old_pair(found.until)] if step is not None)
    evidence = list(_evidence(search))
    if package:
        evidence.append(f"{package} asks for it: {case.blamed}")
    return Diagnosis(
        fault=Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning=_meaning(search),
        error=case.error,
        place=case.blamed,
        evidence=tuple(evidence),
        steps=steps,
        rule=rules[0] if rules else "KD102",
        package=package,
        target=target,
        ruled_out=_ruled_out(search),
    )


def _meaning(search: _Search) -> str:
    found, target = search.found, search.target
    name = f"`{_shown(search.missing)}`"
    if found.presence is Presence.UNKNOWN:
        if found.private or search.missing.qualified.startswith(("keras.src", "tf_keras.src")):
            return (
                f"{name} is private Keras code, which can change with any release: the release "
                "that ran does not have it."
            )
        return f"The release that ran has no {name}. It is not public in any known Keras release."
    made_of = _release(found, target)
    if not found.periods and search.missing.name.startswith("_"):
        return f"The release that ran has no {name}. Private names can change with any release."
    if not found.periods:
        return f"{name} does not exist: no known release ever had it."
    if since := _later(found, target):
        first, last = found.periods[0]
        if since == first:
            return f"{name} is not in {made_of} yet: it came with {found.root} {since}."
        return (
            f"{name} is not in {made_of}: {found.root} had it from {first} to {last}, and has it "
            f"again from {since} on."
        )
    last = found.periods[-1][1]
    gone = f"{name} is not in {made_of}: the last release with it was {found.root} {last}."
    prefix = found.missing_prefix or ""
    if prefix and prefix not in {found.qualified, search.missing.qualified}:
        gone += f" What is missing is `{prefix}`."
    return gone


def _release(found: Lookup, target: Target) -> str:
    if found.root == "keras":
        return f"keras {target.keras_version}"
    if found.root == "tf.keras":
        made_of = target.tf_keras_version
        made = f" (keras {made_of})" if made_of and target.name != "keras" else ""
        return f"the tf.keras of {target}{made}"
    return f"{found.root} of {target}"


def _later(found: Lookup, target: Target) -> str:
    """Return the first release after the target's that has the name, "" where none has."""
    if not found.periods or found.root is None:
        return ""
    known = list(known_releases(found.root))
    own = target.keras_version if found.root == "keras" else target.tf_keras_version
    starts = [first for first, _ in found.periods if first in known]
    if own not in known:
        return ""
    return next((each for each in starts if known.index(own) < known.index(each)), "")


def _newer(found: Lookup, since: str) -> Step:
    return remedies.newer_pair(f"the name is there from {found.root} {since} on")


def _evidence(search: _Search) -> Iterator[str]:
    found, case = search.found, search.case
    if found.periods:
        spans = ", ".join(
            first if first == last else f"{first}-{last}" for first, last in found.periods
        )
        yield f"{found.root} has had it in: {spans}"
    if found.error and found.error in case.error.message:
        yield f"{_release(found, search.target)} gives exactly this message for it"
    if case.detected.because:
        yield case.detected.in_words
    else:
        yield f"assuming {search.target}: {search.target.source}"
    if case.blamed is None:
        yield "the text does not show whose line it is; this answer assumes that it is yours"


def _ruled_out(search: _Search) -> tuple[str, ...]:
    if search.case.blamed is None or search.found.presence is not Presence.MISSING:
        return ()
    return ("a broken installation: a sound one of this release has no such name either",)


def _shown(missing: MissingName) -> str:
    return missing.qualified.replace("tensorflow.", "tf.", 1)


def _not_imported(search: _Search) -> Diagnosis:
    """The module is there for `import` alone: its parent does not load it."""
    missing, case, answer = search.missing, search.case, search.answer
    owner, _, leaf = missing.qualified.rpartition(".")
    frame = case.blamed
    package = case.package
    return Diagnosis(
        fault=Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning=f"`{_shown(missing)}` of {_release(search.found, search.target)} is a module that "
        f"only an import finds: `{_shown(missing).rpartition('.')[0]}` does not load it by itself.",
        error=case.error,
        place=frame,
        evidence=(f"importing it works, reading the attribute does not: {search.target}",),
        steps=(
            *remedies.of_answer(answer),
            Step(StepKind.CODE, f"from {owner} import {leaf}", f"and `{leaf}.…` instead"),
        ),
        rule=answer.rule or "KD102",
        package=package,
        target=search.target,
    )


def _unreachable(search: _Search) -> Diagnosis | None:
    """The name is there, and this way to it raises this very error: a rule knows that."""
    missing, case = search.missing, search.case
    answer = search.answer
    message = case.error.message.partition("\n")[0].strip()
    predicted = next((each for each in answer.findings if message in each.message), None)
    if predicted is None:
        return None
    package = case.package
    cures = remedies.for_a_package(package, search.found) if package else remedies.of_answer(answer)
    return Diagnosis(
        fault=Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning=predicted.message,
        error=case.error,
        place=case.blamed,
        evidence=(
            f"{predicted.code} says that an import of `{missing.qualified}` raises this error",
            f"assuming {search.target}: {search.target.source}",
        ),
        steps=tuple(cures),
        rule=predicted.code,
        package=package,
        target=search.target,
    )


def _other_release(search: _Search) -> Diagnosis:
    """The release has the name: the import must have found something else.

    What it was, the text does not show: so nothing is to be removed, but looked at.
    """
    missing, found, case = search.missing, search.found, search.case
    evidence = [f"{_release(found, search.target)} has `{missing.qualified}`"]
    if search.target.source:
        evidence.append(f"assuming {search.target}: {search.target.source}")
    return Diagnosis(
        fault=Fault.INSTALLATION,
        meaning=f"{_release(found, search.target)} does have `{_shown(missing)}`. What "
        f"`import {missing.root}` found was another release, a leftover folder of one, a file of "
        "that name, or the Python of another environment.",
        error=case.error,
        place=case.blamed,
        evidence=tuple(evidence),
        steps=(
            Step(
                StepKind.COMMAND,
                f'python -c "import {missing.root}; print({missing.root})"',
                "shows what is imported: it must be the installed package",
            ),
            remedies.look(),
        ),
        rule="",
        target=search.target,
    )


def _mixture(missing: MissingName, found: Lookup, case: Case) -> Diagnosis:
    """Keras' own code misses a name of its own: two releases lie on top of each other."""
    frame = case.raised_in
    assert frame is not None
    evidence = [f"the line that fails is {frame.package}'s own: {frame}"]
    if found.periods:
        spans = ", ".join(f"{first}-{last}" for first, last in found.periods)
        evidence.append(f"{found.root} has had `{missing.qualified}` in: {spans}")
    leftover = missing.path and f"the module was read from {missing.path}"
    if leftover:
        evidence.append(leftover)
    return Diagnosis(
        fault=Fault.INSTALLATION,
        meaning=f"Keras' own code reads `{missing.name}` from `{missing.module}` and does not find "
        "it: files of two releases are mixed, or keras and tensorflow do not fit together. "
        "Changing your code does not help.",
        error=case.error,
        place=case.blamed,
        evidence=tuple(evidence),
        steps=tuple(_unmixing(missing, frame)),
        target=case.target,
        ruled_out=("your code: the line that fails is not yours",),
    )


def _unmixing(missing: MissingName, frame: TracebackFrame) -> Iterator[Step]:
    """Yield what brings the packages together again."""
    yield remedies.look()
    if missing.root != frame.package:
        yield Step(
            StepKind.COMMAND,
            "pip install --upgrade tensorflow keras",
            "both together, where they are of releases that do not belong together",
        )
    elif _is_left_over(missing, frame):
        yield from remedies.reinstall()


def _is_left_over(missing: MissingName, frame: TracebackFrame) -> bool:
    """Say whether Keras, while it is imported, misses a name in a file of its own folder.

    No line of a program has a part in that, and no other release: the two files are of two.
    """
    folder = frame.path.replace("\\", "/").rpartition("/keras/")[0]
    path = missing.path.replace("\\", "/")
    is_import = missing.form == "from-import" and not missing.hint
    is_its_own = bool(folder) and path.startswith(f"{folder}/keras/")
    return is_import and is_its_own and frame.function in {"<module>", ""}


def _own_file(missing: MissingName, case: Case) -> Diagnosis | None:
    """Python found the user's own ``keras.py`` in the place of Keras."""
    if missing.root not in FRAMEWORKS:
        return None
    root = missing.root
    path = missing.path if _is_own(missing.path, root) else ""
    frames = [frame for frame in case.error.frames if _is_own(frame.path, root)]
    if missing.hint != "no package" and not path and not frames:
        return None
    named = path or (str(frames[0]) if frames else f"{root}.py")
    return Diagnosis(
        fault=Fault.INSTALLATION,
        meaning=f"`import {root}` finds a file or folder of yours instead of the package: {named}.",
        error=case.error,
        place=frames[0] if frames else case.blamed,
        evidence=(case.error.line,),
        steps=(
            Step(
                StepKind.COMMAND,
                f'python -c "import {root}; print({root}.__file__)"',
                "shows which file it is",
            ),
            Step(
                StepKind.ADVICE,
                f"Give it another name; a `{root}.pyc` beside it, too.",
            ),
        ),
        target=case.target,
    )


def _is_own(path: str, root: str) -> bool:
    """Say whether a file is called like the package and lies outside of all packages."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name == f"{root}.py" and TracebackFrame(path, None).origin is FrameOrigin.USER


def _wanted(missing: MissingName) -> Wanted:
    """Return what to ask the rules: what stands before ``.name`` is the message's module."""
    owner = missing.qualified.rpartition(".")[0]
    package, _, leaf = owner.rpartition(".")
    made = f"from {package} import {leaf} as {{name}}" if package else f"import {owner} as {{name}}"
    root = "tensorflow.keras" if owner.startswith("tensorflow.keras") else "keras"
    binding = SnippetName(missing.name, made) if missing.form == "attribute" else None
    return Wanted(missing.name, binding=binding, root=root, statement=_statement(missing))


def _statement(missing: MissingName) -> str:
    """Return a line that uses the name, if the text shows none."""
    owner = missing.qualified.rpartition(".")[0]
    match missing.form:
        case "from-import":
            return f"from {owner} import {missing.name}\n{missing.name}\n"
        case "import":
            return f"import {missing.qualified}\n{missing.qualified}\n"
        case _:
            return f"import {missing.root}\n{missing.qualified}\n"


def _of_tensorflow(missing: MissingName, case: Case) -> Diagnosis | None:
    """Explain a missing name of TensorFlow itself, if it is one of TensorFlow 1."""
    if case.is_inside_keras:
        return _mixture(missing, lookup(missing.qualified, case.target), case)
    shown = f"import tensorflow as tf\nfrom tensorflow import keras\n{_shown(missing)}()\n"
    wanted = replace(_wanted(missing), statement=shown)
    answer = ask(case.blamed, wanted, case.target, case.read)
    if not answer.findings:
        return None
    package = case.package
    return Diagnosis(
        fault=Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning=f"`{_shown(missing)}` is a TensorFlow 1 name; TensorFlow 2 no longer has it.",
        error=case.error,
        place=case.blamed,
        evidence=(answer.findings[0].message,),
        steps=tuple(
            remedies.for_a_package(package, None) if package else remedies.of_answer(answer)
        ),
        rule=answer.findings[0].code,
        package=package,
        target=case.target,
    )
