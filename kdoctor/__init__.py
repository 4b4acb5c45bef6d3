"""kdoctor: a command-line doctor for Keras code.

>>> import kdoctor
>>> result = kdoctor.scan(["train.py"], target="keras==3.15.1")    # doctest: +SKIP
>>> [finding.message for finding in result.findings]               # doctest: +SKIP
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as type checkers know it; `typing` itself takes longer than all of this
if TYPE_CHECKING:
    from kdoctor.diagnose import Diagnosis as Diagnosis
    from kdoctor.diagnose import explain as explain
    from kdoctor.engine import FixResult as FixResult
    from kdoctor.engine import ScanResult as ScanResult
    from kdoctor.engine import fix as fix
    from kdoctor.engine import scan as scan
    from kdoctor.errors import FileProblem as FileProblem
    from kdoctor.errors import KdoctorError as KdoctorError
    from kdoctor.errors import UsageProblem as UsageProblem
    from kdoctor.model import Applicability as Applicability
    from kdoctor.model import Confidence as Confidence
    from kdoctor.model import Finding as Finding
    from kdoctor.model import Fix as Fix
    from kdoctor.model import Place as Place
    from kdoctor.model import Severity as Severity
    from kdoctor.model import Unreadable as Unreadable
    from kdoctor.target import Target as Target

__version__ = "0.1.0"

pytest_plugins = ("kdoctor.watch.tests",)  # `pytest -p kdoctor` looks here

# Imported when first asked for: `import kdoctor` must cost nothing.
_HOMES = {
    "scan": "kdoctor.engine",
    "fix": "kdoctor.engine",
    "explain": "kdoctor.diagnose",
    "Diagnosis": "kdoctor.diagnose",
    "ScanResult": "kdoctor.engine",
    "FixResult": "kdoctor.engine",
    "Target": "kdoctor.target",
    "Finding": "kdoctor.model",
    "Fix": "kdoctor.model",
    "Place": "kdoctor.model",
    "Severity": "kdoctor.model",
    "Confidence": "kdoctor.model",
    "Applicability": "kdoctor.model",
    "Unreadable": "kdoctor.model",
    "KdoctorError": "kdoctor.errors",
    "UsageProblem": "kdoctor.errors",
    "load_ipython_extension": "kdoctor.watch.notebook",  # %load_ext kdoctor
    "unload_ipython_extension": "kdoctor.watch.notebook",
    "FileProblem": "kdoctor.errors",
}

__all__ = [  # noqa: PLE0604, RUF100 - the names above, for `from kdoctor import *` and for readers
    "Applicability",
    "Confidence",
    "Diagnosis",
    "FileProblem",
    "Finding",
    "Fix",
    "FixResult",
    "KdoctorError",
    "Place",
    "ScanResult",
    "Severity",
    "Target",
    "Unreadable",
    "UsageProblem",
    "__version__",
    "explain",
    "fix",
    "scan",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415

    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # pytest asks a plugin for the value of every name, which would import all of kdoctor.
    return sorted(globals() if "_pytest" in sys.modules else __all__)
