r"""The page of a rule: a Markdown file beside its module, with its documentation and examples.

    # The number of epochs is a string.

    ## What it does
    …
    ## Examples

    ### Reported

    A sentence for readers.

    ```python same="model.count"
    model.fit(x, y, epochs="3")
    ```

    ```text
    TypeError: 'str' object cannot be interpreted as an integer
    ```

    ```python fixed
    model.fit(x, y, epochs=3)
    ```

    ### Not reported
    …

A ``python`` block under "Reported" is an example. What follows up to the next one belongs to it:
``text`` is what it raises (``…`` at the end: and more), ``fixed`` what the fix makes of it;
``check`` and ``prelude`` are run around it. The options of an example are the fields of
``Example``. Under "Given" stand blocks with a name, for examples that begin with the same code
(``given=model``), or are checked by the same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from kdoctor.rules.example import Example

HEADINGS: Final = (
    "## What it does",
    "## Why it breaks",
    "## What to write instead",
    "## How we know",
)
_EXAMPLES: Final = "## Examples"
_GIVEN, _REPORTED, _NOT_REPORTED = "### Given", "### Reported", "### Not reported"
_ALSO_REPORTED: Final = "### Also reported"
_OPENS: Final = re.compile(r"(`{3,}|~{3,})(\w*)\s*(.*)")
_OPTION: Final = re.compile(r"""([\w-]+)(?:=(?:"([^"]*)"|([\w.,-]+)))?(?:\s+|$)""")
_ROLES: Final = ("fixed", "check", "prelude")


class Page(Struct, frozen=True):
    """What a rule says of itself, and its examples."""

    docs: str
    valid: tuple[str, ...]
    invalid: tuple[Example, ...]
    spellings: tuple[str, ...] = ()  # what is reported, too, however oddly it is written


@cache
def page_of(module: str) -> Page:
    """Return the page of a module that is imported: the file beside it, or what it holds itself.

    A rule in a single file has its documentation as its docstring, and lists ``VALID`` and
    ``INVALID``.

    Raises:
        ValueError: there is a mistake in it.
    """
    found = sys.modules[module]
    file = Path(found.__file__ or "").with_suffix(".md")
    if file.is_file():
        return parsed(file.read_bytes().decode(), str(file))
    docs = (found.__doc__ or "").strip()
    _see_headings(docs.split("\n"), found.__file__ or module)
    return Page(docs, tuple(found.VALID), tuple(found.INVALID))


def parsed(text: str, file: str, headings: Collection[str] = HEADINGS) -> Page:
    """Return the page that a text is; its documentation is to have these headings, if any.

    Raises:
        ValueError: there is a mistake in it; ``file`` and the line are named.
    """
    page = _Reader(text, file).page()
    if headings:
        _see_headings(page.docs.split("\n"), file)
    return page


