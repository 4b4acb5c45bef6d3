"""Begin a migration, go on with one, or undo it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from kdoctor.engine import Options
from kdoctor.errors import KdoctorError, UsageProblem
from kdoctor.interpreters import Interpreter, interpreter_for, interpreter_named
from kdoctor.migrate import worktree
from kdoctor.migrate.carry_out import TooSmallBudget, carry_out
from kdoctor.migrate.outcome import Outcome
from kdoctor.migrate.state import Home, Settings, State
from kdoctor.project.git import git
from kdoctor.target import Target
from kdoctor.verify.user.interpreter import probe

_SHOWN: Final = 3  # files of a sentence
# What is said to a scan, and may be kept: the rest of the options is about how it is made.
_KEPT: Final = (
    *("namespace", "select", "ignore", "preview", "trust_rules", "exclude", "force_exclude"),
    *("config", "isolated", "project_types", "kind", "jobs", "backend"),
)

Tell = Callable[[str], None]


def begin(
    settings: Settings, options: Options, targets: tuple[Target | None, Target], tell: Tell
) -> Outcome:
    """Carry a migration out; ``targets`` are the Keras that the project is on and the one to come.

    Raises:
        TooSmallBudget: it was over before the first step; to be resumed.
        UsageProblem: it cannot be done here as asked; nothing is left behind but logs.
    """
    here = Path.cwd()
    top = worktree.top_of(here)
    home = Home(top)
    if home.state() is not None:
        raise UsageProblem(
            "a migration was begun here already: `kdoctor migrate --resume` goes on with it, "
            "`kdoctor migrate --undo` removes it"
        )
    changed = worktree.changed_files(top)
    if changed:
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        raise UsageProblem(
            f"changes are not committed, and the branch starts from the last commit: "
            f"{', '.join(changed[:_SHOWN])}{more}; commit or stash them first"
        )
    _check(settings)
    notes = []
    if worktree.is_detached(top):
        notes.append("HEAD is detached: check out the branch that the work is for before the merge")
    kept: dict[str, Any] = {name: options.get(name) for name in _KEPT}
    if kept["config"] is not None:
        kept["config"] = os.path.abspath(kept["config"])  # noqa: PTH100
    now, then = targets
    state = State(
        settings,
        {**kept, "target": f"{then.name}=={then.version}"},
        worktree.new_branch(top),
        git(top, "rev-parse", "HEAD").decode().strip(),
        str(now.without_source) if now else "",
        tuple(notes),
    )
    with home.alone():
        home.save(state)
        try:
            return carry_out(state, home, tell)
        except TooSmallBudget:
            raise
        except KdoctorError:
            worktree.remove(home, state.branch)
            home.forget()
            raise


def resume(budget: float | None, tell: Tell) -> Outcome:
    """Go on with a migration that was begun; with another budget, if one is given.

    Raises:
        UsageProblem: none was begun, or the branch has other commits by now.
    """
    home = Home(worktree.top_of(Path.cwd()))
    state = _begun(home)
    if budget is not None:
        settings = replace(state.settings, budget=budget)
        state = replace(state, settings=settings)
    with home.alone():
        home.save(state)
        return carry_out(state, home, tell)


def undo() -> State:
    """Remove the branch and the working tree of a migration; return what it was.

    Raises:
        UsageProblem: none was begun, or the branch has other commits by now.
    """
    home = Home(worktree.top_of(Path.cwd()))
    state = _begun(home)
    with home.alone():
        worktree.remove(home, state.branch)
    home.remove()
    return state


def _begun(home: Home) -> State:
    state = home.state()
    if state is None:
        raise UsageProblem("no migration was begun here: `kdoctor migrate --apply` begins one")
    foreign = worktree.foreign_commits(home.top, state.branch, state.base)
    if foreign:
        raise UsageProblem(
            f"the branch {state.branch} has commits that kdoctor did not make ({foreign[0]}): they "
            "would be lost; keep them on another branch first, or merge it and delete it with git"
        )
    return state


def _check(settings: Settings) -> None:
    """Check that there is a Keras of either kind to run the tests on.

    Raises:
        UsageProblem: there is not.
    """
    found = probe(Interpreter(settings.python, ""))
    keras = found.found.get("keras", "")
    if not keras[:1].isdigit() or int(keras.partition(".")[0]) < 3:
        which = f"keras {keras}" if keras else "no Keras"
        raise UsageProblem(
            f"{settings.python} has {which}, and the tests must run on Keras 3: name a Python that "
            "has it by --python"
        )
    if settings.old_python:
        probe(Interpreter(settings.old_python, ""))
    elif "tf_keras" not in found.found:
        release = ".".join(found.found.get("tensorflow", "2.16").split(".")[:2])
        raise UsageProblem(
            f"{settings.python} has no tf_keras, which stands for Keras 2: run {settings.python} "
            f"-m pip install 'tf_keras~={release}.0', or name a Python that has Keras 2 by "
            "--old-python"
        )


def python_named(named: str | None, option: str) -> str:
    """Return the interpreter that an option names; without one, that of the project.

    Raises:
        UsageProblem: there is none of this name.
    """
    if named is None:
        return interpreter_for(os.path.abspath(".")).path  # noqa: PTH100
    found = interpreter_named(named)
    if found is None:
        raise UsageProblem(f"{option} {named}: no such Python interpreter")
    return found.path


def inside(paths: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return paths from the working folder, and this folder from the top of the repository.

    Raises:
        UsageProblem: one is not there, or lies outside of the repository.
    """
    here = Path(os.path.realpath("."))
    top = Path(os.path.realpath(worktree.top_of(here)))
    found = []
    for path in paths:
        real = Path(os.path.realpath(path))
        if not real.exists():
            raise UsageProblem(f"{path}: no such file or folder; check the path")
        if not real.is_relative_to(top):
            raise UsageProblem(f"{path}: lies outside of the repository {top}")
        found.append(os.path.relpath(real, here))
    within = here.relative_to(top).as_posix()
    return tuple(found), "" if within == "." else within
