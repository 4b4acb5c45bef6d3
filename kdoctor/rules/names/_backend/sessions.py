"""The statements by which Keras 2 programs let the GPU's memory grow, as one group."""

from __future__ import annotations

import libcst as cst

from kdoctor.model import Applicability, Edit, Fix, Span
from kdoctor.syntax import Module
from kdoctor.syntax.walk import descendants

_CONFIGS = ("tensorflow.ConfigProto", "tensorflow.compat.v1.ConfigProto")
_SESSIONS = ("tensorflow.Session", "tensorflow.compat.v1.Session")
_TOO_LATE = "it must run before TensorFlow has used a GPU; a session did that when it was made"


def memory_growth(module: Module, call: cst.Call) -> Fix | None:
    """Return the fix of ``K.set_session(session)`` where the session only lets memory grow.

    That is the group of ``config = tf.ConfigProto()``, ``config.gpu_options.allow_growth = True``,
    and the session made of it, if nothing else uses them: all become one loop over the GPUs.
    """
    last = _line(module, call)
    if last is None or len(call.args) != 1 or not isinstance(module.parent(call), cst.Expr):
        return None
    lines = [last]
    made: cst.BaseExpression | None = call.args[0].value
    if isinstance(made, cst.Name):
        lines, made = _bound(module, made, lines)
    if not isinstance(made, cst.Call) or module.qualified(made.func) not in _SESSIONS:
        return None
    if len(made.args) != 1 or made.args[0].keyword is None:
        return None
    config = made.args[0].value
    if made.args[0].keyword.value != "config" or not isinstance(config, cst.Name):
        return None
    lines, proto = _bound(module, config, lines, stores="allow_growth")
    if not isinstance(proto, cst.Call) or proto.args:
        return None
    name = module.qualified(proto.func)
    root = _root(proto.func)
    if name not in _CONFIGS or root is None or len(lines) < 3:
        return None
    return _fix(module, lines, root)


def _bound(
    module: Module, name: cst.Name, lines: list[cst.SimpleStatementLine], stores: str = ""
) -> tuple[list[cst.SimpleStatementLine], cst.BaseExpression | None]:
    """Return what a name is bound to and the lines that speak of it.

    None where another line does, or where it is bound twice, or in another block.
    """
    scope = module.scope_of(name)
    if len(scope.bindings.get(name.value, ())) != 1:
        return lines, None
    value = scope.bindings[name.value][0].value
    found = list(lines)
    for node in descendants(scope.node):
        if not isinstance(node, cst.Name) or node.value != name.value:
            continue
        parent = module.parent(node)
        if isinstance(parent, cst.Arg) and parent.keyword is node:
            continue
        if isinstance(parent, cst.Attribute) and parent.attr is node:
            continue
        line = _line(module, node)
        if line is None or module.parent(line) is not module.parent(lines[0]):
            return lines, None
        fits = line in found or _assigns(line, node) or (stores and _stores_growth(line, stores))
        if not fits:
            return lines, None
        found += [] if line in found else [line]
    return found, value


def _assigns(line: cst.SimpleStatementLine, name: cst.Name) -> bool:
    match line.body:
        case [cst.Assign(targets=[cst.AssignTarget(target=target)])]:
            return target is name
    return False


def _stores_growth(line: cst.SimpleStatementLine, member: str) -> bool:
    """Say whether it is ``config.gpu_options.allow_growth = True``."""
    match line.body:
        case [
            cst.Assign(
                targets=[
                    cst.AssignTarget(
                        target=cst.Attribute(
                            value=cst.Attribute(attr=cst.Name(value="gpu_options")),
                            attr=cst.Name(value=stored),
                        )
                    )
                ],
                value=cst.Name(value="True"),
            )
        ]:
            return stored == member
    return False


def _line(module: Module, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
    """Return the line of one statement that ``node`` stands in."""
    for each in module.ancestors(node):
        if isinstance(each, cst.SimpleStatementLine):
            return each if len(each.body) == 1 else None
    return None


def _root(chain: cst.BaseExpression) -> str | None:
    """Return ``tf`` of ``tf.compat.v1.ConfigProto``."""
    if not isinstance(chain, cst.Attribute):
        return None
    inner: cst.BaseExpression = chain
    while isinstance(inner, cst.Attribute):
        inner = inner.value
    return inner.value if isinstance(inner, cst.Name) else None


def _fix(module: Module, lines: list[cst.SimpleStatementLine], root: str) -> Fix | None:
    spans = sorted(module.span(each.body[0]) for each in lines)
    first, *others = spans
    indent = module.text[module.text.rfind("\n", 0, first.start) + 1 : first.start]
    whole = [whole_line(module.text, each) for each in others]
    if indent.strip() or any(each is None for each in whole):
        return None
    loop = (
        f'for gpu in {root}.config.list_physical_devices("GPU"):\n'
        f"{indent}    {root}.config.experimental.set_memory_growth(gpu, True)"
    )
    edits = (Edit(first, (loop,)), *(Edit(each, ()) for each in whole if each is not None))
    return Fix(
        "Let the memory of each GPU grow, without a session",
        edits,
        Applicability.UNSAFE,
        unsafe_because=_TOO_LATE,
    )


def whole_line(text: str, span: Span) -> Span | None:
    """Return the lines of a statement with their line break, None where they hold more."""
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end + 1
    rest = text[start : span.start] + text[span.end : end]
    return None if rest.strip() else Span(start, end)
