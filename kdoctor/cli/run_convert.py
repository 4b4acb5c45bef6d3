"""Run ``kdoctor model --convert``, ``--verify`` and ``--code``."""

from __future__ import annotations

import os
import platform
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kdoctor.cli import choices, streams
from kdoctor.cli.run_model import Asked, target_of
from kdoctor.errors import UsageProblem

if TYPE_CHECKING:
    from kdoctor.models.convert import Conversion
    from kdoctor.verify.saved_models import Compared


_MAX_SHOWN: Final = 3  # pieces of code in a file


class Making(NamedTuple):
    """What is made of a saved model, as it was typed."""

    convert: str | None = None
    code: str | None = None
    verify: bool = False
    force: bool = False
    running: choices.VerifyOptions = choices.VerifyOptions()
    trust: bool = False
    old_python: str | None = None
    source: tuple[str, ...] = ()

    @property
    def is_asked(self) -> bool:
        """Whether anything is."""
        return self.convert is not None or self.code is not None


def check(how: Making) -> None:
    """Check that the options go together.

    Raises:
        UsageProblem: they do not.
    """
    running = how.running
    given = {
        "--verify": how.verify,
        "--python": running.python is not None,
        "--seconds": running.seconds != choices.VerifyOptions().seconds,
        "--no-sandbox": not running.sandboxed,
        "--trust": how.trust,
        "--old-python": how.old_python is not None,
    }
    if how.force and not how.is_asked:
        raise UsageProblem("--force replaces a file that is written: add --convert or --code")
    if how.source and not how.is_asked:
        raise UsageProblem("--source is about what is written: add --convert or --code")
    for option in [option for option, is_given in given.items() if is_given]:
        if how.convert is None:
            raise UsageProblem(f"{option} is about the file that --convert writes: add it")
        if not how.verify:
            raise UsageProblem(f"{option} says how files are run: add --verify")
    if how.convert is not None and how.convert == how.code:
        raise UsageProblem("--convert and --code write a file each: name two")


def make(asked: Asked, how: Making) -> int:
    """Write what was asked for of one saved model; return the exit code.

    Raises:
        FileProblem: it cannot be read or written.
        UsageProblem: the options do not go together.
    """
    option = "--convert" if how.convert is not None else "--code"
    if len(asked.paths) != 1 or not Path(asked.paths[0]).exists():
        raise UsageProblem(f"{option} takes one saved model: name a file")
    if Path(asked.paths[0]).is_dir():
        raise UsageProblem(_of_folder(asked.paths[0], option))
    if asked.output_format == "sarif":
        raise UsageProblem(f"{option} writes text or JSON")
    if how.verify and not hasattr(os, "fork"):
        raise UsageProblem(
            "files are verified in forked processes that the kernel sandboxes, which "
            f"{platform.system()} does not support: run kdoctor on Linux, in WSL or in a container"
        )
    if how.old_python is not None:  # before anything is written
        from kdoctor.verify.user.interpreter import choose_old  # noqa: PLC0415

        choose_old(how.old_python)
    from kdoctor.models.convert import Lambdas, convert, write_code  # noqa: PLC0415
    from kdoctor.models.convert.files import check_code_output  # noqa: PLC0415
    from kdoctor.report.conversion import Made, write_json, write_made  # noqa: PLC0415

    source, target = Path(asked.paths[0]), target_of(asked.target)
    made = Made(source, target)
    lambdas = Lambdas(how.source, how.code or "")
    if how.code is not None:  # a file that calls what is not written would be of no use
        check_code_output(source, Path(how.code), force=how.force)
    if how.convert is not None:
        made.conversion = convert(
            source, Path(how.convert), target, lambdas=lambdas, force=how.force
        )
    if how.code is not None:
        made.code = write_code(source, Path(how.code), target, lambdas=lambdas, force=how.force)
    if how.verify and made.conversion is not None and made.conversion.is_written:
        made.compared = _compared(made.conversion, how)
    page = streams.output(asked.color, quiet=asked.quiet)
    (write_json if asked.output_format == "json" else write_made)(made, page)
    return made.exit_code


def _compared(made: Conversion, how: Making) -> Compared:
    from kdoctor.models.code_inside import code_inside, lambda_modules  # noqa: PLC0415
    from kdoctor.verify import saved_models  # noqa: PLC0415
    from kdoctor.verify.user.running import Limits  # noqa: PLC0415

    running, source = how.running, made.source
    inside = code_inside(source, made.target)
    if inside and not how.trust:
        return saved_models.Compared(error=_not_trusted(source, inside))
    names = {each.subject: each.subject.rpartition(">")[2] for each in made.needed}
    limits = Limits(running.seconds, at_once=1, sandboxed=running.sandboxed)
    # A model is in memory several times over while it is loaded and run.
    limits = replace(limits, memory=limits.memory + 6 * source.stat().st_size)
    trusted = None
    if how.trust:
        code = None if how.code is None else Path(how.code)
        sources = tuple(map(Path, how.source))
        trusted = saved_models.Trusted(sources, names, code, lambda_modules(source))
    pythons = saved_models.Pythons(running.python, how.old_python)
    return saved_models.compare_saved_models(source, made.to, pythons, limits, trusted)


def _of_folder(path: str, option: str) -> str:
    from kdoctor.models.kinds import FileKind, kind_of  # noqa: PLC0415

    kind = kind_of(Path(path))
    if kind is FileKind.UNKNOWN:
        return f"{option} takes one saved model, and {path} is a folder: name a file in it"
    command = shlex.join(["kdoctor", "model", path])
    return f"{path}: {kind}: {option} reads HDF5 and .keras files; `{command}` says what to do"


def _not_trusted(source: Path, inside: tuple[str, ...]) -> str:
    shown = ", ".join(inside[:_MAX_SHOWN])
    more = f" and {len(inside) - _MAX_SHOWN} more" if len(inside) > _MAX_SHOWN else ""
    return (
        f"{source} holds code, which --verify would run ({shown}{more}); nothing was run: if you "
        "know who wrote it, add --trust"
    )
