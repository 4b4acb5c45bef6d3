"""Tells what names held in the project's own frames of an error: classes, ranks and dtypes.

Nothing of the project is run for it: no `repr`, no property and no `__getattr__` of its objects. Of
an object its class is told, of a tensor or an array of a framework also shape and dtype. It imports
only the standard library, and runs on Python 3.7.
"""

from __future__ import annotations

import ast
import os

from kdoctor_autograph import is_generated, origins

MAX_ERRORS = 4  # that led to each other
MAX_FRAMES = 12  # of an error, the innermost
MAX_NAMES = 24  # of a frame
MAX_ITEMS = 16  # of a list
MAX_ROWS = 2000  # of a process
MAX_LENGTH = 120  # of a name
_FRAMEWORKS = frozenset(
    {"jax", "jaxlib", "keras", "numpy", "pandas", "tensorflow", "tf_keras", "torch"}
)
_SHAPED = frozenset(
    {"Array", "DataFrame", "EagerTensor", "KerasTensor", "KerasVariable", "Parameter"}
    | {"ResourceVariable", "Series", "SymbolicTensor", "Tensor", "Variable", "ndarray"}
)


class Frames:
    """The values that were seen below a folder; each is handed to ``tell`` once."""

    def __init__(self, folder, tell):
        self._folder = folder
        self._tell = tell
        self._told = set()
        self._trees = {}

    def see(self, error):
        """Tell what the frames of an error hold, and of those that led to it."""
        for each in _chain(error):
            steps = []
            trace = each.__traceback__
            while trace is not None:
                steps.append((trace.tb_frame, trace.tb_lineno))
                trace = trace.tb_next
            own = [
                (frame, place)
                for frame, line in steps
                for place in [self._place(frame, line)]
                if place
            ]
            for frame, place in own[-MAX_FRAMES:]:
                self._see(frame, *place)

    def _place(self, frame, line):
        """Return the file and the line of the project's that a frame is at, None for others."""
        name = frame.f_code.co_filename
        if is_generated(name):
            name, line = origins(name).get(line, ("", 0))
        path = os.path.realpath(name) if name else ""
        return (path, line) if path.startswith(self._folder + os.sep) else None

    def _see(self, frame, path, line):
        tree = self._tree(path)
        if tree is None:
            return
        function, statement = _around(tree, line)
        code = frame.f_code
        placed = code.co_argcount + getattr(code, "co_kwonlyargcount", 0)
        names = dict.fromkeys(code.co_varnames[:placed])
        names.update(dict.fromkeys(_names_in(statement)))
        for name in list(names)[:MAX_NAMES]:
            owner, _, member = name.partition(".")
            if owner in frame.f_locals:
                where, value = function, frame.f_locals[owner]
            elif owner in frame.f_globals:
                where, value = "", frame.f_globals[owner]
            else:
                continue
            if member:
                value = _stored(value, member)
            told = _described(value)
            if told is not None:
                self._add(dict(told, path=path, line=line, function=where, name=name))

    def _add(self, row):
        key = (
            row["path"],
            row["function"],
            row["name"],
            row["class"],
            row.get("rank"),
            row.get("dtype"),
        )
        if key not in self._told and len(self._told) < MAX_ROWS:
            self._told.add(key)
            self._tell(seen=row)

    def _tree(self, path):
        if path not in self._trees:
            try:
                with open(path, "rb") as stream:
                    self._trees[path] = ast.parse(stream.read())
            except (OSError, SyntaxError, ValueError, RecursionError):
                self._trees[path] = None
        return self._trees[path]


def _chain(error):
    """Return an error and those that led to it."""
    found = []
    while error is not None and len(found) < MAX_ERRORS and not any(error is x for x in found):
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _around(tree, line):
    """Return the qualified name of the function around a line, and the innermost statement."""
    names, innermost, nodes = [], None, [tree]
    while nodes:
        node = nodes.pop()
        for child in ast.iter_child_nodes(node):
            first = getattr(child, "lineno", 0)
            last = getattr(child, "end_lineno", None) or max(
                (getattr(each, "lineno", 0) for each in ast.walk(child)), default=0
            )
            if isinstance(child, ast.stmt) and first <= line <= last:
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    names += [child.name, "<locals>"]
                elif isinstance(child, ast.ClassDef):
                    names.append(child.name)
                innermost = child
                nodes = [child]
                break
            if isinstance(child, ast.excepthandler) and first <= line <= last:
                nodes = [child]
                break
    return ".".join(names[:-1] if names[-1:] == ["<locals>"] else names), innermost


def _names_in(statement):
    """Return the names that a statement reads, of one with a body those of its head alone."""
    if statement is None:
        return []
    body = {
        id(each)
        for field in ("body", "orelse", "finalbody", "handlers")
        for each in getattr(statement, field, ()) or ()
    }
    found, nodes = [], [statement]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.append("%s.%s" % (node.value.id, node.attr))
        nodes += [each for each in ast.iter_child_nodes(node) if id(each) not in body]
    return found


def _stored(owner, member):
    """Return what an object keeps itself under a name: no property is run for it."""
    try:
        return object.__getattribute__(owner, "__dict__").get(member)
    except (AttributeError, TypeError):
        return None


def _described(value, depth=1):
    """Return what is told of a value, None of one that is nothing of a framework."""
    kind = type(value)
    if kind in (list, tuple) and depth:
        items = [_described(each, 0) for each in value[:MAX_ITEMS]]
        if not items or None in items or len(value) > MAX_ITEMS:
            return None
        classes = {each["class"] for each in items}
        return (
            {"class": "builtins." + kind.__name__, "item": items[0]} if len(classes) == 1 else None
        )
    bases = [_name_of(each) for each in type.__dict__["__mro__"].__get__(kind)]
    known = [each for each in bases if each.partition(".")[0] in _FRAMEWORKS]
    if not known:
        return None
    told = {"class": bases[0], "bases": known}
    if bases[0] == known[0] and kind.__name__ in _SHAPED:
        _measure(value, told)
    return told


def _measure(value, told):
    """Add the shape and the dtype of a tensor or an array."""
    try:
        shape = value.shape
        rank = shape.rank if hasattr(shape, "rank") else len(shape)
        if rank is not None:
            told["rank"] = int(rank)
            told["shape"] = [
                None if each is None else int(each) for each in list(shape)[:MAX_ITEMS]
            ]
        dtype = value.dtype
        told["dtype"] = str(getattr(dtype, "name", dtype))[:MAX_LENGTH]
    except Exception:  # noqa: BLE001 - a tensor that has none yet, or lives no more
        return


def _name_of(kind):
    return ("%s.%s" % (kind.__module__, kind.__qualname__))[:MAX_LENGTH]
