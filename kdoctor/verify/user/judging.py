"""Combine what the sides answer about a definition into a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from kdoctor.verify.user.combining import unreached_note
from kdoctor.verify.user.definitions import Subject
from kdoctor.verify.user.results import (
    KERAS_2,
    KERAS_3,
    TENSORFLOW,
    TITLES,
    Verdict,
    VerdictState,
)
from kdoctor.verify.user.running import Answer, Ran

# A missing package. A missing tf_keras is reported before anything runs.
_LACKING = re.compile(r"ModuleNotFoundError: .*No module named '(?P<name>\w+[\w.]*)'")
# The wording of Keras and TensorFlow: "TensorBoard is not installed, missing …",
# "You must install pydot (`pip install pydot`)".
_LACKING_IN_WORDS = re.compile(
    r"(?:ImportError|NotInstalledError): (?:(?P<name>\w+) is not installed"
    r"|You must install `?(?P<other>\w+))"
)
# What the kernel refuses, and what the audit hook refuses before the kernel has to.
_REFUSED = re.compile(
    r"PermissionError: |\[Errno (1|13)\]|kdoctor does not let it |Operation not permitted"
    r"|Permission denied"
)
_KERAS = frozenset({"keras", "tensorflow", "tf_keras"})
NOT_FIXED = (
    "the fix changes nothing of it: `--backend` fixes what Keras surely runs, which is what the "
    "file gives to it, and what layers, losses and metrics of the file call"
)
_BEFORE_THE_FIX = "Keras 3 before the fix"
_UNKNOWN: Answer = {"state": "ended", "error": "it was not run"}


@dataclass(frozen=True, slots=True)
class Answers:
    """What all sides answered, and the Python that they ran on."""

    ran: Ran
    python: str

    def verdict(self, subject: Subject, number: int, backend: str = "") -> Verdict:
        """Combine the answers about a definition, its job's number, into a verdict.

        The backend is one that was asked for, "" if none was.
        """
        found = self.ran.on[backend] if backend else self.ran.keras_3
        new = found.get(number, _UNKNOWN)
        old, again = self.ran.keras_2.get(number), self.ran.before.get(number)
        after = f"{KERAS_3} with {TITLES[backend]}" if backend else KERAS_3
        if again is not None and (old is None or again["state"] == "ran"):
            made = _combined(subject, again, new, after, before=_BEFORE_THE_FIX)
            if made is None:
                made = self._not_run_on_keras_3(subject, again)
            made = replace(made, before=KERAS_3, notes=(*_on_keras_3(old), *made.notes))
        else:
            old = old or _UNKNOWN
            made = _combined(subject, old, new, after, before=KERAS_2)
            made = made or _not_run(subject, old, new, self.python, after)
        if backend not in ("", TENSORFLOW) and made.is_bad and not made.changed:
            made = replace(made, hints=(*made.hints, NOT_FIXED))
        return replace(made, backend=backend) if backend else made

    def _not_run_on_keras_3(self, subject: Subject, old: Answer) -> Verdict:
        """Return the verdict on what does not run before its fix, where no Keras 2 is."""
        why = _blocked(old["error"], self.python) or (
            f"it does not run on {_BEFORE_THE_FIX}, and {self.python} has no tf_keras, the Keras 2 "
            f"that it may be written for: {old['error']}"
        )
        return verdict_of(subject, VerdictState.NOT_TRIED, why=why)


def _on_keras_3(old: Answer | None) -> Iterator[str]:
    """Yield why a definition ran on Keras 3 before its fix."""
    if old is not None:
        error = re.match(r"\w+(Error|Exception)\b", old["error"])
        why = error.group() if error else old["error"]
        yield f"before the fix it ran on Keras 3 (on Keras 2: {why})"


def _combined(
    subject: Subject, old: Answer, new: Answer, after: str, *, before: str
) -> Verdict | None:
    """Return the verdict on a definition that ran before its fix; None if it did not."""
    if old["state"] == "ended":  # a process that died says nothing about the values
        return verdict_of(subject, VerdictState.NOT_TRIED, why=f"on {before} {old['error']}")
    if old["state"] != "ran":
        return None
    details: dict[str, Any] = {
        "kind": old["kind"],
        "uncompared": tuple(new.get("uncompared", ())),
        "hints": tuple(new.get("hints", ())),
        "unreached": tuple(map(subject.source.where, new.get("unreached", ()))),
    }
    details["notes"] = (*new.get("notes", ()), *unreached_note(details["unreached"]))
    match new["state"]:
        case "ended":
            why = f"it runs on {before}, but on {after} {new['error']}"
            return verdict_of(subject, VerdictState.NOT_TRIED, why=why, **details)
        case "not tried":
            return verdict_of(subject, VerdictState.NOT_TRIED, why=new["error"], **details)
        case "equal":
            measured = {key: new[key] for key in ("largest", "tolerance", "share", "cases")}
            return verdict_of(subject, VerdictState.EQUAL, **details, **measured)
        case "different":
            found = {key: new[key] for key in ("where", "told", "input")}
            return verdict_of(subject, VerdictState.DIFFERENT, **details, **found)
    return verdict_of(subject, VerdictState.NOT_ON_KERAS_3, why=new["error"], **details)


def _blocked(error: str, python: str) -> str:
    """Return why an error is that of the place, not of the code; "" if it is not."""
    lacking = _LACKING.search(error)
    in_words = _LACKING_IN_WORDS.search(error)
    name = lacking["name"] if lacking else in_words and (in_words["name"] or in_words["other"])
    if name and name.partition(".")[0] not in _KERAS:
        return (
            f"it needs {name}, which {python} does not have: install the package that "
            "provides it there, or choose another Python with --python"
        )
    if "FileNotFoundError: " in error:
        return (
            "it reads a file, but runs in an empty folder: use the file's absolute path and "
            f"--no-sandbox: {error}"
        )
    if _REFUSED.search(error):
        return f"the sandbox blocks what it does (--no-sandbox allows it): {error}"
    return ""


def _not_run(subject: Subject, old: Answer, new: Answer, python: str, after: str) -> Verdict:
    """Return the verdict on a definition that did not run on Keras 2."""
    runs = new["state"] == "ran"
    notes = (f"the fixed code runs on {after}",) if runs else ()
    blocked = _blocked(old["error"], python)
    if blocked:
        return verdict_of(subject, VerdictState.NOT_TRIED, why=blocked, notes=notes)
    if new.get("at") == "loading" and old.get("at") != "loading":
        return verdict_of(subject, VerdictState.NOT_ON_KERAS_3, why=new["error"])
    if old["state"] == "not tried":
        return verdict_of(subject, VerdictState.NOT_TRIED, why=old["error"])
    if old.get("guessed") and not runs:
        why = (
            "kdoctor does not know what arguments it takes, and with those it tried it raises "
            f"{old['error']}"
        )
        return verdict_of(subject, VerdictState.NOT_TRIED, why=why)
    return verdict_of(subject, VerdictState.NOT_ON_KERAS_2, why=old["error"], notes=notes)


def verdict_of(subject: Subject, state: VerdictState, **details: Any) -> Verdict:
    """Return a verdict on a definition."""
    cell, line = subject.source.place(subject.line)
    return Verdict(
        subject.source.path,
        line,
        subject.name,
        state,
        changed=subject.changed,
        cell=cell,
        **details,
    )
