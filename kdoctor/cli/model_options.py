"""What `kdoctor model` can make of a saved model, as options."""

from __future__ import annotations

from typing import Annotated

import typer

Convert = Annotated[
    str | None,
    typer.Option(
        "--convert",
        metavar="FILE",
        help="Write the model to FILE (.keras or .h5) as the target loads it. The old file stays.",
        show_default=False,
    ),
]
Code = Annotated[
    str | None,
    typer.Option(
        "--code",
        metavar="FILE",
        help="Write the architecture to FILE (.py) as code for the target; what must be written "
        "by hand is marked.",
        show_default=False,
    ),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="With --convert: run the old file on Keras 2 and the new one on Keras 3, in "
        "sandboxed processes, and compare outputs and weights.",
    ),
]
Source = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="FILE",
        help="With --convert or --code: the Python source by which the model was made. The "
        "functions of its Lambda layers are read there, and nothing of it is run. Repeatable.",
        show_default=False,
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="With --verify: run code that the file or --source holds (a Lambda, a class or "
        "function of yours), in the sandbox.",
    ),
]
OldPython = Annotated[
    str | None,
    typer.Option(
        "--old-python",
        metavar="PATH",
        help="With --verify: the Python whose Keras 2 loads the old file, for one that tf_keras "
        "cannot load: an interpreter of 3.7 or later, or its environment.",
        show_default=False,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="With --convert or --code: replace FILE if it exists.")
]
