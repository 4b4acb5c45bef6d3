"""Lay out one statement: break long lines, keep alignment.

Only white space inside brackets changes, and a comma may come behind the last of several items.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_WORDS = ("if", "else", "for", "or", "and")  # from the loosest
_MAX_BREAKS = 40  # in one statement
_MAX_COMPARED_TOKENS = 2_000  # tokens
_BLANK = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def wrapped(statement: str, limit: int, unit: str = "    ") -> str:
    """Return a statement with its lines at most ``limit`` long, as far as brackets allow that.

    >>> print(wrapped("x = first(a, b) + second(c, d)", 26))
    x = first(a, b) + second(
        c, d
    )
    """
    lines, stuck = statement.split("\n"), set[str]()
    for _ in range(_MAX_BREAKS):
        number = next(
            (n for n, line in enumerate(lines) if len(line) > limit and line not in stuck), None
        )
        if number is None:
            break
        broken = _broken("\n".join(lines), number, limit, unit)
        if broken is None:
            stuck.add(lines[number])
        else:
            lines = broken.split("\n")
    return "\n".join(lines)


def realigned(old: str, new: str) -> str:
    r"""Return a statement with its lines below an opening bracket as they stood below the old one.

    >>> print(realigned("K.sum(x,\n      axis=0)", "ops.sum(x,\n      axis=0)"))
    ops.sum(x,
            axis=0)
    """
    before, after = Statement.of(old), Statement.of(new)
    if before is None or after is None:
        return new
    olds, news = before.brackets_of_lines(), after.brackets_of_lines()
    lines, below, moved = new.split("\n"), old.split("\n"), {0: 0}
    for number, origin in _origins(before, after).items():
        bracket, here = olds[origin], news[number]
        if bracket is None or here is None:
            continue
        indent, by = _indent(lines[number]), moved.get(here.line, 0)
        if before.aligns(bracket) and _indent(below[origin]) == bracket.column + 1:
            wanted = here.column + by + 1
        else:  # it hangs below the line that its bracket stands in, and goes with that
            wanted = indent + by
        moved[number] = wanted - indent
        lines[number] = " " * wanted + lines[number].lstrip(" ")
    return "\n".join(lines)


def rejoined(old: str, new: str, limit: int) -> str:
    r"""Return a statement with brackets closed on their line that were broken for its length alone.

    >>> print(rejoined("f(\n    one, two\n)", "f(\n    one\n)", 10))
    f(one)
    """
    before, after = Statement.of(old), Statement.of(new)
    if before is None or after is None:
        return new
    lines, olds, origins = new.split("\n"), old.split("\n"), _origins(before, after)
    around = before.brackets_of_lines()
    for pair in sorted(after.pairs, key=lambda each: -each.line):
        number = pair.line + 1
        origin = origins.get(number)
        if origin is None or not after.is_hugged(pair) or olds[origin] == lines[number]:
            continue
        was = around[origin]
        if was is None or not before.is_hugged(was):
            continue
        if len(joined(olds, origin)) > limit >= len(joined(lines, number)):
            lines[number - 1 : number + 2] = [joined(lines, number)]
    return "\n".join(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def joined(lines: Sequence[str], number: int) -> str:
    """Return a line with the two around it as one."""
    return f"{lines[number - 1]}{lines[number].strip()}{lines[number + 1].lstrip()}"


def _origins(before: Statement, after: Statement) -> dict[int, int]:
    """Return which line each line of a changed statement was before; none for what is new."""
    olds, news = before.first_of_lines(), after.first_of_lines()
    if len(olds) == len(news):
        pairs = zip(sorted(news.values()), sorted(olds.values()), strict=True)
        return {line: origin for line, origin in pairs if line}
    if max(len(before.tokens), len(after.tokens)) > _MAX_COMPARED_TOKENS:
        return {}
    one, other = ([token.string for token in each.tokens] for each in (before, after))
    matching = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    same = {b + n: a + n for a, b, size in matching for n in range(size)}
    return {
        line: olds[same[token]]
        for token, line in news.items()
        if line and token in same and same[token] in olds
    }


class _Pair(Struct, frozen=True):
    """Two brackets: tokens by their number. ``end`` is None where they close on no line of it."""

    start: int
    end: int
    depth: int
    line: int
    column: int


class Statement(Struct, frozen=True):
    """The tokens of one statement, with lines that count from 0."""

    text: str
    tokens: Sequence[tokenize.TokenInfo]
    pairs: Sequence[_Pair]

    @classmethod
    def of(cls, text: str) -> Statement | None:
        """Return the tokens of a text, None where some go over several lines."""
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text + "\n").readline))
        except (tokenize.TokenError, SyntaxError, IndentationError):
            return None
        tokens = [each for each in tokens if each.type not in _BLANK]
        if any(each.start[0] != each.end[0] for each in tokens) or "\\\n" in text:
            return None
        pairs, open_ones = list[_Pair](), list[int]()
        for number, token in enumerate(tokens):
            if token.type != tokenize.OP:
                continue
            if token.string in _OPENING:
                open_ones.append(number)
            elif token.string in _CLOSING and open_ones:
                start = open_ones.pop()
                row, column = tokens[start].start
                pairs.append(_Pair(start, number, len(open_ones), row - 1, column))
        return cls(text, tokens, sorted(pairs, key=lambda pair: pair.start))

    def brackets_of_lines(self) -> list[_Pair | None]:
        """Return the innermost brackets that are open where each line starts."""
        found, open_ones, number = list[_Pair | None](), list[_Pair](), 0
        for line in range(self.text.count("\n") + 1):
            while number < len(self.pairs) and self.pairs[number].line < line:
                open_ones.append(self.pairs[number])
                number += 1
            open_ones = [each for each in open_ones if self.last_line(each) >= line]
            found.append(open_ones[-1] if open_ones else None)
        return found

    def last_line(self, pair: _Pair) -> int:
        """Return the line that brackets close on."""
        return self.tokens[pair.end].start[0] - 1

    def aligns(self, pair: _Pair) -> bool:
        """Say whether something stands behind an opening bracket, for lines to stand below."""
        return self.tokens[pair.start + 1].start[0] - 1 == pair.line

    def first_of_lines(self) -> dict[int, int]:
        """Return the line that each token starts which starts one, by the token's number."""
        found, last = dict[int, int](), -1
        for number, token in enumerate(self.tokens):
            if token.start[0] - 1 > last:
                last = token.start[0] - 1
                found[number] = last
        return found

    def indent(self, line: int) -> int:
        """Return how far a line is indented."""
        return _indent(self.text.split("\n")[line])

    def is_all_of(self, pair: _Pair, line: int) -> bool:
        """Say whether a line is all that stands between brackets that stand on other lines."""
        first, last = self.tokens[pair.start + 1], self.tokens[pair.end - 1]
        return (
            first.start[0] - 1 == line == last.start[0] - 1
            and pair.line != line != self.tokens[pair.end].start[0] - 1
        )

    def is_hugged(self, pair: _Pair) -> bool:
        """Say whether brackets stand on the lines around the one that holds all between them."""
        ends = self.tokens[pair.end].start[0] - 1 == pair.line + 2
        last = self.tokens[pair.end - 1].string
        return (
            ends
            and self.is_all_of(pair, pair.line + 1)
            and last != ","
            and not (
                self.is_commented(pair) or self.tokens[pair.start + 1].type == tokenize.COMMENT
            )
        )

    def words(self, line: int) -> list[tuple[int, str]]:
        """Return the columns of the words of a line that it may be broken before."""
        return [
            (token.start[1], token.string)
            for token in self.tokens
            if token.start[0] - 1 == line and token.string in _WORDS
        ]

    def depths(self, line: int) -> dict[int, int]:
        """Return how many brackets are open at each token of a line, by its column."""
        found, depth = dict[int, int](), 0
        for token in self.tokens:
            depth -= token.string in _CLOSING
            if token.start[0] - 1 == line:
                found[token.start[1]] = depth
            depth += token.string in _OPENING
        return found

    def is_commented(self, pair: _Pair) -> bool:
        """Say whether a comment stands between two brackets."""
        return any(each.type == tokenize.COMMENT for each in self.tokens[pair.start : pair.end])

    def items(self, pair: _Pair) -> list[tuple[int, int]]:
        """Return the columns of what commas part between two brackets of one line."""
        found, start = [], self.tokens[pair.start].end[1]
        for comma in self.commas(pair):
            found.append((start, comma.start[1]))
            start = comma.end[1]
        end = self.tokens[pair.end].start[1]
        line = self.text.split("\n")[pair.line]
        return [*found, (start, end)] if line[start:end].strip() else found

    def commas(self, pair: _Pair) -> Iterator[tokenize.TokenInfo]:
        """Yield what parts the items between two brackets: no comma of a `lambda`'s parameters."""
        depth = lambdas = 0
        for token in self.tokens[pair.start + 1 : pair.end]:
            if token.string in _OPENING:
                depth += 1
            elif token.string in _CLOSING:
                depth -= 1
            elif depth:
                continue
            elif token.string == "lambda":
                lambdas += 1
            elif token.string == ":" and lambdas:
                lambdas -= 1
            elif token.string == "," and not lambdas:
                yield token

    def allows_trailing_comma(self, pair: _Pair) -> bool:
        """Say whether a comma behind the last of several items changes nothing."""
        before = self.tokens[pair.start - 1] if pair.start else None
        opening = self.tokens[pair.start].string
        is_name = before is not None and (
            (before.type == tokenize.NAME and not keyword.iskeyword(before.string))
            or before.string in _CLOSING
        )
        if opening == "[" and is_name:
            return False  # an index
        return not any(
            each.string == "for" or (each.string in ("*", "**") and self._is_star(number, pair))
            for number, each in enumerate(self.tokens[pair.start + 1 : pair.end], pair.start + 1)
        )

    def _is_star(self, number: int, pair: _Pair) -> bool:
        return number == pair.start + 1 or self.tokens[number - 1].string == ","


