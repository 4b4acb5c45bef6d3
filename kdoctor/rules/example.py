"""Examples: code that a rule reports, and what its fix makes of it."""

from __future__ import annotations

from functools import cached_property
from textwrap import dedent

from msgspec import Struct
from msgspec.structs import force_setattr

from kdoctor.digests import sha256


def block(text: str) -> str:
    r"""Return code that is written as an indented block, without the indentation.

    >>> block('''
    ...     import keras
    ... ''')
    'import keras\n'

    Text that does not begin with a line break is no block, and stays as it is.
    """
    return f"{dedent(text).strip(chr(10))}\n" if text.startswith("\n") else text


class Example(Struct, frozen=True, dict=True):
    """Code that a rule reports: its test, its documentation and its proof case at once.

    ``given`` is how ``before`` and ``after`` both begin. All three may be blocks: see ``block``.

    ``after`` is what the fix makes of ``before``, None where there is no fix to apply. ``raises``
    is what ``before`` really raises on the newest Keras 3, ``"Type: text"`` (the text may be the
    beginning), None where it runs. ``unsafe``: the fix needs ``--unsafe``. ``findings`` is how
    often the rule reports here. ``on`` is the target that the example is scanned for, None for the
    newest. ``namespace`` is what is asked for with ``--namespace``, "" for nothing. ``prelude`` and
    ``check`` are run around the code when it is proven, not scanned: ``prelude`` gives what the
    excerpt takes for granted, ``check`` asserts what the result must be (of ``after``, or of
    ``before`` where there is no ``after``). ``needs`` are the packages without which the example
    cannot be run.

    The old meaning is shown with ``on_keras_2``: ``before`` is run on Keras 2 too (tf_keras under
    the names ``keras`` and ``tensorflow.keras``), where ``check`` must hold as well. ``same`` is an
    expression that must have the same value after ``before`` on Keras 2 and after ``after`` (or
    ``before``, where there is none) on Keras 3. Of a rule of severity ``change``, the check must
    fail, or the value differ, for ``before`` on Keras 3: that is the change.

    ``note`` is a sentence for readers. ``groups`` name the fixes that the example rates, where it
    does not rate all fixes of its rule.
    """

    before: str
    after: str | None = None
    raises: str | None = None
    unsafe: bool = False
    findings: int = 1
    on: str | None = None
    prelude: str = ""
    check: str = ""
    needs: tuple[str, ...] = ()
    on_keras_2: bool = False
    same: str = ""
    namespace: str = ""
    given: str = ""
    note: str = ""
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Make whole texts of the blocks."""
        given = block(self.given)
        force_setattr(self, "given", "")
        force_setattr(self, "before", given + block(self.before))
        force_setattr(self, "prelude", block(self.prelude))
        force_setattr(self, "check", block(self.check))
        if self.after is not None:
            force_setattr(self, "after", given + block(self.after))

    @property
    def error(self) -> str:
        """What ``raises`` quotes of the error, "" for nothing; what ends in a sentence goes on."""
        quoted = self.raises or ""
        return f"{quoted}…" if quoted.endswith(" ") else quoted

    @cached_property
    def id(self) -> str:
        """The key in the proof record; it changes with the code: a stale proof proves nothing."""
        parts = [self.prelude, self.before, self.after or "", self.raises or "", self.check]
        if self.on_keras_2 or self.same:
            parts += ["on Keras 2", self.same]
        # Whether the last line ends is nothing that a run depends on.
        digest = sha256("\0".join(each.rstrip("\n") for each in parts).encode()).hexdigest()
        return f"example {digest[:16]}"
