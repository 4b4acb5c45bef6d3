"""The statements by which Keras 2 programs set up a session, as one group."""

from __future__ import annotations

import libcst as cst
from msgspec import Struct, field

from kdoctor.analysis.dataflow.uses import names_of_variable
from kdoctor.model import Applicability, Edit, Fix
from kdoctor.rewrite.source_lines import margin, whole_line
from kdoctor.syntax import Module
from kdoctor.syntax.node_predicates import first_name
from kdoctor.syntax.scopes import BindingKind

_TENSORFLOW = ("tensorflow", "tensorflow.compat.v1")
_SESSIONS = tuple(f"{each}.Session" for each in _TENSORFLOW)
_CONFIGS = tuple(f"{each}.ConfigProto" for each in _TENSORFLOW)
_GPU_OPTIONS = tuple(f"{each}.GPUOptions" for each in _TENSORFLOW)
_TOO_LATE = (
    "it must run before TensorFlow first uses a GPU; a session applied it when it was created"
)
_NO_SHARE = "a fraction of the GPU's memory can no longer be set: memory grows as needed"
_SHARE = "gpu_options.per_process_gpu_memory_fraction"
_GROWTH = "gpu_options.allow_growth"
_VISIBLE = "gpu_options.visible_device_list"
_ALL_OF_THEM = ("''", '""')
_LOOP = (
    'for gpu in {tf}.config.list_physical_devices("GPU"):',
    "    {tf}.config.experimental.set_memory_growth(gpu, {value})",
)
# What a field of ConfigProto is today, by its path: the lines that set it to `value`.
_SETTINGS = {
    _GROWTH: _LOOP,
    _SHARE: (_LOOP[0], _LOOP[1].replace("{value}", "True")),
    _VISIBLE: (
        'gpus = {tf}.config.list_physical_devices("GPU")',
        (
            "{tf}.config.set_visible_devices([each for each in gpus "
            "if each.name.split(':')[-1] in {value}.split(',')], 'GPU')"
        ),
    ),
    "allow_soft_placement": ("{tf}.config.set_soft_device_placement({value})",),
    "log_device_placement": ("{tf}.debugging.set_log_device_placement({value})",),
    "intra_op_parallelism_threads": (
        "{tf}.config.threading.set_intra_op_parallelism_threads({value})",
    ),
    "inter_op_parallelism_threads": (
        "{tf}.config.threading.set_inter_op_parallelism_threads({value})",
    ),
}


def without_session(module: Module, call: cst.Call) -> Fix | None:
    """Return the fix of ``K.set_session(session)`` where the session does nothing but set.

    That is the group of ``config = tf.ConfigProto()``, ``config.gpu_options.allow_growth = True``,
    and the session made of it, if nothing else uses them: what it set is set without a session.
    The group may also be the whole end of a function that gives the session.
    """
    last = line_of(module, call)
    if last is None or len(call.args) != 1 or not isinstance(module.parent(call), cst.Expr):
        return None
    passed = call.args[0].value
    end = _end_of_its_maker(module, passed)
    if end is not None:
        inner, made = end
        fix = _fix(module, inner, made)
        return fix and _with(fix, Edit(module.span(call), (module.source(passed),)))
    return _fix(module, last, passed)


def _with(fix: Fix, edit: Edit) -> Fix:
    return Fix(
        fix.title,
        (*fix.edits, edit),
        fix.applicability,
        unsafe_because=fix.unsafe_because,
    )


def _end_of_its_maker(
    module: Module, passed: cst.BaseExpression
) -> tuple[cst.SimpleStatementLine, cst.BaseExpression] | None:
    """Return the line ``return tf.Session(…)`` of the function whose only call is ``passed``."""
    if not isinstance(passed, cst.Call) or passed.args or not isinstance(passed.func, cst.Name):
        return None
    name = passed.func.value
    bindings = module.scope_of(passed.func).bindings_of(name)
    if len(bindings) != 1 or not isinstance(bindings[0].node, cst.FunctionDef):
        return None
    function = bindings[0].node
    uses = names_of_variable(module, passed.func)
    match function.body.body[-1]:
        case cst.SimpleStatementLine(body=[cst.Return(value=cst.BaseExpression() as made)]) as line:
            return (line, made) if len(uses) == len([function, passed]) else None
    return None