def _broken(text: str, number: int, limit: int, unit: str) -> str | None:
    """Return a statement with one line broken once, None where that cannot be."""
    statement = Statement.of(text)
    if statement is None:
        return None
    return (
        _at_a_comma(statement, number, limit)
        or _at_a_word(statement, number)
        or _at_brackets(statement, number, limit, unit)
    )


def _at_a_comma(statement: Statement, number: int, limit: int) -> str | None:
    """Break a line of a list that goes over several lines already, as far behind as it fits."""
    lines = statement.text.split("\n")
    around = [
        pair
        for pair in statement.pairs
        if pair.line <= number <= statement.tokens[pair.end].start[0] - 1
        and pair.line != statement.tokens[pair.end].start[0] - 1
    ]
    pair = max(around, key=lambda each: each.depth, default=None)
    if pair is None:
        return None
    commas = [each.end[1] for each in statement.commas(pair) if each.start[0] - 1 == number]
    if statement.is_all_of(pair, number):
        return _one_a_line(statement, pair, number, commas)
    fitting = [each for each in commas if each <= limit and lines[number][each:].strip()]
    if not fitting or lines[number][fitting[-1] :].lstrip().startswith("#"):
        return None
    first = statement.tokens[pair.start + 1].start
    indent = first[1] if first[0] - 1 == pair.line else statement.indent(first[0] - 1)
    head, rest = lines[number][: fitting[-1]], lines[number][fitting[-1] :].lstrip()
    lines[number : number + 1] = [head, " " * indent + rest]
    return "\n".join(lines)


