"""What an expression is as a text, as far as the code tells: its end, of each text that it may be.

`f"models/{NAME}"`, `"net_%d" % epoch`, `"{}/{}".format(folder, name)`, `os.path.join(folder, name)`
and `Path(folder) / name` are all texts in a row. How such a path ends, its last parts tell.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import libcst as cst
from msgspec import Struct
from msgspec.structs import replace

from kdoctor.analysis.calls import is_builtin
from kdoctor.analysis.dataflow.text_values import is_number, values_of
from kdoctor.analysis.paths import AS_GIVEN, FROM_THE_ROOT, JOINS, JOINS_OF_WINDOWS, PATHS
from kdoctor.lazy_regex import pattern
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

NUMBER: Final = "\0"
"""Stands for a number as it is printed: digits, maybe with a sign, a point or a power of ten."""
_BETWEEN = "\1"  # stands between the parts of a path
_MAX_TEXTS: Final = 8  # that one expression may be
_MAX_TEXT_LENGTH: Final = 300  # characters that are known of one of them
_JOINED = JOINS | JOINS_OF_WINDOWS | PATHS
_WRAPPERS = FROM_THE_ROOT | AS_GIVEN | PATHS | {"os.fspath"}
_TIDIED = PATHS | FROM_THE_ROOT | {"os.path.normpath"}
_NEEDLESS = pattern(r"(?:/\.?)+$")  # at the end of a path
_METHODS_OF_PATHS = frozenset({"as_posix", "absolute", "expanduser"})
_OF_A_NUMBER = pattern(r"[dfFeEgG]$")  # not `x`, which writes letters
_PERCENT = pattern(r"%(?:\((\w+)\))?([-#0 +]*[\d*]*(?:\.[\d*]+)?[hlL]?)([diouxXeEfFgGcrsa%])")
_TIME = pattern(r"%[-#]?([A-Za-z%])")
_DIGITS = frozenset("YmdyHIMSfjUWVGuwsF")  # of `strftime`

_Node = cst.SimpleString | cst.FormattedString | cst.FormattedStringText


class Text(Struct, frozen=True):
    """The known end of a text; ``whole`` where it is all of it.

    Its last characters, ``own`` of them, stand in the literal ``node`` up to the offset ``end``:
    None where they come from elsewhere. More can be written behind it at ``behind``, None where
    there is no literal's end.
    """

    text: str
    whole: bool = True
    node: _Node | None = None
    end: int = -1
    behind: int | None = None
    own: int = 0


_UNKNOWN: Final = (Text("", whole=False),)
_EMPTY: Final = (Text(""),)
_NUMBER: Final = (Text(NUMBER),)
Texts = Sequence[Text]
Part = Callable[[], Texts]


def texts_of(module: Module, node: cst.BaseExpression) -> Texts:
    """Return all texts that an expression may be; of one that is not known, an unknown one."""
    return _Reader(module, _read_before(module)).read(node)


@once
def _read_before(_: Module) -> dict[cst.BaseExpression, Texts]:
    return {}


class _Reader:
    """Reads the expressions of one module, each once."""

    def __init__(self, module: Module, known: dict[cst.BaseExpression, Texts]) -> None:
        self._module = module
        self._known = known

    def read(self, node: cst.BaseExpression) -> Texts:
        """Return all texts that an expression may be."""
        if node not in self._known:
            self._known[node] = _UNKNOWN  # what is made of itself
            values = values_of(self._module, node)
            found = [each for value in values for each in self._value(value, node)]
            self._known[node] = _bounded(found)
        return self._known[node]

    def _value(self, value: cst.BaseExpression, node: cst.BaseExpression) -> Texts:
        return self._one(value) if value is node else self.read(value)

    def _one(self, node: cst.BaseExpression) -> Texts:
        match node:
            case cst.SimpleString():
                return self._literal(node)
            case cst.ConcatenatedString():
                return self._row(node.left, node.right)
            case cst.FormattedString():
                return self._formatted(node)
            case cst.BinaryOperation(operator=cst.Add()) if not is_number(self._module, node):
                return self._row(node.left, node.right)
            case cst.BinaryOperation(operator=cst.Divide()):
                return _as_a_path(self._below((node.left, node.right)))
            case cst.BinaryOperation(operator=cst.Modulo()):
                return self._percent(node)
            case cst.Call():
                return self._called(node)
        return _UNKNOWN

    # -- texts in a row

    def _row(self, *nodes: cst.BaseExpression | None) -> Texts:
        return _in_a_row([self._part(each) for each in nodes])

    def _joined(self, nodes: Sequence[cst.BaseExpression | None], between: str) -> Texts:
        """Return the parts of a path, or of a list, with what stands between them."""
        parts: list[Part] = []
        for each in nodes:
            parts += [_constant(between), self._part(each)]
        return _in_a_row(parts[1:])

    def _below(self, nodes: Sequence[cst.BaseExpression | None]) -> Texts:
        """Return what ``os.path.join`` makes of them: the last absolute one counts."""
        return [_below(each) for each in self._joined(nodes, _BETWEEN)]

    def _part(self, node: cst.BaseExpression | None) -> Part:
        return lambda: _UNKNOWN if node is None else self.read(node)

    # -- literals and templates

    def _literal(self, node: cst.SimpleString) -> Texts:
        value = literal(node)
        if not isinstance(value, str) or "\\" in node.raw_value:
            return _UNKNOWN
        end = self._module.span(node).end - len(node.quote)
        return (Text(value, node=node, end=end, behind=end, own=len(value)),)

    def _formatted(self, node: cst.FormattedString) -> Texts:
        parts: list[Part] = []
        for each in node.parts:
            match each:
                case cst.FormattedStringText(value=text) if "\\" not in text:
                    parts.append(self._of_template(each, text))
                case cst.FormattedStringExpression(equal=None):
                    spec = _spec(each)
                    parts.append(self._filled(each.expression, spec, each.conversion or ""))
                case _:
                    parts.append(lambda: _UNKNOWN)
        end = self._module.span(node).end - len(node.quote)
        return _ending_at(_in_a_row(parts), end)

    def _of_template(self, node: cst.FormattedStringText, text: str) -> Part:
        plain = text.replace("{{", "{").replace("}}", "}")
        end = self._module.span(node).end
        own = len(text) - 1 - max(text.rfind("{"), text.rfind("}"))  # two braces stand for one
        return lambda: (Text(plain, node=node, end=end, behind=end, own=own),)

    def _filled(self, value: cst.BaseExpression | None, spec: str | None, conversion: str) -> Part:
        """Return what a field is filled with. Its literals stand elsewhere, and serve others."""
        if conversion not in {"", "s"} or spec is None:
            return lambda: _UNKNOWN
        if "%" in spec:
            return lambda: _by_the_clock(spec)
        if _OF_A_NUMBER.search(spec):
            return lambda: _NUMBER
        if spec or value is None:
            return lambda: _UNKNOWN
        if is_number(self._module, value):
            return lambda: _NUMBER
        return lambda: [Text(each.text, each.whole) for each in self.read(value)]

    def _template(self, node: cst.BaseExpression) -> tuple[cst.SimpleString, str] | None:
        values = values_of(self._module, node)
        if len(values) != 1 or not isinstance(values[0], cst.SimpleString):
            return None
        text = literal(values[0])
        return (values[0], text) if isinstance(text, str) and "\\" not in text else None

    def _parts_of(self, node: cst.SimpleString, parts: Sequence[str | Part]) -> Texts:
        """Return what a template gives of which fields are filled in."""
        end = self._module.span(node).end - len(node.quote)
        row = [_constant(each) if isinstance(each, str) else each for each in parts]
        if parts and isinstance(parts[-1], str) and parts[-1]:
            last = Text(parts[-1], node=node, end=end, behind=end, own=len(parts[-1]))
            row[-1] = partial(_same, (last,))
        return _ending_at(_in_a_row(row), end)

    def _percent(self, node: cst.BinaryOperation) -> Texts:
        template = self._template(node.left)
        if template is None:
            return _UNKNOWN
        given: list[cst.BaseExpression | None] = [node.right]
        if isinstance(node.right, cst.Tuple):
            elements = node.right.elements
            given = [each.value if isinstance(each, cst.Element) else None for each in elements]
        parts: list[str | Part] = []
        at = count = 0
        for found in _PERCENT.finditer(template[1]):
            parts.append(template[1][at : found.start()])
            at = found.end()
            key, flags, kind = found.groups()
            if kind == "%":
                parts.append("%")
                continue
            value = given[count] if count < len(given) and key is None else None
            count += 1 + flags.count("*")
            spec = "d" if kind in "diueEfFgG" else None if kind != "s" or flags else ""
            parts.append(self._filled(value, spec, ""))
        return self._parts_of(template[0], [*parts, template[1][at:]])

    def _format(self, call: cst.Call, left: cst.BaseExpression) -> Texts:
        template = self._template(left)
        if template is None:
            return _UNKNOWN
        try:
            fields = list(string.Formatter().parse(template[1]))
        except ValueError:
            return _UNKNOWN
        is_plain = not any(each.star for each in call.args)
        by_place = [each.value for each in call.args if each.keyword is None]
        given = {str(place): value for place, value in enumerate(by_place)}
        given |= {each.keyword.value: each.value for each in call.args if each.keyword is not None}
        parts: list[str | Part] = []
        count = 0
        for text, field, spec, conversion in fields:
            parts.append(text)
            if field is None:
                continue
            value = given.get(field or str(count)) if is_plain else None
            count += not field
            parts.append(
                self._filled(value, None if "{" in (spec or "") else spec, conversion or "")
            )
        return self._parts_of(template[0], parts)

    def _strftime(self, template: cst.BaseExpression) -> Texts:
        found = self._template(template)
        if found is None:
            return _UNKNOWN
        texts = _by_the_clock(found[1])
        end = self._module.span(found[0]).end - len(found[0].quote)
        return _ending_at(texts, end)

    # -- calls

    def _called(self, call: cst.Call) -> Texts:
        given = [None if each.star or each.keyword else each.value for each in call.args]
        name, function = self._module.qualified(call.func), call.func
        is_str = (
            isinstance(function, cst.Name)
            and function.value == "str"
            and is_builtin(self._module, function)
        )
        match given:
            case [cst.BaseExpression() as one] if is_str or name in _WRAPPERS:
                found = _NUMBER if is_number(self._module, one) else self.read(one)
                return found if is_str or name not in _TIDIED else _as_a_path(found)
            case [*_, cst.BaseExpression()] if name in _JOINED:
                if name in JOINS_OF_WINDOWS:
                    return self._joined(given, "\\")
                return _as_a_path(self._below(given)) if name in PATHS else self._below(given)
            case [cst.BaseExpression() as template, *_] if name == "time.strftime":
                return self._strftime(template)
        if isinstance(function, cst.Attribute):
            return self._method(call, function, given)
        return _UNKNOWN

    def _method(
        self, call: cst.Call, method: cst.Attribute, given: Sequence[cst.BaseExpression | None]
    ) -> Texts:
        match method.attr.value, given:
            case "format", _:
                return self._format(call, method.value)
            case "strftime", [cst.BaseExpression() as template]:
                return self._strftime(template)
            case "joinpath", [*_, cst.BaseExpression()]:
                return _as_a_path(self._below((method.value, *given)))
            case "with_suffix", [cst.BaseExpression() as suffix]:
                return self._row(None, suffix)
            case "with_name", [cst.BaseExpression() as name]:
                return self._joined((None, name), "/")
            case "join", [cst.List() | cst.Tuple() as items] if items.elements:
                between = literal(method.value)
                elements = items.elements
                plain = [each.value if isinstance(each, cst.Element) else None for each in elements]
                return self._joined(plain, between) if isinstance(between, str) else _UNKNOWN
            case leaf, [] if leaf in _METHODS_OF_PATHS:
                return self.read(method.value)
        return _UNKNOWN


def _same(texts: Texts) -> Texts:
    return texts


def _constant(text: str) -> Part:
    return partial(_same, (Text(text),))


def _in_a_row(parts: Sequence[Part]) -> Texts:
    """Return what several texts are together. Those in front of what is not known do not count."""
    found: Texts = _EMPTY
    for part in reversed(parts):
        if not any(each.whole for each in found):
            break
        found = _bounded([
            _together(left, right)
            for right in found
            for left in (part() if right.whole else _EMPTY)
        ])  # fmt: skip
    return found


def _together(left: Text, right: Text) -> Text:
    if not right.whole:
        return right
    if not right.text and right.node is None:
        return left
    text = left.text + right.text
    is_long = len(text) > _MAX_TEXT_LENGTH
    whole = left.whole and not is_long
    return Text(text[-_MAX_TEXT_LENGTH:], whole, right.node, right.end, right.behind, right.own)


def _bounded(found: Texts) -> Texts:
    unlike = list(dict.fromkeys(found))
    return unlike if 0 < len(unlike) <= _MAX_TEXTS else _UNKNOWN


def _ending_at(texts: Texts, end: int) -> Texts:
    """Let more be written behind texts that a template makes, at its end."""
    return [replace(each, behind=end) for each in texts]


def _below(found: Text) -> Text:
    path, *names = found.text.split(_BETWEEN)
    whole = found.whole
    for each in names:
        if each.startswith("/"):
            path, whole = each, True
        elif path.endswith("/") or (whole and not path):
            path += each
        else:
            path += f"/{each}"
    return replace(found, text=path, whole=whole)


def _as_a_path(texts: Texts) -> Texts:
    """Return what ``pathlib`` makes of texts: `a/`, `a/.` and `a` are the same to it."""
    tidied = [(each, _NEEDLESS.sub("", each.text)) for each in texts]
    return [
        each if text == each.text or (each.whole and not text) else Text(text, each.whole)
        for each, text in tidied
    ]


def _spec(part: cst.FormattedStringExpression) -> str | None:
    """Return the format of a field, None where that is computed."""
    if part.format_spec is None:
        return ""
    texts = [each.value for each in part.format_spec if isinstance(each, cst.FormattedStringText)]
    return "".join(texts) if len(texts) == len(part.format_spec) else None


def _by_the_clock(spec: str) -> Texts:
    """Return what a format of times gives."""
    parts: list[Part] = []
    at = 0
    for found in _TIME.finditer(spec):
        between = spec[at : found.start()]
        is_number = found[1] in _DIGITS
        parts += [_constant(between), partial(_same, _NUMBER if is_number else _UNKNOWN)]
        at = found.end()
    rest = spec[at:]
    return _in_a_row([*parts, _constant(rest)])
