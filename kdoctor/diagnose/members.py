"""Explain missing members: ``'Sequential' object has no attribute 'fit_generator'``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from packaging.version import Version

from kdoctor.diagnose import remedies
from kdoctor.diagnose.by_rules import RuleAnswer, Wanted, ask, source_of
from kdoctor.diagnose.case import Case
from kdoctor.diagnose.diagnosis import Diagnosis, Fault, Step, StepKind
from kdoctor.diagnose.frames import FrameOrigin, TracebackFrame
from kdoctor.diagnose.snippets import SnippetName
from kdoctor.keras_api import Presence, lookup, member_lookup, member_until, newest_target
from kdoctor.keras_api.history import member_history
from kdoctor.target import Target
from kdoctor.value_types import Kind, Type

_MESSAGE: Final = re.compile(
    r"^(?:'(?P<cls>[\w.]+)' object|type object '(?P<type>\w+)') has no attribute '(?P<name>\w+)'"
)
# How an object of a class comes about, for a line to be asked about.
_MADE: Final = {
    "Functional": "{name} = keras.Model(_x := keras.Input((4,)), _x)",
    "Model": "{name} = keras.Model(_x := keras.Input((4,)), _x)",
    "KerasTensor": "{name} = keras.Input((4,))",
    "KerasHistory": "{name} = keras.Input((4,))._keras_history",
    "Variable": "{name} = keras.Variable(1.0)",
    "History": "{name} = keras.Sequential().fit()",
}
_KINDS: Final = {
    "Functional": Kind.MODEL,
    "Model": Kind.MODEL,
    "Sequential": Kind.MODEL,
    "KerasTensor": Kind.TENSOR,
    "KerasHistory": Kind.KERAS_HISTORY,
    "Variable": Kind.VARIABLE,
    "History": Kind.HISTORY,
}
_FAMILIES: Final = {
    "models": Kind.MODEL,
    "layers": Kind.LAYER,
    "optimizers": Kind.OPTIMIZER,
    "losses": Kind.LOSS,
    "metrics": Kind.METRIC,
    "callbacks": Kind.CALLBACK,
}
_NO_VALUE: Final = Step(
    StepKind.ADVICE,
    "A KerasTensor stands for a tensor while the model is built: it has a shape and a dtype, but "
    "neither a value nor a graph. Values come from data: `model(x)` or `model.predict(x)`, and for "
    "an inner layer `keras.Model(model.inputs, layer.output)(x)`.",
)
# Of older releases the API data has not all members.
_READ_WHOLE: Final = Version("2.3")
# Classes of these names are nobody else's.
_ONLY_KERAS: Final = frozenset({"Functional", "KerasTensor", "KerasHistory", "KerasVariable"})


def explain_member(case: Case) -> Diagnosis | None:
    """Return why an object of a Keras class lacks a member; None for any other error."""
    matched = _MESSAGE.match(case.error.message)
    if matched is None or case.error.name not in {"AttributeError", ""}:
        return None
    cls = (matched["cls"] or matched["type"]).rpartition(".")[2]
    member = matched["name"]
    if _is_of_other_code(case):
        return None
    kind, home = _kind_of(cls, case.target)
    if case.is_inside_keras:
        return _of_older_tensorflow(cls, member, home, case)
    binding = SnippetName(member, _MADE.get(cls, f"{{name}} = {home}()")) if home else None
    made = _MADE.get(cls, f"{{name}} = {home}()").format(name="x") if home else ""
    wanted = Wanted(member, binding=binding)
    answer = _ask_rules(wanted, made, case)
    if not home and not answer.findings:
        return _of_own_class(cls, member, case)
    presence = member_lookup(cls, member, case.target) if home else Presence.UNKNOWN
    if presence is not Presence.MISSING and not answer.findings and cls != "KerasTensor":
        return _of_newer(cls, member, case) if presence is Presence.EXISTS else None
    last = member_until(Type(kind, cls=cls), member, case.target) if kind else None
    surely = _is_surely_keras(cls, case)
    if not answer.diff and not surely and (last is None or _is_own_class(cls, case)):
        return None  # some other library's namesake, as far as one can see
    package = case.package
    steps = tuple(remedies.for_a_package(package, None) if package else remedies.of_answer(answer))
    if not steps and last:
        steps = _as_on_the_newest(case, replace(wanted, statement=_statement(made, member)))
    if not steps and cls == "KerasTensor":
        steps = (_NO_VALUE,)
    return Diagnosis(
        fault=Fault.PACKAGE if package else Fault.YOUR_CODE,
        meaning=_meaning(cls, member, last, case.target) if home else answer.findings[0].message,
        error=case.error,
        place=case.blamed,
        evidence=tuple(_evidence(cls, member, last, presence, case)),
        steps=steps,
        rule=answer.rule or "KD205",
        only_if="" if surely else f"the object is Keras' {cls}",
        package=package,
        target=case.target,
    )


def _is_of_other_code(case: Case) -> bool:
    """Say whether Python itself raised the error, or a class of a package that refuses.

    If the line is in a package, the package was written for another Keras.
    """
    frame = case.raised_in
    if frame is None:
        return False
    refuses = frame.origin is FrameOrigin.PACKAGE and frame.source.startswith("raise")
    return frame.origin is FrameOrigin.PYTHON or refuses


def _of_older_tensorflow(cls: str, member: str, home: str, case: Case) -> Diagnosis | None:
    """TensorFlow's own code reads a member that another Keras release has."""
    frame = case.raised_in
    if frame is None or frame.origin is not FrameOrigin.TENSORFLOW or not home:
        return None
    kind, _ = _kind_of(cls, case.target)
    last = member_until(Type(kind, cls=cls), member, case.target) if kind else None
    if last is None and not member.startswith("_"):
        return None
    steps = [
        Step(StepKind.COMMAND, "pip install --upgrade tensorflow keras", "both together"),
        Step(
            StepKind.COMMAND,
            'python -c "import tensorflow as tf; print(tf.__version__, tf.keras.__version__)"',
            "shows what is installed; the model must come from exactly this tf.keras",
        ),
    ]
    if "/lite/" in frame.path.replace("\\", "/"):
        steps.insert(
            1,
            Step(
                StepKind.CODE,
                "model.export('exported')\n"
                "converter = tf.lite.TFLiteConverter.from_saved_model('exported')",
                "or, if TensorFlow must stay: convert what the model exports",
            ),
        )
    return Diagnosis(
        fault=Fault.INSTALLATION,
        meaning=f"TensorFlow's own code reads `{member}` of the `{cls}`, which its class does not "
        "have: TensorFlow and the Keras of the model are from incompatible releases.",
        error=case.error,
        place=case.blamed,
        evidence=(
            f"the line that fails is TensorFlow's own: {frame}",
            *([f"keras {last} is the last release whose `{cls}` has it"] if last else []),
        ),
        steps=tuple(steps),
        rule="KD205",
        only_if="" if cls in _ONLY_KERAS else f"the object is Keras' {cls}",
        target=case.target,
    )