def _one_a_line(
    statement: Statement, pair: _Pair, number: int, commas: Sequence[int]
) -> str | None:
    """Give each item a line, where all stood on one between the lines of their brackets."""
    lines = statement.text.split("\n")
    line = lines[number]
    ends = [*commas, len(line)]
    items = [line[start:end].strip() for start, end in zip([0, *commas], ends, strict=True)]
    items = [each for each in items if each]
    if len(items) < 2 or statement.is_commented(pair):
        return None
    if not items[-1].endswith(",") and statement.allows_trailing_comma(pair):
        items[-1] += ","
    indent = " " * statement.indent(number)
    lines[number : number + 1] = [indent + each for each in items]
    return "\n".join(lines)


def _at_brackets(statement: Statement, number: int, limit: int, unit: str) -> str | None:
    """Put what stands between brackets on lines of its own, as Black does: the last that help."""
    lines = statement.text.split("\n")
    line, indent = lines[number], " " * statement.indent(number)
    whole = [
        pair
        for pair in statement.pairs
        if pair.line == number == statement.tokens[pair.end].start[0] - 1
        and pair.end > pair.start + 1
        and not statement.is_commented(pair)
    ]
    if not whole:
        return None
    depth = min(pair.depth for pair in whole)

    def is_short(pair: _Pair) -> bool:
        """Say whether to put it on a line of its own makes more lines than room: `[()]`."""
        start, end = statement.tokens[pair.start].end[1], statement.tokens[pair.end].start[1]
        return len(line[start:end].strip()) <= len(unit)

    for pair in sorted(whole, key=lambda each: (is_short(each), each.depth, -each.start)):
        if pair.depth > depth + 1:
            continue
        opened = line[: statement.tokens[pair.start].end[1]]
        closed = indent + line[statement.tokens[pair.end].start[1] :]
        if len(opened) > limit or (len(closed) > limit and "#" not in closed):
            continue
        items = [line[start:end].strip() for start, end in statement.items(pair)]
        inner = indent + unit
        between = line[statement.tokens[pair.start].end[1] : statement.tokens[pair.end].start[1]]
        body = [inner + between.strip()]
        if len(body[0]) > limit and len(items) > 1:
            body = [f"{inner}{each}," for each in items]
            if not statement.allows_trailing_comma(pair) and not between.rstrip().endswith(","):
                body[-1] = body[-1].removesuffix(",")
        return "\n".join([*lines[:number], opened, *body, closed, *lines[number + 1 :]])
    return None


