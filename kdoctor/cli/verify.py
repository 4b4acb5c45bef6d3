"""``kdoctor verify``: compare user code before and after its fix, or check the reference."""

from __future__ import annotations

import enum
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kdoctor.cli import choices, options, streams
from kdoctor.config import ALL_BACKENDS, BACKENDS, named_backends
from kdoctor.errors import UsageProblem

if TYPE_CHECKING:
    from kdoctor.engine import Options
    from kdoctor.report.output import Page
    from kdoctor.verify.reference.results import Result
    from kdoctor.verify.user.results import Report


class Device(enum.StrEnum):
    """Devices to compute on, for ``--device``."""

    CPU = "cpu"
    GPU = "gpu"
    ALL = "all"


BackendOption = Annotated[
    list[str] | None,
    typer.Option(
        "--backend",
        metavar="NAME,...",
        help="The backends of Keras 3 to run the fixed code, or the reference, with: all that are "
        "installed, or some of tensorflow, jax and torch. The fix is then that of `kdoctor fix "
        "--backend`.  [default: tensorflow]",
        show_default=False,
    ),
]
DeviceOption = Annotated[
    Device | None,
    typer.Option(
        "--device",
        help="Check the reference on the CPU, on each GPU that the backend sees, or on both.  "
        "[default: all]",
        show_default=False,
    ),
]


def verify(  # noqa: PLR0913 - the options of the command
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Files and folders to verify; without any, the reference is checked.",
            show_default=False,
        ),
    ] = None,
    *,
    python: options.PythonOption = None,
    unsafe: options.Unsafe = None,
    seconds: options.SecondsOption = 60.0,
    no_sandbox: options.NoSandbox = False,
    jobs: options.Jobs = None,
    kind: options.As = None,
    exclude: options.Exclude = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    trust_rules: options.TrustRules = False,
    backend: BackendOption = None,
    device: DeviceOption = None,
    json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    color: options.ColorOption = choices.Color.AUTO,
) -> None:
    """Run code before its fix on Keras 2 and after it on Keras 3, and compare the results.

    \b
    kdoctor verify train.py                       its losses, metrics, layers, models, activations
    kdoctor verify src/ --unsafe --json
    kdoctor verify losses.py --backend all        the fixed code on TensorFlow, JAX and PyTorch
    kdoctor verify train.py --python .venv/bin/python
    kdoctor verify                                check the reference here instead, against closed
                                                  forms, finite differences, Keras and tf_keras
    kdoctor verify --backend all --device cpu

    Nothing is written, and no training in the files runs: each definition is cut out with what it
    needs and runs in its own process. There the kernel lets it write to a temporary folder only,
    and read only Python and its packages; it has no network, no access to other processes, and no
    secrets from the environment. If the system cannot enforce this, nothing runs without
    --no-sandbox.

    With --backend, code that does not run on Keras 2 runs on Keras 3 with TensorFlow before its
    fix, and there is a verdict for each backend.

    Exit code: 0 everything that could be tried is equal (or within tolerance), 1 something
    differs, 2 it cannot be done, or a backend that --backend names is not installed.
    """  # noqa: D301 - \b keeps the lines of the examples
    page = streams.output(color)
    if paths and "-" in paths:
        raise UsageProblem("verify reads files and folders, not standard input: name a file")
    if paths and device is not None:
        raise UsageProblem(
            "--device is for the check of the reference, without a PATH: code in files is run on "
            "the CPU. Leave out --device, or the paths"
        )
    if paths:
        how = choices.engine_options(
            backend=backend,
            exclude=exclude,
            config=config,
            isolated=isolated,
            trust_rules=trust_rules,
            kind=kind,
            no_cache=True,
            jobs=jobs,
        )
        how |= {"diffs": False, "anchors": False}
        running = choices.VerifyOptions(python, seconds, sandboxed=not no_sandbox)
        report = _user_code(paths, running, how, unsafe=unsafe)
        holds = _write_verdicts(report, page, json=json)
    else:
        from kdoctor.report.reference import write_json, write_results  # noqa: PLC0415

        results = _results(backend, device or Device.ALL)
        (write_json if json else write_results)(results, page)
        holds = all(each.holds for each in results)
    if not holds:
        raise typer.Exit(1)


def _user_code(
    paths: list[str], running: choices.VerifyOptions, how: Options, *, unsafe: bool | None
) -> Report:
    from kdoctor import engine  # noqa: PLC0415
    from kdoctor.cli.run_verify import verified  # noqa: PLC0415

    fixed = engine.fix(paths, unsafe=unsafe, **how)
    if fixed.target.is_before_keras_3:
        how["target"] = "keras==3"
        # The project still names the Keras that it leaves; what comes after is what is asked here.
        fixed = engine.fix(paths, unsafe=unsafe, **how)
    return verified(paths, fixed, how, running, unsafe=unsafe).report


def _write_verdicts(report: Report, page: Page, *, json: bool) -> bool:
    from kdoctor.report.verdicts import write_json, write_verdicts  # noqa: PLC0415

    (write_json if json else write_verdicts)(report, page)
    if report.unreadable:
        raise typer.Exit(2)
    return not any(each.is_bad for each in report.verdicts)


def _results(backend: list[str] | None, device: Device) -> list[Result]:
    from kdoctor.report.output import is_terminal  # noqa: PLC0415
    from kdoctor.report.progress import progress  # noqa: PLC0415
    from kdoctor.verify.reference.run import installed, places, run  # noqa: PLC0415

    names = choices.split(backend) or [BACKENDS[0]]
    asked = named_backends(names)
    found: list[Result] = []
    for place in places(installed() if ALL_BACKENDS in names else asked, device.value):
        with progress(sys.stderr, shown=is_terminal(sys.stderr)) as report_progress:
            found += run(place, report_progress)
    return found
