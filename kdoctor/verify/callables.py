"""Both sides of a rewrite as functions of the old parameters."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from kdoctor.verify.generators import OMITTED
from kdoctor.verify.references import Oracle, oracle_for

# Names that the defaults of an old signature may use.
_ROOTS = {"tensorflow": tf}


@dataclass(frozen=True, slots=True)
class Callables:
    """Both sides: ``old`` takes the arguments as passed, ``new`` all parameters with defaults."""

    function: str
    oracle: Oracle
    defaults: dict[str, Any]
    new: Callable[..., Any]

    def call_old(self, arguments: dict[str, Any]) -> Any:
        """Call the old function without the omitted arguments."""
        return self.oracle.call(**{k: v for k, v in arguments.items() if v is not OMITTED})

    def call_new(self, arguments: dict[str, Any]) -> Any:
        """Evaluate the right side, as the rewritten call would."""
        filled = {
            name: self.defaults[name] if value is OMITTED else value
            for name, value in arguments.items()
        }
        return self.new(**filled)


def read_callables(left: str, right: str) -> Callables | None:
    """Make both sides callable; None if there is no reference for the old name."""
    name, _, parameters = left.partition("(")
    # Templates are the project's own code, not the user's.
    signature = inspect.signature(eval(f"lambda {parameters[:-1]}: None", _ROOTS))  # noqa: S307
    oracle = oracle_for(name, signature.parameters)
    if oracle is None:
        return None
    defaults = {
        each.name: OMITTED if each.default is each.empty else each.default
        for each in signature.parameters.values()
    }
    tree = ast.parse(right, mode="eval")
    roots = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    namespace: dict[str, Any] = {}
    for root in roots - set(defaults):
        if not hasattr(builtins, root):
            try:
                namespace[root] = importlib.import_module(root)
            except ImportError:
                continue  # a name that a lambda or comprehension binds
    new = eval(f"lambda {', '.join(defaults)}: {right}", namespace)  # noqa: S307
    return Callables(name.rpartition(".")[2], oracle, defaults, new)