def _at_a_word(statement: Statement, number: int) -> str | None:
    """Break a line inside brackets before the loosest words in it, such as `if` and `else`."""
    if not any(
        pair.line < number < statement.tokens[pair.end].start[0] for pair in statement.pairs
    ):
        return None
    lines = statement.text.split("\n")
    line, indent = lines[number], statement.indent(number)
    depths = statement.depths(number)
    words = [(depths[column], word, column) for column, word in statement.words(number)]
    # What stands in brackets of its own keeps together as long as these can be broken.
    places = [each for each in words if each[2] > indent and each[0] == min(depths.values())]
    if not places:
        return None
    loosest = min(places, key=lambda each: (each[0], _WORDS.index(each[1])))
    alike = ("if", "else", "for") if loosest[1] in ("if", "else", "for") else loosest[1:2]
    columns = [column for depth, word, column in places if depth == loosest[0] and word in alike]
    starts = [0, *columns]
    parts = [line[start:end].strip() for start, end in zip(starts, [*columns, None], strict=True)]
    lines[number : number + 1] = [" " * indent + each for each in parts]
    return "\n".join(lines)


def statements(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each statement, or the head of a block, starts and ends; nothing if unreadable.

    Comments above a statement are none of it, one behind it is.
    """
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    start: int | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE and start is not None:
                yield start, starts[token.start[0] - 1] + token.start[1]
                start = None
            elif start is None and token.type not in (*_BLANK, tokenize.COMMENT):
                start = starts[token.start[0] - 1] + token.start[1]
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return


def has_same_tokens(one: str, other: str) -> bool:
    """Say whether two texts differ only in white space and a trailing comma."""
    first, second = _words(one), _words(other)
    return first is not None and first == second


def _words(text: str) -> list[str] | None:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text + "\n").readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return None
    words = [each.string for each in tokens if each.type not in (*_BLANK[:1], *_BLANK[2:])]
    behind = [*words[1:], ""]
    return [
        word
        for word, following in zip(words, behind, strict=True)
        if not (word == "," and following in _CLOSING)
    ]
