"""Which expressions of a file are paths: what they give is saved to, loaded from, or looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from kdoctor.keras_api import split_root
from kdoctor.rules.calls import literal
from kdoctor.syntax import Module

# Methods, also those of objects that nobody knows: `model.save("a")`, `api.upload_file("a")`.
_METHODS = frozenset({
    *("load", "load_model", "load_weights", "read_model", "save", "save_model", "save_weights"),
    *("download_file", "log_artifact", "upload_file"),
})  # fmt: skip
_SECOND = frozenset({"save_model", "upload_file"})  # after the model, or the client
_OWN_FILES = frozenset({"load", "save"})  # `np.save("model", x)` writes a file of its own
_KERAS = frozenset({"CSVLogger", "ModelCheckpoint", "load_model", "save_model"})
_MODULES = (
    *("glob.", "h5py.", "ntpath.", "os.", "pathlib.", "posixpath.", "shutil.", "zipfile."),
    *("tensorflow.gfile.", "tensorflow.io.gfile."),
)
# These are of folders, and what a model is saved to is none any more.
_OF_FOLDERS = frozenset({
    *("isdir", "listdir", "make_archive", "makedirs", "mkdir", "rmdir", "rmtree", "scandir"),
    *("chdir", "walk"),
})  # fmt: skip
_NO_PATHS = frozenset({"os.environ.get", "os.getenv", "os.system", "os.popen", "os.putenv"})
_KEYWORDS = frozenset({"checkpoint_path", "filename", "filepath", "model_path", "path"})
_JOINS = frozenset({"os.path.join", "posixpath.join", "ntpath.join", "pathlib.Path",
                    "pathlib.PurePath", "pathlib.PosixPath"})  # fmt: skip
_WRAPPERS = frozenset({"os.path.abspath", "os.path.expanduser", "os.path.normpath",
                       "os.path.realpath"})  # fmt: skip
_OPTIONS = frozenset({"add_argument", "DEFINE_string", "option", "Option"})
_MAX_DEPTH = 6


def is_path(module: Module, node: cst.BaseExpression, depth: int = 0) -> bool:
    """Say whether what an expression gives is surely used as the path of a file.

    It is passed where a path is taken, or held by a name, an attribute, a parameter or a key that
    is read there. Equal text that is a key, a model's name or printed is no path.
    """
    above = module.parent(node)
    if depth > _MAX_DEPTH:
        return False
    match above:
        case cst.Arg():
            call = module.parent(above)
            return isinstance(call, cst.Call) and _is_path_of_call(module, call, above, depth)
        case cst.BinaryOperation(operator=cst.Add() | cst.Divide(), right=right):
            return right is node and is_path(module, above, depth + 1)
        case cst.IfExp(test=test):
            return test is not node and is_path(module, above, depth + 1)
        case cst.BooleanOperation():
            return is_path(module, above, depth + 1)
        case cst.Assign():
            return any(_holds_a_path(module, e.target, depth) for e in above.targets)
        case cst.AnnAssign():
            return above.value is node and _holds_a_path(module, above.target, depth)
        case cst.Param():
            return above.default is node and _any_path(module, _reads(module, above), depth)
        case cst.DictElement(key=cst.SimpleString() as key):
            return above.value is node and _is_read_as_a_path(module, _key(key), depth)
    return False


def _is_path_of_call(module: Module, call: cst.Call, given: cst.Arg, depth: int) -> bool:
    if given.star or given.value is call.func:
        return False
    name = module.qualified(call.func) or ""
    is_last = call.args[-1] is given
    is_str = isinstance(call.func, cst.Name) and call.func.value == "str"
    if name in _JOINS | _WRAPPERS or is_str:
        # Of `os.path.join("model", "a.txt")` the first is a folder.
        return is_last and (name in _JOINS | _WRAPPERS or is_path(module, call, depth + 1))
    keyword = given.keyword.value if given.keyword is not None else None
    if _takes_a_path(call, name, keyword, is_first=call.args[0] is given):
        return True
    option = _of_option(call, keyword)
    if option is not None:
        return _is_read_as_a_path(module, option, depth)
    if isinstance(call.func, cst.Name) and call.func.value == "dict" and keyword:
        return _is_read_as_a_path(module, _named(keyword), depth)
    parameter = parameter_of(module, call, given)
    return parameter is not None and _any_path(module, _reads(module, parameter), depth)


def _takes_a_path(call: cst.Call, name: str, keyword: str | None, *, is_first: bool) -> bool:
    leaf = name.rpartition(".")[2]
    if leaf in _OF_FOLDERS or name in _NO_PATHS:
        return False
    if name.startswith(_MODULES):
        return True
    if split_root(name) is not None:
        by_place = keyword is None and is_first != (leaf == "save_model")
        return leaf in _KERAS and (by_place or keyword in _KEYWORDS)
    match call.func:
        case cst.Name(value="open"):
            return is_first or keyword == "file"
        case cst.Name(value=method) | cst.Attribute(attr=cst.Name(value=method)):
            if method not in _METHODS or (name and method in _OWN_FILES):
                return False
            by_place = keyword is None and (is_first or method in _SECOND)
            return by_place or keyword in _KEYWORDS
    return False


def _of_option(call: cst.Call, keyword: str | None) -> Callable[[cst.CSTNode], bool] | None:
    """Return what asks for reads of an option that has the text as its default, if it is one."""
    function = call.func
    leaf = function.attr.value if isinstance(function, cst.Attribute) else ""
    if leaf not in _OPTIONS or keyword not in {None, "default"}:
        return None
    names = {
        value.lstrip("-").replace("-", "_")
        for each in call.args
        if (each.keyword is None or each.keyword.value == "dest")
        and isinstance(value := literal(each.value), str)
    }
    return lambda node: isinstance(node, cst.Attribute) and node.attr.value in names


def _holds_a_path(module: Module, target: cst.BaseExpression, depth: int) -> bool:
    """Say whether what is assigned to is read as a path."""
    match target:
        case cst.Name():
            return _any_path(module, _reads(module, target), depth) or _is_read_as_a_path(
                module, _attribute(target.value), depth
            )
        case cst.Attribute(attr=cst.Name(value=name)):
            return _is_read_as_a_path(module, _attribute(name), depth)
        case cst.Subscript(
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]
        ):
            return _is_read_as_a_path(module, _key(key), depth)
    return False


def _any_path(module: Module, nodes: Iterator[cst.Name], depth: int) -> bool:
    return any(is_path(module, each, depth + 1) for each in nodes)


def _reads(module: Module, bound: cst.CSTNode) -> Iterator[cst.Name]:
    """Yield where a name is read that a target or a parameter binds."""
    name = bound.name.value if isinstance(bound, cst.Param) else getattr(bound, "value", None)
    for each in module.nodes(cst.Name):
        if each.value != name or each is bound:
            continue
        if any(binding.node is bound for binding in module.bindings_at(each)):
            yield each


def _attribute(name: str) -> Callable[[cst.CSTNode], bool]:
    return lambda node: isinstance(node, cst.Attribute) and node.attr.value == name


def _key(key: cst.SimpleString) -> Callable[[cst.CSTNode], bool]:
    return _named(literal(key))


def _named(name: object) -> Callable[[cst.CSTNode], bool]:
    """Return what asks for `held[name]`, `held.get(name)` and, of a namespace, `held.name`."""

    def holds(node: cst.CSTNode) -> bool:
        match node:
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
                return isinstance(key, cst.SimpleString) and literal(key) == name
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="get")), args=[given, *_]):
                return isinstance(given.value, cst.SimpleString) and literal(given.value) == name
        return False

    return holds


def _is_read_as_a_path(module: Module, is_read: Callable[[cst.CSTNode], bool], depth: int) -> bool:
    places = (*module.attributes, *module.nodes(cst.Subscript), *module.nodes(cst.Call))
    return any(is_read(each) and is_path(module, each, depth + 1) for each in places)


def parameter_of(module: Module, call: cst.Call, given: cst.Arg) -> cst.Param | None:
    """Return the parameter of a function of this file that takes what is given."""
    if isinstance(call.func, cst.Name):
        bound = module.bindings_at(call.func)
        functions = [each.node for each in bound if isinstance(each.node, cst.FunctionDef)]
        skipped = 0
    elif isinstance(call.func, cst.Attribute):
        name = call.func.attr.value
        functions = [each for each in module.nodes(cst.FunctionDef) if each.name.value == name]
        skipped = 1
    else:
        return None
    if len(functions) != 1:
        return None
    parameters = functions[0].params.params
    if given.keyword is not None:
        taken = [*parameters, *functions[0].params.kwonly_params]
        return next((e for e in taken if e.name.value == given.keyword.value), None)
    place = call.args.index(given) + skipped
    return parameters[place] if place < len(parameters) else None
