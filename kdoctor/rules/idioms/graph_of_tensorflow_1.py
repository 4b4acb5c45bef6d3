"""TensorFlow 1 names that are gone: `tf.Session`, `tf.placeholder`, `tf.log`, `tf.contrib`."""

from __future__ import annotations

import libcst as cst

from kdoctor.analysis.calls import add_keyword
from kdoctor.analysis.facts import TargetFacts
from kdoctor.analysis.queries import Name, references
from kdoctor.analysis.roots import USES_KERAS_3, uses_keras_3
from kdoctor.keras_api import split_root
from kdoctor.keras_api.tensorflow_aliases import FIRST, by_the_short_way
from kdoctor.memoize import once
from kdoctor.model import Edit, Finding, Fix, NoFix, Severity
from kdoctor.rules.fixes.seeds import seeds_all
from kdoctor.rules.idioms._tensorflow import Gone, only_1
from kdoctor.rules.idioms._tensorflow.eagerness import is_for_graphs_alone
from kdoctor.rules.idioms._tensorflow.tensorflow_1 import AT_ONCE, CASTS, FILES, SEEDS, advice
from kdoctor.rules.idioms.tf_op_on_symbolic_tensor import error_of_symbolic
from kdoctor.rules.names._backend.sessions import without_session
from kdoctor.rules.rule import Example, rule
from kdoctor.syntax import Module, Reference, ReferenceKind

_ROOT = "tensorflow."
_SEEDS_MORE = "it also seeds Python and NumPy; the numbers differ from those of TensorFlow 1 anyway"
_PRIVATE = "python."
_SINCE_2_16 = frozenset({"estimator", f"{_PRIVATE}estimator"})
_OF_KERAS_2 = tuple(f"{way}{each}" for way in FIRST for each in ("layers", "nn.rnn_cell"))


@rule(
    "KD506",
    severity=Severity.ERROR,
    since="3.0",
    asks_for_roots=True,
    look_for=references(where=lambda _, dotted: only_1(dotted) is not None).beside(USES_KERAS_3),
)
def check(name: Name) -> Finding | None:
    """Report each name that is gone, where it is imported or read."""
    module, reference = name.module, name.reference
    if not _is_gone(reference) or not _uses_keras_3(module, name.facts):
        return None
    if error_of_symbolic(module, reference):
        return None
    if module.is_attribute_fallback(reference.node, _may_be_there):
        return None
    place = module.span(reference.node).start
    if any(first <= place < end for first, end in _sessions_of_the_gpu(module)):
        return None
    fix = _fix(module, reference)
    if isinstance(fix, NoFix) and is_for_graphs_alone(module, reference.node):
        return None
    return _finding(name, fix)


@once  # for every name that is gone
def _uses_keras_3(module: Module, facts: TargetFacts) -> bool:
    return uses_keras_3(module, facts)


def _is_gone(reference: Reference) -> bool:
    names = reference.names or (reference.name,)
    if reference.kind not in (ReferenceKind.LOAD, ReferenceKind.IMPORT):
        return False
    gone = [only_1(name) if name.startswith(_ROOT) else None for name in names]
    if not all(gone):
        return False
    # `from tensorflow import Session` fails before any use of it does.
    is_import = reference.kind is ReferenceKind.IMPORT
    if any(each is not None and not each.parent for each in gone):
        return not is_import and not _imports_the_module(reference)
    return is_import or only_1(reference.binding.name) is None


def _imports_the_module(reference: Reference) -> bool:
    """Say whether an import takes a module of ``tf.compat.v1`` from where it has something.

    `from tensorflow.compat.v1.nn.rnn_cell import LSTMCell` works; `from tensorflow.compat.v1.nn
    import rnn_cell` gives what `tf.compat.v1.nn.rnn_cell` is.
    """
    binding = reference.binding
    if not isinstance(binding.statement, cst.ImportFrom):
        return binding.imported.startswith(_OF_KERAS_2)
    return binding.imported.rpartition(".")[0].startswith(_OF_KERAS_2)


def _may_be_there(name: str) -> bool:
    return name.startswith(_ROOT) and split_root(name) is None and only_1(name) is None


