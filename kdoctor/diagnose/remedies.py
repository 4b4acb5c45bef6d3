"""Remedies: what the rules would write, and what to install or set."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from packaging.version import Version

from kdoctor.diagnose.by_rules import RuleAnswer
from kdoctor.diagnose.diagnosis import Step, StepKind
from kdoctor.engine.fixes.rewrite_lookup import rewrite_lookup_of
from kdoctor.keras_api import Lookup, Presence, lookup, resolve_target
from kdoctor.keras_api.surface import Surface, surface_at
from kdoctor.model import Applicability, Finding, Fix
from kdoctor.target import Target

# Each release of tf_keras asks for the TensorFlow of its own minor version: pip would upgrade it.
OF_ONE_MINOR: Final = (
    'with an older TensorFlow "tf_keras==2.16.*", with its minor version: the newest tf_keras '
    "requires the newest TensorFlow"
)
_MAX_REMEDIES: Final = 3
_MAX_NAMES: Final = 6


def of_answer(answer: RuleAnswer) -> Iterator[Step]:
    """Yield the steps that the rules' findings on a line amount to: one diff, then advice."""
    written = [finding for finding in answer.findings if finding.fix is not None]
    if answer.diff:
        titles = dict.fromkeys(_title(finding.fix) for finding in written if finding.fix)
        yield Step(StepKind.DIFF, answer.diff, "; ".join(titles))
    suggested = dict.fromkeys(
        _advice(each, answer.imports) for each in answer.findings if _is_to_tell(each, answer)
    )
    yield from tuple(suggested)[:_MAX_REMEDIES]


def _is_to_tell(finding: Finding, answer: RuleAnswer) -> bool:
    """Say whether there is more to do than the diff does."""
    fix = finding.fix
    if fix is None or not answer.diff:
        return bool(finding.help or fix)
    says_more = finding.help.removesuffix(".") not in {"", fix.title}
    return fix.applicability is not Applicability.SAFE and says_more


def _title(fix: Fix) -> str:
    if fix.applicability is not Applicability.SAFE and fix.unsafe_because:
        return f"{fix.title} (unsafe because {fix.unsafe_because})"
    return fix.title


def _advice(finding: Finding, imports: tuple[str, ...]) -> Step:
    text = finding.help or (f"{finding.fix.title}." if finding.fix else finding.message)
    if finding.fix is not None or not finding.no_fix_because:
        # Without what it is to be imported from, `layers.RandomHeight` says the old name again.
        below = " and ".join(f"`{each}`" for each in imports)
        return Step(StepKind.ADVICE, text, f"below {below}" if below and finding.fix else "")
    return Step(StepKind.ADVICE, text, f"no fix: {finding.no_fix_because}")


def of_lookup(found: Lookup) -> Iterator[Step]:
    """Yield what the API data knows to write in the place of a missing name."""
    for cure in rewrite_lookup_of(found.name).rewrites[:_MAX_REMEDIES]:
        condition = f"where {cure.when}" if cure.when else ""
        yield Step(StepKind.CODE, f"{cure.left}  ->  {cure.right}", condition)
    if found.moved_to:
        yield Step(StepKind.CODE, f"{found.qualified}  ->  {found.moved_to[0]}")
    elif found.public:
        yield Step(StepKind.CODE, f"{found.qualified}  ->  {found.public[0]}")
    elif found.suggestions:
        names = " or ".join(f"`{each}`" for each in found.suggestions)
        yield Step(StepKind.ADVICE, f"Did you mean {names}?")
    if found.elsewhere and not found.moved_to:
        old = " (Keras 2)" if found.elsewhere[0].startswith("tf_keras") else ""
        yield Step(StepKind.ADVICE, f"It is still there as `{found.elsewhere[0]}`{old}.")


def of_module(found: Lookup, target: Target) -> Iterator[Step]:
    """Yield where the names of a module that is gone are now, else those of its modules."""
    if found.root is None or not found.periods:
        return
    last = surface_at(found.root, found.periods[-1][1])
    if last is None:
        return
    inner = (f"{found.name}.{child}" for child in last.children(found.name))
    for modules in ([found.name], inner):
        moves = list(islice(_moves(found, modules, last, target), _MAX_NAMES))
        if moves:
            yield from (Step(StepKind.CODE, f"{old}  ->  {new}") for old, new in moves)
            return


def _moves(
    found: Lookup, modules: Iterable[str], last: Surface, target: Target
) -> Iterator[tuple[str, str]]:
    """Yield the old and the new name of what is somewhere else now, each new one once."""
    suggested = set()
    spelling = found.qualified.removesuffix(found.name)
    for module in modules:
        for child in last.children(module):
            old = f"{spelling}{module}.{child}"
            moved = () if child.startswith("_") else lookup(old, target).moved_to
            if moved and moved[0] not in suggested and _is_there(moved[0], target):
                suggested.add(moved[0])
                yield old, moved[0]


