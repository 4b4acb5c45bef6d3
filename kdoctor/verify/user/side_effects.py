"""Whether a top-level statement is safe to run: it only makes values, without side effects.

Nothing is run here. What is not known to be free of side effects is refused, with a reason.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping

FRAMEWORKS = frozenset({"keras", "tensorflow", "tf_keras", "keras_core", "tensorflow_addons"})
_MODULES = FRAMEWORKS | {
    *("numpy", "math", "cmath", "functools", "itertools", "collections", "operator", "typing"),
    *("enum", "dataclasses", "abc", "re", "string", "fractions", "decimal", "numbers", "copy"),
    *("logging", "types", "contextlib", "packaging", "distutils", "scipy", "six", "warnings"),
    *("random", "time", "datetime", "uuid", "threading", "inspect", "textwrap", "json", "sys"),
    *("pathlib", "platform", "hashlib", "struct", "weakref", "pprint", "ast", "io", "queue"),
}
_OF_THE_SYSTEM = ("os.environ.get", "os.getenv", "os.getcwd", "os.path.")
_CALLABLES = frozenset(
    {"abs", "all", "any", "bool", "bytes", "complex", "dict", "divmod", "enumerate", "filter"}
    | {"float", "frozenset", "getattr", "hasattr", "int", "isinstance", "issubclass", "len"}
    | {"list", "map", "max", "min", "object", "pow", "property", "range", "reversed", "round"}
    | {"set", "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple", "type", "zip"}
)
# Settings that change what definitions compute.
_SETTINGS = frozenset(
    {"set_image_data_format", "set_image_dim_ordering", "set_floatx", "set_epsilon"}
    | {"set_global_policy", "set_policy", "enable_eager_execution", "disable_v2_behavior"}
)
# Names of functions and methods that train, read, write, wait or use the network.
_EFFECTS = frozenset(
    {"fit", "fit_generator", "train", "train_on_batch", "train_step_loop", "evaluate"}
    | {"evaluate_generator", "predict", "predict_generator", "predict_on_batch", "minimize"}
    | {"load_data", "load_model", "load_weights", "save", "save_model", "save_weights", "savez"}
    | {"savetxt", "loadtxt", "genfromtxt", "fromfile", "tofile", "memmap", "get_file", "open"}
    | {"urlopen", "urlretrieve", "download", "input", "exec", "eval", "system", "popen", "Popen"}
    | {"run", "check_call", "check_output", "sleep", "imread", "imwrite", "imsave", "read_csv"}
    | {"flow_from_directory", "image_dataset_from_directory", "load_img", "parse_args", "exit"}
    | {"makedirs", "mkdir", "remove", "rmtree", "listdir", "glob", "walk", "_exit", "fork"}
    | {"load", "datasets", "gfile", "experiment", "TFRecordDataset", "TensorBoard", "VideoCapture"}
)


# Those that take no time with a small model.
TRAINING = frozenset(
    {"fit", "train_on_batch", "evaluate", "predict", "predict_on_batch", "minimize"}
)


def side_effect_in(node: ast.AST, but: frozenset[str] = frozenset()) -> tuple[str, int] | None:
    """Return the name and line of a call in ``node`` that may have side effects."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            name = _last_name(each.func)
            if name == "eval" and isinstance(each.func, ast.Attribute):
                continue  # eval() of a tensor or of Keras
            if name in _EFFECTS - but:
                return name, each.lineno
    return None


class SideEffects:
    """Decides which statements of a module are safe to run.

    ``roots`` maps imported names to the top-level package that they come from. ``own`` returns why
    a function or class of the module must not be called, or None if it may. ``imported`` does the
    same for one imported from another module of the project, given its name and, if the module
    itself was imported, the attribute (else ""): it returns "" if the call is safe, and None if the
    name does not come from such a module.
    """

    def __init__(
        self,
        roots: Mapping[str, str],
        own: Callable[[str], str | None],
        imported: Callable[[str, str], str | None],
    ) -> None:
        self._roots = roots
        self._own = own
        self._imported = imported

    def why_not(self, node: ast.stmt) -> tuple[str, int] | None:
        """Return why a statement must not run, and the line of the reason; None if it may."""
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Pass():
                return None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return self._of_expressions(node.decorator_list)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                return self._of_expressions([node.value] if node.value else [])
            case ast.Expr():  # in a branch: a message or a setting
                return self._of_expressions([node.value])
            case ast.For():
                return self._of_expressions([node.iter]) or self._of([*node.body, *node.orelse])
            case ast.With():
                entered = [each.context_expr for each in node.items]
                return self._of_expressions(entered) or self._of(node.body)
            case ast.If():
                return self._of_expressions([node.test]) or self._of([*node.body, *node.orelse])
            case ast.Try():
                handled = [each for handler in node.handlers for each in handler.body]
                return self._of([*node.body, *handled, *node.orelse, *node.finalbody])
            case ast.Raise():
                return None
        return f"it is defined by {_called(node)}, which kdoctor does not run", node.lineno

    def is_setting(self, node: ast.stmt) -> bool:
        """Say whether a statement only changes a global Keras setting."""
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            return False
        return _last_name(node.value.func) in _SETTINGS and self.why_not(node) is None

    def _of(self, body: list[ast.stmt]) -> tuple[str, int] | None:
        return next(filter(None, map(self.why_not, body)), None)

    def _of_expressions(self, nodes: list[ast.expr]) -> tuple[str, int] | None:
        for node in nodes:
            for each in _run_now(node):
                problem = self._of_expression(each)
                if problem:
                    return problem, each.lineno
        return None

    def _of_expression(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom):
            return "it awaits or yields"
        if not isinstance(node, ast.Call):
            return None
        called = ast.unparse(node.func)
        name = _last_name(node.func)
        if name in _EFFECTS:
            return f"{called}() reads, writes, trains or uses the network"
        root = _root(node.func)
        if root is None:
            return None  # a literal, or the result of a call that is checked on its own
        if root in self._roots:
            if self._roots[root] in _MODULES or called.startswith(_OF_THE_SYSTEM):
                return None
            match node.func:
                case ast.Name():
                    why = self._imported(root, "")
                case ast.Attribute(value=ast.Name(), attr=attribute):
                    why = self._imported(root, attribute)
                case _:
                    why = None
            if why is None:
                return f"{called}() comes from {self._roots[root]}, which may have side effects"
            return f"{called}() {why}" if why else None
        reason = self._own(root)
        if reason is None or (root in _CALLABLES and isinstance(node.func, ast.Name)):
            return None
        return f"{called}() {reason}"


def _run_now(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions that are evaluated with ``node``; not the bodies of lambdas."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not isinstance(node, ast.Lambda):
            yield from _run_now(child)
        elif isinstance(child, ast.keyword | ast.comprehension):
            for inner in ast.iter_child_nodes(child):
                if isinstance(inner, ast.expr):
                    yield from _run_now(inner)


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _called(node: ast.stmt) -> str:
    names = {ast.AsyncFor: "a loop", ast.While: "a loop", ast.AsyncWith: "a with block"}
    return names.get(type(node), "a statement that may have side effects")


def is_builtin(name: str) -> bool:
    """Say whether a name is a builtin."""
    return hasattr(builtins, name) or name in {"__name__", "__file__", "__doc__"}
