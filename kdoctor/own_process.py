"""Whether this process is kdoctor's own: no other code's that imports kdoctor."""

from __future__ import annotations

_claimed: list[bool] = []  # of each claim, whether the process ends with the command


def claim(*, ends_with_command: bool = False) -> None:
    """Say that no code but kdoctor's runs in this process: programs call it as they start."""
    _claimed.append(ends_with_command)


def is_claimed() -> bool:
    """Say whether no code but kdoctor's runs in this process."""
    return bool(_claimed)


def ignore_interrupts() -> None:
    """Let ctrl-C change nothing any more, where all is done and the process only has to end."""
    if any(_claimed):
        import signal  # noqa: PLC0415

        signal.signal(signal.SIGINT, signal.SIG_IGN)
