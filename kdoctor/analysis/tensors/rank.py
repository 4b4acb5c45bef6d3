"""Rank and element kind of arrays in a file.

Followed are names, parameters by the calls of the file, what its functions return, tuples and
attributes of ``self``; what NumPy, pandas, scikit-learn and ``keras.datasets`` make is known by
``constructors``. What comes from elsewhere is not known.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Final

import libcst as cst

from kdoctor.analysis.calls import argument, is_hidden, passed, value_of
from kdoctor.analysis.dataflow.points_to import PointsTo, points_to_of
from kdoctor.analysis.tensors import constructors as makers
from kdoctor.analysis.tensors import elements
from kdoctor.analysis.tensors.constructors import COLUMN, FRAME, ArrayData, ArrayForm, NumberKind
from kdoctor.keras_api import split_root
from kdoctor.memoize import once
from kdoctor.syntax import Module
from kdoctor.syntax.displays import part_of
from kdoctor.syntax.literals import literal
from kdoctor.syntax.scopes import Binding, BindingKind

_MAX_DEPTH: Final = 24  # steps from name to name, more than people write
_FITTED: Final = frozenset({"fit_transform", "transform"})
_VALUES: Final = frozenset({"as_matrix", "to_numpy", "values"})
_NO_COLUMNS: Final = frozenset({"T", "iloc", "loc", "ix", "str", "dt", "index", "columns"})
_INDEXERS: Final = frozenset({"iloc", "loc", "ix"})

Path = tuple[int | None, ...]
"""Which part of a value, by the indices of elements."""


class Ranks:
    """Rank analysis of one module."""

    def __init__(self, module: Module, points_to: PointsTo) -> None:
        self._module = module
        self._points_to = points_to
        self._known: dict[tuple[cst.CSTNode, Path], ArrayData | None] = {}

    def of(
        self, node: cst.BaseExpression | None, path: Path = (), depth: int = 0
    ) -> ArrayData | None:
        """Return what an expression, or a part of it, surely is; None where that is not known."""
        if node is None or depth > _MAX_DEPTH:
            return None
        key = (node, path)
        if key not in self._known:
            self._known[key] = None  # what leads back to itself is not known
            self._known[key] = self._found(node, path, depth + 1)
        return self._known[key]

    # -- expressions

    def _found(self, node: cst.BaseExpression, path: Path, depth: int) -> ArrayData | None:
        match node:
            case cst.Name():
                bound = self._module.bindings_at(node)
                found = _common_array(self._bound(each, path, depth) for each in bound)
                return found or (None if path else makers.observed_array(self._module, bound))
            case cst.Tuple() | cst.List() if path:
                return self.of(part_of(node, path[:1]), path[1:], depth)
            case cst.Call():
                return self._called(node, path, depth)
            case cst.Attribute():
                return self._attribute(node, path, depth)
            case _ if path:
                return None
            case cst.Subscript():
                return self._taken_out(node, depth)
            case cst.BinaryOperation():
                return self._worked_out(node, depth)
            case cst.Comparison(comparisons=[_]):
                found = self.of(node.left, (), depth)
                with_ = node.comparisons[0].comparator
                number = elements.numbers_of_scalar(self._module, with_)
                is_one = number or isinstance(literal(with_), str)
                return found.but(numbers=NumberKind.BOOL) if found is not None and is_one else None
        return None

    def _bound(self, binding: Binding, path: Path, depth: int) -> ArrayData | None:
        within = (*binding.path, *path)
        if binding.kind is BindingKind.ASSIGN:
            return self.of(binding.value, within, depth)
        if binding.kind is BindingKind.AUGMENT and isinstance(binding.node, cst.Name):
            found = self.of(binding.node, path, depth)  # NumPy works in place, pandas anew
            is_array = found is None or found.form is ArrayForm.ARRAY
            return found if found is None or is_array else ArrayData(found.form, found.axes)
        if binding.kind is BindingKind.PARAMETER and isinstance(binding.node, cst.Param):
            function = self._points_to.function_around(binding.node)
            calls = self._points_to.callers(function) if function is not None else ()
            given = [self._points_to.passed(each, binding.node) for each in calls]
            return _common_array(self.of(each, within, depth) for each in given)
        return None

    def _attribute(self, node: cst.Attribute, path: Path, depth: int) -> ArrayData | None:
        name = node.attr.value
        if name in _VALUES and not path:
            return self._values(node.value, depth)
        if name == "T" and not path:
            found = self.of(node.value, (), depth)
            return found if found is not None and found.axes == 1 else None
        if name == "target" and not path:
            return self._loaded(node.value)
        stored = self._points_to.stored(node)
        return None if stored is None else self.of(stored[0], (*_indices(stored[1]), *path), depth)

    def _values(self, pandas: cst.BaseExpression, depth: int) -> ArrayData | None:
        """Return the array in a column or a frame: ``df["y"].values``, ``df.y.values``."""
        found = self.of(pandas, (), depth)
        if found is None and isinstance(pandas, cst.Attribute):
            owner = self.of(pandas.value, (), depth)
            if owner is not None and owner.form is ArrayForm.FRAME:
                found = None if pandas.attr.value in _NO_COLUMNS else COLUMN
        if found is None or found.form is ArrayForm.ARRAY:
            return None
        return found.but(form=ArrayForm.ARRAY)

    # -- calls

    def _called(self, call: cst.Call, path: Path, depth: int) -> ArrayData | None:
        function = self._points_to.function_called(call.func)
        if function is not None:
            returned = self._points_to.returned_by(call)
            return _common_array(self.of(each, path, depth) for each in returned)
        if is_hidden(call):
            return None
        name = self._module.qualified(call.func)
        if name is None and path == (1,):
            return self._drawn_again(call, depth)
        if name is None:
            return None if path else self._method(call, depth)
        if name.startswith("numpy.") and name not in makers.TABLES:
            return None if path else self._of_numpy(call, name.removeprefix("numpy."), depth)
        if name in makers.READ_FRAMES and not path:
            return None if any(_has(call, each) for each in makers.NO_FRAMES) else FRAME
        if name.startswith("sklearn."):
            return self._of_sklearn(call, name.rpartition(".")[2], path, depth)
        return self._of_keras(name, path)

    def _of_numpy(self, call: cst.Call, name: str, depth: int) -> ArrayData | None:
        given = [each.value for each in call.args if each.keyword is None]
        first = given[0] if given else None
        told = elements.dtype_in(self._module, call)
        if name in makers.OF_EACH_AXIS:
            return ArrayData(axes=len(given), numbers=NumberKind.FLOAT) if given else None
        if name in makers.OF_A_SHAPE or name in makers.OF_A_SIZE:
            return self._of_a_shape(call, name, told)
        if name in makers.FLAT:
            inner = self.of(first, (), depth)
            numbers = self._common(given) if inner is None else inner.numbers
            return ArrayData(axes=1, numbers=told or makers.FLAT[name] or numbers)
        if first is None:
            return None
        if name in makers.CONVERTING:
            return None if _has(call, "ndmin") else self._converted(first, told, depth)
        if name in makers.JOINING and isinstance(first, cst.Tuple | cst.List):
            return _common_array(self.of(each.value, (), depth) for each in first.elements)
        found = self.of(first, (), depth)
        match name:
            case "expand_dims" if found is not None and found.axes is not None:
                return ArrayData(axes=found.axes + 1, numbers=found.numbers)
            case "reshape":
                return self._reshaped(found, given[1:])
            case "clip" if found is not None:
                return ArrayData(
                    found.form, found.axes, told
                )  # whole numbers between floats are floats
            case "where" if found is not None and len(given) == 3:
                numbers = self._common(given[1:])
                return None if numbers is None else found.but(numbers=numbers)
            case _ if found is not None and name in makers.ELEMENTWISE:
                return found.but(numbers=told or makers.ELEMENTWISE[name])
        return None

    def _of_a_shape(self, call: cst.Call, name: str, told: NumberKind | None) -> ArrayData | None:
        """Return what ``np.zeros(n)`` makes, or ``np.random.randint(2, size=n)``."""
        if name in makers.OF_A_SIZE:
            place, numbers = makers.OF_A_SIZE[name]
            shape = passed(call, "size", place)
        else:
            shape = passed(call, "size" if name.startswith("random.") else "shape", 0)
            fill = passed(call, "fill_value", 1) if name == "full" else None
            numbers = makers.OF_A_SHAPE[name] or (self._common([fill]) if fill else None)
        axes = None if shape is None else elements.count_of_axes(self._module, shape)
        return None if axes is None else ArrayData(axes=axes, numbers=told or numbers)

    def _common(self, given: Sequence[cst.BaseExpression]) -> NumberKind | None:
        """Return of what sort numbers are, where all are of one."""
        found = {elements.numbers_of_scalar(self._module, each) for each in given}
        return found.pop() if len(found) == 1 else None

    def _converted(
        self, given: cst.BaseExpression, told: NumberKind | None, depth: int
    ) -> ArrayData | None:
        """Return what ``np.array`` makes of an array, of pandas' objects or of a list."""
        found = self.of(given, (), depth)
        if found is not None:
            return found.but(form=ArrayForm.ARRAY, numbers=told)
        listed = elements.numbers_in_list(self._module, given)
        if listed is None:
            return None if told is None else ArrayData(numbers=told)
        return ArrayData(axes=listed[0], numbers=told or listed[1])

    def _reshaped(
        self, found: ArrayData | None, given: Sequence[cst.BaseExpression]
    ) -> ArrayData | None:
        """Return what ``reshape`` makes, by the shape that it is given."""
        axes = len(given)
        if len(given) == 1:
            shape = value_of(self._module, given[0])
            is_listed = isinstance(shape, cst.Tuple | cst.List)
            axes = len(shape.elements) if isinstance(shape, cst.Tuple | cst.List) else 1
            whole = elements.numbers_of_scalar(self._module, shape) is NumberKind.INT
            if not (is_listed or whole):
                return None
        return (
            ArrayData(axes=axes, numbers=None if found is None else found.numbers) if axes else None
        )

    def _of_sklearn(self, call: cst.Call, name: str, path: Path, depth: int) -> ArrayData | None:
        given = [each.value for each in call.args if each.keyword is None]
        if name == "shuffle" and not path and len(given) == 1:
            return self.of(given[0], (), depth)
        if name in makers.IN_PARTS and len(path) == 1 and path[0] is not None:
            place = path[0] // makers.IN_PARTS[name]
            return self.of(given[place], (), depth) if place < len(given) else None
        if name in makers.DRAWN and path == (1,) and not _has(call, "n_targets"):
            return ArrayData(axes=1, numbers=makers.DRAWN[name])
        if name in makers.LOADED and path == (1,) and not _has(call, "as_frame"):
            return ArrayData(axes=1, numbers=makers.LOADED[name])
        return None

    def _loaded(self, owner: cst.BaseExpression) -> ArrayData | None:
        """Return the targets of ``load_iris().target``."""
        made = value_of(self._module, owner)
        name = (self._module.qualified(made.func) or "") if isinstance(made, cst.Call) else ""
        leaf = name.rpartition(".")[2]
        if not name.startswith("sklearn.datasets.") or leaf not in makers.LOADED:
            return None
        assert isinstance(made, cst.Call)
        return None if _has(made, "as_frame") else ArrayData(axes=1, numbers=makers.LOADED[leaf])

    def _of_keras(self, name: str, path: Path) -> ArrayData | None:
        split = split_root(name)
        if split is None or len(path) != 2 or path[1] != 1:
            return None
        module, _, function = split[1].removeprefix("datasets.").partition(".")
        is_data = split[1].startswith("datasets.") and function == "load_data"
        return makers.LABELS.get(module) if is_data else None

    # -- methods

    def _method(self, call: cst.Call, depth: int) -> ArrayData | None:
        if not isinstance(call.func, cst.Attribute):
            return None
        name, owner = call.func.attr.value, call.func.value
        if name in _FITTED:
            return self._encoded(owner)
        if name in _VALUES and not call.args:
            return self._values(owner, depth)
        if name == "pop" and len(call.args) == 1:
            found = self.of(owner, (), depth)
            return COLUMN if found == FRAME else None
        if name == "astype":
            found = self.of(owner, (), depth)
            numbers = elements.numbers_in(self._module, call.args[0].value) if call.args else None
            if found is None:
                return None if numbers is None else ArrayData(numbers=numbers)
            return ArrayData(found.form, found.axes, numbers)
        if name in {"ravel", "flatten"}:
            found = self.of(owner, (), depth)
            return ArrayData(axes=1, numbers=found.numbers) if found else None
        if name == "reshape":
            given = [each.value for each in call.args if each.keyword is None]
            return self._reshaped(self.of(owner, (), depth), given)
        found = self.of(owner, (), depth) if name in makers.SAME | makers.OF_A_FRAME else None
        if found is None or (name in makers.OF_A_FRAME and found.form is not ArrayForm.FRAME):
            return None
        if name == "reset_index" and not _has(call, "drop"):
            return FRAME  # the index is a column then
        return ArrayData(found.form, found.axes) if name in makers.OTHER_VALUES else found

    def _drawn_again(self, call: cst.Call, depth: int) -> ArrayData | None:
        """Return the targets of ``SMOTE().fit_resample(x, y)``."""
        match call.func:
            case cst.Attribute(value=owner, attr=cst.Name(value="fit_resample" | "fit_sample")):
                given = passed(call, "y", 1)
                is_its = (self._maker(owner) or "").startswith("imblearn.")
                return self.of(given, (), depth) if given is not None and is_its else None
        return None

    def _encoded(self, owner: cst.BaseExpression) -> ArrayData | None:
        name = self._maker(owner) or ""
        is_sklearns = name.startswith("sklearn.")
        return makers.ENCODERS.get(name.rpartition(".")[2]) if is_sklearns else None

    # -- parts, and what is worked out

    def _taken_out(self, node: cst.Subscript, depth: int) -> ArrayData | None:
        indices = [each.slice for each in node.slice]
        owner = node.value
        if isinstance(owner, cst.Attribute) and owner.attr.value in _INDEXERS:
            return self._of_pandas(self.of(owner.value, (), depth), indices, depth)
        if isinstance(owner, cst.Call) and self._is_table(owner):
            found: ArrayData | None = (
                ArrayData(axes=2, numbers=NumberKind.FLOAT) if len(indices) == 2 else None
            )
        else:
            made = value_of(self._module, owner)
            is_table = isinstance(made, cst.Call) and self._is_table(made) and len(indices) == 2
            known = self.of(owner, (), depth)
            found = ArrayData(axes=2, numbers=NumberKind.FLOAT) if is_table else known
        if found is not None and found.form is not ArrayForm.ARRAY:
            return self._of_pandas(found, indices, depth)
        if found is None or found.axes is None:
            return None
        axes = found.axes
        for each in indices:
            change = self._change(each, depth)
            if change is None:
                return None
            axes += change
        return ArrayData(axes=axes, numbers=found.numbers) if axes > 0 else None

    def _is_table(self, call: cst.Call) -> bool:
        name = self._module.qualified(call.func)
        numbers = elements.dtype_in(self._module, call)
        plain = not _has(call, "dtype") or numbers is NumberKind.FLOAT
        return (
            name in makers.TABLES and plain and not _has(call, "unpack") and not _has(call, "names")
        )

    def _change(self, index: cst.BaseSlice, depth: int) -> int | None:
        """Return how many axes more there are by an index, None where that is not known."""
        if isinstance(index, cst.Slice):
            return 0
        value = index.value if isinstance(index, cst.Index) else None
        if value is None:
            return None
        if isinstance(literal(value), int):
            return -1
        if literal(value) is None or self._module.qualified(value) == "numpy.newaxis":
            return 1
        inner = self.of(value, (), depth)
        if inner is not None and inner.axes == 1:
            return 0
        return 0 if self._is_fold(value) else None

    def _is_fold(self, node: cst.BaseExpression) -> bool:
        """Say whether it is ``train`` of ``for train, test in folds.split(x)``."""
        bound = self._module.bindings_at(node) if isinstance(node, cst.Name) else ()
        return bool(bound) and all(
            each.kind is BindingKind.LOOP
            and isinstance(each.value, cst.Call)
            and isinstance(each.value.func, cst.Attribute)
            and each.value.func.attr.value == "split"
            and "sklearn" in (self._maker(each.value.func.value) or "")
            and each.path in {(0,), (1,)}
            for each in bound
        )

    def _maker(self, node: cst.BaseExpression) -> str | None:
        """Return the dotted name of what makes an object: ``LabelEncoder()``, ``….fit(y)`` too."""
        made = value_of(self._module, node)
        match made:
            case cst.Call(
                func=cst.Attribute(value=cst.Call() as inner, attr=cst.Name(value="fit"))
            ):
                return self._module.qualified(inner.func)
            case cst.Call():
                return self._module.qualified(made.func)
        return None

    def _of_pandas(
        self, owner: ArrayData | None, indices: Sequence[cst.BaseSlice], depth: int
    ) -> ArrayData | None:
        """Return a part of a frame or of a column: ``df["y"]``, ``df.iloc[:, 3]``, ``y[mask]``."""
        if owner is None or owner.form is ArrayForm.ARRAY:
            return None
        last = indices[-1]
        if isinstance(last, cst.Slice):
            return owner
        value = value_of(self._module, last.value) if isinstance(last, cst.Index) else None
        if isinstance(value, cst.List):
            return owner
        if (
            value is not None
            and owner.form is ArrayForm.FRAME
            and isinstance(literal(value), int | str)
        ):
            is_row = len(indices) == 1 and isinstance(literal(value), int)
            return None if is_row else COLUMN
        inner = self.of(value, (), depth)
        picks = inner is not None and inner.numbers is NumberKind.BOOL and len(indices) == 1
        return owner if picks else None

    def _worked_out(self, node: cst.BinaryOperation, depth: int) -> ArrayData | None:
        left, right = self.of(node.left, (), depth), self.of(node.right, (), depth)
        found, other = (left, node.right) if left is not None else (right, node.left)
        if found is None or isinstance(node.operator, cst.MatrixMultiply):
            return None
        if left is not None and right is not None:
            if left != right:
                return None
            numbers = {found.numbers}
        else:
            scalar = elements.numbers_of_scalar(self._module, other)
            if scalar is None:
                return None
            numbers = {found.numbers, scalar}
        if isinstance(node.operator, cst.Divide) or NumberKind.FLOAT in numbers:
            return found.but(numbers=NumberKind.FLOAT)
        is_int = NumberKind.INT in numbers and None not in numbers
        return ArrayData(found.form, found.axes, NumberKind.INT if is_int else None)


def _common_array(found: Iterable[ArrayData | None]) -> ArrayData | None:
    """Return what is common to all that a name may stand for."""
    together: ArrayData | None = None
    for each in found:
        if each is None or (together is not None and together.form is not each.form):
            return None
        if together is None:
            together = each
        elif together != each:
            axes = together.axes if together.axes == each.axes else None
            numbers = together.numbers if together.numbers is each.numbers else None
            together = ArrayData(each.form, axes, numbers)
    return together


def _has(call: cst.Call, keyword: str) -> bool:
    return argument(call, keyword) is not None


def _indices(path: Sequence[int | str]) -> Path:
    return tuple(each if isinstance(each, int) else None for each in path)


@once
def ranks_of(module: Module) -> Ranks:
    """Return the rank analysis of a module, memoized."""
    # A ring would keep the tree until a collector comes: the module keeps this answer.
    return Ranks(weakref.proxy(module), points_to_of(module))