class _Group(Struct):
    """The lines that make a session, and what they set: paths of ConfigProto, and values."""

    module: Module
    lines: list[cst.SimpleStatementLine]
    settings: dict[str, str] = field(default_factory=dict)

    def made(self, expression: cst.BaseExpression, prefix: str) -> cst.Call | None:
        """Return the call that makes a value: itself, or what a name of the group stands for."""
        if isinstance(expression, cst.Name):
            found = self._bound(expression, prefix)
            return found if isinstance(found, cst.Call) else None
        return expression if isinstance(expression, cst.Call) else None

    def _bound(self, name: cst.Name, prefix: str) -> cst.BaseExpression | None:
        """Return what a name is bound to; None where lines outside of the group speak of it."""
        scope = self.module.scope_of(name)
        bindings = scope.bindings.get(name.value, ())
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN:
            return None
        for node in names_of_variable(self.module, name):
            line = line_of(self.module, node)
            if line is None or not self._takes(line, node, prefix):
                return None
        return bindings[0].value

    def _takes(self, line: cst.SimpleStatementLine, name: cst.Name, prefix: str) -> bool:
        """Take a line into the group that makes something, or sets a field."""
        if line in self.lines:
            return True
        if self.module.parent(line) is not self.module.parent(self.lines[0]):
            return False
        match line.body:
            case [cst.Assign(targets=[cst.AssignTarget(target=target)], value=value)]:
                self.lines.append(line)
                if target is name:
                    return True
                path = self.module.source(target).removeprefix(f"{name.value}.")
                return self.sets(f"{prefix}{path}", value)
        return False

    def sets(self, path: str, value: cst.BaseExpression) -> bool:
        """Note one setting; False for one that nothing stands for today."""
        source = self.module.source(value)
        self.settings[path] = source
        return path in _SETTINGS and "\n" not in source

    def reads(self, call: cst.Call, makers: tuple[str, ...], prefix: str) -> bool:
        """Note the keywords of ``ConfigProto`` or ``GPUOptions``; False where not all are known."""
        if self.module.qualified(call.func) not in makers:
            return False
        for each in call.args:
            if each.keyword is None:
                return False
            if each.keyword.value == "gpu_options":
                made = self.made(each.value, "gpu_options.")
                if made is None or not self.reads(made, _GPU_OPTIONS, "gpu_options."):
                    return False
            elif not self.sets(f"{prefix}{each.keyword.value}", each.value):
                return False
        return True


def _fix(module: Module, last: cst.SimpleStatementLine, passed: cst.BaseExpression) -> Fix | None:
    group = _Group(module, [last])
    session = group.made(passed, "")
    if session is None or module.qualified(session.func) not in _SESSIONS:
        return None
    root = _root(session.func)
    match session.args:
        case [cst.Arg(keyword=cst.Name(value="config"), value=value)]:
            config = group.made(value, "")
            if config is None or not group.reads(config, _CONFIGS, ""):
                return None
        case [_, *_]:
            return None
    return None if root is None else _edited(group, root)


def _edited(group: _Group, root: str) -> Fix | None:
    """Set at the last line what the group sets; the other lines go."""
    text = group.module.text
    last, *others = (group.module.span(each.body[0]) for each in group.lines)
    indent = margin(text, last.start)
    whole = [whole_line(group.module, each) for each in others]
    if indent.strip() or any(each is None for each in whole):
        return None
    settings = group.settings.copy()
    if _GROWTH in settings:
        settings.pop(_SHARE, None)
    if settings.get(_VISIBLE) in _ALL_OF_THEM:
        settings.pop(_VISIBLE)
    lines = [
        line.replace("{tf}", root).replace("{value}", value)
        for path, value in settings.items()
        for line in _SETTINGS[path]
    ]
    block = group.module.parent(group.lines[0])
    left_empty = len(getattr(block, "body", ())) == len(group.lines)
    if not lines and not left_empty:
        last = whole_line(group.module, last) or last
    new = f"\n{indent}".join(lines or ["pass"] * left_empty)
    edits = (Edit(last, (new,)), *(Edit(each, ()) for each in whole if each is not None))
    reasons = [_TOO_LATE, *([_NO_SHARE] if _SHARE in group.settings else [])]
    return Fix(
        "Apply the session's settings without a session",
        edits,
        Applicability.UNSAFE,
        unsafe_because="; ".join(reasons),
    )


def line_of(module: Module, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
    """Return the line of one statement that ``node`` stands in."""
    for each in module.ancestors(node):
        if isinstance(each, cst.SimpleStatementLine):
            return each if len(each.body) == 1 else None
    return None


def _root(chain: cst.BaseExpression) -> str | None:
    """Return ``tf`` of ``tf.compat.v1.ConfigProto``."""
    name = first_name(chain) if isinstance(chain, cst.Attribute) else None
    return None if name is None else name.value