# The classes that people derive from, in the order of asking.
_BASES: Final = {
    Kind.LAYER: "keras.Layer",
    Kind.MODEL: "keras.Model",
    Kind.CALLBACK: "keras.callbacks.Callback",
    Kind.OPTIMIZER: "keras.optimizers.Optimizer",
    Kind.METRIC: "keras.metrics.Metric",
    Kind.LOSS: "keras.losses.Loss",
}


def _of_own_class(cls: str, member: str, case: Case) -> Diagnosis | None:
    """Explain a user's class that reads a member its Keras base class had."""
    frame = case.raised_in
    if frame is None or not re.search(rf"\bself\.{member}\b", frame.source):
        return None
    if not _is_surely_keras(cls, case):
        return None
    for kind, home in _BASES.items():
        base = home.rpartition(".")[2]
        last = member_until(Type(kind, cls=base), member, case.target)
        if last is None or member_lookup(base, member, case.target) is Presence.EXISTS:
            continue
        made = f"{{name}} = {home}()"
        answer = _ask_rules(
            Wanted(member, binding=SnippetName(member, made)), made.format(name="x"), case
        )
        return Diagnosis(
            fault=Fault.YOUR_CODE if frame.origin is FrameOrigin.USER else Fault.PACKAGE,
            meaning=_meaning(base, member, last, case.target),
            error=case.error,
            place=case.blamed,
            evidence=tuple(_evidence(base, member, last, Presence.MISSING, case)),
            steps=_cure(answer, frame),
            rule=answer.rule or "KD205",
            only_if=f"`{cls}` derives from Keras' {base}",
            package=frame.package,
            target=case.target,
        )
    return None


