"""Scope analysis: one walk over the libcst tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import libcst as cst

from kdoctor.syntax.libcst_walk import FIELDS, NODES
from kdoctor.syntax.node_predicates import first_name
from kdoctor.syntax.scope_analysis import BindingWay, Mode, ScopeAnalysis, Use
from kdoctor.syntax.scope_builder import Item, ScopeBuilder
from kdoctor.syntax.scopes import Binding, BindingKind, Scope, ScopeKind


def scope_analysis(tree: cst.Module) -> ScopeAnalysis:
    """Return the scope analysis of ``tree``."""
    return _Walk(tree).run()


_LOAD: Final = Mode.LOAD  # Python finds a member of an enumeration far more slowly
_NUMBERS: Final = frozenset({cst.Integer, cst.Float})  # in which there is nothing to visit


class _Walk(ScopeBuilder):
    """``ScopeBuilder``, and for each class of nodes what there is to gather."""

    def run(self) -> ScopeAnalysis:
        found = self.found
        waiting, parents = self.waiting, self.parents
        waiting.append((found.tree, found.module, _LOAD))
        while waiting:
            node, scope, mode = waiting.pop()
            handler = _HANDLERS.get(node.__class__)
            if handler is not None:
                handler(self, node, scope, mode)
                continue
            # Written out: this is where the time goes.
            for name in reversed(FIELDS[node.__class__]):
                value = getattr(node, name)
                if value is None:
                    continue
                kind = value.__class__
                if kind is tuple or kind is list:
                    for child in reversed(value):
                        parents[child] = node
                        waiting.append((child, scope, mode))
                elif kind in NODES:
                    parents[value] = node
                    waiting.append((value, scope, mode))
        self.bind_nonlocals()
        return found

    # -- expressions

    def name(self, node: cst.Name, scope: Scope, mode: Mode) -> None:
        # As `read` does it: a third of all nodes.
        self.found.uses.append(Use(node.value, node, node, scope, mode, self.next_order()))

    def attribute(self, node: cst.Attribute, scope: Scope, mode: Mode) -> None:
        chain: cst.CSTNode = node
        parents, attributes = self.parents, self.found.attributes
        while True:
            attributes.append(node)
            parents[node.attr] = node
            value = node.value
            parents[value] = node
            if type(value) is not cst.Attribute:
                break
            node = value
        if type(value) is cst.Name:
            self.read(value, chain, scope, mode)
        else:
            self.waiting.append((value, scope, _LOAD))

    def call(self, node: cst.Call, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        # The commonest of all, written out, its arguments with it.
        self.found.calls.append(node)
        parents, waiting = self.parents, self.waiting
        for each in reversed(node.args):
            parents[each] = node
            if each.keyword is not None:
                parents[each.keyword] = each
            parents[each.value] = each
            if type(each.value) not in _NUMBERS:
                waiting.append((each.value, scope, _LOAD))
        parents[node.func] = node
        waiting.append((node.func, scope, _LOAD))

    def subscript(self, node: cst.Subscript, scope: Scope, mode: Mode) -> None:
        self.found.subscripts.append(node)
        if mode is not Mode.ANNOTATION:
            self.push(node, [(each, scope, _LOAD) for each in (node.value, *node.slice)])
            return
        name = node.value.attr if isinstance(node.value, cst.Attribute) else node.value
        inner: Mode = mode
        if isinstance(name, cst.Name) and name.value == "Literal":
            inner = _LOAD
        self.push(node, [(node.value, scope, mode), *((each, scope, inner) for each in node.slice)])

    def comparison(self, node: cst.Comparison, scope: Scope, mode: Mode) -> None:
        self.found.comparisons.append(node)
        parents, waiting = self.parents, self.waiting
        for each in reversed(node.comparisons):
            parents[each] = node
            parents[each.comparator] = each
            waiting.append((each.comparator, scope, mode))
        parents[node.left] = node
        waiting.append((node.left, scope, mode))

    def display(self, node: cst.List | cst.Tuple | cst.Set, scope: Scope, mode: Mode) -> None:
        # With its elements: tables of numbers are long.
        parents, waiting = self.parents, self.waiting
        for each in reversed(node.elements):
            parents[each] = node
            parents[each.value] = each
            if type(each.value) not in _NUMBERS:
                waiting.append((each.value, scope, mode))

    def argument(self, node: cst.Arg, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        if node.keyword is not None:
            self.parents[node.keyword] = node
        self.parents[node.value] = node
        self.waiting.append((node.value, scope, _LOAD))

    def string(self, node: cst.SimpleString, scope: Scope, mode: Mode) -> None:
        if mode is Mode.ANNOTATION:
            self.found.strings.append((node, scope, self.next_order()))

    def strings(self, node: cst.ConcatenatedString, scope: Scope, mode: Mode) -> None:
        if mode is Mode.ANNOTATION:
            self.found.strings.append((node, scope, self.next_order()))
        self.push(node, [(each, scope, _LOAD) for each in (node.left, node.right)])

    def walrus(self, node: cst.NamedExpr, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        around = scope
        while around.kind is ScopeKind.COMPREHENSION and around.parent is not None:
            around = around.parent
        self.push(node, [(node.value, scope, _LOAD)])
        self.target(node, node.target, BindingWay(BindingKind.ASSIGN, around, node.value))

    def lambda_(self, node: cst.Lambda, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        inner = self.enter(node, ScopeKind.FUNCTION, scope)
        items = self.parameters(node.params, inner, scope)
        self.parents[node.params] = node
        self.parents[node.body] = node
        self.waiting.append((node.body, inner, _LOAD))
        self.waiting += reversed(items)

    def comprehension(
        self,
        node: cst.GeneratorExp | cst.ListComp | cst.SetComp | cst.DictComp,
        scope: Scope,
        mode: Mode,  # noqa: ARG002
    ) -> None:
        inner = self.enter(node, ScopeKind.COMPREHENSION, scope)
        parts = [node.key, node.value] if isinstance(node, cst.DictComp) else [node.elt]
        self.push(node, [(each, inner, _LOAD) for each in (*parts, node.for_in)])

    def comprehension_clause(self, node: cst.CompFor, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        # The first iterable alone is evaluated in the scope around.
        first = not isinstance(self.parents[node], cst.CompFor)
        around = scope.parent if first and scope.parent is not None else scope
        inner = [] if node.inner_for_in is None else [node.inner_for_in]
        self.push(
            node,
            [
                (node.iter, around, _LOAD),
                *((each, scope, _LOAD) for each in (*node.ifs, *inner)),
            ],
        )
        self.target(node, node.target, BindingWay(BindingKind.LOOP, scope, node.iter))

    # -- statements

    def enter(self, node: cst.CSTNode, kind: ScopeKind, parent: Scope) -> Scope:
        scope = Scope(kind, node, parent)
        self.found.scopes[node] = scope
        return scope

    def block(self, node: cst.Module | cst.IndentedBlock, scope: Scope, mode: Mode) -> None:
        # With the lines in it, nearly all of which hold one statement.
        parents, waiting = self.parents, self.waiting
        for each in reversed(node.body):
            parents[each] = node
            if type(each) is not cst.SimpleStatementLine:
                waiting.append((each, scope, mode))
                continue
            for statement in reversed(each.body):
                parents[statement] = each
                waiting.append((statement, scope, mode))

    def assign(self, node: cst.Assign, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        self.found.assigns.append(node)
        parents, waiting = self.parents, self.waiting
        parents[node.value] = node
        waiting.append((node.value, scope, _LOAD))
        for each in reversed(node.targets[1:]):
            parents[each] = node
            waiting.append((each, scope, _LOAD))
        # The first, mostly the only one, is next anyway.
        target = node.targets[0]
        parents[target] = node
        self.target(target, target.target, BindingWay(BindingKind.ASSIGN, scope, node.value))

    def assign_target(self, node: cst.AssignTarget, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        statement = self.parents[node]
        value = statement.value if isinstance(statement, cst.Assign) else None
        self.target(node, node.target, BindingWay(BindingKind.ASSIGN, scope, value))

    def annotated(self, node: cst.AnnAssign, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        kind = BindingKind.ASSIGN if node.value is not None else BindingKind.ANNOTATE
        items: list[Item] = [(node.annotation, scope, Mode.ANNOTATION)]
        if node.value is not None:
            items.append((node.value, scope, _LOAD))
        self.push(node, items)
        annotation = node.annotation.annotation
        self.target(node, node.target, BindingWay(kind, scope, node.value, annotation=annotation))

    def augmented(self, node: cst.AugAssign, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        self.push(node, [(node.value, scope, _LOAD)])
        if isinstance(node.target, cst.Name):
            self.read(node.target, node.target, scope, _LOAD)
        self.target(node, node.target, BindingWay(BindingKind.AUGMENT, scope, node.value))

    def delete(self, node: cst.Del, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        self.target(node, node.target, BindingWay(BindingKind.DELETE, scope))

    def if_(self, node: cst.If, scope: Scope, mode: Mode) -> None:
        self.found.conditions.append(node)
        rest = [node.test, node.body, *([] if node.orelse is None else [node.orelse])]
        self.push(node, [(each, scope, mode) for each in rest])

    def for_(self, node: cst.For, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        rest = [node.iter, node.body, *([] if node.orelse is None else [node.orelse])]
        self.push(node, [(each, scope, _LOAD) for each in rest])
        self.target(node, node.target, BindingWay(BindingKind.LOOP, scope, node.iter))

    def with_item(self, node: cst.WithItem, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        if node.asname is not None:
            self.parents[node.asname] = node
            name = node.asname.name
            self.target(node.asname, name, BindingWay(BindingKind.WITH, scope, node.item))
        self.push(node, [(node.item, scope, _LOAD)])

    def handler(
        self,
        node: cst.ExceptHandler | cst.ExceptStarHandler,
        scope: Scope,
        mode: Mode,  # noqa: ARG002
    ) -> None:
        if node.name is not None:
            self.parents[node.name] = node
            self.target(node.name, node.name.name, BindingWay(BindingKind.EXCEPT, scope))
        kinds = [] if node.type is None else [node.type]
        self.push(node, [(each, scope, _LOAD) for each in (*kinds, node.body)])

    def capture(
        self,
        node: cst.MatchAs | cst.MatchStar | cst.MatchMapping,
        scope: Scope,
        mode: Mode,
    ) -> None:
        name = node.rest if isinstance(node, cst.MatchMapping) else node.name
        if name is not None:
            self.parents[name] = node
            self.bind(name.value, name, BindingWay(BindingKind.CAPTURE, scope))
        fields: list[cst.CSTNode] = []
        if isinstance(node, cst.MatchAs) and node.pattern is not None:
            fields.append(node.pattern)
        elif isinstance(node, cst.MatchMapping):
            fields += node.elements
        self.push(node, [(each, scope, mode) for each in fields])

    def keyword_pattern(self, node: cst.MatchKeywordElement, scope: Scope, mode: Mode) -> None:
        self.parents[node.key] = node
        self.push(node, [(node.pattern, scope, mode)])

    def global_(self, node: cst.Global, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        scope.global_names |= {item.name.value for item in node.names}
        self.adopt(node)

    def nonlocal_(self, node: cst.Nonlocal, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        scope.nonlocal_names |= {item.name.value for item in node.names}
        self.adopt(node)

    def import_(self, node: cst.Import, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        self.adopt(node)
        for alias in node.names:
            self.import_alias(alias, scope)

    def import_from(self, node: cst.ImportFrom, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        self.adopt(node)
        if isinstance(node.names, cst.ImportStar):
            star = Binding("*", BindingKind.IMPORT, node.names, scope, order=self.next_order())
            self.found.module.stars.append(star)
            self.found.import_bindings.append(star)
            return
        for alias in node.names:
            self.import_alias(alias, scope)

    def import_alias(self, alias: cst.ImportAlias, scope: Scope) -> None:
        local = first_name(alias.name if alias.asname is None else alias.asname.name)
        if local is not None:
            self.bind(local.value, alias, BindingWay(BindingKind.IMPORT, scope))

    def function(self, node: cst.FunctionDef, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        self.parents[node.name] = node
        self.parents[node.params] = node
        self.found.functions.append(node)
        self.bind(node.name.value, node, BindingWay(BindingKind.FUNCTION, scope))
        around, bounds = self.type_parameters(node, scope)
        inner = self.enter(node, ScopeKind.FUNCTION, around)
        self.push(node, [(node.body, inner, _LOAD)])
        if node.returns is not None:
            self.push(node, [(node.returns, around, Mode.ANNOTATION)])
        self.waiting += reversed(self.parameters(node.params, inner, around))
        self.waiting += reversed(bounds)
        self.push(node, [(each, scope, _LOAD) for each in node.decorators])

    def parameters(self, node: cst.Parameters, inner: Scope, around: Scope) -> list[Item]:
        """Bind the parameters; return their annotations and defaults, which run outside."""
        items: list[Item] = []
        for param in (
            *node.posonly_params, *node.params, node.star_arg, *node.kwonly_params, node.star_kwarg,
        ):  # fmt: skip
            if param.__class__ in NODES:
                self.parents[param] = node
            if type(param) is not cst.Param:
                continue
            self.parents[param.name] = param
            annotation = None
            if param.annotation is not None:
                self.parents[param.annotation] = param
                annotation = param.annotation.annotation
                items.append((param.annotation, around, Mode.ANNOTATION))
            if param.default is not None:
                self.parents[param.default] = param
                items.append((param.default, around, _LOAD))
            how = BindingWay(BindingKind.PARAMETER, inner, annotation=annotation)
            self.bind(param.name.value, param, how)
        return items

    def class_(self, node: cst.ClassDef, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        self.parents[node.name] = node
        self.found.classes.append(node)
        self.bind(node.name.value, node, BindingWay(BindingKind.CLASS, scope))
        around, bounds = self.type_parameters(node, scope)
        inner = self.enter(node, ScopeKind.CLASS, around)
        rest = [(each, around, _LOAD) for each in (*node.bases, *node.keywords)]
        self.push(node, [*rest, (node.body, inner, _LOAD)])
        self.waiting += reversed(bounds)
        self.push(node, [(each, scope, _LOAD) for each in node.decorators])

    def type_parameters(
        self, node: cst.FunctionDef | cst.ClassDef | cst.TypeAlias, scope: Scope
    ) -> tuple[Scope, list[Item]]:
        """Bind the type parameters; return the scope that they make, and what limits them."""
        if node.type_parameters is None:
            return scope, []
        self.parents[node.type_parameters] = node
        inner = self.enter(node.type_parameters, ScopeKind.FUNCTION, scope)
        items: list[Item] = []
        for each in node.type_parameters.params:
            self.parents[each] = node.type_parameters
            self.adopt(each)
            self.bind(each.param.name.value, each.param, BindingWay(BindingKind.TYPE, inner))
            if isinstance(each.param, cst.TypeVar) and each.param.bound is not None:
                items.append((each.param.bound, inner, Mode.ANNOTATION))
            if each.default is not None:
                items.append((each.default, inner, Mode.ANNOTATION))
        return inner, items

    def type_alias(self, node: cst.TypeAlias, scope: Scope, mode: Mode) -> None:  # noqa: ARG002
        self.parents[node.name] = node
        self.bind(node.name.value, node, BindingWay(BindingKind.TYPE, scope))
        around, bounds = self.type_parameters(node, scope)
        self.push(node, [(node.value, around, Mode.ANNOTATION)])
        self.waiting += reversed(bounds)


_HANDLERS: dict[type[cst.CSTNode], Callable[..., None]] = {
    cst.Name: _Walk.name,
    cst.Attribute: _Walk.attribute,
    cst.Call: _Walk.call,
    cst.Subscript: _Walk.subscript,
    cst.Comparison: _Walk.comparison,
    cst.List: _Walk.display,
    cst.Tuple: _Walk.display,
    cst.Set: _Walk.display,
    cst.Arg: _Walk.argument,
    cst.SimpleString: _Walk.string,
    cst.ConcatenatedString: _Walk.strings,
    cst.NamedExpr: _Walk.walrus,
    cst.Lambda: _Walk.lambda_,
    cst.GeneratorExp: _Walk.comprehension,
    cst.ListComp: _Walk.comprehension,
    cst.SetComp: _Walk.comprehension,
    cst.DictComp: _Walk.comprehension,
    cst.CompFor: _Walk.comprehension_clause,
    cst.Module: _Walk.block,
    cst.IndentedBlock: _Walk.block,
    cst.Assign: _Walk.assign,
    cst.AssignTarget: _Walk.assign_target,
    cst.AnnAssign: _Walk.annotated,
    cst.AugAssign: _Walk.augmented,
    cst.Del: _Walk.delete,
    cst.If: _Walk.if_,
    cst.For: _Walk.for_,
    cst.WithItem: _Walk.with_item,
    cst.ExceptHandler: _Walk.handler,
    cst.ExceptStarHandler: _Walk.handler,
    cst.MatchAs: _Walk.capture,
    cst.MatchStar: _Walk.capture,
    cst.MatchMapping: _Walk.capture,
    cst.MatchKeywordElement: _Walk.keyword_pattern,
    cst.Global: _Walk.global_,
    cst.Nonlocal: _Walk.nonlocal_,
    cst.Import: _Walk.import_,
    cst.ImportFrom: _Walk.import_from,
    cst.FunctionDef: _Walk.function,
    cst.ClassDef: _Walk.class_,
    cst.TypeAlias: _Walk.type_alias,
}