class _Block(Struct):
    """A fenced block: ``note`` is the paragraph above it."""

    line: int
    section: str
    language: str
    info: str
    text: str
    note: str


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.file = file
        lines = text.split("\n")
        self.end = _end_of_docs(lines)
        docs = lines[: self.end]
        if not docs[0].startswith("# "):
            raise self.mistake(0, "a page begins with `# ` and what the rule is about")
        self.docs = "\n".join([docs[0].removeprefix("# "), *docs[1:]]).strip()
        self.lines = lines
        self.named: dict[str, str] = {}
        self.valid: list[str] = []
        self.invalid: list[dict[str, Any]] = []
        self.spellings: list[str] = []

    def mistake(self, row: int, sentence: str) -> ValueError:
        return ValueError(f"{self.file}:{row + 1}: {sentence}")

    def page(self) -> Page:
        readers: Mapping[str, Callable[[_Block], None]] = {
            _GIVEN: self.name,
            _REPORTED: self.report,
            _ALSO_REPORTED: self.spell,
            _NOT_REPORTED: self.leave_alone,
        }
        for block in self.blocks():
            if block.section not in readers:
                known = ", ".join(f"`{each}`" for each in readers)
                raise self.mistake(block.line, f"examples stand under one of {known}")
            readers[block.section](block)
        for fields in self.invalid:
            given = fields.pop("given", "")
            fields |= {key: given + fields[key] for key in ("before", "after") if key in fields}
        examples = tuple(Example(**each) for each in self.invalid)
        return Page(self.docs, tuple(self.valid), examples, tuple(self.spellings))

    def blocks(self) -> Iterator[_Block]:
        """Yield the blocks below the documentation."""
        section, note = "", list[str]()
        rows = iter(range(self.end + 1, len(self.lines)))
        for row in rows:
            line = self.lines[row]
            if line.startswith("#"):
                section, note = line.rstrip(), []
            elif opens := _OPENS.fullmatch(line):
                code = []
                for inside in rows:
                    if _closes(opens[1], self.lines[inside]):
                        break
                    code.append(f"{self.lines[inside]}\n")
                else:
                    raise self.mistake(row, "this block has no end")
                yield _Block(row, section, opens[2], opens[3], "".join(code), " ".join(note))
                note = []
            elif line.strip():
                note.append(line.strip())

    def name(self, block: _Block) -> None:
        options = self.options(block)
        name = options.pop("name", None)
        if name is None or options:
            raise self.mistake(block.line, f"a block under `{_GIVEN}` has one option: `name=…`")
        if name in self.named:
            raise self.mistake(block.line, f"there is a block {name!r} already")
        self.named[name] = block.text

    def leave_alone(self, block: _Block) -> None:
        self.valid.append(self.code(block))

    def spell(self, block: _Block) -> None:
        self.spellings.append(self.code(block))

    def code(self, block: _Block) -> str:
        options = self.options(block)
        given: str = options.pop("given", "")
        if options:
            raise self.mistake(block.line, f"no option but `given=…` under `{block.section}`")
        return given + block.text

    def report(self, block: _Block) -> None:
        if block.language == "text":
            self.add(block, "raises", block.text.removesuffix("\n").removesuffix("…"))
            return
        options = self.options(block)
        role = next((each for each in _ROLES if options.get(each) is True), None)
        if role is None:
            options["note"] = block.note
            self.invalid.append({"before": block.text, **options})
            return
        del options[role]
        if role == "fixed" and options.pop("unsafe", False):
            self.add(block, "unsafe", value=True)
        if options:
            raise self.mistake(block.line, f"`{next(iter(options))}` belongs to the example above")
        self.add(block, "after" if role == "fixed" else role, block.text)

    def add(self, block: _Block, field: str, value: object) -> None:
        if not self.invalid:
            raise self.mistake(block.line, "there is no example above to which this belongs")
        if field in self.invalid[-1]:
            raise self.mistake(block.line, f"the example above has its `{field}` already")
        self.invalid[-1][field] = value

    def options(self, block: _Block) -> dict[str, Any]:
        """Return the options of a block, as the fields of an example."""
        if block.language != "python":
            raise self.mistake(block.line, "examples are `python`, and what they raise is `text`")
        found: dict[str, Any] = {}
        place = 0
        while place < len(block.info):
            option = _OPTION.match(block.info, place)
            if option is None:
                raise self.mistake(block.line, f"no options: `{block.info[place:]}`")
            field, value = self.option(block, *option.groups())
            found[field] = value
            place = option.end()
        return found

    def option(
        self, block: _Block, key: str, quoted: str | None, bare: str | None
    ) -> tuple[str, Any]:
        """Return one option: a word, a number, a text in quotes, or the name of a block."""
        match key:
            case "fixed" | "check" | "prelude" | "unsafe" if quoted is bare is None:
                return key, True
            case "keras-2" if quoted is bare is None:
                return "on_keras_2", True
            case "findings" if bare and bare.isdecimal():
                return key, int(bare)
            case "name" if bare:
                return key, bare
            case "group" if bare:
                return "groups", tuple(bare.split(","))
            case "on" | "namespace" if quoted:
                return key, quoted
            case "needs" if quoted:
                return key, tuple(quoted.split(", "))
            case "same" | "check" | "prelude" if quoted:
                return key, quoted
            case "given" | "same" | "check" | "prelude" if bare:
                text = self.named.get(bare)
                if text is None:
                    raise self.mistake(block.line, f"there is no block {bare!r} above")
                return key, text.removesuffix("\n") if key == "same" else text
        raise self.mistake(block.line, f"no such option: `{key}`, as it is written")


def _end_of_docs(lines: list[str]) -> int:
    """Return the row of the heading below which the examples stand."""
    fence = ""
    for row, line in enumerate(lines):
        if fence:
            fence = "" if _closes(fence, line) else fence
        elif opens := _OPENS.fullmatch(line):
            fence = opens[1]
        elif line.rstrip() == _EXAMPLES:
            return row
    return len(lines)


def _closes(fence: str, line: str) -> bool:
    return line.startswith(fence) and not line.rstrip().strip(fence[0])


def _see_headings(docs: list[str], file: str) -> None:
    found = [line for line in docs if line.startswith("## ")]
    if found != list(HEADINGS):
        missing = next((each for each in HEADINGS if each not in found), "another order")
        raise ValueError(f"{file}: its documentation lacks `{missing}`")
