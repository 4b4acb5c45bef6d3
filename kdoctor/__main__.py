"""``python -m kdoctor``, and the program ``kdoctor``."""

from __future__ import annotations

import gc
import os
import sys

from kdoctor import own_process

TYPE_CHECKING = False  # as type checkers know it; `typing` itself takes longer than all of this
if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from typing import NoReturn

_HELP = ("-h", "--help")
_INTERRUPTED = 130
# Objects made since the collector came last: more than all modules have.
_START_GC_THRESHOLD = 100_000
_GC_THRESHOLD = 1_000_000  # more than all findings have


def main() -> None:
    """Run the command that this process was called with."""
    _open_streams()
    try:
        _main()
    except KeyboardInterrupt:  # where the program itself was not there yet, or any more
        print("kdoctor: interrupted", file=sys.stderr)
        _end_interrupted()
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            _end_interrupted()
        if _examines() and isinstance(end.code, int):
            _end_at_once(end.code)
        raise
    finally:
        import signal  # noqa: PLC0415

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to interrupt


def _open_streams() -> None:
    """Let a program that was started without one of them (`<&-`, a service) read and write none."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _examines() -> bool:
    return sys.argv[1:2] in (["scan"], ["fix"])


def _end_interrupted() -> NoReturn:
    # At once: where ctrl-C struck in code made by `exec` (a dataclass), Python would not end with
    # this code but kill itself by the signal, whoever caught it.
    _end_at_once(_INTERRUPTED)


def _end_at_once(code: int) -> NoReturn:
    """End without taking apart each module and tree first: a fifth of the time of a small scan."""
    import contextlib  # noqa: PLC0415

    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _main() -> None:
    if sys.argv[1:2] == ["run"] and len(sys.argv) > 2 and sys.argv[2] not in _HELP:
        # Past the command line's own library: that takes longer than a Python takes to start.
        sys.exit(_run(sys.argv[2:]))
    own_process.claim(ends_with_command=True)
    # Modules stay: to look again and again for garbage in them takes a sixth of a small scan.
    gc.set_threshold(_START_GC_THRESHOLD)
    if _examines():
        # What is found stays, too; the trees of files, which do not, have their own collecting.
        gc.set_threshold(_GC_THRESHOLD)
        sys.unraisablehook = _on_dropped
        _import_msgspec()
        from kdoctor.cli import fast_args  # noqa: PLC0415

        code = fast_args.run(sys.argv[1:])
        if code is not None:
            _end_at_once(code)
    from kdoctor.cli.app import main as program  # noqa: PLC0415

    program()


def _import_msgspec() -> None:
    """Import msgspec without typing_extensions, of which it takes what `typing` has since 3.11.

    To import it takes longer than to examine a short file. There is no other thread yet.
    """
    modules: dict[str, object] = vars(sys)["modules"]
    if "typing_extensions" in modules:
        return
    modules["typing_extensions"] = None  # as if it were not installed
    try:
        import msgspec  # noqa: F401, PLC0415
    finally:
        del modules["typing_extensions"]


def _on_dropped(dropped: UnraisableHookArgs) -> None:
    """Let ctrl-C come again that struck where Python drops it, as a tree was taken apart."""
    import signal  # noqa: PLC0415

    from kdoctor.documents.interrupts import resend_signal_hook  # noqa: PLC0415

    resend_signal_hook(signal.SIGINT, KeyboardInterrupt)(dropped)


def _run(arguments: list[str]) -> int:
    from kdoctor.watch.command import run  # noqa: PLC0415

    try:
        return run(arguments)
    except Exception as error:
        from kdoctor.cli.exit_codes import report_error  # noqa: PLC0415

        code = report_error(error)
        if code is None:
            raise
        return code


if __name__ == "__main__":
    main()