def _is_there(name: str, target: Target) -> bool:
    return lookup(name, target).presence is Presence.EXISTS


# The newest Python for which a TensorFlow has wheels. Source: its metadata on the package index.
_NEWEST_PYTHON: Final = (
    ("2.2", "3.8"),
    ("2.4", "3.8"),
    ("2.7", "3.9"),
    ("2.10", "3.10"),
    ("2.11", "3.10"),
    ("2.15", "3.11"),
    ("2.19", "3.12"),
)


def old_pair(release: str) -> Step | None:
    """Return the command that installs the Keras of a release with its TensorFlow."""
    version = Version(release)
    if version.major >= 3 or version < Version("2.6"):
        return None
    minor = f"{version.major}.{version.minor}"
    python = next(
        (new for until, new in _NEWEST_PYTHON if Version(minor) <= Version(until)), "3.12"
    )
    return Step(
        StepKind.COMMAND,
        f'pip install "tensorflow=={minor}.*" "keras=={minor}.*"',
        f"the last pair that has it; needs Python {python} or older",
    )


def below_tensorflow(found: Lookup, target: Target) -> Step | None:
    """Return the name below ``tf.keras`` that an older release has, though not below ``keras``.

    From 2.5 to 2.8 the package keras was the code of tf.keras, with few of its public names.
    """
    if found.root != "keras" or not target.is_before_keras_3:
        return None
    there = f"tensorflow.keras.{found.name}"
    if lookup(there, target).presence is not Presence.EXISTS:
        return None
    owner, _, leaf = there.rpartition(".")
    return Step(StepKind.CODE, f"from {owner} import {leaf}", "which this release has")


def newer_pair(why: str) -> Step:
    """Return the command that upgrades Keras and TensorFlow, which depend on each other."""
    return Step(StepKind.COMMAND, "pip install --upgrade tensorflow keras", f"both together: {why}")


def for_a_package(package: str, found: Lookup | None) -> Iterator[Step]:
    """Yield what helps where an installed package was written for another Keras."""
    yield Step(
        StepKind.COMMAND,
        f"pip install --upgrade {package.replace('_', '-')}",
        "if there is a release of it for this Keras",
    )
    if found is None:
        return
    if found.root == "tf.keras" and _is_in_tf_keras(found.name):
        yield Step(
            StepKind.COMMAND, "pip install tf_keras", f"Keras 2 under its own name; {OF_ONE_MINOR}"
        )
        yield Step(
            StepKind.ENVIRONMENT,
            "TF_USE_LEGACY_KERAS=1",
            "set before Python starts, or by os.environ above the first import of tensorflow: "
            "then tf.keras is tf_keras",
        )
    elif found.root == "keras" and found.until and (pair := old_pair(found.until)):
        yield pair


def _is_in_tf_keras(name: str) -> bool:
    target = resolve_target("tf_keras", "the newest")
    return lookup(f"tf_keras.{name}", target).presence is Presence.EXISTS


# What removes something, puts it in again, or goes back to an older release of it.
_TAKES_AWAY: Final = re.compile(
    r"\b(?:un|force-re|re)install|\bdelete\b[^.\n]*\b(?:folders?|files?|caches?)\b|\brm -r|"
    r"pip install [^\n]*?[\w\]](?:==|<(?!=?\w+>))[\"' ]?\d",
    re.IGNORECASE,
)


def takes_away(step: Step) -> bool:
    """Say whether a step removes or replaces what is installed, by an older release or anew.

    Such a step is given only if the evidence can have no other cause.
    """
    if step.kind in {StepKind.DIFF, StepKind.CODE}:
        return False
    return _TAKES_AWAY.search(f"{step.text}\n{step.note}") is not None


def look() -> Step:
    """Return how to see what is wrong with an installation, where the text cannot show it."""
    return Step(
        StepKind.COMMAND,
        "kdoctor env --deep",
        "checks the installed files, and names those that do not fit, with a remedy; --python PATH "
        "for a Python other than the activated one",
    )


def reinstall() -> tuple[Step, ...]:
    """Return how to get rid of the files of an older Keras, where it is sure that there are some.

    TensorFlow stays as it is, and Keras comes back in the release that was there.
    """
    return (
        Step(StepKind.COMMAND, "pip show keras", "shows which release to reinstall below"),
        Step(
            StepKind.COMMAND,
            "pip uninstall -y keras keras-nightly",
            "repeat until pip says that none of them is installed",
        ),
        Step(
            StepKind.COMMAND,
            "python -c \"import sysconfig; print(sysconfig.get_paths()['purelib'])\"",
            "move the folder keras, if it is still in the folder that this prints, out of it: what "
            "is in it is left over",
        ),
        Step(StepKind.COMMAND, 'pip install "keras==<release>"', "the one that pip showed"),
    )
