"""Runs commands in a sandbox, as subprocess.run does without one, by the program sbx."""

from ._errors import Refused, SbxError
from ._record import (
    Command,
    Commands,
    Enforcement,
    Error,
    Exit,
    ProgramCount,
    Record,
    Swept,
    Usage,
    Violation,
)
from ._run import Result, run

__all__ = [
    "Command",
    "Commands",
    "Enforcement",
    "Error",
    "Exit",
    "ProgramCount",
    "Record",
    "Refused",
    "Result",
    "SbxError",
    "Swept",
    "Usage",
    "Violation",
    "run",
]
