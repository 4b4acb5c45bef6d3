"""Explain errors of Keras programs: cause, whose fault it is, evidence, remedy.

Knows nothing of terminals, and imports no framework.
"""

from __future__ import annotations

from kdoctor.diagnose.diagnosis import Diagnosis as Diagnosis
from kdoctor.diagnose.diagnosis import Fault as Fault
from kdoctor.diagnose.diagnosis import Step as Step
from kdoctor.diagnose.diagnosis import StepKind as StepKind
from kdoctor.diagnose.explaining import explain as explain
from kdoctor.diagnose.frames import FrameOrigin as FrameOrigin
from kdoctor.diagnose.frames import TracebackFrame as TracebackFrame
from kdoctor.diagnose.tracebacks import Raised as Raised
from kdoctor.diagnose.tracebacks import read_exceptions as read_exceptions

__all__ = [
    "Diagnosis",
    "Fault",
    "FrameOrigin",
    "Raised",
    "Step",
    "StepKind",
    "TracebackFrame",
    "explain",
    "read_exceptions",
]
