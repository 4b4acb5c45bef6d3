"""``kdoctor model``: what a saved model is, and what keeps a Keras from loading it."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from kdoctor.cli import choices, model_options, options


class ModelFormat(enum.StrEnum):
    """How the answer is written, for ``--format``."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH",
        help="Saved models, and folders to search for them; or code: then those that it loads. A "
        "file named here is always looked at.  [default: .]",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="NAME==VERSION",
        help="The Keras that must load the file: keras==3.15.1, tensorflow==2.21, keras==2.15.  "
        "[default: the newest Keras 3 that kdoctor knows]",
        show_default=False,
    ),
]


def model(  # noqa: PLR0913 - the options of the command
    paths: Paths = None,
    *,
    target: Target = None,
    output_format: Annotated[
        ModelFormat, typer.Option("--format", help="Output format.")
    ] = ModelFormat.TEXT,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    convert: model_options.Convert = None,
    code: model_options.Code = None,
    source: model_options.Source = None,
    verify: model_options.Verify = False,
    trust: model_options.Trust = False,
    old_python: model_options.OldPython = None,
    force: model_options.Force = False,
    python: options.PythonOption = None,
    seconds: options.SecondsOption = 60.0,
    no_sandbox: options.NoSandbox = False,
    exclude: options.Exclude = None,
    color: options.ColorOption = choices.Color.AUTO,
    quiet: options.Quiet = False,
) -> None:
    """Say what a saved model is, who wrote it, whether a Keras loads it, and what to do.

    Told by content, whatever a file is called: models and weights in HDF5, .keras archives,
    SavedModels, checkpoints, TensorFlow Lite, TensorFlow.js, ONNX and others. Nothing of a file is
    run, no pickle is opened, and neither Keras nor TensorFlow is needed.

    \b
    kdoctor model model.h5
    kdoctor model models/ --target keras==3.10.0
    kdoctor model predict.py notebook.ipynb        the models that this code loads
    kdoctor model . --format json
    kdoctor model old.h5 --convert new.keras --verify
    kdoctor model old.h5 --code model.py
    kdoctor model old.h5 --convert new.keras --code model.py --source train.py

    Exit code: 0 the target loads each file, 1 something stands in the way of one, 2 a file could
    not be read. Of --convert: 0 it is written, and equal if verified; 1 it is not, for
    something in it is no data, or it differs.
    """  # noqa: D301 - \b keeps the lines of the examples
    from kdoctor.cli import run_convert, run_model  # noqa: PLC0415

    asked = run_model.Asked(
        paths=tuple(paths or ["."]),
        target=target,
        output_format=ModelFormat.JSON if json else output_format,
        exclude=tuple(exclude or ()),
        color=color,
        quiet=quiet,
    )
    running = choices.VerifyOptions(python, seconds, sandboxed=not no_sandbox)
    how = run_convert.Making(
        convert,
        code,
        verify=verify,
        force=force,
        running=running,
        trust=trust,
        old_python=old_python,
        source=tuple(source or ()),
    )
    run_convert.check(how)
    if how.is_asked:
        raise typer.Exit(run_convert.make(asked, how))
    raise typer.Exit(run_model.model(asked))