@once
def _sessions_of_the_gpu(module: Module) -> list[tuple[int, int]]:
    """Return the places that the fix of KD101 for ``K.set_session`` rewrites."""
    fixes = (
        without_session(module, reference.call)
        for reference in module.references
        if reference.name.endswith(".set_session") and reference.call is not None
    )
    return [(edit.span.start, edit.span.end) for fix in fixes if fix for edit in fix.edits]


def _finding(name: Name, fix: Fix | NoFix) -> Finding:
    gone = only_1(name.name)
    assert gone is not None
    return name.finding(
        f"`{_shown(gone)}` is {_gone_since(gone)}: {_error(name.reference, gone)}",
        help=advice(gone.name, gone.renamed) if isinstance(fix, NoFix) else f"{fix.title}.",
        fix=fix,
    )


def _shown(gone: Gone) -> str:
    """Return a name as users write it: ``tf`` has its public modules alone."""
    return f"{_ROOT if gone.name.startswith(_PRIVATE) else 'tf.'}{gone.name}"


def _gone_since(gone: Gone) -> str:
    return "gone since TensorFlow 2.16" if gone.name in _SINCE_2_16 else "of TensorFlow 1"


def _error(reference: Reference, gone: Gone) -> str:
    parent, leaf = gone.parent, gone.leaf
    if not parent:
        return f"AttributeError: `{leaf}` is not available with Keras 3."
    # A module that is imported by its public name is called so.
    public = parent.replace("._api.v2", "")
    if reference.kind is ReferenceKind.IMPORT or public == reference.binding.name:
        parent = public
    if reference.kind is not ReferenceKind.IMPORT:
        if gone.name.startswith(_PRIVATE) and f"{reference.binding.name}." == _ROOT:
            parent, leaf = reference.binding.name, _PRIVATE.rstrip(".")
        return f"AttributeError: module '{parent}' has no attribute '{leaf}'"
    # Of `from tensorflow.python.estimator import estimator` the module is not found.
    home, _, name = reference.binding.imported.rpartition(".")
    is_from = isinstance(reference.binding.statement, cst.ImportFrom)
    if is_from and name == leaf and only_1(home) is None:
        return f"ImportError: cannot import name '{leaf}' from '{parent}'"
    return f"ModuleNotFoundError: No module named '{parent}.{leaf}'"


def _fix(module: Module, reference: Reference) -> Fix | NoFix:
    why_not = NoFix("code that uses graphs and sessions has to be rewritten")
    gone = only_1(reference.name)
    node = reference.node
    if reference.kind is ReferenceKind.IMPORT or gone is None:
        return why_not
    if not isinstance(node, cst.Attribute):
        return why_not
    written, rest = module.source(node), by_the_short_way(reference.name).removeprefix(_ROOT)
    if not written.endswith(f".{rest}"):
        return why_not  # `from tensorflow import train`, and then `train.Saver`
    root = written.removesuffix(f".{rest}")
    call = _plain_call(reference)
    if gone.renamed:
        new = f"{root}.{gone.renamed}"
        return _renamed(module, node, new, *check.group("renames"))
    if rest in SEEDS and call is not None:
        title = "Write `{}`, which also seeds the layers of Keras 3"
        return seeds_all(module, node, title=title, because=_SEEDS_MORE) or why_not
    if rest in CASTS and call is not None and len(call.args) == 1:
        return check.fix(
            f"Write `{root}.cast(…, {root}.{CASTS[rest]})`",
            Edit(module.span(node), (f"{root}.cast",)),
            add_keyword(module, call, f"{root}.{CASTS[rest]}"),
            proven_by=(check.group("cast")[0],),
        )
    if rest in FILES and call is not None:
        return _renamed(module, node, f"{root}.io.{FILES[rest]}", *check.group("files"))
    if gone.name in AT_ONCE:
        return _renamed(module, node, f"{root}.compat.v1.{rest}", *check.group("at-once"))
    return why_not


def _plain_call(reference: Reference) -> cst.Call | None:
    """Return the call, if all that it passes is passed by position."""
    call = reference.call
    if call is None or not call.args or any(each.star or each.keyword for each in call.args):
        return None
    return call


def _renamed(module: Module, node: cst.Attribute, new: str, proof: Example) -> Fix:
    return check.fix(f"Write `{new}`", Edit(module.span(node), (new,)), proven_by=(proof,))