def _of_newer(cls: str, member: str, case: Case) -> Diagnosis | None:
    """Explain a member that the target's class has and an older release did not."""
    history = member_history("keras", "Model" if cls == "Functional" else cls, member)
    if case.is_stated or history is None:
        return None
    first = history.periods[-1][0]
    is_open = not case.has_frames and not _is_own_class(cls, case)
    if Version(first) < _READ_WHOLE or not (is_open or _is_surely_keras(cls, case)):
        return None
    before = f", and before it up to {history.periods[-2][1]}" if history.periods[1:] else ""
    package = case.package
    return Diagnosis(
        Fault.PACKAGE if package else Fault.INSTALLATION,
        f"Keras' `{cls}` has `{member}` from keras {first} on{before}: the line was written for a "
        "different release than the one that ran.",
        case.error,
        place=case.blamed,
        evidence=(f"the members of `{cls}` in each release",),
        steps=(
            Step(
                StepKind.COMMAND,
                'python -c "import keras; print(keras.__version__, keras.__file__)"',
                "shows which release runs",
            ),
            remedies.newer_pair(f"keras {first} or later"),
        ),
        only_if="" if _is_surely_keras(cls, case) else f"the object is Keras' {cls}",
        package=package,
        target=case.target,
    )


def _cure(answer: RuleAnswer, frame: TracebackFrame) -> tuple[Step, ...]:
    if frame.origin is FrameOrigin.PACKAGE:
        return tuple(remedies.for_a_package(frame.package, None))
    return tuple(remedies.of_answer(answer))


def _ask_rules(wanted: Wanted, made: str, case: Case) -> RuleAnswer:
    """Apply the rules to the line, else to a generated read or call of the member."""
    answer = RuleAnswer()
    for call in ("", "()", "(y)") if made else ("",):
        statement = _statement(made, f"{wanted.name}{call}")
        found = ask(case.blamed, replace(wanted, statement=statement), case.target, case.read)
        answer = answer if answer.findings else found
        if any(finding.fix or finding.help for finding in found.findings):
            return found
    return answer


def _statement(made: str, used: str) -> str:
    return f"import keras\n{made}\nx.{used}\n" if made else ""


def _as_on_the_newest(case: Case, wanted: Wanted) -> tuple[Step, ...]:
    """Return the rewrite for the newest Keras, as advice: the rules know no older one."""
    answer = ask(case.blamed, wanted, newest_target(), case.read)
    note = "written for Keras 3"
    return tuple(
        replace(step, note=f"{step.note}; {note}" if step.note else note)
        for step in remedies.of_answer(answer)
    )


def _is_own_class(cls: str, case: Case) -> bool:
    """Say whether the user's file, or a line of the traceback, defines a class of that name."""
    shown = [frame.source for frame in case.error.frames]
    if case.blamed is not None and (data := source_of(case.blamed, case.read)) is not None:
        shown.append(data.decode(errors="replace"))
    return any(re.search(rf"^\s*class {cls}\b", text, re.MULTILINE) for text in shown)


def _kind_of(cls: str, target: Target) -> tuple[Kind | None, str]:
    """Return the kind of object and how to make one; "" where it is no class of Keras."""
    if cls in _MADE:
        return _KINDS[cls], f"keras.{cls}"
    for module, kind in _FAMILIES.items():
        name = f"keras.{module}.{cls}"
        if lookup(name, target).presence is Presence.EXISTS:
            return kind, name
    return None, ""


def _meaning(cls: str, member: str, last: str | None, target: Target) -> str:
    made_of = f"keras {target.keras_version}" if target.keras_version else str(target)
    if last:
        return f"`{member}` was removed from Keras' `{cls}`: not in {made_of} (last in {last})."
    return f"Keras' `{cls}` has no `{member}`: neither in {made_of} nor in any older known release."


def _evidence(cls: str, member: str, last: str | None, presence: Presence, case: Case) -> list[str]:
    found = []
    if presence is Presence.MISSING:
        found.append(
            f"the members of `{cls}` in {case.target}, inherited ones included: no `{member}`"
        )
    if last:
        found.append(f"keras {last} is the last release whose `{cls}` has it")
    found.append(f"assuming {case.target}: {case.target.source}")
    return found


def _is_surely_keras(cls: str, case: Case) -> bool:
    """Say whether the text shows that the object is from Keras, not a namesake."""
    if cls in _ONLY_KERAS or any(frame.origin is FrameOrigin.KERAS for frame in case.error.frames):
        return True
    shown = [frame.source for frame in case.error.frames]
    if case.blamed is not None and (data := source_of(case.blamed, case.read)) is not None:
        shown.append(data.decode(errors="replace"))
    return any(re.search(r"\bkeras\b", text) for text in shown)
