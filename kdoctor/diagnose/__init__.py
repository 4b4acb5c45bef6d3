"""From an error on the screen to its cause: whose fault it is, how that is known, what cures it.

Knows nothing of terminals, and imports no framework.
"""

from __future__ import annotations

from kdoctor.diagnose.diagnosis import Diagnosis as Diagnosis
from kdoctor.diagnose.diagnosis import Fault as Fault
from kdoctor.diagnose.diagnosis import Step as Step
from kdoctor.diagnose.diagnosis import StepKind as StepKind
from kdoctor.diagnose.explaining import explain as explain
from kdoctor.diagnose.frames import Frame as Frame
from kdoctor.diagnose.frames import Origin as Origin
from kdoctor.diagnose.tracebacks import Raised as Raised
from kdoctor.diagnose.tracebacks import read_exceptions as read_exceptions

__all__ = [
    "Diagnosis",
    "Fault",
    "Frame",
    "Origin",
    "Raised",
    "Step",
    "StepKind",
    "explain",
    "read_exceptions",
]
