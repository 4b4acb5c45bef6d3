"""Which expressions of a file are paths: what they give is saved to, loaded from, or looked for."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from msgspec import Struct

from kdoctor.analysis.dataflow.uses import reads_of
from kdoctor.analysis.paths import MAKERS
from kdoctor.keras_api import split_root
from kdoctor.syntax import Module
from kdoctor.syntax.literals import literal

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
_OPTIONS = frozenset({"add_argument", "DEFINE_string", "option", "Option"})
_MAX_STEPS = 6


def is_path(module: Module, node: cst.BaseExpression) -> bool:
    """Say whether what an expression gives is surely used as the path of a file.

    It is passed where a path is taken, or held by a name, an attribute, a parameter or a key that
    is read there. Equal text that is a key, a model's name or printed is no path.
    """
    return _is_path(module, node, _Way(0, {}))


class _Read(Struct, frozen=True):
    """Reads of what is held under one of some names.

    As attributes, else as ``held[name]`` and ``held.get(name)``.
    """

    names: frozenset[object]
    as_attribute: bool = False

    def holds(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.Attribute(attr=cst.Name(value=name)):
                return self.as_attribute and name in self.names
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
                return not self.as_attribute and self._is_key(key)
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="get")), args=[given, *_]):
                return not self.as_attribute and self._is_key(given.value)
        return False

    def _is_key(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.SimpleString) and literal(node) in self.names


class _Way(Struct, frozen=True):
    """How many steps were taken, and with how many each thing was asked for before.

    Each answer is yes where any step further is. So what was asked with as few steps gives no yes:
    it would be known.
    """

    steps: int
    asked: dict[cst.CSTNode | _Read, int]

    @property
    def further(self) -> _Way:
        return _Way(self.steps + 1, self.asked)

    def is_open(self, to: cst.CSTNode | _Read) -> bool:
        """Say whether something is to be asked, and note that it is."""
        if self.steps > _MAX_STEPS or self.asked.get(to, self.steps + 1) <= self.steps:
            return False
        self.asked[to] = self.steps
        return True


def _is_path(module: Module, node: cst.BaseExpression, way: _Way) -> bool:
    if not way.is_open(node):
        return False
    above = module.parent(node)
    match above:
        case cst.Arg():
            call = module.parent(above)
            return isinstance(call, cst.Call) and _is_path_of_call(module, call, above, way)
        case cst.BinaryOperation(operator=cst.Add() | cst.Divide(), right=right):
            return right is node and _is_path(module, above, way.further)
        case cst.IfExp(test=test):
            return test is not node and _is_path(module, above, way.further)
        case cst.BooleanOperation():
            return _is_path(module, above, way.further)
        case cst.Assign():
            return any(_holds_a_path(module, e.target, way) for e in above.targets)
        case cst.AnnAssign():
            return above.value is node and _holds_a_path(module, above.target, way)
        case cst.Param():
            return above.default is node and _any_path(module, reads_of(module, above), way)
        case cst.DictElement(key=cst.SimpleString() as key):
            return above.value is node and _is_read_as_a_path(module, _key(key), way)
    return False


def _is_path_of_call(module: Module, call: cst.Call, given: cst.Arg, way: _Way) -> bool:
    if given.star:
        return False
    name = module.qualified(call.func) or ""
    is_last = call.args[-1] is given
    is_str = isinstance(call.func, cst.Name) and call.func.value == "str"
    if name in MAKERS or is_str:
        # Of `os.path.join("model", "a.txt")` the first is a folder.
        return is_last and (name in MAKERS or _is_path(module, call, way.further))
    keyword = given.keyword.value if given.keyword is not None else None
    if _takes_a_path(call, name, keyword, is_first=call.args[0] is given):
        return True
    option = _of_option(call, keyword)
    if option is not None:
        return _is_read_as_a_path(module, option, way)
    if isinstance(call.func, cst.Name) and call.func.value == "dict" and keyword:
        return _is_read_as_a_path(module, _Read(frozenset({keyword})), way)
    parameter = parameter_of(module, call, given)
    return parameter is not None and _any_path(module, reads_of(module, parameter), way)


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


def _of_option(call: cst.Call, keyword: str | None) -> _Read | None:
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
    return _Read(frozenset(names), as_attribute=True)


def _holds_a_path(module: Module, target: cst.BaseExpression, way: _Way) -> bool:
    """Say whether what is assigned to is read as a path."""
    match target:
        case cst.Name():
            return _any_path(module, reads_of(module, target), way) or _is_read_as_a_path(
                module, _attribute(target.value), way
            )
        case cst.Attribute(attr=cst.Name(value=name)):
            return _is_read_as_a_path(module, _attribute(name), way)
        case cst.Subscript(
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]
        ):
            return _is_read_as_a_path(module, _key(key), way)
    return False


def _any_path(module: Module, nodes: Iterator[cst.Name], way: _Way) -> bool:
    return any(_is_path(module, each, way.further) for each in nodes)


def _attribute(name: str) -> _Read:
    return _Read(frozenset({name}), as_attribute=True)


def _key(key: cst.SimpleString) -> _Read:
    return _Read(frozenset({literal(key)}))


def _is_read_as_a_path(module: Module, read: _Read, way: _Way) -> bool:
    if not way.is_open(read):
        return False
    places = (*module.attributes, *module.nodes(cst.Subscript), *module.nodes(cst.Call))
    return any(read.holds(each) and _is_path(module, each, way.further) for each in places)


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
