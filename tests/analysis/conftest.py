"""What tests of analyses ask about: the argument of the one call of `here(…)` in a source."""

import libcst as cst

from kdoctor.documents import Document
from kdoctor.keras_api import newest_target, oracle
from kdoctor.syntax import Module

KNOWLEDGE = oracle(newest_target())


def asked_in(source):
    """Return the module of a source, and the argument of `here(…)` in it."""
    unit = Document.parse(source.encode(), "code.py").units[0]
    module = Module.parse(unit, KNOWLEDGE)
    (call,) = (
        each
        for each in module.nodes(cst.Call)
        if isinstance(each.func, cst.Name) and each.func.value == "here"
    )
    return module, call.args[0].value
