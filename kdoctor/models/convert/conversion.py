"""Convert one file: read it, rewrite its configuration, say what goes where, write it."""

from __future__ import annotations

import marshal
import shlex
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.models.at import shown
from kdoctor.models.contents import Contents
from kdoctor.models.convert.code import Code, code_of
from kdoctor.models.convert.configuration import Rewriter
from kdoctor.models.convert.files import (
    ARCHIVE_ENDING,
    check_assets,
    check_code_output,
    check_output,
    write,
    write_text,
)
from kdoctor.models.convert.lambda_sources import Lambdas, is_written
from kdoctor.models.convert.optimizer_state import NotKept, kept_state, unlike_steps
from kdoctor.models.convert.record import Change, Record
from kdoctor.models.convert.saved import Saved, layers_of, names_of
from kdoctor.models.convert.training import converted_training
from kdoctor.models.convert.weights import Copy, Rewritten, check_users, values_of
from kdoctor.models.kinds import FileKind
from kdoctor.models.obstacle import Fault, Obstacle
from kdoctor.models.reading import read_contents
from kdoctor.models.verdict import load_arguments
from kdoctor.target import Target

_CONVERTED: Final = frozenset({FileKind.HDF5, FileKind.KERAS_ARCHIVE})
_DAMAGED: Final = (
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
)


class Conversion(Struct, frozen=True):
    """What became of a file. Where ``refusals`` has something, nothing was written.

    ``needed`` are classes and functions without which the new file does not load: the user's, and
    those that are written into ``module``, "" where none are.
    """

    source: Path
    to: Path
    target: Target
    changes: tuple[Change, ...]
    needed: tuple[Obstacle, ...]
    refusals: tuple[Obstacle, ...]
    module: str = ""

    @property
    def load_arguments(self) -> dict[str, str]:
        """The arguments of ``load_model`` that it takes, as source text."""
        return load_arguments(each for each in self.needed if not is_written(each))

    @property
    def is_written(self) -> bool:
        """Whether the converted file is there."""
        return not self.refusals


def convert(
    source: Path, to: Path, target: Target, *, lambdas: Lambdas | None = None, force: bool = False
) -> Conversion:
    """Write a saved model as the target loads it; the file that it is made of stays as it is.

    ``lambdas`` has the sources of functions.

    Raises:
        FileProblem: the file cannot be read, is damaged, or is no model that can be converted.
        UsageProblem: the output may not be written, or the target is no Keras 3.
    """
    if target.is_before_keras_3:
        raise UsageProblem(f"--convert writes files for Keras 3, and not for {target}")
    check_output(source, to, force=force)
    contents = read_contents(source)
    _check_kind(contents)
    record = Record(target, lambdas)
    try:
        made = _rewritten(contents, to, record)
    except _DAMAGED as error:
        raise _damaged(source, error) from error
    if not record.refusals:
        state = _state(contents, to, made, record)
        write(contents, to, made, state, record)
    return Conversion(
        source,
        to,
        target,
        changes=tuple(record.changes),
        needed=tuple(record.needed),
        refusals=tuple(record.refusals),
        module=record.lambdas.code if any(map(is_written, record.needed)) else "",
    )


def _state(contents: Contents, to: Path, made: Rewritten, record: Record) -> list[Copy]:
    """Return what is copied of the state of the optimizer; say what becomes of it."""
    if made.training is None:
        return []
    try:
        copies = kept_state(contents, made, is_to_hdf5=not to.name.endswith(ARCHIVE_ENDING))
    except NotKept as problem:
        text = "the state of the optimizer is left out, and training goes on with a new one"
        record.change("", f"{text} ({problem})")
        return []
    if copies:
        record.change("", "the state of the optimizer goes along")
        if unlike := unlike_steps(contents, made):
            record.change("", unlike)
    return copies


def refusals_of(contents: Contents, target: Target) -> tuple[Obstacle, ...] | None:
    """Return what would keep a file from being converted; None of one that never is.

    Nothing is written, and arrays are not read.
    """
    if target.is_before_keras_3 or not _is_convertible(contents):
        return None
    record = Record(target)
    try:
        _rewritten(contents, contents.path, record)
    except _DAMAGED:
        return None
    return tuple(record.refusals)


def _is_convertible(contents: Contents) -> bool:
    try:
        _check_kind(contents)
    except FileProblem:
        return False
    return True


def write_code(
    source: Path, to: Path, target: Target, *, lambdas: Lambdas | None = None, force: bool = False
) -> Code:
    """Write the architecture of a saved model as code for the target.

    Raises:
        FileProblem: the file cannot be read, is damaged, or holds no architecture.
        UsageProblem: the output may not be written, or the target is no Keras 3.
    """
    if target.is_before_keras_3:
        raise UsageProblem(f"--code writes code for Keras 3, and not for {target}")
    check_code_output(source, to, force=force)
    contents = read_contents(source)
    if contents.model is None:
        raise FileProblem(f"{source}: {contents.kind.value}: it holds no architecture")
    try:
        text, refusals = code_of(contents, target, lambdas)
    except _DAMAGED as error:
        raise _damaged(source, error) from error
    write_text(to, text)
    return Code(source, to, refusals)


def _damaged(source: Path, error: Exception) -> FileProblem:
    why = " ".join(f"{type(error).__name__}: {error}".split())
    return FileProblem(f"{source}: its configuration is damaged ({shown(why)})")


def _check_kind(contents: Contents) -> None:
    path = contents.path
    if contents.kind not in _CONVERTED or contents.model is None:
        kinds = "an HDF5 model and a .keras archive"
        raise FileProblem(
            f"{path}: {contents.kind.value}: only {kinds} can be converted; "
            f"`{shlex.join(['kdoctor', 'model', str(path)])}` says what to do with it"
        )
    if contents.weights is None:
        why = "; ".join(contents.notes) or "it has none"
        raise FileProblem(f"{path}: its weights cannot be converted: {why}")
    if contents.writer.keras.startswith("3"):
        version = contents.writer.keras
        raise FileProblem(f"{path}: Keras {version} wrote it: there is nothing to convert")


def _rewritten(contents: Contents, to: Path, record: Record) -> Rewritten:
    # It is plain JSON, and of its kinds this is the quickest copy by far.
    old: dict[str, Any] = marshal.loads(marshal.dumps(contents.model))  # noqa: S302 - our own
    if record.lambdas.is_given:
        record.lambdas.look_for(lambda: Rewriter(Record(record.target, record.lambdas)).model(old))
    model = Rewriter(record).model(old)
    training = None
    if record.refusals:
        return Rewritten(model, Saved("", "", ()), {}, None)
    if contents.training:
        training = converted_training(contents.training, record)
    saved = layers_of(old, model)
    values = values_of(contents, saved, names_of(old), record)
    if values and _is_unbuilt(model):
        cause = "the file names no input shape, and Keras 3 makes no weights without one"
        record.refuse("", cause, Fault.STRUCTURE)
    is_to_hdf5 = not to.name.endswith(ARCHIVE_ENDING)
    check_users(contents, saved, record, is_to_hdf5=is_to_hdf5)
    check_assets(contents, to, saved, record)
    return Rewritten(model, saved, values, training)


def _is_unbuilt(model: dict[str, Any]) -> bool:
    """Say whether Keras 3 does not build a model when it loads it: a Sequential without inputs."""
    config = model["config"]
    if "output_layers" in config or config.get("build_input_shape") is not None:
        return False
    first = config["layers"][0] if config["layers"] else {}
    return first.get("class_name") not in {"InputLayer", "Functional", "Sequential"}
