from __future__ import annotations

from typing import Any, Optional

from ._record import Record


class SbxError(Exception):
    """sbx could not be started, or left no record of what it ran.

    returncode is that of sbx, None where it was not started; stdout and stderr are what
    was captured.
    """

    def __init__(self, message: str, returncode: Optional[int] = None, stdout: Any = None, stderr: Any = None) -> None:
        super().__init__(message)
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr


class Refused(SbxError):
    """The command did not start: the spec cannot be enforced here, or there is no such command.

    field is of the spec, "" where it is about none; on is what it is about: a path, a
    program, the spec; why is what was attempted, and the one cause; help is what would
    help, "" for nothing. returncode is 125, or 126 and 127 as a shell has them.
    """

    def __init__(
        self, field: str, on: str, why: str, help: str, record: Record, returncode: int, stdout: Any = None, stderr: Any = None
    ) -> None:
        at = f"{field} ({on}): " if field and on else f"{field or on}: " if field or on else ""
        super().__init__(at + why, returncode, stdout, stderr)
        self.field = field
        self.on = on
        self.why = why
        self.help = help
        self.record = record

    def __reduce__(self) -> Any:  # an exception is made anew from its message alone
        return type(self), (self.field, self.on, self.why, self.help, self.record, self.returncode, self.stdout, self.stderr)
